#!/usr/bin/env python3
"""Drives `adaptyst run` and `adaptyst attach` on a real program: observing.py ADAPTYST PROGRAM PLUGIN HOT_LOOP ENGINE
[CASE …]"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402
from states import find_child, computes, is_watched, more_pauses, pauses, until, watched  # noqa: E402

ADAPTYST, PROGRAM, PLUGIN, HOT_LOOP, ENGINE = sys.argv[1:6]
failures = Failures()
work = scratch()
profile_file = work / "profile.json"
LIMIT = 60  # seconds that nothing here comes near to


def command(*arguments):
    return [ADAPTYST, arguments[0], f"--engine={ENGINE}", "--format=none", "--overhead=none", f"--output={profile_file}", *map(str, arguments[1:])]


def load():
    if not profile_file.exists():
        failures.add("a profile was written")
        return {"regions": [], "accounting": {}, "processes": [], "devices": []}
    profile = profiles.read(profile_file.read_text())
    profile_file.unlink()
    account = profile["accounting"]
    failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), "the account adds up")
    failures.equal(profile["engine"], ENGINE, "the engine that was asked for")
    return profile


def counts(profile):
    return {"/".join(region["path"]): region["count"] for region in profile["regions"]}


def run(*arguments):
    return subprocess.run(command("run", "--", PROGRAM, *map(str, arguments)), capture_output=True, text=True, timeout=LIMIT,
                          check=False)


started = []


def spawn(words):
    """Starts a program that does not outlive the test, nor hold its output open."""
    started.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return started[-1]


def start(*arguments):
    return spawn([PROGRAM, *map(str, arguments)])


def start_pausing(*arguments):
    """One that is in its regions already."""
    program = start(*arguments)
    more_pauses(program.pid, 20)
    return program


def attach(*arguments):
    return subprocess.run(command("attach", *map(str, arguments)), capture_output=True, text=True, timeout=LIMIT, check=False)


def find_state(pid):
    return subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout[:1]


def case_run():
    done = run(1000)
    failures.equal((done.returncode, done.stdout), (3, "done\n"), "status and output are the program's")
    profile = load()
    failures.equal(counts(profile), {"outer": 1000, "outer/inner": 1000, "thread": 1000}, "every region is counted")
    thread = next(region for region in profile["regions"] if region["path"] == ["thread"])
    failures.equal(thread["attributes"].get("bytes", {}).get("sum"), 8000, "numbers of payloads come through")
    failures.equal(profile["accounting"]["lost"], {}, "nothing is lost")
    failures.equal(profile["process"]["command"], os.path.realpath(PROGRAM), "the program is named")


def case_children():
    run(100, 20)
    profile = load()
    failures.equal(counts(profile).get("child"), 2000 if ENGINE == "ebpf" else counts(profile).get("child"), "regions of children")
    failures.check(counts(profile).get("outer") == 100, "regions of the parent")
    failures.equal(len(profile.get("processes", [])), 21, "processes")


def case_exec():
    run(200, 0, 0, 3)
    profile = load()
    # The recorder goes with its program, which does not report that it is about to be replaced.
    expected = 800 if ENGINE == "ebpf" else 200
    failures.check(counts(profile).get("thread", 0) >= expected, "the program and what it has become", counts(profile))
    failures.equal(len(profile.get("processes", [])), 4, "programs")


def case_not_found():
    done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--", "/no/such/program"], capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    failures.equal(done.returncode, 127, "status of a program that is not there")
    failures.check("/no/such/program" in done.stderr, "and it is named", done.stderr)


def case_signals():
    program = spawn(command("run", "--interval=0.1", "--", PROGRAM, "100000", "0", "100"))
    more_pauses(find_child(program.pid, PROGRAM), 5000)
    program.send_signal(signal.SIGTERM)
    failures.equal(program.wait(LIMIT), -signal.SIGTERM, "a signal reaches the program, and ends both alike")
    failures.check(counts(load()).get("thread", 0) > 100, "what it did before is in the profile")


def case_killed():
    program = spawn(command("run", "--interval=0.1", "--", PROGRAM, "100000", "0", "100"))
    child = find_child(program.pid, PROGRAM)
    more_pauses(child, 10000)
    os.kill(child, signal.SIGKILL)
    failures.equal(program.wait(LIMIT), -signal.SIGKILL, "it ends as the program does")
    found = counts(load())
    failures.check(found.get("thread", 0) > 1000 and found.get("outer/inner", 0) > 1000, "a killed program leaves its profile", found)


def case_attach():
    program = start_pausing(100000, 0, 100)
    for label in "what happened meanwhile is counted", "it can be done again, and begins at nothing":
        before = pauses(program.pid)
        done = attach("--duration=0.5", program.pid)
        meanwhile = (pauses(program.pid) - before) / 2  # of each of two threads
        failures.check(done.returncode == 0, "attaching works", done.stderr)
        found = counts(load())
        failures.check(meanwhile / 20 < found.get("thread", 0) < 1.2 * meanwhile, label, (found, meanwhile))
    failures.check(find_state(program.pid) in "SR", "the program runs on")
    program.kill()
    program.wait()


def case_attach_with_a_timeline():
    """The timeline begins after the first marker. The events between are counted as lost."""
    program = start_pausing(100000, 0, 100)
    os.kill(program.pid, signal.SIGSTOP)
    observer = spawn(command("attach", "--duration=1.5", f"--output={work}/late.trace.json", program.pid))
    time.sleep(0.7)
    before = pauses(program.pid)
    os.kill(program.pid, signal.SIGCONT)
    failures.equal(observer.wait(LIMIT), 0, "attaching works")
    meanwhile = pauses(program.pid) - before
    found = load()
    lost = found["accounting"]["lost"].get("not_read", 0)
    failures.check(found["accounting"]["begun"] > 0.5 * meanwhile, "it is observed", (found["accounting"], meanwhile))
    failures.check((lost > 0) == (ENGINE == "inline"), "only the recorder loses events", (found["accounting"], meanwhile))
    program.kill()
    program.wait()


def case_attach_in_mid_loop():
    """A loop that does nothing but compute, and was optimised as if nothing ever listened."""
    program = spawn([HOT_LOOP])
    computes(program.pid)
    failures.equal(attach("--duration=0.3", program.pid).returncode, 0, "attaching works")
    found = counts(load())
    failures.check(found.get("step", 0) > 1000, "the loop wakes", found)
    program.kill()
    program.wait()


def case_attach_to_its_end():
    program = start_pausing(10000, 0, 100)
    failures.equal(attach(program.pid).returncode, 0, "attaching until the end works")
    failures.equal(program.wait(LIMIT), 3, "the program ends as ever")
    load()


def case_capabilities():
    """After attaching, an observer that is root has left what observing needs; the command it starts has all."""
    if os.geteuid() != 0:
        return failures.check(True, "SKIPPED: only root has capabilities to give up")

    def rights(pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("CapPrm")).split()[1], 16)

    kept = {1, 2, 5, 19, 40} | ({38, 39} if ENGINE == "ebpf" else set())  # of <linux/capability.h>
    program = start(100000, 0, 100)
    observer = spawn(command("attach", program.pid))
    whole = rights(os.getpid())
    is_watched(program.pid, PROGRAM)
    until(lambda: rights(observer.pid) != whole, "it has given up rights")
    left = rights(observer.pid)
    more_pauses(program.pid, 2000)
    failures.equal({bit for bit in range(64) if left >> bit & 1}, {bit for bit in kept if whole >> bit & 1}, "what is kept")
    observer.send_signal(signal.SIGINT)
    failures.equal(observer.wait(LIMIT), 0, "it ends as ever")
    failures.check(counts(load()).get("thread", 0) > 100, "with its profile")
    program.kill()
    program.wait()
    status = subprocess.run(command("run", "--", "grep", "CapPrm", "/proc/self/status"), capture_output=True, text=True, timeout=LIMIT,
                            check=False).stdout
    failures.equal(int(status.split()[1], 16), whole, "rights of the command")
    load()


def case_many():
    """64 processes at once, known by their name."""
    name = f"many_{os.getpid()}"
    copy = work / name
    copy.write_bytes(pathlib.Path(PROGRAM).read_bytes())
    copy.chmod(0o755)
    programs = [spawn([copy, "100000", "0", "20000"]) for _ in range(64)]
    for program in programs:
        more_pauses(program.pid, 1)
    done = attach("--duration=1", f"--name={name}")
    failures.check(done.returncode == 0, "64 processes are attached", done.stderr[:500])
    profile = load()
    failures.equal(len(profile.get("processes", [])), 64, "processes")
    failures.check(counts(profile).get("thread", 0) > 64 * 10, "all of them are counted", counts(profile))
    for program in programs:
        program.kill()
        program.wait()


def case_observer_killed():
    program = start_pausing(100000, 0, 100)
    # With an output of its own: of two that are there at once, the second adds its number to the name.
    observer = spawn([word.replace("profile.json", "killed.json") for word in command("attach", str(program.pid))])
    is_watched(program.pid, PROGRAM)
    refused = attach("--duration=0.1", program.pid)
    if ENGINE == "inline":
        failures.check(refused.returncode == 2 and f"process {observer.pid} already does" in refused.stderr,
                       "a second observer is refused, with the reason", refused.stderr)
    else:
        failures.equal(refused.returncode, 0, "a second observer is right as well")
        load()
    observer.kill()
    observer.wait()
    more_pauses(program.pid, 20)
    failures.check(find_state(program.pid) in "SR", "the program survives its observer")
    before = pauses(program.pid)
    done = attach("--duration=0.4", program.pid)
    failures.check(done.returncode == 0 and 100 < counts(load()).get("thread", 0) < pauses(program.pid) - before, "the next one takes over",
                   done.stderr)
    program.kill()
    program.wait()


def case_the_other_engine_after_a_kill():
    """What an observer that was killed has left awake, the next one puts to sleep, whatever engine it has."""
    if ENGINE != "ebpf":
        return
    own = shutil.copy(PROGRAM, work)  # which no other tool's probes wake
    program = spawn([own, "100000", "0", "100"])
    more_pauses(program.pid, 20)
    inline = [ADAPTYST, "attach", "--engine=inline", "--format=none", "--overhead=none", f"--output={profile_file}"]
    observer = spawn([*inline, str(program.pid)])
    is_watched(program.pid, own)
    more_pauses(program.pid, 20)
    observer.kill()
    observer.wait()
    failures.check(watched(program.pid, own), "its markers are awake")
    failures.equal(attach("--duration=0.2", program.pid).returncode, 0, "the kernel counts")
    load()
    until(lambda: not watched(program.pid, own), "its markers sleep")
    done = subprocess.run([*inline, "--duration=0.2", str(program.pid)], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal((done.returncode, done.stderr), (0, ""), "and the recorder is free")
    profile_file.unlink(missing_ok=True)
    program.kill()
    program.wait()


def case_functions():
    """A program that knows nothing of us, and a library of the system's."""
    if ENGINE != "ebpf":
        done = subprocess.run(command("run", "--functions=io", "--", PROGRAM, "1"), capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        failures.check(done.returncode == 2 and "engine=ebpf" in done.stderr and done.stdout == "", "functions need ebpf", done.stderr)
        return
    statements = "create table t(x); insert into t values (1), (2); select sum(x) from t;"
    done = subprocess.run(command("run", "--functions=libsqlite3.so:sqlite3_step", "--functions=libsqlite3.so:sqlite3_finalize",
                                  "--functions=libsqlite3.so:sqlite3_stepp", "--", "sqlite3", ":memory:", statements),
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal((done.returncode, done.stdout), (0, "3\n"), "the program does what it always did")
    failures.check("sqlite3_stepp" in done.stderr, "what is not there is named", done.stderr)
    profile = load()
    found = {}
    for region in profile["regions"]:
        found[region["path"][-1]] = found.get(region["path"][-1], 0) + region["count"]
    # Three statements, each finished by a step that returns no row, and one row; sqlite3 may step in others of its own.
    failures.check(found.get("sqlite3_step", 0) >= 4, "calls are counted", found)
    failures.check(all(region["kind"] == "function" for region in profile["regions"]), "they are functions")


def case_functions_among_markers():
    if ENGINE != "ebpf":
        return failures.check(True, "functions need ebpf")
    expected = {"outer": 100, "outer/inner": 100, "outer/inner/unmarked_pause": 100, "thread": 100, "thread/unmarked_pause": 100,
                "child": 300, "child/unmarked_pause": 300}
    subprocess.run(command("run", f"--functions={PROGRAM}:unmarked_*", "--", PROGRAM, 100, 3), capture_output=True, timeout=LIMIT,
                   check=False)
    failures.equal(counts(load()), expected, "one call tree, in children as well")
    program = start(100000, 0, 100)
    attach("--duration=0.5", f"--functions={PROGRAM}:unmarked_*", program.pid)
    found = counts(load())
    failures.check(found.get("thread/unmarked_pause", 0) > 100 and found.get("outer/inner/unmarked_pause", 0) > 100,
                   "in a program that runs already", found)
    program.kill()
    program.wait()


def case_loaded_later():
    """A library with markers that comes when we have attached already: from the next look on."""
    program = start_pausing(20000, 0, 100, 0, PLUGIN)  # half of them take more than a second
    done = attach("--interval=0.1", program.pid)
    found = counts(load())
    failures.check(found.get("outer", 0) > 10000 and found.get("plugin", 0) > 5000, "its regions are counted", (found, done.stderr))
    program.wait(LIMIT)


def case_nothing_to_see():
    program = spawn(["sleep", "30"])
    done = attach("--duration=0.2", program.pid)
    status = 0 if ENGINE == "ebpf" else 2  # its functions are sampled by the kernel
    failures.equal(done.returncode, status, "a program without markers")
    failures.check(status == 0 or "no markers" in done.stderr, "is refused where functions cannot be sampled", done.stderr)
    for number in 999999999, 2**32 + program.pid:
        done = attach(number)
        failures.check(done.returncode == 2 and str(number) in done.stderr, "a process that is not there", done.stderr)
    if ENGINE == "ebpf":
        done = attach("--functions", "libc.so:fclose", "--functions", "mpi", 999999999)
        failures.check(done.returncode == 2 and "999999999" in done.stderr, "a process stands behind functions", done.stderr)
    program.kill()
    program.wait()


run_cases(globals(), sys.argv[6:], failures, started)
