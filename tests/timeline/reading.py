#!/usr/bin/env python3
"""Reads timelines with a reader that is not ours: reading.py ADAPTYST PROGRAM ENGINE [CASE …]"""
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
from states import find_child  # noqa: E402

ADAPTYST, PROGRAM, ENGINE = sys.argv[1:4]
failures = Failures()
work = scratch()
timeline_file = work / "run.trace.json"
profile_file = work / "run.json"
LIMIT = 60


def environment(**more):
    outputs = f"{profile_file};{timeline_file}"
    more = {"overhead": "none", **more}
    options = ",".join([f"engine={ENGINE}", f"output={outputs}"] + [f"{key}={value}" for key, value in more.items()])
    return {**os.environ, "ADAPTYST": options}


def run_inside(*words, **options):
    return subprocess.run([PROGRAM, "inside", *map(str, words)], env=environment(**options), capture_output=True, text=True,
                          timeout=LIMIT, check=False)


def exact_ns(text):
    """Nanoseconds, from the file's number of microseconds."""
    whole, _, part = text.partition(".")
    failures.equal(len(part), 3, f"decimals of {text}")
    return int(whole) * 1000 + int(part)


def load(text=None):
    events = json.loads(text if text is not None else timeline_file.read_text(), parse_float=str)
    for event in events:
        for key in ["ts", "dur"]:
            if key in event:
                event[key] = exact_ns(event[key])
    return events


def tracks(events):
    slices = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], event["name"]))
    return slices


def check_nesting(events):
    for track, slices in tracks(events).items():
        open_until = []
        for begin, end, name in sorted(slices, key=lambda slice_: (slice_[0], -slice_[1])):
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            if open_until and end > open_until[-1]:
                failures.add(f"{name} at {begin} on {track} nests")
                return
            open_until.append(end)


def named(events, label):
    return {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == label}


def device_process(events):
    found = [pid for (pid, _), name in named(events, "process_name").items() if name.startswith("gpu0 simulated GPU")]
    failures.equal(len(found), 1, "processes that stand for the device")
    return found[0] if found else None


def check_phases(events):
    """Each begins when the one before ends; of two ends and a duration, the file has rounded each to a nanosecond."""
    for slices in tracks(events).values():
        phases = sorted(one for one in slices if one[2] in ("load", "compute", "store"))
        for before, after in zip(phases, phases[1:]):
            if after[2] == "load":
                continue
            failures.check(abs(after[0] - before[1]) <= 1, f"{after[2]} begins when {before[2]} ends", (before, after))
        if phases:
            failures.equal(len(phases), 150, "phases of the thread")
    failures.check(any(one[2] == "store" for slices in tracks(events).values() for one in slices), "there are phases")


def check_all(events):
    """What `traced_program … all` does."""
    check_nesting(events)
    device = device_process(events)
    on_host = collections.Counter(event["name"] for event in events if event["ph"] == "X" and event["pid"] != device)
    failures.equal(on_host, {"step \"quoted\"\n\ufffd": 200, "nested": 600, "wait": 200, "submitter": 100, "offload": 1,
                             "load": 50, "compute": 50, "inner": 50, "store": 50}, "slices of the host")
    check_phases(events)
    on_device = collections.Counter(event["name"] for event in events if event["ph"] == "X" and event["pid"] == device)
    failures.equal(on_device, {"upload": 100, "kernel": 100, "offload": 1}, "slices of the device")
    failures.equal(sum(event["ph"] == "i" for event in events), 20, "marks")
    values = [float(event["args"]["value"]) for event in events if event["ph"] == "C"]
    failures.equal(len(values), 200, "values of the metric")
    failures.check(abs(sum(values) - sum(1.0 / (1 + at) for at in range(200))) < 1e-9, "the sum of the metric")
    check_handles(events)
    check_arrows(events, device)
    names = named(events, "thread_name")
    queues = sorted(name for (pid, _), name in names.items() if pid == device)
    failures.check(len([name for name in queues if name.startswith("queue 1")]) >= 1, "the first queue has a track", queues)
    failures.check(len([name for name in queues if name.startswith("queue 2 (")]) >= 1 or
                   len([name for name in queues if name.startswith("queue 1 (")]) >= 1, "what overlaps has tracks of its own", queues)
    mains = [name for (pid, thread), name in names.items() if pid == thread]
    failures.equal(mains, ["main thread"], "the main thread is called so")
    for event in events:
        if event["ph"] == "X" and (event["pid"], event["tid"]) not in names:
            failures.add(f"the track of {event['name']} has a name")
            break


