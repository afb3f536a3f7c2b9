#!/usr/bin/env python3
"""Drives `adaptyst sites` and `adaptyst doctor`: inspecting.py ADAPTYST PROGRAM [CASE …]

The oracles: readelf for addresses, the list of mappings for where a file lies, the source for lines, a profile for counts,
and for the doctor's verdict what `adaptyst run --engine=ebpf` does when called in the same way.
"""
import json
import os
import pathlib
import platform
import resource
import shutil
import signal
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "elf_notes")]
from cases import run_cases  # noqa: E402
from compiling import NOBODY, Failures, scratch  # noqa: E402
from elf_file import ElfFile  # noqa: E402
import profiles  # noqa: E402
from refusing import refuse_memory  # noqa: E402
from states import is_stopped, is_watched, more_pauses  # noqa: E402

ADAPTYST, GIVEN = sys.argv[1:3]
LIMIT = 60  # seconds that nothing here comes near to
failures = Failures()
work = scratch()
# A file of its own: the kernel wakes the markers of all that run a file that any tool probes, as other tests do.
PROGRAM = shutil.copy(GIVEN, work)
elf = ElfFile(PROGRAM)
started = []


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LIMIT, check=False, **options)

FAST = bytes.fromhex("90" "662e0f1f840000000000" "0f1f440000")


def sites(*subjects, **options):
    done = run(ADAPTYST, "sites", "--format=json", *subjects, **options)
    return done, json.loads(done.stdout)


def start(*arguments):
    started.append(subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL))
    more_pauses(started[-1].pid, 20)
    return started[-1].pid


def expected(moved=0):
    """The object of PROGRAM, `moved` from where it was linked."""
    block = next(symbol.value for symbol in elf.symbols() if symbol.name == "adaptyst_object_v5")
    probes = [{"name": probe.name, "arguments": probe.arguments, "file_offset": hex(elf.offset(probe.location)),
               "address": hex(probe.location + moved), "semaphore": hex(probe.semaphore + moved) if probe.semaphore else None,
               "fast_point": elf.at(probe.location, len(FAST)) == FAST}
              for probe in elf.probes if probe.provider == "adaptyst"]
    failures.check(len(probes) >= 6, "readelf lists the probes", probes)
    return {"control_block": hex(block + moved), "probes": probes, "no_probes_because": None}


def moved_in(pid):
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        words = line.split()
        if words[-1] == os.path.realpath(PROGRAM) and int(words[2], 16) == 0:
            return int(words[0].split("-")[0], 16) - min(segment.address for segment in elf.segments if segment.kind == "LOAD")
    return None


def without_name(an_object):
    failures.equal(an_object["abi"], 5, "the ABI version")
    return {key: value for key, value in an_object.items() if key not in ("file", "abi")}


def case_file():
    done, found = sites(PROGRAM)
    failures.equal((done.returncode, done.stderr), (0, ""), "a file is shown")
    failures.equal((found[0]["file"], found[0]["process"], found[0]["markers"]), (PROGRAM, None, None), "it is no process")
    failures.equal([without_name(object_) for object_ in found[0]["objects"]], [expected()], "probes, as readelf has them")
    table = run(ADAPTYST, "sites", PROGRAM).stdout
    for probe in expected()["probes"]:
        failures.check(any(line.split() == [probe["name"], probe["file_offset"], probe["address"], probe["semaphore"] or "—",
                                            "yes" if probe["fast_point"] else "no"] for line in table.splitlines()),
                       "the table has a line for " + probe["name"], table)


def case_process():
    pid = start("100000", "0", "500")
    done, found = sites(pid)
    failures.equal((done.returncode, done.stderr), (0, ""), "a process is shown")
    failures.equal(found[0]["markers"], [], "nothing has been awake, and that is known")
    objects = found[0]["objects"]
    failures.equal([without_name(object_) for object_ in objects], [expected(moved_in(pid))], "addresses are those in the process")
    failures.equal([object_["file"] for object_ in objects], [os.path.realpath(PROGRAM)], "the file is named as the process does")

    profile = work / "profile.json"
    # Stopped, so that nothing happens between the observer's last reading and ours.
    observer = subprocess.Popen([ADAPTYST, "attach", "--engine=inline", "--format=none", f"--output={profile}", str(pid)])
    started.append(observer)
    is_watched(pid, PROGRAM)
    more_pauses(pid, 500)
    os.kill(pid, signal.SIGSTOP)
    is_stopped(pid)
    observer.send_signal(signal.SIGINT)
    failures.equal(observer.wait(LIMIT), 0, "the observer ends")
    counted = {region["path"][-1]: region["count"] for region in profiles.read(profile.read_text())["regions"]}
    markers = {marker["name"]: marker for marker in sites(pid)[1][0]["markers"]}
    if not failures.equal(set(markers), {"thread", "outer", "inner"}, "the markers that have been awake"):
        return
    source = (TESTS / "outside" / "marked_program.cpp").read_text().splitlines()
    for name, marker in markers.items():
        failures.check(counted[name] > 0, f"{name}: observed", counted)
        failures.equal(marker["ended"], counted[name], f"{name}: how often")
        line = next(at for at, text in enumerate(source, 1) if f'ADAPTYST_REGION("{name}"' in text)
        failures.equal((pathlib.Path(marker["site"]["file"]).name, marker["site"]["line"], marker["kind"]),
                       ("marked_program.cpp", line, "region"), f"{name}: where")
    failures.equal((markers["outer"]["site"]["function"], markers["thread"]["site"]["function"]), ("main", "operator()"), "functions")


