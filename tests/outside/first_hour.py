#!/usr/bin/env python3
"""What a user meets in the first hour, and what must not be lost in silence: first_hour.py ADAPTYST PROGRAM COLLECTING [CASE …]

PROGRAM is marked_program; COLLECTING has a collector of its own, and passes the region "work" ten times."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, PROGRAM, COLLECTING = sys.argv[1:4]
LIMIT = 60  # seconds that nothing here comes near to
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI", "SLURM_", "ADAPTYST"))}
failures = Failures()
work = scratch()
work.chmod(0o755)
started = []


def call(*words, **environment):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LIMIT, check=False, cwd=work,
                          env={**PLAIN, **environment})


def run(*arguments, before=(), **environment):
    return call(*before, ADAPTYST, "run", "--engine=inline", *arguments, **environment)


def words(text):
    return " ".join(text.split())


def case_an_output_that_cannot_be_written():
    """It is known before the program has computed for a day."""
    (work / "folder.json").mkdir()
    began = work / "began"
    for output, before in ((work / "nowhere/profile.json", ()), (work / "folder.json", ()), (work / "profile.json", AS_NOBODY),
                           ("trace:/proc/nothing", ()), ("folded:/nowhere/stacks", ())):
        done = run("--output", output, "--", "touch", began, before=before)
        failures.equal((done.returncode, began.exists()), (2, False), f"{output}: the program is not started")
        failures.check(done.stderr.startswith("adaptyst: cannot write") and str(output).split(":")[-1] in done.stderr,
                       f"{output}: it is reported", done.stderr)
    failures.equal([file.name for file in work.iterdir()], ["folder.json"], "and nothing is left")
    program = subprocess.Popen([PROGRAM, "1000000", "0", "100"], stdout=subprocess.DEVNULL)
    started.append(program)
    failures.equal(call(ADAPTYST, "attach", "--engine=inline", "--output", work / "nowhere/a.json", program.pid).returncode, 2, "attach")
    (work / "folder.json").rmdir()


def case_outputs_that_can_be_written():
    """What was there stays until there is something better; what is no file is written to."""
    old = work / "old.json"
    old.write_text("old")
    done = run("--format=none", "--output", old, "--", "grep", "-c", "old", old)
    failures.equal((done.returncode, done.stdout), (0, "1\n"), "meanwhile")
    failures.equal(json.loads(old.read_text())["engine"], "inline", "and then")
    done = run("--format=none", "--output=json:/dev/stderr", "--", PROGRAM, 10, OMPI_COMM_WORLD_RANK="3")
    failures.equal(json.loads(done.stderr)["schema"], 1, "standard error has no name of its own for a rank")
    fifo = work / "fifo.json"
    os.mkfifo(fifo)
    reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE, text=True)
    started.append(reader)
    done = run("--format=none", "--output", fifo, "--", PROGRAM, 10)
    failures.equal(json.loads(reader.communicate(timeout=LIMIT)[0])["schema"], 1, "a pipe")
    done = run("--output", "one.json", "--output", "trace:one.json", "--", PROGRAM, 10)
    failures.equal(done.returncode, 2, "two outputs in one file")
    failures.check("two outputs in one file" in done.stderr, "are reported", done.stderr)


def case_a_timeline_by_any_name():
    for name in ("t.txt", "t.folded"):
        done = run("--format=none", "--output", f"trace:{name}", "--", PROGRAM, 10)
        failures.equal(done.returncode, 2, f"{name}: the suffix is refused")
        failures.check(name in done.stderr, f"{name}: which is named", done.stderr)
        failures.check(not (work / name).exists(), f"{name}: no file")
    for name in ("t.json", "t", "json:t"):
        done = run("--format=none", "--output", f"trace:{name}", "--", PROGRAM, 10)
        failures.equal(done.returncode, 3, f"{name}: status")
        events = json.loads((work / name).read_text())
        failures.check(isinstance(events, list) and any(event["ph"] == "X" for event in events), f"{name}: a timeline", events)


def case_not_there():
    plain = work / "plain"
    plain.write_text("no program")
    for program, status in (("./nothere", 127), ("no_such_program", 127), (plain, 126)):
        done = run("--output", "none.json", "--", program)
        failures.equal(done.returncode, status, f"{program}: status")
        failures.equal(done.stderr.count("\n"), 1, f"{program}: its error alone")
        failures.check(done.stderr.startswith(f"adaptyst: cannot start {program}: "), f"{program}: which names it", done.stderr)
        failures.check(not (work / "none.json").exists(), f"{program}: no profile")
        (work / "old.trace.json").write_text("[]")
        run("--output", "old.trace.json", "--", program)
        failures.equal((work / "old.trace.json").read_text(), "[]", f"{program}: the timeline of an earlier run stays")
        failures.equal(list(work.glob("*.partial")), [], f"{program}: nothing is left behind")
    # That it has the same status does not make it one that was not started.
    done = run("--output", "none.json", "--", "sh", "-c", "exit 127")
    failures.check(done.returncode == 127 and (work / "none.json").exists(), "a program that ends so", done.stderr)


def case_words_of_a_program():
    words = ["[a,b]", "[]", "[.x]", "", "--", "-o", "--help", "a=b", "{c}", "'d'", '"e"', "%f", "g,h", "\\"]
    done = run("--format=none", "--", "printf", "%s\n", *words)
    failures.equal(done.stdout.splitlines(), words, "arguments of a program are left as they are")
    failures.equal(run("--format=none", "printf", "%s\\n", "[a,b]").stdout, "[a,b]\n", "also without the mark")
    (work / "[a,b]").unlink(missing_ok=True)
    run("--format=none", "--output", "[a,b]", "--", "true")
    done = call(ADAPTYST, "report", "[a,b]", "[c]")
    failures.check("[c]" in done.stderr and "\1" not in done.stderr, "names in brackets are those of files", done.stderr)
    failures.equal(run("--format=none", "--", "[", "a", "=", "b", "]").returncode, 1, "a program with ] as its last argument")


def case_statuses():
    """As docs/cli.md has them."""
    profile, slower = work / "profile.json", work / "slower.json"
    expected = [
        (0, run("--format=none", "--", "true")), (1, run("--format=none", "--", "false")), (77, run("--format=none", "--", "sh", "-c", "exit 77")),
        (-signal.SIGKILL, run("--format=none", "--", "sh", "-c", "kill -KILL $$")),
        (128 + signal.SIGTERM, call("sh", "-c", f"{ADAPTYST} run --engine=inline --format=none -- sh -c 'kill $$'; exit $?")),
        (2, run()), (2, run("--bogus", "--", "true")), (2, run("--engine=off", "--", "true")), (2, call(ADAPTYST)),
        (2, call(ADAPTYST, "attach")), (2, call(ADAPTYST, "attach", 4194305)), (2, call(ADAPTYST, "attach", "--name", "no_such_program")),
        (2, call(ADAPTYST, "top", 4194305)), (0, call(ADAPTYST, "sites", PROGRAM)), (2, call(ADAPTYST, "sites", "nowhere")),
        (3, run("--format=none", "--overhead=none", "--output", profile, "--", PROGRAM, 1000)),
        (0, call(ADAPTYST, "report", profile)), (2, call(ADAPTYST, "report", profile, "nowhere.json")),
        (0, call(ADAPTYST, "diff", profile, profile)), (2, call(ADAPTYST, "diff", profile, "nowhere.json")),
        (2, call(ADAPTYST, "report", profile, "--output", "nowhere/a.json")),
        (0, call(ADAPTYST, "completion", "bash")), (2, call(ADAPTYST, "completion", "tcsh")),
        (0, call(ADAPTYST, "help")), (2, call(ADAPTYST, "help", "bogus")), (0, call(ADAPTYST, "--version")),
    ]
    for status, done in expected:
        failures.equal(done.returncode, status, f"the status of {done.args}: {done.stderr}")
    changed = json.loads(profile.read_text())
    for region in changed["regions"]:
        if region["total_ns"] is not None:
            for name in [key for key in region if key.endswith("_ns") and region[key] is not None]:
                region[name] *= 4
            region["histogram"] = [[bucket + 64, count] for bucket, count in region["histogram"]]
    slower.write_text(json.dumps(changed))
    failures.equal(call(ADAPTYST, "diff", profile, slower, "--fail-above", "5%").returncode, 1, "a comparison that failed")
    if AS_NOBODY:
        failures.equal(call(*AS_NOBODY, "--inh-caps=-all", "--bounding-set=-all", ADAPTYST, "doctor").returncode, 1, "no eBPF for the user nobody")
    for name in ("run", "attach", "top", "sites", "doctor", "report", "diff", "completion", "help"):
        failures.check("Exit status: " in call(ADAPTYST, name, "--help").stdout, f"{name}: its statuses are explained")


def check_ranks(done, pattern, count):
    """Of the files that ranks have written: one for each, with all that it has counted."""
    failures.equal(done.returncode, 0, f"ranks: {done.stderr}")
    for rank in range(count):
        file = work / pattern.format(rank)
        failures.check(file.exists(), f"{file.name} is there", sorted(path.name for path in work.iterdir()))
        if not file.exists():
            continue
        counts = [region["count"] for region in profiles.read(file.read_text())["regions"] if region["path"] == ["work"]]
        failures.equal(counts, [10], f"{file.name} is whole")
        file.unlink()


def each_rank(command, variable="OMPI_COMM_WORLD_RANK"):
    return ["sh", "-c", f'for rank in 0 1 2 3; do {variable}=$rank "$@" & done; wait', "sh", *command]


def mpirun():
    found = shutil.which("mpirun")
    if found is None or call(found, "--allow-run-as-root", "--oversubscribe", "-n", 4, "true").returncode != 0:
        raise Missing("no mpirun that works")
    return [found, "--allow-run-as-root", "--oversubscribe", "-n", "4"]


def case_ranks():
    for variable in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"):
        done = call(*each_rank([COLLECTING], variable), ADAPTYST="engine=inline,report=none,output=p.json", SLURM_STEP_NUM_TASKS="4")
        check_ranks(done, "p-{}.json", 4)
        failures.equal(words(done.stderr), "adaptyst: written: p-0.json; each rank has its own", f"{variable}: told once")
    done = call(*each_rank([COLLECTING]), ADAPTYST="engine=inline,report=none,output=p.%r.json")
    check_ranks(done, "p.{}.json", 4)
    failures.equal(done.stderr, "", "what was asked for needs no word")
    check_ranks(call(*each_rank([ADAPTYST, "run", "--engine=inline", "--format=none", "--output=run.json", "--", COLLECTING])), "run-{}.json", 4)
    # Slurm numbers a batch script as well, which is none of several.
    for alone in ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}, {"SLURM_PROCID": "0"}):
        call(COLLECTING, ADAPTYST="engine=inline,report=none,output=one.json", **alone)
        failures.check((work / "one.json").exists(), f"the only rank has the name as it is: {alone}", list(work.iterdir()))
        (work / "one.json").unlink(missing_ok=True)


def case_ranks_of_mpi():
    launcher = mpirun()
    done = call(*launcher, COLLECTING, "zero", ADAPTYST="engine=inline,report=none,output=mpi.trace.json;mpi.json")
    check_ranks(done, "mpi-{}.json", 4)
    failures.equal(len(list(work.glob("mpi-*.trace.json"))), 4, "four timelines")


def find_observer_messages(done):
    return [line for line in done.stderr.splitlines() if "observed" in line or "collect" in line]


def case_a_collector_that_is_observed():
    done = run("--format=none", "--", COLLECTING)
    lines = find_observer_messages(done)
    failures.equal((len(lines), done.stderr.count("\n")), (1, 1), "one line")
    failures.check(lines and lines[0].startswith("adaptyst: observed by adaptyst run, process "), "which says by whom", done.stderr)
    done = run("--format=none", "--", COLLECTING, ADAPTYST="output=mine.json")
    failures.check("output=" in done.stderr and done.stderr.count("\n") == 1, "and what becomes of its file", done.stderr)
    failures.equal(run("--format=none", "--", COLLECTING, ADAPTYST="report=none").stderr, "", "none, if it is to be quiet")
    failures.equal(len(find_observer_messages(run("--format=none", "--", *each_rank([COLLECTING])))), 1, "one for four ranks")
    done = call(*each_rank([ADAPTYST, "run", "--engine=inline", "--format=none", "--", COLLECTING]))
    failures.equal(len(find_observer_messages(done)), 1, "one for four ranks, each observed by itself")


def case_ranks_that_are_observed():
    done = run("--format=none", "--", *mpirun(), COLLECTING, "zero")
    failures.equal((done.returncode, len(find_observer_messages(done))), (0, 1), f"one line for four ranks: {done.stderr}")


run_cases(globals(), sys.argv[4:], failures, started)