def check_handles(events):
    pairs = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "be":
            pairs[event["id"]].append(event)
    failures.equal(len(pairs), 2, "handles")
    for begin, end in pairs.values():
        failures.equal((begin["ph"], end["ph"]), ("b", "e"), "a handle begins, then ends")
        failures.check(begin["ts"] <= end["ts"], "a handle ends after it begins")


def check_arrows(events, device):
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    failures.equal(len(starts), 200, "arrows")
    failures.equal(set(starts), set(ends), "arrows that begin and end")
    slices = tracks(events)
    for number, begin in starts.items():
        end = ends[number]
        failures.check(begin["ts"] <= end["ts"], "an arrow points forward")
        failures.check(any(slice_[0] == end["ts"] and slice_[2] == end["name"] for slice_ in slices[end["pid"], end["tid"]]),
                       "an arrow ends where an operation starts")
        failures.equal(end["pid"], device, "an arrow ends on the device")
        failures.check(any(slice_[0] <= begin["ts"] <= slice_[1] and slice_[2] == "submitter" for slice_ in slices[begin["pid"], begin["tid"]]),
                       "an arrow begins in the region that submitted")


def check_profile(events_in_file=None):
    profile = json.loads(profile_file.read_text())
    timeline = profile["timeline"]
    left_out = sum(timeline[key] for key in ["lost", "unchanged", "sampled_out", "beyond_limit"])
    failures.equal(timeline["events"] + left_out, profile["accounting"]["ended"], "every event is in the file or counted")
    if events_in_file is not None:
        failures.equal(timeline["events"], events_in_file, "events in the file")
    return profile


def list_events(events):
    """As the profile counts them: a handle is two in the file, an offload is one of the device as well."""
    return sum(event["ph"] in "XCib" for event in events) - sum(event["ph"] == "X" and event["name"] == "offload" for event in events) // 2


def case_everything_from_inside():
    done = run_inside("all", verbose="yes")
    failures.equal(done.returncode, 0, "the program ends well")
    events = load()
    check_all(events)
    profile = check_profile(list_events(events))
    failures.equal(profile["timeline"]["lost"], 0, "nothing was lost")
    failures.check("timeline: " in done.stderr, "the table tells of the timeline", done.stderr)


def case_everything_from_outside():
    done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--overhead=none", f"--output=trace:{timeline_file}", f"--output={profile_file}", "--",
                           PROGRAM, "outside", "all"], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "the program ends well")
    events = load()
    check_all(events)
    check_profile(list_events(events))


def case_more_at_once_than_a_queue_has_tracks():
    run_inside("crowd")
    events = load()
    check_nesting(events)
    phases = collections.Counter(event["ph"] for event in events if event["name"] == "crowded" and event["cat"] == "kernel")
    failures.equal(phases, {"X": 64, "b": 36, "e": 36}, "slices, and pairs for the others")
    check_profile()


def case_a_small_ring_loses_and_counts():
    done = run_inside("bursts", 100000, trace_events=64)
    profile = check_profile(list_events(load()))
    failures.check(profile["timeline"]["lost"] > 0, "a ring of 64 loses", profile["timeline"])
    failures.equal(profile["accounting"]["lost"], {}, "the profile itself loses nothing")
    failures.check("trace_events=" in done.stderr, "it advice is given", done.stderr)


