#!/usr/bin/env python3
"""Programs with NVTX, observed by the command: every range is counted where it belongs.

annotations.py ADAPTYST LIBRARY PROGRAM PLUGIN LINKED_TOOL ENGINE [CASE …]
"""
import base64
import collections
import contextlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, LIBRARY, PROGRAM, PLUGIN, LINKED_TOOL, ENGINE = sys.argv[1:7]
failures = Failures()
profile_file = scratch() / "profile.json"
environment = {name: value for name, value in os.environ.items() if name != "NVTX_INJECTION64_PATH"}


def observe(*words, options=(), program=PROGRAM, **variables):
    return subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--format=none", "--overhead=none", f"--output={profile_file}", "--with=nvtx",
                           *options, "--", program, *words], capture_output=True, text=True, timeout=100, check=False,
                          env={**environment, **variables})


class Observed:
    """A run of one case of the program. counts: by path; unmatched and lost: of the account."""

    def __init__(self, *words, message="", options=()):
        done = observe(*words, options=options)
        failures.equal((done.returncode, message in done.stderr, bool(done.stderr)), (0, True, bool(message)), f"{words}: {done.stderr}")
        self.printed = done.stdout
        self.profile = profiles.read(profile_file.read_text(encoding="utf-8"))
        account = self.account = self.profile["accounting"]
        failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), f"{words}: the account adds up")
        self.counts = collections.Counter()
        for row in self.profile["regions"]:
            if row["count"] != 0:
                self.counts["/".join(row["path"])] += row["count"]
        self.unmatched, self.lost, self.open = account["unmatched"], account["lost"], account["open"]

    def check(self, counts, unmatched=0, lost=0, left_open=0):
        failures.equal(dict(self.counts), counts, "counts by path")
        failures.equal((self.unmatched, self.lost.get("unmatched", 0), sum(self.lost.values()), self.open), (unmatched, lost, lost, left_open),
                       "unmatched; lost as unmatched; lost; open")

    def rows(self, *path):
        return [row for row in self.profile["regions"] if row["path"] == list(path)]


def case_every_call_of_nvtx():
    run = Observed("every_call")
    failures.equal(run.printed, "errno 77\n", "errno stays")
    names = ["pushed", "pushed/marked", "pushed/markiert: ä", "pushed/marked with attributes", "pushed/physics:marked with attributes",
             "über € 🚀", "pushed with attributes", "started", "begonnen: ß", "started with attributes", "physics:registered",
             "physics:registered/Wärme:größer", "physics:started with attributes"]
    run.check({**{name: 3 for name in names}, "odd\ufffd\ufffd": 1})
    failures.equal({run.rows("pushed", name)[0]["kind"] for name in ("marked", "markiert: ä")}, {"mark"}, "marks are instant events")
    failures.equal(run.rows("pushed")[0]["site"], {"file": "", "line": 0, "function": "NVTX"}, "the place of a range")


def case_ranges_of_threads_and_domains_nest_with_the_programs_regions():
    run = Observed("nesting")
    expected = {}
    for thread in ("first", "second", "third"):
        for path in ("", "/inner:step", "/inner:step/own", "/inner:step/own/leaf"):
            expected[thread + path] = 1000
    run.check(expected)


def case_levels_are_those_of_the_domain():
    levels = "0 0 1 1 0 -1 0 -1\n"
    failures.equal(Observed("levels").printed, levels, "levels while observed")
    idle = subprocess.run([PROGRAM, "levels"], capture_output=True, text=True, timeout=100, check=False,
                          env={**environment, "NVTX_INJECTION64_PATH": LIBRARY})
    failures.equal((idle.stdout, idle.stderr), (levels, ""), "levels without an attached tool")


def case_unbalanced_ends_are_counted_and_harm_nothing():
    Observed("unbalanced").check({"balanced": 1, "ended twice": 1, "on another thread/own": 1}, unmatched=6, lost=1, left_open=1)


def case_crossing_ranges_are_counted_and_harm_no_other_region():
    Observed("crossing").check({"crossed by a region/own": 10, "crossed by a domain/other:range": 10, "after": 10}, unmatched=40, lost=20)


def case_started_ranges_end_on_other_threads():
    Observed("across_threads").check({"request": 1, "request/transfer": 100, "request/overlapping": 100})


def case_more_open_ranges_than_there_is_room_for_are_counted():
    Observed("many_open").check({"open": 1024}, unmatched=76)


def case_a_reused_buffer_with_another_text_is_another_region():
    Observed("reused_buffer").check({**{f"step {at}": 20 for at in range(3)}, "wide 0": 30, "wide 1": 30})


def case_further_names_of_a_domain_have_no_numbers():
    run = Observed("many_different_names", message="the program has more than 1000 names of ranges: further ones are reported with # instead of numbers")
    steps = {name: count for name, count in run.counts.items() if not name.startswith("io7:")}
    failures.equal((len(steps), steps["step 0 of 3000"], steps["step 999 of 3000"], steps["step # of #"]), (1001, 1, 1, 2000), "steps")
    files = {name: count for name, count in run.counts.items() if name.startswith("io7:")}
    other = "io7:(other names)"
    failures.equal((len(files), set(count for name, count in files.items() if "(" not in name), files[other], files[f"{other}/{other}"]),
                   (2 * 2001, {1}, 500, 500), "names without numbers")


