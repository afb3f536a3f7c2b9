"""The completion scripts for zsh and fish, called by the key tab."""
import pathlib
import re
import shutil
import subprocess
import sys

import command
from command import adaptyst, require, require_equal, run_all, subcommands

for shell in ["zsh", "fish"]:
    if shutil.which(shell) is None:
        print(f"skipped: no {shell}")
        sys.exit(77)


def printed(*words):
    return set(subprocess.run([str(word) for word in words], check=True, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              timeout=60).stdout.splitlines())


def in_zsh(line):
    (command.directory / "_adaptyst").write_text(adaptyst("completion", "zsh").out, encoding="utf-8")
    return printed(pathlib.Path(__file__).with_name("ask_zsh"), command.directory, line)


def in_fish(line):
    script = command.directory / "adaptyst.fish"
    script.write_text(adaptyst("completion", "fish").out, encoding="utf-8")
    offered = printed("fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, line)
    return {entry.split("\t")[0] for entry in offered}


def check(offers):
    require_equal(offers("adaptyst "), set(subcommands()))
    require_equal(offers("adaptyst re"), {"report"})
    require_equal(offers("adaptyst --ver"), {"--version"})
    require_equal(offers("adaptyst report --fo"), {"--format"})
    require_equal(offers("adaptyst report --format "), {"table", "json", "csv", "markdown", "none", "list"})
    require_equal(offers("adaptyst completion "), {"bash", "zsh", "fish"})
    # The options of `help`, not those of its subject.
    require_equal(offers("adaptyst help run --ma"), {"--man", "--markdown"})
    # A file.
    (command.directory / "adaptyst-profile.json").touch()
    offered = offers(f"adaptyst report {command.directory}/adaptyst-p")
    require(any("adaptyst-profile.json" in line for line in offered), offered)


def test_zsh():
    check(in_zsh)


def test_fish():
    check(in_fish)


def test_fish_knows_all_options():
    for name in subcommands():
        text = adaptyst(name, "--help").out.split("Options:\n")[1].split("\n\n")[0]
        require_equal((name, in_fish(f"adaptyst {name} --")), (name, set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE))))


run_all(dict(globals()))