def case_memory_does_not_grow_with_events():
    used = []
    for count in [1000000, 1500000]:
        done = run_inside("bursts", count, trace_events=1 << 21)
        used.append(int(done.stdout.split()[-1]))
        failures.equal(check_profile()["timeline"]["lost"], 0, f"nothing of {count} is lost")
        # One event a line, so that this reader needs no memory either.
        with open(timeline_file, encoding="utf-8") as lines:
            failures.equal(sum('"ph":"X"' in line for line in lines), count, "slices")
    failures.check(used[1] - used[0] < 20 * 1024, "half a million events more take nothing but their places in the ring, 16 MB", used)


def case_the_budget_thins_a_timeline():
    done = run_inside("bursts", 3000000, overhead="2%")
    profile = check_profile(list_events(load()))
    usage, row = profile["timeline"], profile["regions"][0]
    failures.check(usage["events"] > 100, "events before the region was sampled", usage)
    failures.check(usage["sampled_out"] > 1000000 and usage["lost"] == 0, "most events are skipped, and counted", usage)
    failures.check(abs(row["count"] - 3000000) <= 5 * row["count_error"] + 1, "the profile estimates all of them", row["count"])
    failures.check("skipped by the overhead budget (overhead=none keeps them)" in " ".join(done.stderr.split()), "the report names the cause", done.stderr)


def case_the_file_has_a_limit():
    done = run_inside("bursts", 100000, timeline_limit="1M")
    usage = check_profile(list_events(load()))["timeline"]
    failures.check(abs(timeline_file.stat().st_size - (1 << 20)) < 8192, "the size of the file", timeline_file.stat().st_size)
    failures.check(usage["beyond_limit"] + usage["lost"] > 80000 and usage["beyond_limit"] > 10000, "later events are counted", usage)
    failures.check("timeline_limit=" in done.stderr, "the report names the option", done.stderr)


def case_names_are_left_out():
    """Of markers: by a program's own collector, and by an observer."""
    env = environment(without="sub*;tenth")
    done = subprocess.run([PROGRAM, "inside", "all"], env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "the program ends well")
    inside = load()
    timeline_file.unlink()
    subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--overhead=none", "--without=submitter", "--without", "tenth", f"--output=trace:{timeline_file}",
                    f"--output={profile_file}", "--", PROGRAM, "outside", "all"], capture_output=True, timeout=LIMIT, check=False)
    for where, events in {"inside": inside, "outside": load()}.items():
        names = {event["name"] for event in events}
        failures.equal(names & {"submitter", "tenth"}, set(), f"{where}: names that fit a pattern")
        failures.check({"wait", "handle"} <= names, f"{where}: other names", names)


def case_everything_of_a_running_program():
    timeline_file.unlink(missing_ok=True)
    process = subprocess.Popen([PROGRAM, "outside", "endless"])
    try:
        done = subprocess.run([ADAPTYST, "attach", f"--engine={ENGINE}", f"--output=trace:{timeline_file}", "--duration=0.3", str(process.pid)],
                              capture_output=True, text=True, timeout=LIMIT, check=False)
    finally:
        process.kill()
        process.wait()
    failures.equal(done.returncode, 0, "attach ends well")
    events = load()
    check_nesting(events)
    failures.check(sum(event["ph"] == "X" for event in events) > 1000, "its regions are there", len(events))


def case_a_program_in_a_time_namespace():
    """Its clock is not that of the observer: operations are in the regions that submitted them all the same."""
    if os.geteuid() != 0 or not os.path.exists("/proc/self/ns/time"):
        return failures.check(True, "time namespaces are made as root")
    up_s = int(float(pathlib.Path("/proc/uptime").read_text().split()[0]))
    for ahead_s in (100_000, -(up_s // 2)):
        elsewhere = ["unshare", "--time", "--fork", "--kill-child", f"--monotonic={ahead_s}", PROGRAM, "outside"]
        done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--overhead=none", f"--output=trace:{timeline_file}",
                               f"--output={profile_file}", "--", *elsewhere, "all"], capture_output=True, text=True, timeout=LIMIT, check=False)
        failures.equal(done.returncode, 0, f"{ahead_s} s: the program ends well")
        check_all(load())
        outer = subprocess.Popen([*elsewhere, "endless"])
        try:
            program = find_child(outer.pid, pathlib.Path(PROGRAM).name)
            subprocess.run([ADAPTYST, "attach", f"--engine={ENGINE}", f"--output=trace:{timeline_file}", "--duration=0.3", str(program)],
                           capture_output=True, text=True, timeout=LIMIT, check=False)
        finally:
            outer.kill()
            outer.wait()
        times_ns = [event["ts"] for event in load() if event["ph"] in "Xib"]
        failures.check(len(times_ns) > 1000 and max(times_ns) > min(times_ns) and max(times_ns) < LIMIT * 1_000_000_000,
                       f"{ahead_s} s: attach: events are within the run", times_ns[:1] + times_ns[-1:])