def case_domains_categories_and_payloads():
    run = Observed("attributes")
    of_files = {name: 8 for name in ("file", "file [checkpoint]", "file [Prüfung]", "file [category 9]", "file [category 10]", "io:file",
                                     "io:file [read]", "io:file [category 8]", "io:file [schreiben ü]", "io:file [category 10]")}
    failures.equal({name: count for name, count in run.counts.items() if "file" in name}, of_files, "a row for each domain and category")
    ranges = [row for row in run.rows("numbered") if row["kind"] == "region"]
    failures.equal([row["count"] for row in ranges], [14], "pushed and started ranges, with a payload and without")
    payload = ranges[0]["attributes"]["payload"]
    failures.equal((payload["count"], payload["sum"], payload["min"], payload["max"]), (12, 2 * 554282.0, -50000, 600000.5), "payloads")
    failures.equal([row["count"] for row in run.rows("numbered") if row["kind"] == "mark"], [7], "marks with payloads")


def case_colours_are_in_every_timeline():
    folder = scratch()
    wanted = {**{name: name for name in ("#76b900", "#000000", "#0000ff", "#ff0000", "#111111")}, "io:#76b900": "#76b900",
              **dict.fromkeys(["plain", "none", "none too"])}

    def written(file):
        if file.suffix == ".sqlite":
            with contextlib.closing(sqlite3.connect(file)) as store:
                return dict(store.execute("SELECT name, color FROM path"))
        if file.suffix == ".html":
            form, text = re.search(r'<script id="data" type="text/plain" data-form="(\w+)">(.*?)</script', file.read_text(encoding="utf-8"), re.DOTALL).groups()
            sites = json.loads(text if form == "json" else zlib.decompress(base64.b64decode(text)))["timeline"]["sites"]
            return {site[0]: site[2] if len(site) == 3 else None for site in sites}
        events = json.loads(file.read_text(encoding="utf-8"))
        return {event["name"]: event.get("args", {}).get("color") for event in events if event["ph"] in "Xbi"}

    for form in ("trace.json", "sqlite", "events"):
        file = folder / f"run.{form}"
        done = observe("colors", options=[f"--output={file}"])
        failures.equal((done.returncode, done.stderr), (0, ""), form)
        if form != "events":
            failures.equal(written(file), wanted, f"colours in {form}")
        for other in ("trace.json", "sqlite", "html"):
            made = folder / f"of-{form}.{other}"
            subprocess.run([ADAPTYST, "convert", file, "-o", made], check=True, capture_output=True, timeout=100)
            failures.equal(written(made), wanted, f"colours in {other} of {form}")


def case_odd_arguments():
    run = Observed("odd_arguments")
    name = "unnamed range"
    run.check({name: 6, f"{name}/{name}": 2, f"{name}/{name}/{name}": 2, f"{name}/{name}/{name}/{name}": 2, "unnamed mark": 2, "in no domain": 1})


def case_names_of_10_kb():
    Observed("long_names").check({"n" * 127: 5, "€" * 42: 5, "n" * 63 + ":range": 5})


def case_ranges_that_are_nested_too_deep_are_counted():
    run = Observed("deep")
    failures.equal((run.counts.pop("after"), len(run.counts), set(run.counts.values())), (1, 256, {1}), "256 levels")
    failures.equal((run.unmatched, run.lost, run.open), (44, {"unmatched": 44}, 0), "the others")


def case_more_registered_strings_than_there_is_room_for_are_counted_as_unnamed():
    run = Observed("many_names", message="no room for further registered strings")
    failures.equal((run.counts["unnamed range"], run.counts["17"], run.counts["#"], len(run.counts), sum(run.counts.values()), run.unmatched),
                   (904, 1, 3096, 1002, 5000, 0),
                   "all ranges are counted")


def case_two_objects_with_nvtx():
    path = "in the program"
    Observed("two_objects", PLUGIN).check({path: 1, f"{path}/solver:assembly": 50, f"{path}/solver:assembly/in the plugin": 50})


def case_a_domain_is_left_out_with_without():
    path = "in the program"
    Observed("two_objects", PLUGIN, options=["--without=solver:*"]).check({path: 1, f"{path}/in the plugin": 50})


def case_forked_children():
    Observed("forking").check({"parent": 1, "parent/child": 30, "parent/handle of a child": 30})


def case_exceptions():
    Observed("exceptions").check({"outer": 20, "outer/inner": 20, "handler": 20})


def case_threads_get_their_names_unless_they_have_one():
    run = Observed("thread_names")
    failures.equal(run.printed, f"a worker with a,given,{pathlib.Path(PROGRAM).name[:15]}\n", "names of threads")
    run.check({"work": 2})


def case_a_cancelled_thread_ends_outside_of_the_adapter():
    run = Observed("cancelled", message="no room for further registered strings")
    failures.equal(run.printed, "reached\n", "the thread")
    run.check({"work": 1})


def case_a_tool_that_is_set_already_is_not_replaced():
    done = observe("levels", NVTX_INJECTION64_PATH="/theirs.so")
    failures.equal((done.returncode, "NVTX_INJECTION64_PATH is set already, to /theirs.so" in done.stderr), (2, True), done.stderr)


def case_a_tool_that_is_linked_into_the_program_stays():
    done = observe(program=LINKED_TOOL)
    failures.equal((done.returncode, done.stdout, "is linked with another NVTX tool" in done.stderr), (0, "5\n", True), done.stderr)
    alone = subprocess.run([LINKED_TOOL], capture_output=True, text=True, timeout=100, check=False, env=environment)
    failures.equal((alone.stdout, alone.stderr), ("5\n", ""), "without a tool of ours")


run_cases(dict(globals()), sys.argv[7:], failures)
