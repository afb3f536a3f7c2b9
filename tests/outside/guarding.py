#!/usr/bin/env python3
"""What an observer must not write to, and whom a program must not believe: guarding.py ADAPTYST REPLACED_PROGRAM MARKED LYING HOSTILE [CASE …]"""
import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import NOBODY, Failures, scratch, skip  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, REPLACED_PROGRAM, MARKED, LYING, HOSTILE = sys.argv[1:6]
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HAS_ADDRESS_SANITIZER = b"__asan_report_load8" in pathlib.Path(ADAPTYST).read_bytes()  # it needs memory and descriptors of its own
LIMIT = 60  # seconds that nothing here comes near to
failures = Failures()
work = scratch()
started = []


def become(next_program, as_whom=()):
    """The output of a program that became another one while an observer was about to write to it."""
    program = subprocess.Popen([*as_whom, work / "replaced_program", next_program], stdout=subprocess.PIPE, text=True)
    started.append(program)
    failures.equal(program.stdout.readline(), "ready\n", "the program is there")
    subprocess.run([ADAPTYST, "attach", "--engine=inline", "--format=none", str(program.pid)], capture_output=True,
                   timeout=LIMIT, check=False)
    messages = program.communicate(timeout=LIMIT)[0]
    failures.equal(program.returncode, 0, "its next program ends as ever")
    return messages


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
import array, os, socket, time
observer = os.environ["ADAPTYST_OBSERVER"]
number = observer.split("-")[1]
def opened():  # without files that the observer reads now
    return min((time.sleep(0.005), len(os.listdir(f"/proc/{number}/fd")))[1] for _ in range(20))
before = opened()
for count in [2, 3, 253] * 20:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
        peer.connect("\\0" + observer)
        peer.sendmsg([b"xx"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * count))])
        peer.recv(100)
