#!/usr/bin/env python3
"""What an observer must not write to, and whom a program must not believe: guarding.py ADAPTYST REPLACED_PROGRAM MARKED [CASE …]"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch, skip  # noqa: E402

ADAPTYST, REPLACED_PROGRAM, MARKED = sys.argv[1:4]
LIMIT = 60  # seconds that nothing here comes near to
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
failures = Failures()
work = scratch()
started = []


def become(next_program, as_whom=()):
    """What a program says that has become another one while an observer was about to write to it."""
    program = subprocess.Popen([*as_whom, work / "replaced_program", next_program], stdout=subprocess.PIPE, text=True)
    started.append(program)
    failures.equal(program.stdout.readline(), "ready\n", "the program is there")
    subprocess.run([ADAPTYST, "attach", "--engine=inline", "--report=none", str(program.pid)], capture_output=True,
                   timeout=LIMIT, check=False)
    said = program.communicate(timeout=LIMIT)[0]
    failures.equal(program.returncode, 0, "its next program ends as ever")
    return said


def case_replaced():
    failures.equal(become(work / "replaced_program"), "0 changed\n", "words of the next program")


def case_replaced_by_setuid():
    if os.statvfs(work).f_flag & os.ST_NOSUID:
        return failures.check(True, f"SKIPPED: {work} is mounted with nosuid")
    setuid = work / "setuid"
    shutil.copy(REPLACED_PROGRAM, setuid)
    setuid.chmod(0o4755)
    failures.equal(become(setuid, NOBODY), "0 changed\n", "words of a setuid program")


IMPOSTOR = """
import os, socket, sys
os.setuid(65534)
ear = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
ear.bind(chr(0) + sys.argv[1])
ear.listen(1)
print("ready", flush=True)
while True:
    peer, _ = ear.accept()
    print(len(peer.recv(4096)), flush=True)
    sys.stdin.readline()
"""


def case_many_descriptors():
    """A program that sends more of them than it should takes none of the observer's."""
    program = work / "sender.py"
    program.write_text("""
import array, os, socket
observer = os.environ["ADAPTYST_OBSERVER"]
number = observer.split("-")[1]
opened = lambda: len(os.listdir(f"/proc/{number}/fd"))
before = opened()
for count in [2, 3, 253] * 20:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
        peer.connect("\\0" + observer)
        peer.sendmsg([b"xx"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * count))])
        peer.recv(100)
print(opened() - before)
""")
    done = subprocess.run([ADAPTYST, "run", "--engine=inline", "--report=none", "--", sys.executable, program], capture_output=True, text=True,
                          timeout=60, check=False)
    failures.equal((done.returncode, done.stdout), (0, "0\n"), "descriptors of the observer")


def case_impostor():
    """Another process has taken the name of an observer that is dead, and does not answer."""
    name = f"adaptyst-impostor-{os.getpid()}"
    ear = subprocess.Popen([sys.executable, "-c", IMPOSTOR, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    started.append(ear)
    failures.equal(ear.stdout.readline(), "ready\n", "something listens")
    begin = time.monotonic()
    done = subprocess.run([MARKED, "1"], env={**os.environ, "ADAPTYST_OBSERVER": name}, stdout=subprocess.DEVNULL, timeout=LIMIT,
                          check=False)
    failures.equal(done.returncode, 3, "the program ends as ever")
    failures.check(time.monotonic() - begin < 4, "nothing was waited for, which takes 5 s", time.monotonic() - begin)
    failures.equal(ear.stdout.readline(), "0\n", "and nothing was told")


if os.geteuid() != 0:
    skip("only root may write to strangers")
work.chmod(0o755)
shutil.copy(REPLACED_PROGRAM, work / "replaced_program")
run_cases(globals(), sys.argv[4:], failures, started)
