#!/usr/bin/env python3
"""What a program leaves in a file when it is killed and nothing listens: keeping.py ADAPTYST PROGRAM [CASE …]

PROGRAM is abrupt_end with a collector of its own, and counts its regions itself. $ADAPTYST_KILLS: how many programs are ended at
random moments (10). $ADAPTYST_SEED: what chance begins with; it is another each time, and printed."""
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from abrupt_end import ABRUPT, STATUS, kill_all, make_counts, read_counts, short  # noqa: E402
from cases import run_cases  # noqa: E402
from compiling import AS_NOBODY, Failures, scratch  # noqa: E402
from states import until  # noqa: E402

ADAPTYST, PROGRAM = sys.argv[1:3]
KILLS = int(os.environ.get("ADAPTYST_KILLS", "10"))
SEED = int(os.environ.get("ADAPTYST_SEED") or random.SystemRandom().randrange(1 << 32))
LIMIT = 60  # seconds that nothing here comes near to
IS_ROOT = os.geteuid() == 0
# A child that is forked while the collector's thread holds the lock of the sanitizer's own allocator waits for ever.
HAS_ADDRESS_SANITIZER = b"__asan_init" in pathlib.Path(PROGRAM).read_bytes()
failures = Failures()
work = scratch()
work.chmod(0o777)
kept = work / "kept"
kept.mkdir()
kept.chmod(0o777)
counts = work / "counts"
started = []


def start(how, milliseconds, *options, threads=1, children=0, user=(), directory=kept, before=()):
    make_counts(counts, threads * (1 + children))
    environment = dict(os.environ, ADAPTYST=",".join([f"keep={directory}", *options]))
    started.append(subprocess.Popen([*user, *before, PROGRAM, str(milliseconds), how, counts, str(threads), str(children)], env=environment,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    return started[-1]


def run(how, milliseconds, *options, **program):
    """The text on standard error."""
    running = start(how, milliseconds, *options, **program)
    if how == "wait":
        kill_all(counts, milliseconds / 1000)
    _, messages = running.communicate(timeout=LIMIT)
    failures.equal(running.returncode, STATUS[how], f"{how}: the program's status")
    return messages


def report(file):
    return subprocess.run([ADAPTYST, "report", "--format=json", file], capture_output=True, text=True, timeout=LIMIT, check=False)


def take():
    """The only file that is kept, and the profile that it gives."""
    files = list(kept.iterdir())
    failures.equal(len(files), 1, "one file is left")
    done = report(files[0])
    failures.equal((done.returncode, done.stderr), (0, ""), "it is read")
    profile = json.loads(done.stdout)
    account = profile["accounting"]
    failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), "the account adds up")
    return files[0], profile


def of_parent():
    """Completed and begun, without children."""
    parent = read_counts(counts)[0][0]
    mine = [count for count in read_counts(counts) if count[0] == parent]
    return sum(entry[2] for entry in mine), sum(entry[1] for entry in mine)


def case_killed():
    beyond = 0
    for at in range(KILLS):
        how = random.choice(ABRUPT + ["wait"] * 3)
        program = {"threads": random.choice([1, 3]), "children": 0 if HAS_ADDRESS_SANITIZER else random.choice([0, 0, 3]), "user": AS_NOBODY if IS_ROOT and random.random() < 0.5 else ()}
        exact = random.random() < 0.5
        run(how, random.randrange(50, 400), *(["overhead=none"] if exact else []), **program)
        completed, begun = of_parent()
        file, profile = take()
        count, error = short(profile, failures)
        # Five standard errors, since this is done often; and what was left out in the end, before the first was taken.
        within = 0 if exact else 5 * error + 100
        failures.check(completed - within <= count <= begun + within, f"{how}, {program}: as many as there were",
                       (completed, begun, count, error, profile["accounting"]))
        beyond += not exact and not completed - 3 * error <= count <= begun + 3 * error
        failures.equal(profile["accounting"]["lost"], {}, f"{how}, {program}: nothing is lost")
        failures.equal(profile["reason"], "its process has ended without a report", "it is reported")
        file.unlink()
    print(f"{beyond} of {KILLS} beyond three stated errors")


