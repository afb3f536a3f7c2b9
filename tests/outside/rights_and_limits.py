#!/usr/bin/env python3
"""Programs observed where it is harder: rights_and_limits.py ADAPTYST PROGRAM COLLECTING FOREIGN ENGINE [CASE …]

PROGRAM is marked_program; COLLECTING a program that has a collector of its own; FOREIGN the folder that foreign.py has filled."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import NOBODY, Failures, scratch  # noqa: E402
import profiles  # noqa: E402
from states import find_child, is_watched, more_pauses  # noqa: E402

ADAPTYST, PROGRAM, COLLECTING = sys.argv[1:4]
FOREIGN = pathlib.Path(sys.argv[4])
ENGINE = sys.argv[5]
failures = Failures()
work = scratch()
profile_file = work / "profile.json"
LIMIT = 60  # seconds that nothing here comes near to
IS_ROOT = os.geteuid() == 0
HAS_ADDRESS_SANITIZER = b"__asan_report_load8" in pathlib.Path(ADAPTYST).read_bytes()
started = []


def command(*arguments):
    return [ADAPTYST, arguments[0], f"--engine={ENGINE}", "--format=none", "--overhead=none", f"--output={profile_file}", *map(str, arguments[1:])]


def observe(*arguments):
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=LIMIT, check=False)


def spawn(words):
    started.append(subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return started[-1]


def load():
    if not profile_file.exists():
        return {"regions": [], "accounting": {"ended": 0, "lost": {}}}
    profile = profiles.read(profile_file.read_text())
    profile_file.unlink()
    account = profile["accounting"]
    failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), "the account adds up")
    return profile


def counts(profile=None):
    return {"/".join(region["path"]): region["count"] for region in (profile or load())["regions"]}


def only_root(why):
    if not IS_ROOT:
        failures.check(True, f"SKIPPED: {why}")
    return IS_ROOT


def case_many_children():
    """Many at once, that end without goodbye. Each waits for its answer for five seconds at most, in which an observer with
    AddressSanitizer, or on a busy machine, has answered fewer."""
    children = 1000 if "ADAPTYST_LONG" in os.environ else 200
    done = observe("run", "--", PROGRAM, 5, children)
    failures.equal(done.returncode, 3, "the program ends as ever")
    failures.equal(counts().get("child"), 5 * children, f"regions of {children} children")


def case_stripped():
    """Probes and recorders are found through ELF notes."""
    stripped = work / "stripped"
    subprocess.run(["strip", "--strip-all", "-o", stripped, PROGRAM], check=True)
    observe("run", "--", stripped, 100)
    failures.equal(counts(), {"outer": 100, "outer/inner": 100, "thread": 100}, "a stripped program from its start")
    program = spawn([stripped, 100000, 0, 100])
    more_pauses(program.pid, 20)
    failures.equal(observe("attach", "--duration=0.4", program.pid).returncode, 0, "attaching to a stripped program")
    failures.check(counts().get("thread", 0) > 100, "a stripped program that runs")


def case_namespaces():
    """In a PID and a mount namespace of its own, with a file that only it sees."""
    if not only_root("namespaces are made as root"):
        return
    outer = spawn(["unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
                   f"mount -t tmpfs none /mnt && cp {PROGRAM} /mnt/program && /mnt/program 100000 0 100; true"])
    program = find_child(find_child(outer.pid), "program")
    more_pauses(program, 20)
    done = observe("attach", "--duration=0.5", program)
    failures.equal(done.returncode, 0, f"attaching: {done.stderr}")
    found = counts()
    failures.check(found.get("thread", 0) > 100 and found.get("outer/inner", 0) > 100, "it is counted", found)


def case_number_used_again():
    """A process that gets the number of one that was observed, and has ended."""
    if not only_root("numbers of processes are chosen as root"):
        return
    first = spawn([PROGRAM, 100000, 0, 1000])
    other = spawn([PROGRAM, 100000, 0, 1000])
    observer = spawn(command("attach", "--interval=0.1", first.pid, other.pid))
    is_watched(first.pid, PROGRAM)
    is_watched(other.pid, PROGRAM)
    more_pauses(first.pid, 100)
    first.kill()
    first.wait()
    more_pauses(other.pid, 500)  # some intervals long: the observer has noticed
    pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(first.pid - 1))
    again = spawn([PROGRAM, 100000, 0, 0])
    if again.pid != first.pid:
        print(f"number_used_again: SKIPPED: {first.pid} was taken by another process")
    else:
        again.wait(LIMIT)
    observer.send_signal(signal.SIGINT)
    observer.wait(LIMIT)
    if again.pid != first.pid:
        return
    found = counts()
    failures.check(0 < found.get("thread", 0) < 100000, "a stranger's regions do not count", found)


def case_number_of_an_observer_used_again():
    """A process that has the number of an observer that was killed is none."""
    if not only_root("numbers of processes are chosen as root"):
        return
    program = spawn([PROGRAM, 100000, 0, 1000])
    observer = spawn([ADAPTYST, "attach", "--engine=inline", "--format=none", program.pid])
    is_watched(program.pid, PROGRAM)
    more_pauses(program.pid, 20)
    observer.kill()
    observer.wait()
    time.sleep(0.02)  # more than the tick in which it was started
    pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(observer.pid - 1))
    again = spawn(["sleep", LIMIT])
    if again.pid != observer.pid:
        print(f"number_of_an_observer_used_again: SKIPPED: {observer.pid} was taken by another process")
        return
    done = observe("attach", "--duration=0.2", program.pid)
    failures.equal((done.returncode, done.stderr), (0, ""), "the next observer takes over")


def case_memory_that_is_refused():
    """A program that may be run and not be read: the kernel shows its memory to root only."""
    if not only_root("files are given away by root"):
        return
    work.chmod(0o777)
    secret = pathlib.Path(shutil.copy(PROGRAM, work / "secret"))
    secret.chmod(0o711)

    def run(*words):
        return subprocess.run([*NOBODY, ADAPTYST, "run", "--engine=inline", "--format=none", "--overhead=none",
                               f"--output={profile_file}", "--", *words, secret, "100"], capture_output=True, text=True,
                              timeout=LIMIT, check=False)
    done = run()
    if "Permission denied" in done.stderr and done.returncode == 127:
        print("memory_that_is_refused: SKIPPED: nobody cannot reach the command")
        return
    failures.equal((done.returncode, done.stderr), (3, ""), "what it has handed over is enough")
    failures.equal(counts(), {"outer": 100, "outer/inner": 100, "thread": 100}, "all is there")
    done = run("prlimit", "--fsize=65536:65536")  # it cannot hand anything over
    failures.equal(done.returncode, 3, "the program ends as ever")
    failures.equal(done.stderr.count("cannot read the memory of process"), 1, "it is reported once")
    account = load()["accounting"]
    failures.check(account["lost"].get("not_read", 0) >= 1, "something is lost", account)
    refused = account.get("refused", {"programs": 0, "why": ""})
    failures.check(refused["programs"] == 1 and "EACCES" in refused["why"], "and why", account)


def case_few_descriptors():
    """An observer that may not open enough files for 60 children at once reports the children that it has not seen."""
    if HAS_ADDRESS_SANITIZER:
        return print("(sanitizers open pipes to look whether memory is there)")
    done = subprocess.run(["prlimit", "--nofile=64:64", *command("run", "--", PROGRAM, 100, 60)], capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    profile = load()
    account = profile["accounting"]
    seen = counts(profile).get("child", 0)
    failures.check(done.returncode in (0, 3), "the program ends as ever", (done.returncode, done.stderr))
    failures.check(seen == 6000 or sum(account["lost"].values()) >= 1, "nothing is lost in silence", (seen, account))
    if seen != 6000:
        failures.check("open files" in done.stderr or "EMFILE" in json.dumps(account), "and why", (done.stderr, account))


def case_small_files():
    """With a limit on files that is too small for the report."""
    done = subprocess.run(["prlimit", "--fsize=512000:512000", *command("run", "--", PROGRAM, 100)], capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    failures.equal(done.returncode, 3, f"the program ends as ever: {done.stderr}")
    failures.check("ulimit -f" in done.stderr, "and why it gets no settings", done.stderr)
    failures.equal(counts(), {"outer": 100, "outer/inner": 100, "thread": 100}, "all is there")


def case_deaf_program():
    """A program that may not open the memory with its settings: the observer does not assume that it uses them."""
    done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--format=none", f"--output={profile_file}", "--", "prlimit",
                           "--nofile=5:5", PROGRAM, "3000", "0", "100"], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(done.stderr.count("cannot be given settings"), 1, f"it is reported: {done.stderr}")
    failures.equal(counts(), {"outer": 3000, "outer/inner": 3000, "thread": 3000}, "all is there")


def case_same_observer_again():
    """Who has started a program and left it may come back."""
    twice = pathlib.Path(PROGRAM).parent / "observing_twice"
    done = subprocess.run([twice, PROGRAM, "1000000", "0", "100"], capture_output=True, text=True, timeout=LIMIT, check=False)
    found = [int(line) for line in done.stdout.split()]
    failures.check(len(found) == 2 and min(found) > 500, "it sees as much as before", (found, done.stderr))


def case_library_that_goes_before_exec():
    """A program unloads its only markers and becomes another program: the other program is observed."""
    observe("run", "--", FOREIGN / "leaves", FOREIGN / "libgoes.so", PROGRAM, 100)
    failures.equal(counts(), {"library": 1, "outer": 100, "outer/inner": 100, "thread": 100}, "both programs")


def list_memory_modes(observer):
    """How it has opened memory of processes."""
    found = []
    for file in pathlib.Path(f"/proc/{observer}/fd").iterdir():
        try:
            if re.fullmatch(r"/proc/\d+/mem", os.readlink(file)):
                flags = pathlib.Path(f"/proc/{observer}/fdinfo/{file.name}").read_text()
                found.append(int(re.search(r"flags:\s*(\d+)", flags)[1], 8) & os.O_ACCMODE)
        except OSError:  # closed meanwhile
            pass
    return found


def case_nothing_is_written():
    """Who has started the program cannot write into it, and moves its markers all the same."""
    observer = spawn([ADAPTYST, "run", f"--engine={ENGINE}", "--overhead=1%", "--format=none",
                      f"--output={profile_file};trace:{work}/trace.json", "--", PROGRAM, 3000, 3, 100])
    more_pauses(find_child(observer.pid, "marked_program"), 200)
    opened = list_memory_modes(observer.pid)
    failures.check(opened and set(opened) == {os.O_RDONLY}, "memory is opened to be read", opened)
    observer.wait(LIMIT)
    profile = load()
    found = counts(profile)
    failures.equal(set(found), {"outer", "outer/inner", "thread", "child"}, "all is there")
    errors = {"/".join(region["path"]): region.get("count_error", 0) for region in profile["regions"]}
    failures.check(all(abs(count - (9000 if name == "child" else 3000)) <= max(1000, 5 * errors[name]) for name, count in found.items()),
                   "the counts, which are estimates with an error", (found, errors))


def case_left_behind():
    """A program that goes on when the observer that has started it does not look any more: its markers fall asleep, and others may look."""
    spawn([ADAPTYST, "run", f"--engine={ENGINE}", "--overhead=1%", "--format=none", f"--output={work}/first.json", "--", "sh", "-c",
           f"{PROGRAM} 1000000 0 10 & echo $! > {work}/pid; sleep 0.5"]).wait(LIMIT)
    left = int((work / "pid").read_text())
    try:
        failures.check(counts(profiles.read((work / "first.json").read_text())).get("thread", 0) > 100, "it was observed")
        more_pauses(left, 20)
        for engine in ("inline", ENGINE):
            done = subprocess.run([ADAPTYST, "attach", f"--engine={engine}", "--overhead=none", "--format=none", "--duration=0.4",
                                   f"--output={profile_file}", str(left)], capture_output=True, text=True, timeout=LIMIT, check=False)
            failures.equal((done.returncode, done.stderr), (0, ""), f"another observer listens, with {engine}")
            failures.check(all(found > 500 for found in counts().values()), "and sees it all the time")
        subprocess.run([ADAPTYST, "attach", "--engine=inline", "--overhead=none", "--format=none", "--duration=0.5", f"--output={profile_file}",
                        f"--output=trace:{work}/left.json", "--trace-events=64", str(left)], capture_output=True, timeout=LIMIT, check=False)
        failures.check(load().get("timeline", {}).get("events", 0) > 1000, "a timeline goes on and on")
        opened = [line for line in pathlib.Path(f"/proc/{left}/maps").read_text().splitlines() if "r--s" in line]
        failures.equal(opened, [], "nothing is left of the first")
    finally:
        os.kill(left, signal.SIGKILL)


def case_capabilities_of_the_file():
    """The user who starts the program must not select its output file."""
    if not only_root("capabilities are given by root"):
        return
    work.chmod(0o755)
    able = work / "able"
    shutil.copy(COLLECTING, able)
    if shutil.which("setcap") is None or subprocess.run(["setcap", "cap_dac_override+ep", able], check=False).returncode != 0 or os.statvfs(work).f_flag & os.ST_NOSUID:
        failures.check(True, f"SKIPPED: {work} does not keep capabilities")
        return
    aimed = work / "aimed"
    aimed.mkdir(0o700)
    environment = dict(os.environ, ADAPTYST=f"engine=inline,report=none,output={aimed}/profile.json")
    done = subprocess.run([*NOBODY, able], capture_output=True, text=True, timeout=LIMIT, check=False, env=environment)
    failures.check("sum 500500" in done.stdout, "the program runs", (done.stdout, done.stderr))
    failures.equal(list(aimed.iterdir()), [], "nothing is written where only its capabilities let it")
    shutil.copy(COLLECTING, able)
    aimed.chmod(0o777)
    subprocess.run([*NOBODY, able], capture_output=True, timeout=LIMIT, check=False, env=environment)
    failures.equal(len(list(aimed.iterdir())), 1, "without capabilities it follows the variable")


def case_built_with_other_headers():
    """Its markers stay idle, and each command reports it."""
    library = FOREIGN / "libother.so"
    message = f"{library} was built for ABI version 7, not 5"
    environment = dict(os.environ, LD_PRELOAD=str(library))
    loaded = ["env", f"LD_PRELOAD={library}"]

    shown = subprocess.run([ADAPTYST, "sites", library], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
    failures.check("built for ABI version 7, not 5" in shown and "stay idle" in shown, "sites of a file", shown)
    done = observe("run", "--", *loaded, PROGRAM, 100)
    account = json.loads(profile_file.read_text())["accounting"]
    failures.equal(account.get("refused", {}).get("why"), message, "the profile of a program that was started")
    failures.check(message in done.stderr, "it is reported at once", done.stderr)
    failures.equal(counts(), {"outer": 100, "outer/inner": 100, "thread": 100}, "all else is there")

    program = spawn([*loaded, PROGRAM, 100000, 0, 100])
    more_pauses(program.pid, 20)
    failures.equal(observe("attach", "--duration=0.4", program.pid).returncode, 0, "attaching")
    failures.equal(json.loads(profile_file.read_text())["accounting"].get("refused", {}).get("why"), message, "the profile of one that runs")
    shown = subprocess.run([ADAPTYST, "sites", str(program.pid)], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
    failures.check("built for ABI version 7, not 5" in shown, "sites of a process", shown)
    shown = subprocess.run([ADAPTYST, "doctor"], capture_output=True, text=True, timeout=LIMIT, check=False).stdout
    failures.check(message in " ".join(shown.split()), "the doctor", shown)

    environment["ADAPTYST"] = f"engine={ENGINE},report=none,output={profile_file}"
    subprocess.run([COLLECTING], capture_output=True, timeout=LIMIT, check=False, env=environment)
    failures.equal(json.loads(profile_file.read_text())["accounting"].get("refused", {}).get("why"), message, "a collector in the program")


def case_built_with_another_layout():
    """Of the same ABI version: what it hands over cannot be read, and that is reported."""
    done = observe("run", "--", FOREIGN / "layout")
    account = json.loads(profile_file.read_text())["accounting"]
    failures.check("another version of adaptyst" in done.stderr, "it is reported", done.stderr)
    failures.check("another version of adaptyst" in account.get("refused", {}).get("why", ""), "the profile says it", account)


def case_collector_inside():
    """The program's own collector, and an observer from outside: each is right, or one is refused with the reason."""
    environment = dict(os.environ, ADAPTYST="engine=inline,report=none")
    done = subprocess.run(command("run", "--", COLLECTING), capture_output=True, text=True, timeout=LIMIT, check=False, env=environment)
    failures.check("sum 500500" in done.stdout and done.returncode == 0, "the program computes what it always did", done.stdout)
    failures.equal(done.stderr, "", "its collector steps back, in silence where it was to print nothing")
    failures.equal(counts().get("add"), 1000, "the observer has it all")


run_cases(globals(), sys.argv[6:], failures, started)
