"""The manual pages, as those tools see them that show and check such."""
import re
import shutil
import subprocess
import sys

from command import adaptyst, require, require_equal, run_all

for tool in ["groff", "mandoc"]:
    if shutil.which(tool) is None:
        print(f"skipped: no {tool}")
        sys.exit(77)


def read_page(*names):
    done = adaptyst("help", *names, "--man")
    require_equal((done.status, done.err), (0, ""))
    return done.out


def pipe(page, *words):
    return subprocess.run(words, input=page, text=True, encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False).stdout


def subcommands():
    return re.findall(r"^\.BR adaptyst\\-(\w+) \(1\)", read_page(), re.MULTILINE)


def test_pages_are_well_formed():
    for page in [read_page(), *map(read_page, subcommands())]:
        require_equal(pipe(page, "groff", "-ww", "-k", "-man", "-Tutf8", "-z"), "")
        # There is no date, so that what is built twice is the same.
        found = [line for line in pipe(page, "mandoc", "-Tlint", "-Wwarning").splitlines() if "missing date" not in line]
        require_equal(found, [])


def test_pages_have_the_text_of_help():
    for name in subcommands():
        # Without the marks of bold text, and on lines of any length.
        shown = re.sub(".\b", "", pipe(read_page(name), "mandoc", "-Tutf8", "-Owidth=500"))
        shown = " ".join(shown.split())
        require(f"adaptyst-{name} - " in shown, shown)
        text = adaptyst("help", name).out
        for line in re.findall(r"^  ((?:-\w, )?--.*?)(?:  |$)", text, re.MULTILINE) + re.findall(r"^  (\$ .*)", text, re.MULTILINE):
            require(line in shown, f"{name}: no {line} in {shown}")
        require("EXIT STATUS" in shown, shown)


def test_options_have_none():
    for wrong in [["options", "--man"], ["--man", "--markdown"]]:
        done = adaptyst("help", *wrong)
        require_equal((done.status, done.out), (2, ""))


run_all(dict(globals()))
