"""The command's help and version, and its messages on wrong usage."""
import os
import re

from command import adaptyst, hand_made, region, require, require_equal, run_all, sources, subcommands, written


def test_the_version_is_that_of_the_headers():
    header = (sources / "include/adaptyst/detail/config.hpp").read_text(encoding="utf-8")
    parts = re.findall(r"VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    require_equal(adaptyst("--version"), (0, f"adaptyst {'.'.join(parts)}\n", ""))


def test_every_subcommand_has_help():
    require({"report", "diff", "completion", "help"} <= set(subcommands()), subcommands())
    for name in subcommands():
        done = adaptyst(name, "--help")
        require_equal((done.status, done.err), (0, ""))
        require(f"Usage: adaptyst {name}" in done.out, done.out)
        # Each option has an explanation.
        for line in done.out.splitlines():
            require(not re.fullmatch(r"  -\S+\s*", line), f"{name}: no word about {line}")
        require_equal(adaptyst("help", name), done)
    require_equal(adaptyst("help"), adaptyst("--help"))


def test_wrong_usage_has_a_status_of_its_own():
    for wrong in [["--bogus"], ["bogus"], ["report"], ["report", "--bogus", "a"], ["report", "a", "--format", "xml"],
                  ["diff", "a"], ["diff", "a", "b", "c"], ["help", "bogus"], ["completion", "tcsh"]]:
        done = adaptyst(*wrong)
        require_equal((wrong, done.status, done.out), (wrong, 2, ""))
        require(done.err, f"{wrong}: nothing was reported")
    # Without arguments, it prints its help, and fails: no command was given.
    require_equal(adaptyst(), (2, adaptyst("--help").out, ""))
    require("2 wrong usage, or a file or process that cannot be read, also without a command." in " ".join(adaptyst("--help").out.split()), "untold")
    require("--bogus" in adaptyst("report", "--bogus", "a").err, "the option is not named")


def test_a_misspelt_subcommand_is_guessed():
    for wrong, meant in [("atach", "attach"), ("reprot", "report"), ("Run", "run")]:
        for arguments in [[wrong], [wrong, "4711", "--all"], [wrong, "--help"]]:
            done = adaptyst(*arguments)
            require_equal((arguments, done.status, done.out), (arguments, 2, ""))
            require(f"unknown command '{wrong}'\n          hint: did you mean '{meant}'? choose from run, attach" in done.err, done.err)
    done = adaptyst("frobnicate")
    require("unknown command 'frobnicate'\n          hint: choose from run" in done.err, done.err)
    require("did you mean '--help'?" in adaptyst("--hlp").err, "options are guessed as before")


# The fault with its place, and the remedy. "…" replaces the rest of a list.
WRONG_USAGES = [
    ("--bogus", "unknown option '--bogus'", "`adaptyst --help` lists the options"),
    ("report", "report: FILE is missing", "write `adaptyst report [OPTIONS] FILE...`; `adaptyst help report` lists the options"),
    ("report --fromat csv a", "report: unknown option '--fromat'", "did you mean '--format'? `adaptyst help report` lists the options"),
    ("report a --top", "report: --top has no value", "write --top N; `adaptyst help report` lists the options"),
    ("report --top -3 a", "report: --top: '-3' is not a whole number from 0 on", "`adaptyst help report` lists the options"),
    ("report --sort sefl a", "report: --sort: unknown value 'sefl'", "did you mean 'self'? choose from time, self, …"),
    ("report --min-share 5x a", "report: --min-share: '5x' is not a percentage from 0% to 100%", "the unit is %, also if none is given; …"),
    ("report -o a.svg a", "report: --output: no form for output 'a.svg'", "end it in .talp.json, .json, .html, .txt, .csv, .pb.gz, .prom, .cali, or write FORM:FILE; the forms are talp, json, html, table, csv, pprof, prometheus, caliper; …"),
    ("report -o a.folded a", "report: --output: 'a.folded' is of the form folded, which this result does not have", "the forms are talp, json, html, table, csv, pprof, prometheus, caliper; …"),
    ("attach", "attach: no process is given", "give process numbers, --name NAME or --all; `adaptyst help attach` lists the options"),
    ("attach solver", "attach: PID: 'solver' is not a process number", "`pgrep` lists the numbers; --name takes a name; …"),
    ("attach --duration 0 1", "attach: --duration: '0' is not a duration from 1ms to 1e+09s", "the units are s, ms, us, ns, min and h; s if none is given; …"),
    ("attach --interval nan 1", "attach: --interval: 'nan' is not a duration from 10ms to 3600s", "the units are s, ms, us, ns, min and h; s if none is given; …"),
    ("run --overhead 200% -- true", "run: --overhead: unknown overhead '200%'", "none, or from 0.1% to 100%; the unit is %, also if none is given; …"),
    ("run --timeline-limit 3x -- true", "run: --timeline-limit: unknown timeline_limit '3x'", "none, or from 1M to 1024T, such as 256M or 2G; the units are M, K, G and T; M if none is given; …"),
    ("run --overhead 1% --overhead 2% -- true", "run: --overhead is given several times", "give it once; …"),
    ("run --with cud -- true", "run: --with: unknown value 'cud'", "did you mean 'cuda'? choose from …"),
    ("run -o a.json,b.html -- true", "run: --output: a comma between outputs in 'a.json,b.html'", "write 'a.json;b.html', or give the option twice; …"),
    ("run --functions solver:: -- true", "run: --functions: cannot read 'solver::' as functions: the file is missing, or ends in '::'", "write FILE:PATTERN, as in …"),
    ("doctor --ceilings a.json", "doctor: --ceilings has no effect without --measure-ceilings", "give both; `adaptyst help doctor` lists the options"),
    ("variability --window 1ms --shards 3 a", "variability: --window and --shards cannot be combined", "give one of them; `adaptyst help variability` lists the options"),
    ("variability --threads 0 a", "variability: --threads: '0' is not a whole number from 1 to 1024", "`adaptyst help variability` lists the options"),
    ("convert a.sqlite", "convert: --output is missing", "write `adaptyst convert [OPTIONS] -o FILE TRACE...`; …"),
    ("completion bash zsh", "completion: unexpected argument 'zsh'", "`adaptyst help completion` lists the options"),
    ("advise --for rows a.json", "advise: --for: 'rows' is not a feature and its value", "write it as in rows=4096; …"),
    ("help options --man", "help: there is no manual page of the options", "`adaptyst help options` lists them"),
]


def test_a_message_on_wrong_usage_has_what_where_and_what_to_do():
    for words, label, remedy in WRONG_USAGES:
        done = adaptyst(*words.split())
        require_equal((words, done.status, done.out), (words, 2, ""))
        expected = f"adaptyst: {label}\n          hint: {remedy}"
        is_as_expected = done.err.startswith(expected[:-1]) if expected.endswith("…") else done.err == expected + "\n"
        require(is_as_expected, words, "expected:", expected, "found:", done.err)
        require(len(done.err) < 700, done.err)
    require("cannot observe process 999999999" in adaptyst("attach", "999999999").err, "no such process")
    if os.geteuid() == 0:
        require("be root" not in adaptyst("attach", "--duration", "0.1", "1").err, "root is not advised to be root")


def test_options_mean_the_same_everywhere():
    """Those of results, wherever there is a result."""
    has = {name: set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", adaptyst(name, "--help").out, re.MULTILINE)) for name in subcommands()}
    printing = {"run", "attach", "report", "diff", "levels", "advise", "variability", "doctor", "sites"}
    require_equal({name for name, options in has.items() if "--quiet" in options}, printing)
    require_equal({name for name, options in has.items() if "--format" in options}, printing | {"top"})
    require_equal({name for name, options in has.items() if "--output" in options}, printing | {"top", "convert"})
    require_equal({name for name, options in has.items() if "--functions" in options}, {"run", "attach", "top", "levels"})
    require_equal({name for name, options in has.items() if "--verbose" in options}, (printing | {"top", "convert"}) - {"doctor", "sites"})
    for short, long in (("-o", "--output"), ("-q", "--quiet"), ("-v", "--verbose")):
        pairs = {name: f"{short}, {long}" in adaptyst(name, "--help").out for name in has if long in has[name]}
        require(all(pairs.values()), short, pairs)
    for name, options in has.items():
        require(not options & {"--timeline", "--report", "--function", "--json"}, f"{name} has a second spelling")
    # As a list, and several times.
    file = written("one.json", hand_made(region(["a"], 1)))
    once, twice = ["--for", "a=1,b=2"], ["--for", "a=1", "--for", "b=2"]
    require_equal(adaptyst("advise", *once, file), adaptyst("advise", *twice, file))


def test_numbers_may_have_units():
    for words in (["--overhead", "2"], ["--overhead", "2%"], ["--interval", "500ms"], ["--interval", "0.5"], ["--timeline-limit", "300"],
                  ["--timeline-limit", "1G"]):
        done = adaptyst("run", "--engine", "inline", "-q", *words, "--", "true")
        require_equal((words, done), (words, (0, "", "")))


def test_help_fits_80_columns():
    for name in ["", *subcommands(), "options"]:
        for environment in ({"COLUMNS": "80"}, {}):  # a pipe has no width
            kept = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
            text = adaptyst("help", *[name] * bool(name), env={**kept, **environment}).out
            for line in text.splitlines():
                require(len(line) <= 80, f"{name}: {len(line)} columns: {line}")


def test_help_has_no_types_for_values():
    for word in ("TEXT", "INT", "UINT", "FLOAT", "NUMBER", "BOOLEAN", "POSITIVE", "NONNEGATIVE", "in ["):
        require(re.search(rf"(?<![A-Z]){re.escape(word)}(?![A-Z])", adaptyst("help", "--markdown").out) is None, word)


def test_commands_are_grouped():
    headings = re.findall(r"^(\w[\w ]*):$", adaptyst("--help").out, re.MULTILINE)
    require_equal(headings, ["Examples", "Observe programs", "Results", "Analyse", "Traces", "Machine", "Help", "Options"])


def test_help_is_as_wide_as_the_terminal():
    for width in [40, 72, 100, 119]:
        for name in subcommands():
            text = adaptyst(name, "--help", env={**os.environ, "COLUMNS": str(width)}).out
            # Names, examples and the widest words are not broken.
            prose = [line for line in text.splitlines() if not re.match(r"  (\$|\S+.*\|)|Usage:", line)]
            require(max(map(len, prose)) <= max(width, 50), f"{name} at {width}:\n{text}")
            require(name == "help" or max(map(len, prose)) > width - 20, f"{name} at {width} is narrow:\n{text}")
        text = adaptyst("help", "options", env={**os.environ, "COLUMNS": str(width)}).out
        require(max(map(len, text.splitlines())) <= max(width, 70), f"options at {width}:\n{text}")


def test_every_subcommand_has_examples_that_it_understands():
    for name in subcommands():
        text = adaptyst(name, "--help").out
        examples = re.findall(r"^  \$ (.*)$", text.split("Examples:\n")[1].split("\n\n")[0], re.MULTILINE)
        require(examples, f"{name} has no example")
        for example in examples:
            require(re.search(rf"\badaptyst {name}\b", example), f"{name}: {example}")
            own = example.split(" -- ")[0] if name == "run" else example
            for option in re.findall(r"--[a-z-]+", own):
                require(re.search(rf"^  (-\w, )?{option}\b", text, re.MULTILINE), f"{name} has no {option}: {example}")
            require(example in (sources / "docs/cli.md").read_text(encoding="utf-8"), f"docs/cli.md lacks {example}")


def test_the_documentation_is_the_output_of_the_command():
    page = (sources / "docs/cli.md").read_text(encoding="utf-8")
    done = adaptyst("help", "--markdown")
    require_equal((done.status, done.err), (0, ""))
    require(done.out == page, "docs/cli.md differs; write it anew: adaptyst help --markdown >docs/cli.md")
    for name in subcommands():
        require(f"\n## adaptyst {name}\n" in page, f"no section on {name}")
        for option in re.findall(r"--[a-z-]+", adaptyst(name, "--help").out.split("Options:")[1].split("\n\n")[0]):
            require(option in page, f"no word about {option}")


run_all(dict(globals()))