def case_killed_at_once():
    """Before its second sign of life: how long it ran is not known, and nothing is a share of that."""
    run("kill", 10)
    file, profile = take()
    ran = profile["process"]["duration_ns"]
    failures.check(ran is None or ran >= 100_000_000, "a time that is known, or none", ran)
    table = subprocess.run([ADAPTYST, "report", file], capture_output=True, text=True, timeout=LIMIT, check=False).stdout
    failures.check(ran is not None or ("time unknown" in table and not re.search(r"\d{3}%", table)), "no share of it", table)
    file.unlink()


def case_rank():
    """It is named as killed in the report of all ranks."""
    os.environ["OMPI_COMM_WORLD_RANK"] = "7"
    run("wait", 200)
    del os.environ["OMPI_COMM_WORLD_RANK"]
    file, profile = take()
    process = profile["process"]
    failures.equal((process["rank"], process["killed"]), (7, True), "its rank is known")
    other = dict(profile, process=dict(process, rank=8))
    del other["process"]["killed"]
    (work / "other.json").write_text(json.dumps(other))
    done = subprocess.run([ADAPTYST, "report", file, work / "other.json"], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.check(f"killed, or without a report: 1 rank (7 on {process['host']})" in " ".join(done.stdout.split()), "it is named", done.stdout)
    failures.check("2 ranks on 1 host" in done.stdout, "both are ranks", done.stdout)
    file.unlink()


def case_unwritable():
    """An output that cannot be written is reported at the start, also if the program never ends."""
    messages = run("kill", 50, f"output={work}/missing/profile.json")
    failures.check(f"cannot write to {work}/missing/profile.json" in messages, "it is reported", messages)
    take()[0].unlink()


def case_devices():
    """Killed at any moment, also while a thread collects the events of all threads."""
    for at in range(KILLS):
        os.environ["OPERATIONS"] = "1"
        run("wait", random.randrange(300, 700), "overhead=none", threads=3)
        del os.environ["OPERATIONS"]
        completed, begun = of_parent()
        file, profile = take()
        device = profile["devices"][1]
        failures.check(completed <= device["operations"] <= begun, "every operation", (completed, begun, device))
        failures.equal((device["busy_ns"], device["work_ns"]), (10 * device["operations"],) * 2, "each of them once")
        failures.equal((device["late"], device["skipped"]), (0, 0), "none is late")
        file.unlink()


def case_in_the_middle():
    running = start("wait", 0, "overhead=none", threads=3)
    until(lambda: all(begun for _, begun, _ in read_counts(counts)), "it begins")
    file, profile = take()
    failures.equal(profile["reason"], "its process still runs", "of one that runs it is reported")
    messages = {"boot": "its process has ended without a report", "command": "its process runs another program now"}
    for field, expected in messages.items():
        with file.open("rb") as beginning:
            whole = beginning.read(4 << 20)
        command = whole.index(os.path.realpath(PROGRAM).encode())
        at = command if field == "command" else command - 64  # where its words begin
        other = work / "other.kept"
        other.write_bytes(whole[:at] + bytes(8) + whole[at + 8:])
        os.truncate(other, file.stat().st_size)
        failures.equal(json.loads(report(other).stdout)["reason"], expected, f"with another {field} than that of one that runs")
        other.unlink()
    running.kill()
    running.wait()
    file, profile = take()
    process = profile["process"]
    failures.equal((process["pid"], process["command"], process["host"]), (running.pid, os.path.realpath(PROGRAM), os.uname().nodename), "which process")
    failures.equal(sum(place["threads"] for place in process["ended_in"]), 3, "where its threads were")
    used = file.stat()
    failures.check(used.st_blocks * 512 < 2 << 20 and used.st_mode & 0o777 == 0o600, "it is small, and its owner's alone", used)
    file.unlink()


def case_as_it_should():
    failures.equal(run("exit", 100, f"output={work}/profile.json"), "", "nothing is reported")
    failures.equal(list(kept.iterdir()), [], "a clean end leaves nothing")
    failures.check(short(json.loads((work / "profile.json").read_text()), failures)[0] > 0, "but the profile")
    messages = run("exit", 100, f"output={work}/no/profile.json")
    file, profile = take()
    failures.check(str(file) in messages, "a profile that cannot be written is not lost", messages)
    file.unlink()


def case_refused():
    messages = run("exit", 10, directory=work / "no")
    failures.check("cannot keep" in messages and "ENOENT" in messages, "no such directory", messages)
    messages = run("exit", 10, "engine=ebpf")
    failures.check("engine=ebpf" in messages, "rows of the kernel go with the program", messages)
    messages = run("exit", 10, before=["prlimit", "--fsize=65536:65536"])
    failures.check("ulimit -f" in messages, "a limit on the size of files", messages)
    failures.equal(list(kept.iterdir()), [], "nothing is left")
    done = subprocess.run([ADAPTYST, "run", "--", PROGRAM, "10", "exit", counts], capture_output=True, text=True, timeout=LIMIT, check=False,
                          env=dict(os.environ, ADAPTYST=f"keep={kept}"))
    failures.equal(list(kept.iterdir()), [], "an observer holds it already")
    failures.equal(done.returncode, 0, "the program runs on")


def case_without_standard_output():
    """Its number is not taken by the file, or what the program prints would be written there."""
    running = subprocess.Popen(["sh", "-c", 'exec "$@" >&-', "sh", PROGRAM, "50", "kill", counts], env=dict(os.environ, ADAPTYST=f"keep={kept},overhead=none"))
    make_counts(counts, 1)
    running.wait(LIMIT)
    file, profile = take()
    failures.check(short(profile, failures)[0] > 0, "it is read", profile["accounting"])
    file.unlink()


def case_full_disk():
    if not IS_ROOT:
        return failures.check(True, "SKIPPED: only root can mount")
    small = work / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=904k", "tmpfs", small], check=False).returncode != 0:
        return failures.check(True, "SKIPPED: nothing can be mounted here")
    try:
        run("wait", 500, "overhead=none", threads=64, directory=small)  # 10 MB, if each gets a processor
        files = list(small.iterdir())
        profile = json.loads(report(files[0]).stdout)
        lost = profile["accounting"]["lost"]
        failures.check(lost.get("no_memory", 0) > 0, "what had no room is counted, and no signal came", profile["accounting"])
        files[0].unlink()
        (small / "fill").write_bytes(bytes(896 << 10))
        messages = run("exit", 10, directory=small)
        failures.check("ENOSPC" in messages, "no room at all", messages)
        failures.equal([file.name for file in small.iterdir()], ["fill"], "nothing is left")
    finally:
        subprocess.run(["umount", small], check=True)


def case_other_files():
    run("kill", 50, "overhead=none")
    file, _ = take()
    whole = file.read_bytes()[:4 << 20]
    size = file.stat().st_size
    other = work / "other.kept"

    def damaged(change, label, expect):
        other.write_bytes(whole)
        os.truncate(other, size)
        with open(other, "r+b") as at:
            change(at)
        done = report(other)
        failures.check(expect in done.stdout + done.stderr, label, (done.returncode, done.stderr, done.stdout[:300]))
        failures.check(done.returncode in (0, 2), f"{label}: no harm", done.returncode)

    def put(at, offset, *words):
        at.seek(offset)
        at.write(struct.pack("Q" * len(words), *words))

    damaged(lambda at: put(at, 8, 4711), "another layout", "another version of adaptyst")
    damaged(lambda at: put(at, 0, 4711), "no magic number", "not a profile")
    damaged(lambda at: os.truncate(other, 1 << 20), "a file that was cut", "no store")
    for _ in range(20 if HAS_ADDRESS_SANITIZER else 60):  # each is read by a process of its own
        damaged(lambda at: [put(at, random.randrange(0, len(whole) - 8, 8), random.getrandbits(64)) for _ in range(20)], "random damage", "")
        damaged(lambda at: [put(at, random.randrange(0, 4096, 8), random.choice([0, 1, 1 << 63, random.getrandbits(64)])) for _ in range(4)],
                "random damage of its head", "")
    file.unlink()


print(f"ADAPTYST_SEED={SEED}", flush=True)
random.seed(SEED)
run_cases(globals(), sys.argv[3:], failures, started)