def case_a_killed_program_leaves_what_loads():
    timeline_file.unlink(missing_ok=True)
    process = subprocess.Popen([PROGRAM, "inside", "endless"], env=environment(report="none"))
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline and (not timeline_file.exists() or timeline_file.stat().st_size < 200000):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # Readers of this format take an array without its end.
    events = load(timeline_file.read_text() + "]")
    failures.check(len(events) > 1000, "what was written is there", len(events))
    check_nesting(events)


def case_a_file_that_cannot_be_written():
    env = environment(report="none")
    env["ADAPTYST"] = f"engine={ENGINE},report=none,output=/nowhere/run.trace.json"
    done = subprocess.run([PROGRAM, "inside", "all"], env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "the program runs on")
    failures.check("/nowhere/run.trace.json" in done.stderr and "cannot write the timeline" in done.stderr, "it says so", done.stderr)
    env["ADAPTYST"] = f"engine={ENGINE},report=none,output={profile_file};trace:/dev/full"
    done = subprocess.run([PROGRAM, "inside", "all"], env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "the program runs on")
    failures.equal(done.stderr.count("cannot write the timeline"), 1, "it says so once")
    profile = check_profile()
    failures.equal(profile["timeline"]["events"], 0, "no event is in a full file")


def case_a_store_for_which_there_is_no_room():
    """It is refused before the program begins, and leaves no part."""
    if os.geteuid() != 0:
        return failures.check(True, "file systems are mounted as root")
    place = work / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24k", "none", place], check=True)
    try:
        done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", f"--output=trace:{place / 'run.sqlite'}", "--", "echo", "begun"],
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        failures.equal((done.returncode, done.stdout, list(place.iterdir())), (2, "", []), f"status, and what is left: {done.stderr}")
        failures.check("cannot write the trace" in done.stderr, "it says so", done.stderr)
    finally:
        subprocess.run(["umount", place], check=True)


def case_a_link_is_replaced_and_not_followed():
    precious = work / "precious"
    precious.write_text("precious")
    link = work / "link.trace.json"
    link.symlink_to(precious)
    env = {**os.environ, "ADAPTYST": f"engine={ENGINE},report=none,output={link}"}
    done = subprocess.run([PROGRAM, "inside", "all"], env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal((done.returncode, done.stderr), (0, ""), "the program ends well")
    failures.equal(precious.read_text(), "precious", "what the link led to is as it was")
    failures.check(not link.is_symlink() and len(load(link.read_text())) > 1000, "the timeline stands in its place")


def case_a_pipe_without_reader():
    pipe = work / "pipe"
    os.mkfifo(pipe)
    begin = time.monotonic()
    env = {**os.environ, "ADAPTYST": f"engine={ENGINE},report=none,output=json:{pipe};trace:{pipe}"}
    done = subprocess.run([PROGRAM, "inside", "all"], env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "the program runs on")
    failures.check("ENXIO" in done.stderr and time.monotonic() - begin < LIMIT / 2, "it is reported at once", done.stderr)


def case_a_child_does_not_write_into_its_parents_file():
    done = subprocess.run([PROGRAM, "inside", "fork"], env=environment(), timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "parent and child end well")
    events = load()
    check_nesting(events)
    failures.equal(sum(event["ph"] == "X" and event["name"] == "wait" for event in events), 200, "the parent's waits, and no others")


run_cases(globals(), sys.argv[4:], failures)
