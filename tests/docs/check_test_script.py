"""The summary of scripts/test names each build and how its tests ended, and unsteady tests are counted: check_test_script.py ROOT

CMake and ctest are stand-ins here: ctest prints what the real one prints of three tests.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import Failures

# The second test fails beside others, in the builds that $FAILING names. $ALONE: how it ends alone.
CTEST = r"""#!/bin/bash
line() { printf '%d/%d Test #%d: %s .......   %s    1.00 sec\n' "$1" "$2" "$1" "$3" "$4"; }
if [[ $* == *--rerun-failed* ]]; then
  line 1 1 second "$ALONE"
  if [[ $ALONE == Passed ]]; then echo "100% tests passed, 0 tests failed out of 1"; exit 0; fi
  echo "0% tests passed, 1 tests failed out of 1"; exit 8
fi
line 1 3 first Passed
if [[ " $FAILING " == *" $2 "* ]]; then
  line 2 3 second '***Failed'; line 3 3 third '***Skipped'
  echo "67% tests passed, 1 tests failed out of 3"; exit 8
fi
line 2 3 second Passed; line 3 3 third Passed
echo "100% tests passed, 0 tests failed out of 3"
"""


def run_script(root, alone, failing, *options):
    """The exit status of scripts/test, its output, and how the tests of each build ended."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "scripts").mkdir()
        shutil.copy(root / "scripts/test", folder / "scripts")
        for name, text in (("scripts/install-dependencies", "#!/bin/sh\n"), ("bin/cmake", "#!/bin/sh\n"), ("bin/ctest", CTEST)):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o755)
        ended = subprocess.run([folder / "scripts/test", *options], capture_output=True, text=True, timeout=60, check=False,
                               env={"PATH": f"{folder}/bin:/usr/bin:/bin", "ALONE": alone, "FAILING": failing})
    how = {name: word for word, name in re.findall(r"^(\w+) +(\w+): test +\d+ s$", ended.stdout, re.MULTILINE)}
    return ended.returncode, ended.stdout, how


def main(root):
    failures = Failures()
    others = {"clang": "ok", "asan": "ok", "tsan": "ok"}
    for alone, options, expected, total, status in (
            ("Passed", ["--all"], {"gcc": "unsteady", **others}, "11 passed, 0 failed, 1 skipped", 0),
            ("***Failed", ["--all"], {"gcc": "FAILED", **others}, "10 passed, 1 failed, 1 skipped", 1),
            ("Passed", [], {"gcc": "unsteady"}, "2 passed, 0 failed, 1 skipped", 0)):
        got, text, how = run_script(pathlib.Path(root), alone, "gcc", *options)
        failures.check(how == expected, f"alone: {alone}: the summary has {expected}, and not {how}:\n{text}")
        failures.check(total in text, f"alone: {alone}: the summary ends with {total!r}:\n{text}")
        failures.check(got == status, f"alone: {alone}: exit status {status}, and not {got}")
        named = "unsteady: gcc: second failed beside other tests, and passed alone" in text
        failures.check(named == (alone == "Passed"), f"alone: {alone}: an unsteady test is named at the end:\n{text}")
    for failing, status in (("gcc clang", 0), ("gcc clang asan", 1)):
        got, text, _ = run_script(pathlib.Path(root), "Passed", failing, "--all")
        failures.check(got == status, f"unsteady in {failing}: exit status {status}, and not {got}:\n{text}")
        failures.check(("more than 2 tests are unsteady" in text) == (status == 1), f"unsteady in {failing}: why it fails:\n{text}")
    failures.exit(min_checks=16)


if __name__ == "__main__":
    main(*sys.argv[1:])
