"""The completion script, sourced in bash and called as bash calls it."""
import re
import shutil
import subprocess
import sys

import command
from command import adaptyst, require, require_equal, run_all, subcommands

if shutil.which("bash") is None:
    print("skipped: no bash")
    sys.exit(77)


def completed(*words):
    """What bash would offer for the last of the words."""
    done = adaptyst("completion", "bash")
    require_equal((done.status, done.err), (0, ""))
    script = command.directory / "completion.bash"
    script.write_text(done.out, encoding="utf-8")
    completion_script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _adaptyst; printf "%s\\n" "${COMPREPLY[@]}"'
    found = subprocess.run(["bash", "-u", "-c", completion_script, "bash", script, "adaptyst", *words], check=True, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return set(found.stdout.split())


def listed(section, text):
    return text.split(section + ":\n")[1].split("\n\n")[0]


def test_all_subcommands_are_offered():
    names = set(subcommands())
    require(len(names) >= 4, names)
    require_equal(completed(""), names)
    require_equal(completed("--"), {"--help", "--version"})
    require_equal(completed("rep"), {"report"})
    require_equal(completed("--version", "di"), {"diff"})


def test_all_options_of_each_are_offered():
    for name in completed(""):
        help_text = listed("Options", adaptyst(name, "--help").out)
        options = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", help_text, re.MULTILINE))
        require("--help" in options, help_text)
        require_equal((name, completed(name, "--")), (name, options))


def test_values_are_offered_where_they_are_few():
    require_equal(completed("report", "--format", ""), {"table", "json", "csv", "markdown", "none", "list"})
    require_equal(completed("report", "x.json", "--format", "j"), {"json"})
    require_equal(completed("report", "--format", "="), {"table", "json", "csv", "markdown", "none", "list"})
    require_equal(completed("report", "--format", "=", "t"), {"table"})
    require_equal(completed("completion", ""), {"bash", "zsh", "fish"})
    require("diff" in completed("help", ""), completed("help", ""))
    require_equal(completed("report", "--strict", "--o"), {"--output"})


def test_files_are_left_to_bash():
    require_equal(completed("report", ""), set())
    require_equal(completed("report", "--output", "--"), set())
    complete = adaptyst("completion", "bash").out.splitlines()[-1]
    require_equal(complete, "complete -o default -F _adaptyst adaptyst")


run_all(dict(globals()))