print(opened() - before)
""")
    done = subprocess.run([ADAPTYST, "run", "--engine=inline", "--format=none", "--", sys.executable, program], capture_output=True, text=True,
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
    failures.equal(ear.stdout.readline(), "0\n", "and nothing was reported")


def observe(*command, engine="inline", outputs=()):
    file = work / "profile.json"
    file.unlink(missing_ok=True)
    words = [ADAPTYST, "run", f"--engine={engine}", "--format=none", f"--output={file}", *outputs, "--", *command]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LIMIT, check=False)
    return done, json.loads(file.read_text()) if file.exists() else {"regions": [], "accounting": {"lost": {}, "ended": None}}


def case_row_without_path():
    """The row is refused and counted, and the program ends as ever, by whatever is looked at."""
    for outputs in ([], ["--overhead=5%"], [f"--output=trace:{work / 'trace.json'}"]):
        done, profile = observe(*NOBODY, lying, "row", "0.6", outputs=outputs)
        failures.equal(done.returncode, 0, f"{outputs}: the program's status")
        failures.check(profile["regions"] and profile["regions"][0]["count"] > 100, f"{outputs}: the sound rows are there", profile["regions"])
        failures.check(profile["accounting"]["lost"].get("not_read", 0) >= 1, f"{outputs}: a row was refused", profile["accounting"])
    program = subprocess.Popen([*NOBODY, lying, "row", "3"])
    started.append(program)
    file = work / "attached.json"
    done = subprocess.run([ADAPTYST, "attach", "--name", lying.name, "--engine=inline", "--duration=2", "--format=none", f"--output={file}"],
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "attach ends well")
    failures.check(file.exists() and json.loads(file.read_text())["regions"], "with a report", done.stderr)


def case_deaf():
    """Silent connections, and announcements without end, keep an observer neither from signals nor from other programs."""
    for how in (["connections", "300", "25"], ["announcements", "500"]):
        words = [ADAPTYST, "run", "--engine=inline", "--format=none", "--", *NOBODY, lying, *how]
        program = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True)
        started.append(program)
        failures.equal(program.stdout.readline(), "held\n", f"{how}: it holds its connections")
        time.sleep(0.5)  # until the observer is at it
        begin = time.monotonic()
        program.send_signal(signal.SIGTERM)
        program.wait(timeout=LIMIT)
        took = time.monotonic() - begin
        print(f"{how[0]}: SIGTERM took {took:.2f} s")
        failures.check(took < 5, f"{how}: SIGTERM reaches the program at once", took)
        failures.equal(program.returncode, -signal.SIGTERM, f"{how}: as its status tells")
    held = " ".join(map(str, [*NOBODY, lying, "connections", "300", "20"]))
    done, profile = observe("bash", "-c", f"{held} & sleep 0.5; {work / 'marked_program'} 100; kill %1; true")
    failures.equal(profile["accounting"]["ended"], 300, "another program is observed meanwhile")
    failures.equal(done.returncode, 0, "as the program has ended")


def time_signal(*strangers, outputs=()):
    """The time of SIGTERM through the observer to its program, which has an unrelated child; the profile at the end."""
    file, got = work / "profile.json", work / "got"
    for old in (file, got):
        old.unlink(missing_ok=True)
    child = shlex.join(str(word) for word in [*NOBODY, *strangers])
    script = f"trap 'date +%s.%N >{got}; kill %1; exit 0' TERM\n{child} & sleep 3; echo ready; while :; do sleep 0.02; done"
    observer = subprocess.Popen([ADAPTYST, "run", "--engine=inline", "--format=none", f"--output={file}", *map(str, outputs), "--", "bash", "-c", script],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    started.append(observer)
    while observer.stdout.readline() not in ("ready\n", ""):
        pass
    sent = time.time()
    observer.terminate()
    observer.communicate(timeout=LIMIT)
    reached, ended = float(got.read_text()) - sent, time.time() - sent
    print(f"{strangers[0].name} {shlex.join(map(str, strangers[1:]))}: SIGTERM took {reached:.2f} s, the end {ended:.2f} s")
    return reached, ended, json.loads(file.read_text())


def case_signals_are_served():
    """Within a second, whatever strangers do; the end takes at most ten seconds more."""
    for how in (["connections", "300", "25"], ["announcements", "500"]):
        reached, ended, _ = time_signal(lying, *how)
        failures.check(reached < 1, f"{how}: SIGTERM takes less than a second", reached)
        failures.check(ended < 5, f"{how}: so does the end", ended)
    for file in ("run.events", "run.trace.json"):
        reached, ended, profile = time_signal(work / "hostile_memory", "events", "endless", "60", outputs=[f"--output=trace:{work / file}"])
        failures.check(reached < 1, f"{file}: SIGTERM takes less than a second", reached)
        failures.check(ended < 13, f"{file}: the end takes ten seconds at most", ended)
        failures.check(profile["timeline"]["lost"] > 1_000_000, f"{file}: events that were not read are counted", profile["timeline"])
        (work / file).unlink()


def case_many_liars():
    """The last look takes ten seconds at most, however many processes lie; it reads the others, and counts what it has not read."""
    number = 80 if "ADAPTYST_LONG" in os.environ else 40
    command = shlex.join([*NOBODY, str(work / "hostile_memory"), "restless", "65000"])
    ended = work / "ended"
    script = f"for i in $(seq {number}); do {command} & done; sleep 3; {work / 'marked_program'} 100; date +%s.%N >{ended}; echo $(jobs -p) >{work / 'jobs'}"
    file = work / "profile.json"
    done = subprocess.run([ADAPTYST, "run", "--engine=inline", "--format=none", f"--output={file}", "--", "bash", "-c", script],
                          stdout=subprocess.DEVNULL, timeout=LIMIT, check=False)
    took = time.time() - float(ended.read_text())
    for process in (work / "jobs").read_text().split():
        os.kill(int(process), signal.SIGKILL)
    profile = profiles.read(file.read_text())
    print(f"{number} liars: the end took {took:.2f} s")
    failures.equal(done.returncode, 0, "the program's status")
    failures.check(took < 13, "the last look takes ten seconds at most", took)
    failures.equal(profile["accounting"]["ended"], 300, "an honest process is read")
    account = profile["accounting"]
    failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), "the account")


def case_killed_while_large():
    """Its memory goes some time before its end: the signal is known all the same."""
    for attempt in range(4):  # each at another moment of the observer's round
        done, profile = observe("sh", "-c", f"exec {lying} large 300 {0.3 + attempt / 40}")
        failures.equal(done.returncode, -signal.SIGKILL, "adaptyst ends as the program does")
        failures.equal(profile["process"].get("signal"), signal.SIGKILL, f"attempt {attempt}: the profile has the signal")


def case_daemon_of_another_user():
    for engine in ("inline", "ebpf"):
        done, profile = observe(lying, "daemon", engine=engine, outputs=["--overhead=none"])
        if engine == "ebpf" and done.returncode == 2:
            continue  # it is not permitted here
        failures.equal((done.returncode, profile["accounting"]["ended"]), (0, 300), f"{engine}: it remains the program's")


def case_stranger():
    """A process of another user that root has not started is not observed, and this is reported."""
    script = work / "stranger.sh"
    script.write_text(f"#!/bin/bash\nwhile [ ! -e {work / 'name'} ]; do sleep 0.05; done\n"
                      f"ADAPTYST_OBSERVER=$(cat {work / 'name'}) {work / 'marked_program'} 10\n")
    script.chmod(0o755)
    stranger = subprocess.Popen([*NOBODY, script], stdout=subprocess.DEVNULL)
    started.append(stranger)
    done, profile = observe("bash", "-c", f"echo $ADAPTYST_OBSERVER >{work / 'n'}; mv {work / 'n'} {work / 'name'}; sleep 1.5")
    failures.equal(stranger.wait(timeout=LIMIT), 3, "it ends as ever")
    failures.equal(profile["accounting"]["ended"], 0, "it is not observed")
    failures.check("another user" in done.stderr and "another user" in str(profile["accounting"].get("refused")), "it is reported", done.stderr)


def case_no_socket():
    """A program that cannot announce itself is reported, with the reason."""
    for command, reason in (([lying, "no_socket", work / "marked_program", "20", "0", "50000"], "seccomp"),
                            (["env", "-u", "ADAPTYST_OBSERVER", work / "marked_program", "20", "0", "50000"], "ADAPTYST_OBSERVER")):
        done, profile = observe(*command)
        failures.equal(done.returncode, 3, f"{reason}: the program's status")
        failures.check("not observed: " in done.stderr and reason in done.stderr.partition("hint")[0], f"{reason}: a message", done.stderr)
        failures.check(reason in profile["accounting"].get("refused", {}).get("why", ""), f"{reason}: in the report", profile["accounting"])
    if HAS_ADDRESS_SANITIZER:
        return
    done, profile = observe("bash", "-c", f"ulimit -n 4; exec {work / 'marked_program'} 100")
    failures.equal((done.returncode, profile["accounting"]["ended"]), (3, 300), "one descriptor is enough")


def case_slow_to_load():
    """A program that loads libraries for longer than a silent one is waited for is observed, without a message."""
    (work / "slow.c").write_text("#include <unistd.h>\n__attribute__((constructor)) static void load(void) { usleep(1200000); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", work / "slow.so", work / "slow.c"], check=True)
    done, profile = observe("env", f"LD_PRELOAD={work / 'slow.so'}", work / "marked_program", "20", "0", "50000")
    failures.equal((done.returncode, profile["accounting"]["lost"]), (3, {}), "all of it is observed")
    failures.check("not observed" not in done.stderr, "no message", done.stderr)


def mount(*files):
    """A file system of its own, which delivers files but "withheld"; gone when its server is killed."""
    if not os.path.exists("/dev/fuse"):
        raise Missing("FUSE")
    place = work / f"mounted{len(started)}"
    place.mkdir()
    server = subprocess.Popen([sys.executable, ROOT / "tests/support/withheld_files.py", place, *files],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    started.append(server)
    if server.stdout.readline() != "mounted\n":
        raise Missing(f"FUSE: {server.stderr.read()}")
    return place, server


def unmount(place, server):
    server.kill()
    server.wait()
    subprocess.run(["umount", "--lazy", place], check=False)


def readers():
    """The children that read for an observer: what each has open, by their numbers."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text() == "adaptyst-reader\n":
                found[int(process.name)] = [os.readlink(file) for file in (process / "fd").iterdir()]
        except OSError:
            pass  # it has just ended
    return found


