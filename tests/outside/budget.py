#!/usr/bin/env python3
"""`adaptyst run` and `attach` with an overhead budget, on a program of short regions: budget.py ADAPTYST PROGRAM ENGINE [CASE …]"""
import json
import pathlib
import re
import resource
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402
from states import computes, cpu_seconds, is_watched  # noqa: E402

ADAPTYST, PROGRAM, ENGINE = sys.argv[1:4]
failures = Failures()
work = scratch()
profile_file = work / "profile.json"
LIMIT = 60  # seconds that nothing here comes near to
FOREVER = 10**12
started = []


def command(*arguments):
    return [ADAPTYST, arguments[0], f"--engine={ENGINE}", f"--output={profile_file}", *map(str, arguments[1:])]


def load(at_rest=True):
    profile = profiles.read(profile_file.read_text())
    profile_file.unlink()
    account = profile["accounting"]
    failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), "the account adds up")
    if at_rest:
        failures.equal(sum(row["count"] for row in profile["regions"]), account["ended"], "every event is in a row")
    failures.equal(account["lost"], {}, "nothing is lost")
    return {"/".join(region["path"]): region for region in profile["regions"]}


def near(row, truth, label):
    """Within six standard errors: never by chance."""
    failures.check(abs(row["count"] - truth) <= 6 * row.get("count_error", 0), label, f"{row['count']} for {truth}")


def steps(row):
    return [step for step in row["measured_on"] if step.startswith("1 of ")]


def attach(*arguments):
    return subprocess.run(command("attach", *arguments), capture_output=True, text=True, timeout=LIMIT, check=False)


def case_estimates_of_a_program_with_threads_and_children():
    times, children = 5_000_000, 2  # seconds, if none were left out
    done = subprocess.run(command("run", "--", PROGRAM, times, children), capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "the program's status")
    rows = load()
    near(rows["thread"], times, "regions with a payload, on a thread")
    near(rows["outer/inner"], times, "regions in others")
    near(rows["child"], children * times, "regions of children")
    near(rows["outer"], times, "regions around others")
    for name in ("thread", "outer", "outer/inner", "child"):
        failures.check(rows[name].get("sampled", times) < times, f"{name} is sampled", rows[name])
    for name in ("thread", "outer", "child"):  # what is nested may have been sampled enough with what is around it
        failures.check(steps(rows[name]), f"and how {name} was is reported", rows[name])
    cost = {name: row["overhead_ns"] / row["count"] for name, row in rows.items()}
    failures.check(cost["outer/inner"] < cost["outer"], "what is left out costs less, and is stated so", cost)
    attribute = rows["thread"]["attributes"]["bytes"]
    failures.check(abs(attribute["sum"] / rows["thread"]["count"] - 8) < 1e-6, "sums of payloads are weighed", attribute)
    failures.check("overhead budget: 4 regions sampled (~)" in done.stderr and "~" in done.stderr, "the table shows it", done.stderr)


def case_missed():
    """More markers than any budget allows: the report begins with that, or with a lack of cores where others compute here too."""
    done = subprocess.run(command("run", "--overhead=0.1%", "--", PROGRAM, 3_000_000), capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    budget = json.loads(profile_file.read_text())["budget"]
    load()
    failures.check(abs(budget["allowed_ns"] - 0.001 * budget["cpu_ns"]) < 1, "what was allowed", budget)
    failures.check(0 < budget["cpu_ns"] < 60e9 and budget["cost_ns"] > 2 * budget["allowed_ns"], "what it has cost", budget)
    messages = " ".join(done.stderr.split())
    first = r"findings: 1\. (threads had no core .*? 2\. )?observation cost \S+ of the CPU time; the limit is 0\.1% "
    failures.check(re.search(first, messages), "it is reported", done.stderr)
    failures.check(any(f"above all in {name} try:" in messages for name in ("outer", "outer > inner", "thread")), "by which region", done.stderr)


def case_no_budget():
    times = 300_000
    done = subprocess.run(command("run", "--overhead=none", "--", PROGRAM, times), capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    rows = load()
    failures.equal({name: row["count"] for name, row in rows.items()},
                   {"thread": times, "outer": times, "outer/inner": times}, "every event")
    failures.check(not any("sampled" in row or "measured_on" in row for row in rows.values()), "no word of sampling", rows)
    failures.check("~" not in done.stderr, "nor in the table", done.stderr)


def case_reported_cost():
    """No more than all that the program has used: the price of a trap was counted twice, and recording by a dearer clock."""
    times = 1_000_000 if ENGINE == "ebpf" else 10_000_000
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command("run", "--overhead=none", "--format=none", "--context=none", "--", PROGRAM, times), capture_output=True,
                   timeout=LIMIT, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    reported = json.loads(profile_file.read_text())["accounting"]["overhead_ns"] / 1e9
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    failures.check(reported < 1.4 * used, "what looking cost is reported", f"{reported:.2f} s of {used:.2f} s")


def case_bad_budgets():
    for wrong in ("2x", "-1%", "0%", "101%", "nan%", "", "%", "2 %"):
        done = subprocess.run([ADAPTYST, "run", f"--overhead={wrong}", "--", "true"], capture_output=True, text=True, timeout=LIMIT,
                              check=False)
        failures.check(done.returncode == 2 and "0.1%" in done.stderr, f"'{wrong}' is refused", done.stderr)


def case_markers_are_left_as_they_were():
    program = subprocess.Popen([PROGRAM, str(FOREVER)], stdout=subprocess.DEVNULL)
    started.append(program)
    computes(program.pid)
    attach("--duration=1", "--format=none", program.pid)
    failures.check("sampled" in load(at_rest=False)["outer/inner"], "sampled while attached")
    attach("--duration=0.2", "--format=none", "--overhead=none", program.pid)
    failures.check("sampled" not in load(at_rest=False)["outer/inner"], "every event for the next one")
    killed = subprocess.Popen(command("attach", program.pid), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    is_watched(program.pid, PROGRAM)
    computes(program.pid, cpu_seconds(program.pid) + 0.5)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    attach("--duration=0.2", "--format=none", "--overhead=none", program.pid)
    failures.check("sampled" not in load(at_rest=False)["outer/inner"], "nor does an observer that was killed leave anything")


run_cases(globals(), sys.argv[4:], failures, started)
