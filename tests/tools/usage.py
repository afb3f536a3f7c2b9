"""What the command says of itself, and what it does when it is called wrongly."""
import os
import re

from command import adaptyst, require, require_equal, run_all, sources


def subcommands():
    listed = adaptyst("--help").out.split("Subcommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\w+)", listed, re.MULTILINE)


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
        # One line for each option, and none without an explanation.
        for line in done.out.splitlines():
            require(not re.fullmatch(r"  -\S+\s*", line), f"{name}: no word about {line}")
        require_equal(adaptyst("help", name), done)
    require_equal(adaptyst("help"), adaptyst("--help"))


def test_wrong_usage_has_a_status_of_its_own():
    for wrong in [["--bogus"], ["bogus"], ["report"], ["report", "--bogus", "a"], ["report", "a", "--format", "xml"],
                  ["diff", "a"], ["diff", "a", "b", "c"], ["help", "bogus"], ["completion", "tcsh"]]:
        done = adaptyst(*wrong)
        require_equal((wrong, done.status, done.out), (wrong, 2, ""))
        require(done.err, f"{wrong}: nothing was said")
    # Alone, it tells what it can be asked; but nothing was asked.
    require_equal(adaptyst(), (2, adaptyst("--help").out, ""))
    require("2 wrong usage or bad input, also without a subcommand" in " ".join(adaptyst("--help").out.split()), "untold")
    require("--bogus" in adaptyst("report", "--bogus", "a").err, "the option is not named")


def test_a_misspelt_subcommand_is_guessed():
    for wrong, meant in [("atach", "attach"), ("reprot", "report"), ("Run", "run")]:
        for arguments in [[wrong], [wrong, "4711", "--all"], [wrong, "--help"]]:
            done = adaptyst(*arguments)
            require_equal((arguments, done.status, done.out), (arguments, 2, ""))
            require(f"'{wrong}' is no subcommand; did you mean '{meant}'? known are run, attach" in done.err, done.err)
    done = adaptyst("frobnicate")
    require("'frobnicate' is no subcommand; known are run" in done.err, done.err)
    require("did you mean '--help'?" in adaptyst("--hlp").err, "options are guessed as before")


def test_wrong_usage_is_reported_with_the_subcommand_and_a_hint():
    for arguments, expected in [(["report", "--top", "-3", "a"], "adaptyst: report: --top: '-3' is no whole number from 0 on"),
                                (["report", "--depth", "x", "a"], "adaptyst: report: --depth: 'x' is no whole number from 0 on"),
                                (["report", "--sort", "sefl", "a"], "adaptyst: report: --sort: 'sefl' is unknown; did you mean 'self'?"),
                                (["report"], "adaptyst: report: FILE is required"),
                                (["report", "--fromat", "csv", "a"], "hint: did you mean '--format'? `adaptyst help report` lists the options"),
                                (["run", "--with", "cud", "--", "true"], "adaptyst: run: --with: 'cud' is unknown; did you mean 'cuda'?"),
                                (["run", "--overhead", "2", "--", "true"], "write it with a percent sign, as in 2%"),
                                (["run", "--output", "a.json,b.html", "--", "true"], "write 'a.json;b.html', or give the option twice"),
                                (["attach", "--duration", "0", "1"], "adaptyst: attach: --duration: '0' is no number above 0"),
                                (["attach", "--interval", "nan", "1"], "adaptyst: attach: --interval: 'nan' is no number from 0.01 to 3600"),
                                (["attach", "999999999"], "cannot observe process 999999999"),
                                (["--bogus"], "adaptyst: ")]:
        done = adaptyst(*arguments)
        require_equal((arguments, done.status, done.out), (arguments, 2, ""))
        require(expected in done.err and done.err.startswith("adaptyst: ") and len(done.err) < 600, (arguments, done.err))
        require("Run with --help" not in done.err, done.err)
    if os.geteuid() == 0:
        require("be root" not in adaptyst("attach", "--duration", "0.1", "1").err, "root is not advised to be root")


def test_what_a_report_is_printed_as_is_said_once():
    done = adaptyst("run", "--report", "json", "--format", "csv", "--", "true")
    require_equal((done.status, done.out), (2, ""))
    require("--report excludes --format" in done.err and "did you mean" not in done.err, done.err)


def test_help_is_as_wide_as_the_terminal():
    for width in [40, 72, 100, 119]:
        for name in subcommands():
            text = adaptyst(name, "--help", env={**os.environ, "COLUMNS": str(width)}).out
            # Names, examples and the widest words are not broken.
            prose = [line for line in text.splitlines() if not re.match(r"  (\$|\S+.*\|)|Usage:", line)]
            require(max(map(len, prose)) <= max(width, 50), f"{name} at {width}:\n{text}")
            require(max(map(len, prose)) > width - 20, f"{name} at {width} is narrow:\n{text}")
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


def test_the_documentation_is_what_the_command_says():
    page = (sources / "docs/cli.md").read_text(encoding="utf-8")
    done = adaptyst("help", "--markdown")
    require_equal((done.status, done.err), (0, ""))
    require(done.out == page, "docs/cli.md differs; write it anew: adaptyst help --markdown >docs/cli.md")
    for name in subcommands():
        require(f"\n## adaptyst {name}\n" in page, f"no section on {name}")
        for option in re.findall(r"--[a-z-]+", adaptyst(name, "--help").out.split("Options:")[1].split("\n\n")[0]):
            require(option in page, f"no word about {option}")


run_all(dict(globals()))
