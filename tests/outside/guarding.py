#!/usr/bin/env python3
"""What an observer must not write to: guarding.py ADAPTYST TURNCOAT [CASE …]"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch, skip  # noqa: E402

ADAPTYST, TURNCOAT = sys.argv[1:3]
LIMIT = 60  # seconds that nothing here comes near to
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
failures = Failures()
work = scratch()
started = []


def become(next_program, as_whom=()):
    """What a program says that has become another one while an observer was about to write to it."""
    program = subprocess.Popen([*as_whom, work / "turncoat", next_program], stdout=subprocess.PIPE, text=True)
    started.append(program)
    failures.equal(program.stdout.readline(), "ready\n", "the program is there")
    subprocess.run([ADAPTYST, "attach", "--engine=inline", "--report=none", str(program.pid)], capture_output=True,
                   timeout=LIMIT, check=False)
    said = program.communicate(timeout=LIMIT)[0]
    failures.equal(program.returncode, 0, "its next program ends as ever")
    return said


def case_replaced():
    failures.equal(become(work / "turncoat"), "0 changed\n", "words of the next program")


def case_replaced_by_setuid():
    if os.statvfs(work).f_flag & os.ST_NOSUID:
        return failures.check(True, f"SKIPPED: {work} is mounted with nosuid")
    setuid = work / "setuid"
    shutil.copy(TURNCOAT, setuid)
    setuid.chmod(0o4755)
    failures.equal(become(setuid, NOBODY), "0 changed\n", "words of a setuid program")


if os.geteuid() != 0:
    skip("only root may write to strangers")
work.chmod(0o755)
shutil.copy(TURNCOAT, work / "turncoat")
run_cases(globals(), sys.argv[3:], failures, started)
