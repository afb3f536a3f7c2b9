"""What the command says of itself, and what it does when it is called wrongly."""
import re

from command import adaptyst, require, require_equal, run_all, sources


def subcommands():
    listed = adaptyst("--help").out.split("Subcommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def test_the_version_is_that_of_the_headers():
    header = (sources / "include/adaptyst/version.hpp").read_text(encoding="utf-8")
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
    for wrong in [[], ["--bogus"], ["bogus"], ["report"], ["report", "--bogus", "a"], ["report", "a", "--format", "xml"],
                  ["diff", "a"], ["diff", "a", "b", "c"], ["help", "bogus"], ["completion", "tcsh"]]:
        done = adaptyst(*wrong)
        require_equal((wrong, done.status, done.out), (wrong, 2, ""))
        require(done.err, f"{wrong}: nothing was said")
    require("--bogus" in adaptyst("report", "--bogus", "a").err, "the option is not named")


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