def observe_in_time(seconds, *words):
    """The output of an observer and its status; it ends in time."""
    begin = time.monotonic()
    done = subprocess.run([ADAPTYST, *words], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.check(time.monotonic() - begin < seconds, f"{words[0]} ends in {seconds} s", time.monotonic() - begin)
    return done


def case_withheld_memory():
    """The observer reads a page that is never delivered: it abandons this process, and continues with others."""
    place, server = mount()
    try:
        victim = subprocess.Popen([*NOBODY, work / "hostile_memory", "process", place / "withheld"], stdout=subprocess.PIPE, text=True)
        started.append(victim)
        failures.equal(victim.stdout.readline(), "set\n", "the victim is there")
        done = observe_in_time(12, "attach", "--engine=inline", "--format=none", "--duration=1", "--name=hostile_memory")
        failures.check("not delivered in time" in done.stderr, "attaching says why", done.stderr)
        memory = f"/proc/{victim.pid}/mem"
        left = [files for files in readers().values() if memory in files]
        failures.equal(len(left), 1, "a reader waits for the page")
        for files in left:
            failures.equal([file for file in files if "socket:" not in file], [memory], "what the reader holds")
    finally:
        unmount(place, server)
    for _ in range(50):
        left = [files for files in readers().values() if memory in files]
        if not left:
            break
        time.sleep(0.1)
    failures.equal(left, [], "no reader waits any more")
    place, server = mount()
    try:
        profile = work / "withheld.json"
        both = f"{MARKED} 100; {shlex.join(map(str, NOBODY))} {work}/hostile_memory recorders {place}/withheld & sleep 5; kill -9 $!; wait; {MARKED} 10"
        done = observe_in_time(30, "run", "--engine=inline", "--format=none", f"--output={profile}", "--", "sh", "-c", both)
        read = profiles.read(profile.read_text())
        counts = {"/".join(region["path"]): region["count"] for region in read["regions"]}
        failures.equal(counts.get("outer"), 110, f"regions of the others: {done.stderr}")
        failures.check("not delivered in time" in str(read["accounting"].get("refused")), "the report says why", read["accounting"])
    finally:
        unmount(place, server)


def case_probes_next_to_withheld_memory():
    """While an observer waits for a withheld page, others place probes in the file of that program, and fork."""
    place, server = mount()
    victim = subprocess.Popen([*NOBODY, work / "hostile_memory", "process", place / "withheld"], stdout=subprocess.PIPE, text=True)
    started.append(victim)
    failures.equal(victim.stdout.readline(), "set\n", "the victim is there")
    guard = subprocess.Popen([sys.executable, "-c", f"import os, time; time.sleep(15); os.kill({server.pid}, 9)"])
    started.append(guard)  # if forking hangs, it ends the hang
    try:
        waiting = subprocess.Popen([ADAPTYST, "attach", "--engine=inline", "--format=none", "--duration=1", str(victim.pid)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        started.append(waiting)
        memory = f"/proc/{victim.pid}/mem"
        begin = time.monotonic()
        while not any(memory in files for files in readers().values()) and time.monotonic() - begin < 5:
            time.sleep(0.05)
        done = observe_in_time(8, "run", "--engine=ebpf", "--format=none", "--", work / "hostile_memory", "recursion", "3")
        failures.equal(done.returncode, 0, f"another program with the same file: {done.stderr}")
        failures.equal(guard.poll(), None, "the page is still withheld")
        reason = waiting.communicate(timeout=LIMIT)[1]
        failures.check("not delivered in time" in reason, "attaching gives the reason", reason)
    finally:
        guard.kill()
        guard.wait()
        unmount(place, server)


def case_program_on_fuse():
    """A program in a file system in user space is observed like any other. If the file system stops answering, the observer continues."""
    place, server = mount(MARKED)
    try:
        program = place / pathlib.Path(MARKED).name
        process = subprocess.Popen([*NOBODY, program, "100000", "0", "100"], stdout=subprocess.DEVNULL)
        started.append(process)
        profile = work / "fuse.json"
        done = observe_in_time(20, "attach", "--engine=inline", "--format=none", f"--output={profile}", "--duration=1", str(process.pid))
        counts = {"/".join(region["path"]): region["count"] for region in profiles.read(profile.read_text())["regions"]}
        failures.check(counts.get("thread", 0) > 10, f"it is counted: {done.stderr}", counts)
        # The kernel would read the file when a probe is placed, and every fork would wait for it.
        done = observe_in_time(20, "attach", "--format=none", f"--output={profile}", "--duration=1", str(process.pid))
        read = profiles.read(profile.read_text())
        counts = {"/".join(region["path"]): region["count"] for region in read["regions"]}
        failures.check(counts.get("thread", 0) > 10, f"it is counted by its own recorder: {done.stderr}", counts)
        failures.check("FUSE" in done.stderr + json.dumps(read), "the reason is given", (done.stderr, read["engine"], read["reason"]))
        server.send_signal(10)
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("1")
        done = observe_in_time(12, "attach", "--engine=inline", "--format=none", "--duration=1", str(process.pid))
    finally:
        unmount(place, server)


def case_memory_of_rows():
    """Rows take at most 1.5 GB of the observer's memory, and there is a report. Not with the sanitizer, which has memory of its own."""
    if HAS_ADDRESS_SANITIZER:
        return
    most_kb = 1_500_000
    for words in (["recursion", "4000"], ["rows", "204800", "300"]):
        profile = work / "rows.json"
        process = os.posix_spawn(ADAPTYST, [ADAPTYST, "run", "--engine=inline", "--format=none", f"--output={profile}", "--",
                                            *NOBODY, work / "hostile_memory", *words], os.environ)
        _, status, used = os.wait4(process, 0)
        failures.equal(status, 0, f"{words} ends as ever")
        failures.check(used.ru_maxrss < most_kb, f"{words} takes {used.ru_maxrss} KB")
        account = profiles.read_member(profile.read_text(), "accounting")
        failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), f"{words}: the account")
        if words[0] == "recursion":
            failures.equal(account["ended"], 4000, "events of the recursion")
            failures.check(account["unnamed"] > 0, "paths that were cut are counted", account)
        else:
            failures.check(account["lost"].get("not_read", 0) > 0, f"{words}: what was left out is counted", account)
        profile.unlink()


def output_name(file):
    """The name by which a process claims an output file."""
    directory = os.stat(file.parent)
    number = 0xcbf29ce484222325
    for byte in f"{directory.st_dev}/{directory.st_ino}/{file.name}".encode():
        number = (number ^ byte) * 0x100000001b3 % 2**64
    return f"\0adaptyst-output-{number:016x}"


def case_name_bound_by_another_user():
    """Anybody can bind the name by which root claims an output: it does not rename the output."""
    for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        file = work / f"claimed{int(kind)}.json"
        with socket.socket(socket.AF_UNIX, kind) as squatter:
            os.seteuid(65534)
            try:
                squatter.bind(output_name(file))
                if kind == socket.SOCK_SEQPACKET:
                    squatter.listen(1)
            finally:
                os.seteuid(0)
            subprocess.run([ADAPTYST, "run", "--engine=inline", "--format=none", f"--output={file}", "--", MARKED, "1"],
                           stdout=subprocess.DEVNULL, timeout=LIMIT, check=False)
        failures.check(file.exists(), "the output has its name", sorted(path.name for path in work.iterdir()))


def case_output_of_another_machine():
    """Two processes that do not see each other, as on two machines, get one name: neither loses its output."""
    file = work / "shared.json"
    command = ["unshare", "--net", "--uts", ADAPTYST, "run", "--engine=inline", "--format=none", f"--output={file}", "--", "sh", "-c"]
    late = subprocess.Popen([*command, f"{MARKED} 7; sleep 2"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    subprocess.run([*command, f"{MARKED} 3"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT, check=False)
    messages = late.communicate(timeout=LIMIT)[1]
    written = sorted(work.glob("shared*.json"))
    failures.equal(len(written), 2, f"both outputs are there: {written}, {messages}")
    failures.check("another process has written" in messages, "with a warning", messages)
    counts = sorted(region["count"] for entry in written for region in profiles.read(entry.read_text())["regions"]
                    if region["path"] == ["outer"])
    failures.equal(counts, [3, 7], "each has its own")
    again = subprocess.run([*command, f"{MARKED} 5"], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(sorted(work.glob("shared*.json")), written, f"an older one is replaced: {again.stderr}")


if os.geteuid() != 0:
    skip("only root may write to strangers")
work.chmod(0o755)
for program in (REPLACED_PROGRAM, MARKED, LYING):
    shutil.copy(program, work)
lying = work / pathlib.Path(LYING).name
shutil.copy(HOSTILE, work / "hostile_memory")
run_cases(globals(), sys.argv[6:], failures, started)
