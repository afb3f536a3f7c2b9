"""The summary of scripts/test names each build and how its tests ended, and unsteady tests are counted; the other builds are made
during GCC's tests: check_test_script.py ROOT

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

# Fails for the presets that $BROKEN names.
CMAKE = r"""#!/bin/bash
[[ $1 == --build ]] && { touch "built-$3"; exit 0; }
echo "$2.cpp:1:1: error: planted in $2"
[[ " $BROKEN " != *" $2 "* ]]
"""
# $MANY tests fail in parallel with others, in the builds that $FAILING names. $ALONE: how they end alone.
# $DURING: GCC's tests last until the other builds are made, at most a minute.
CTEST = r"""#!/bin/bash
if [[ $2 == gcc && $DURING == 1 ]]; then
  for ((tenths = 0; tenths != 600; ++tenths)); do [[ -e built-asan ]] && break; sleep 0.1; done
  [[ -e built-asan ]] || exit 8
fi
line() { printf '%d/%d Test #%d: %s .......   %s    1.00 sec\n' "$1" "$2" "$1" "$3" "$4"; }
names=(second fourth fifth)
total=$((2 + MANY))
if [[ $* == *--rerun-failed* ]]; then
  for ((at = 0; at != MANY; ++at)); do line $((at + 1)) "$MANY" "${names[at]}" "$ALONE"; done
  if [[ $ALONE == Passed ]]; then echo "100% tests passed, 0 tests failed out of $MANY"; exit 0; fi
  echo "0% tests passed, $MANY tests failed out of $MANY"; exit 8
fi
line 1 $total first Passed
[[ " $FAILING " == *" $2 "* ]] && how='***Failed' third='***Skipped' || how=Passed third=Passed
for ((at = 0; at != MANY; ++at)); do line $((at + 2)) "$total" "${names[at]}" "$how"; done
line "$total" "$total" third "$third"
if [[ $how == Passed ]]; then echo "100% tests passed, 0 tests failed out of $total"; exit 0; fi
echo "50% tests passed, $MANY tests failed out of $total"; exit 8
"""


def run_script(root, alone, failing, *options, many=1, broken="", during=False):
    """The exit status of scripts/test, its output, and how the tests of each build ended."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "scripts").mkdir()
        shutil.copy(root / "scripts/test", folder / "scripts")
        for name, text in (("scripts/install-dependencies", "#!/bin/sh\n"), ("bin/cmake", CMAKE), ("bin/ctest", CTEST)):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o755)
        ended = subprocess.run([folder / "scripts/test", *options], capture_output=True, text=True, timeout=300, check=False,
                               env={"PATH": f"{folder}/bin:/usr/bin:/bin", "ALONE": alone, "FAILING": failing, "MANY": str(many),
                                    "BROKEN": broken, "DURING": str(int(during))})
    how = {name: word for word, name in re.findall(r"^(\w+) +(\w+): test +\d+ s, +\d+ s of CPU time$", ended.stdout, re.MULTILINE)}
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
        named = "unsteady: gcc: second failed in parallel with other tests, and passed alone" in text
        failures.check(named == (alone == "Passed"), f"alone: {alone}: an unsteady test is named at the end:\n{text}")
    for many, status in ((2, 0), (3, 1)):
        got, text, _ = run_script(pathlib.Path(root), "Passed", "gcc", many=many)
        failures.check(got == status, f"{many} unsteady tests: exit status {status}, and not {got}:\n{text}")
        failures.check(("more than 2 tests are unsteady" in text) == (status == 1), f"{many} unsteady tests: why it fails:\n{text}")
    got, text, how = run_script(pathlib.Path(root), "Passed", "", "--all", during=True)
    failures.check((got, how) == (0, {"gcc": "ok", **others}), f"the other builds are made during GCC's tests:\n{text}")
    for broken in ("gcc", "tsan"):
        got, text, how = run_script(pathlib.Path(root), "Passed", "", "--all", broken=broken)
        right = {name: word for name, word in {"gcc": "ok", **others}.items() if name != broken}
        failures.check((got, how) == (1, right), f"{broken} is not built, and not tested; the others are:\n{text}")
        failures.check(re.search(rf"^FAILED +{broken}: build +\d+ s", text, re.MULTILINE), f"{broken}: the summary reports it:\n{text}")
        failures.equal(re.findall(r"error: planted in (\w+)", text), [broken], f"{broken}: errors of this build are printed")
    failures.exit(min_checks=23)


if __name__ == "__main__":
    main(*sys.argv[1:])