def case_memory_that_is_refused():
    pid = start("100000", "0", "500")
    done, found = sites(pid, preexec_fn=refuse_memory)
    failures.equal(done.returncode, 0, "what can be seen is shown")
    failures.equal([without_name(object_) for object_ in found[0]["objects"]], [expected(moved_in(pid))], "the probes")
    failures.equal(found[0]["markers"], None, "markers are absent, and not none")
    failures.check("Permission denied" in (found[0]["no_markers_because"] or ""), "and why", found)


def case_wrong_subjects():
    done, found = sites("/etc/passwd", 999999999, "/no/such/file", PROGRAM)
    failures.equal((done.returncode, len(found)), (2, 1), "the others are shown all the same")
    for name in ["/etc/passwd", "999999999", "/no/such/file"]:
        failures.check(name in done.stderr, f"{name} is named", done.stderr)
    done = run(ADAPTYST, "sites", "/bin/sh")
    failures.equal((done.returncode, done.stdout), (0, "no markers in /bin/sh\n"), "a file without markers is no error")
    if os.geteuid() == 0:
        pid = start("100000", "0", "500")
        done = run(*NOBODY, "--inh-caps=-all", ADAPTYST, "sites", pid)
        failures.check(done.returncode == 2 and str(pid) in done.stderr, "a process of another user", done.stderr)


def doctor(*before):
    done = run(*before, ADAPTYST, "doctor", "--format=json")
    found = json.loads(done.stdout)
    failures.equal(done.returncode, 0 if found["ebpf_works"] else 1, "the status is the verdict")
    checks = {check["subject"]: check for check in found["checks"]}
    for check in checks.values():
        failures.check(check["verdict"] == "ok" or check["advice"], f"advice on {check['subject']}", check)
    observed = run(*before, ADAPTYST, "run", "--engine=ebpf", "--format=none", "--", GIVEN, "1")
    failures.equal(found["ebpf_works"], observed.returncode == 3, "the verdict is what really happens")
    table = run(*before, ADAPTYST, "doctor").stdout
    # Other builds come and go.
    failures.check(all(f"{check['verdict']:<9}{check['subject']} " in table for check in checks.values() if check["subject"] != "other builds"),
                   "the table has all", table)
    return checks


def verdicts(checks, *subjects):
    return [checks[subject]["verdict"] for subject in subjects]


def case_doctor():
    found = doctor()
    failures.equal(found["kernel"]["found"], platform.release(), "the kernel")
    for subject in ["kernel.unprivileged_bpf_disabled", "kernel.perf_event_paranoid", "kernel.yama.ptrace_scope"]:
        file = pathlib.Path("/proc/sys") / subject.replace(".", "/")
        value = file.read_text().strip() if file.exists() else "not there"
        failures.equal(found[subject]["found"].split(",")[0], value, subject)
    failures.equal(verdicts(found, "BTF"), ["ok" if os.access("/sys/kernel/btf/vmlinux", os.R_OK) else "no"], "BTF")
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    if platform.machine() == "x86_64":
        failures.equal(verdicts(found, "constant counter"), ["ok" if "nonstop_tsc" in flags else "no"], "the counter")
    low = lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (64 * 1024, 64 * 1024))  # noqa: E731
    done = run(ADAPTYST, "doctor", preexec_fn=low)
    failures.check("64 KiB" in done.stdout, "the limit on locked memory", done.stdout)


def case_doctor_without_rights():
    if os.geteuid() != 0:
        print("(only root can drop privileges one by one)")
        return
    if run(*NOBODY, ADAPTYST, "--version").returncode != 0:
        print("(nobody cannot reach the command)")
        return
    capabilities = ["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"]
    found = doctor(*NOBODY, "--inh-caps=-all")
    failures.equal(verdicts(found, "engine ebpf", *capabilities), ["no"] * 4, "the user nobody has no rights")
    failures.check("EPERM" in found["engine ebpf"]["found"], "and the kernel's reason is given", found["engine ebpf"])
    for given, expect in [("bpf", ["ok", "no", "no"]), ("perfmon", ["no", "ok", "no"]), ("sys_ptrace", ["no", "no", "ok"]),
                          ("sys_admin", ["ok", "ok", "no"])]:
        found = doctor(*NOBODY, f"--inh-caps=+{given}", f"--ambient-caps=+{given}")
        failures.equal(verdicts(found, *capabilities), expect, f"with {given} alone")
    both = "+bpf,+perfmon"
    found = doctor(*NOBODY, f"--inh-caps={both}", f"--ambient-caps={both}")
    failures.equal(verdicts(found, *capabilities), ["ok", "ok", "no"], "with the two that eBPF needs")


def case_doctor_without_sys():
    hidden = ["unshare", "-m", "sh", "-c", 'umount -R /sys && exec "$@"', "sh"]
    if run(*hidden, "true").returncode != 0:
        print("(/sys cannot be hidden here)")
        return
    found = doctor(*hidden)
    failures.equal(verdicts(found, "/sys", "/proc", "BTF", "engine ebpf"), ["no", "ok", "no", "no"], "/sys is missed")


run_cases(globals(), sys.argv[3:], failures, started)
