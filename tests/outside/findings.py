#!/usr/bin/env python3
"""The findings of programs that are slow in one way, or in none: findings.py ADAPTYST PROGRAM
ENGINE CONTEXT [CASE …]"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402

ADAPTYST, PROGRAM, ENGINE, CONTEXT = sys.argv[1:5]
failures = Failures()
profile_file = scratch() / "profile.json"
LIMIT = 120  # seconds that nothing here comes near to
HEADING = "findings:"


def run(way):
    """Half a million page faults a second cost more than the usual budget to count, which would be a finding as well."""
    done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", f"--context={CONTEXT}", "--overhead=100%", f"--output={profile_file}", "--",
                           PROGRAM, way], capture_output=True, text=True, timeout=LIMIT, check=True)
    profile = json.loads(profile_file.read_text())
    profile_file.unlink()
    # What others do on this machine meanwhile is true, and no matter of the program.
    of_others = set() if way == "cores" else {"core_wait"} if CONTEXT != "none" else {"core_wait", "long_tail"}
    found = [finding for finding in profile["findings"] if finding["kind"] not in of_others]
    return found, " ".join(done.stderr.split()), profile


def check_one(way, kind, path, words):
    found, messages, profile = run(way)
    failures.equal([finding["kind"] for finding in found], [kind], f"{way}: what is found")
    failures.check(HEADING in messages and words in messages, f"{way}: it is reported", messages)
    if found:
        failures.equal(found[0].get("path"), path, f"{way}: where")
        failures.check(0.02 <= found[0]["share"] and found[0]["count"] > 0, f"{way}: how much of the run", found[0])
    return found[0] if found else None, profile


def case_clean():
    found, messages, profile = run("clean")
    failures.equal(found, [], "nothing is found")
    failures.check((HEADING in messages) == bool(profile["findings"]), "and nothing is reported about it", messages)


if CONTEXT != "none":
    def case_lock():
        check_one("lock", "lock_wait", ["update"], "update: ")

    def case_cores():
        finding, _ = check_one("cores", "core_wait", ["flux"], "threads had no core")
        failures.check(finding is None or finding["value"] >= 0.5, "for the most part: there are four times as many", finding)

    def case_faults():
        _, _, profile = run("faults")
        own = profile["regions"][0]["context"]
        a_second = own["minor_faults"] * 1e9 / own["on_cpu_ns"]
        if a_second < 250_000:  # the rule is 200,000
            print(f"a page fault takes {1e6 / a_second:.1f} us here, as where a hypervisor takes unused memory back: too slow for a storm of them")
            failures.check(own["minor_faults"] >= 200 * 1024, "all of them are counted", own)
            return
        row, _ = check_one("faults", "page_faults", ["allocate"], "page faults per second")
        failures.check(row is None or row["count"] >= 200 * 1024, "all of them", row)

    def case_pipe():
        check_one("pipe", "io_wait", ["receive"], "blocked on files, sockets or their events")


if ENGINE == "inline":  # the kernel adds threads up
    def case_uneven():
        finding, profile = check_one("uneven", "thread_imbalance", ["share"], "share: the slowest thread took")
        spread = profile["regions"][0]["per_thread"]
        failures.equal(spread["threads"], 3, "of each thread it is known")
        failures.equal(spread["sum_ns"], profile["regions"][0]["self_ns"], "all of its time")
        failures.check(finding is None or spread["max_ns"] == finding["value"] >= 50 * 8e6, "how long the slowest took", finding)


run_cases(globals(), sys.argv[5:], failures)
