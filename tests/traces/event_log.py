#!/usr/bin/env python3
"""The event log of a program's own collector, read by us and by a decoder that was written from docs/event-log.md:
event_log.py ADAPTYST TRACED_PROGRAM [case…]"""
import collections
import json
import os
import pathlib
import random
import signal
import sqlite3
import struct
import subprocess
import sys
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402

ADAPTYST, PROGRAM = sys.argv[1:3]
LIMIT = 120
FIRST_LINE = b"adaptyst event log 3\n"
EVENTS = {1: "span", 2: "handle", 3: "operation", 4: "metric", 5: "mark"}
Event = collections.namedtuple("Event", "what process thread path start end queue submitted correlation bytes value")
failures = Failures()
work = scratch()


class Log:
    """A log by its description: all that is whole."""

    def __init__(self, file):
        self.bytes = pathlib.Path(file).read_bytes()
        assert self.bytes.startswith(FIRST_LINE)
        self.events, self.processes, self.threads, self.devices, self.losses = [], {}, {}, {}, {}
        self.paths, self.colors = [()], {}
        self.is_complete, self.utc_ns = False, None
        at = len(FIRST_LINE)
        while at + 8 <= len(self.bytes):
            checksum, size = struct.unpack_from("<II", self.bytes, at)
            has_names, size = size >> 31, size & 0x7FFFFFFF
            if at + 8 + size > len(self.bytes):
                break
            assert zlib.adler32(self.bytes[at + 4:at + 8 + size]) == checksum, f"checksum at {at}"
            assert self.block(at + 8, at + 8 + size) <= has_names, "names are where they are reported to be"
            at += 8 + size

    def number(self):
        made = shift = 0
        while True:
            byte = self.bytes[self.at]
            self.at += 1
            made |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return made

    def text(self):
        size = self.number()
        self.at += size
        return self.bytes[self.at - size:self.at]

    def difference(self):
        made = self.number()
        return -(made >> 1) - 1 if made & 1 else made >> 1

    def block(self, at, end):
        """Whether anything is named in it."""
        self.at, begin, place, names = at, 0, None, False
        while self.at < end:
            first = self.bytes[self.at]
            self.at += 1
            names = names or (first < 0x10 and first != 6)
            if first == 1:
                self.utc_ns = self.number()
            elif first == 2:
                process = self.number()
                self.processes[process] = (self.number(), self.text(), self.text(), self.number())
            elif first == 3:
                process, thread = self.number(), self.number()
                self.threads[process, thread] = self.text()
            elif first == 4:
                process, device = self.number(), self.number()
                self.devices[process, device] = (self.number(), self.text(), self.text())
            elif first == 5:
                parent, kind, device = self.number(), self.number(), self.number()
                self.paths.append((*self.paths[parent], (kind, device, self.text())))
            elif first == 6:
                place = (self.number(), self.number())
            elif first == 7:
                process, reason = self.number(), self.text()
                self.losses[process, reason] = self.number()
            elif first == 8:
                self.is_complete = True
            elif first == 9:
                self.colors[self.paths[self.number()]] = self.number()
            else:
                label = EVENTS[first >> 4]
                path = self.paths[self.number()]
                begin += self.difference()
                value = length = queue = submitted = correlation = size = None
                if label == "metric":
                    value, = struct.unpack_from("<d", self.bytes, self.at)
                    self.at += 8
                elif label != "mark":
                    length = self.number()
                if label == "operation":
                    queue = self.number()
                if first & 1:
                    submitted = begin + self.difference()
                if first & 2:
                    correlation = self.number()
                if first & 4:
                    size = self.number()
                end_ns = begin if length is None else begin + length
                self.events.append(Event(label, *place, tuple(name for _, _, name in path), begin, end_ns, queue, submitted, correlation, size, value))
        assert self.at == end, "a block ends with a record"
        return names

    def count(self):
        return collections.Counter((event.what, event.path) for event in self.events)


def ask(file, question):
    db = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    db.text_factory = bytes
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def stored(file):
    """The events of a store, in the order of its rows."""
    paths = {None: ()}
    for path, parent, name in ask(file, "SELECT id, parent, name FROM path ORDER BY id"):
        paths[path] = (*paths[parent], name)
    made = []
    for process, thread, path, start, end, queue, submitted, correlation, size, nests in ask(
            file, 'SELECT process, thread, path, start, "end", queue, submitted, correlation, bytes, nests FROM span ORDER BY rowid'):
        label = "operation" if queue is not None else "span" if nests else "handle"
        made.append(Event(label, process, thread, paths[path], start, end, queue, submitted, correlation, size, None))
    for process, thread, path, at, value in ask(file, "SELECT process, thread, path, time, value FROM sample ORDER BY rowid"):
        made.append(Event("metric", process, thread, paths[path], at, at, None, None, None, None, value))
    for process, thread, path, at in ask(file, "SELECT process, thread, path, time FROM instant ORDER BY rowid"):
        made.append(Event("mark", process, thread, paths[path], at, at, None, None, None, None, None))
    return made


def in_tables(events):
    """In the order in which a store has them, with names that are UTF-8."""
    events = [event._replace(path=tuple(name.decode(errors="replace").encode() for name in event.path)) for event in events]
    return sorted(events, key=lambda event: {"metric": 1, "mark": 2}.get(event.what, 0))


def inside(*words, output, variables=None, **options):
    environment = {**os.environ, "ADAPTYST": f"engine=inline,report=none,overhead=none,output={output}", **(variables or {})}
    return subprocess.run([PROGRAM, "inside", *words], env=environment, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False, **options)


def adaptyst(*words):
    return subprocess.run([ADAPTYST, *words], capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)


def convert(*files):
    done = adaptyst("convert", *files[:-1], "-o", files[-1])
    failures.equal(done.returncode, 0, f"convert {files}: {done.stderr}")
    return done


def case_it_agrees_with_the_profile():
    log, profile, store = work / "run.events", work / "run.json", work / "run.sqlite"
    failures.equal(inside("all", output=f"{log};{profile}").returncode, 0, "the program runs")
    convert(log, store)
    read = Log(log)
    failures.check(read.is_complete and not read.losses, "it is complete", read.losses)
    failures.check(abs(read.utc_ns / 1e9 - time.time()) < 3600, "it says when it began", read.utc_ns)
    failures.equal(stored(store), in_tables(read.events), "the store has the same events")
    failures.equal(ask(store, "PRAGMA integrity_check"), [(b"ok",)], "and is whole")
    meta = dict(ask(store, "SELECT name, value FROM meta"))
    failures.equal((meta[b"complete"], int(meta[b"utc_ns"])), (b"1", read.utc_ns), "and complete")
    (process, (number, name, host, rank)), = read.processes.items()
    failures.equal(ask(store, "SELECT id, number, name, host, rank FROM process"), [(process, number, name, host, None)], "its process")
    failures.equal((number == process, name, host, rank), (True, b"traced_program", os.uname().nodename.encode(), 0), "as it is")
    failures.equal(dict(((of, thread), name) for of, thread, name in ask(store, "SELECT process, id, name FROM thread")), read.threads, "its threads")
    failures.equal(ask(store, "SELECT process, id, physical, name FROM device"), [(process, 1, 0, b"gpu0 simulated GPU")], "its device")

    profile_json = json.loads(profile.read_text(errors="surrogateescape"))
    regions = {region["id"]: region for region in profile_json["regions"]}

    def depth(region):
        return 1 + (depth(regions[region["parent"]]) if region["parent"] else 0)
    wanted = collections.Counter()
    times = collections.Counter()
    for region in profile_json["regions"]:
        wanted[region["name"].encode("ascii", "ignore"), depth(region)] += region["count"]
        times[region["name"].encode("ascii", "ignore"), depth(region)] += region.get("total_ns") or 0
    found = collections.Counter()
    lasted = collections.Counter()
    for event in read.events:
        if event.what == "metric":
            continue
        place = (event.path[-1].decode("ascii", "ignore").encode(), len(event.path))
        found[place] += 1
        lasted[place] += event.end - event.start
    failures.equal(found, wanted, "as many of each call path as in the profile")
    for place, total in times.items():
        failures.check(abs(lasted[place] - total) <= 0.01 * total + 50 * wanted[place], f"as long as in the profile: {place}", (lasted[place], total))
    failures.equal(profile_json["timeline"], {"events": len(read.events), "lost": 0, "unchanged": 0, "sampled_out": 0, "beyond_limit": 0}, "the profile has their number")
    failures.check(len(read.bytes) < 12 * len(read.events), "it is compact", (len(read.bytes), len(read.events)))
    values = [event.value for event in read.events if event.what == "metric"]
    failures.equal(values, [1.0 / (1 + at) for at in range(200)], "numbers are exact")


def case_a_chrome_trace_has_the_same():
    log, direct, made = work / "chrome.events", work / "direct.trace.json", work / "made.trace.json"
    inside("all", output=log)
    inside("all", output=direct)
    convert(log, made)

    def events(file):
        return collections.Counter((event["ph"], event["name"]) for event in json.loads(file.read_text(errors="surrogateescape")) if event["ph"] not in "Mbe")
    failures.equal(events(made), events(direct), "as many of each as a Chrome trace of the program itself")
    slices = sorted((event["name"], round(event["ts"] * 1000), round(event["dur"] * 1000)) for event in json.loads(made.read_text()) if event["ph"] == "X" and event["name"] == "nested")
    failures.equal(slices, sorted(("nested", event.start, event.end - event.start) for event in Log(log).events if event.path[-1] == b"nested"), "at the same times")
    convert(log, work / "chrome.html")


def case_it_is_analysed_as_it_is():
    log, store = work / "analysed.events", work / "analysed.sqlite"
    inside("all", output=log)
    convert(log, store)
    for words in (["--by=region"], ["--by=kernel"], ["--by=rank"], [], ["--by=region", "--shards=5", "--threads=2"]):
        answers = []
        for file in (log, store):
            done = adaptyst("variability", "--format=json", *([] if "--shards=5" in words else ["--window=1ms"]), *words, file)
            failures.equal(done.returncode, 0, f"{words} of {file.name}: {done.stderr}")
            made = json.loads(done.stdout)
            del made["ranks"]
            made["parameters"].pop("traces", None)
            answers.append(json.dumps(made).replace(log.name, store.name).replace("event log, version 2", "trace, schema 1"))
        failures.equal(answers[0], answers[1], f"the log and the store made of it: {words}")
        failures.check('"n": ' in answers[0], "with something in it", answers[0][:300])


def case_from_outside_and_by_ranks():
    log, both = work / "outside.events", work / "both.sqlite"
    done = adaptyst("run", "--engine=inline", "--format=none", "--overhead=none", f"--output=trace:{log}", "--", PROGRAM, "outside", "all")
    failures.equal(done.returncode, 0, f"observed from outside: {done.stderr}")
    failures.equal(Log(log).count()["span", (b"submitter",)], 100, "the same file")
    pattern = work / "rank-%r.events"
    for rank in (0, 3):
        inside("all", output=pattern, variables={"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "4"})
    logs = [work / f"rank-{rank}.events" for rank in (0, 3)]
    failures.equal([process[3] - 1 for log in logs for process in Log(log).processes.values()], [0, 3], "each has its rank")
    convert(*logs, both)
    failures.equal(ask(both, "SELECT rank, count(*) FROM span JOIN process ON process.id = span.process GROUP BY rank"),
                   [(0, 1503), (3, 1503)], "ranks are distinguished")
    failures.equal(len({host for host, in ask(both, "SELECT host FROM process")}), 1, "on one host")


def pattern():
    """What the endless program does on its thread, in the order in which it ends, again and again."""
    made = []
    for at in range(200):
        for depth in range(1 + at % 5, 0, -1):
            made.append(("span", 1 + depth))
        made.append(("metric", None))
        if at % 10 == 0:
            made.append(("mark", None))
        made += [("span", 2), ("span", 1)]
    return made


def case_a_killed_program_leaves_a_beginning():
    """At random moments."""
    draw = random.Random(5)
    wanted = pattern()
    for attempt in range(20):
        log, store = work / f"killed-{attempt}.events", work / f"killed-{attempt}.sqlite"
        environment = {**os.environ, "ADAPTYST": f"engine=inline,report=none,trace_events=4194304,output={log}"}
        program = subprocess.Popen([PROGRAM, "inside", "endless"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + LIMIT
            while not (log.exists() and log.stat().st_size >= len(FIRST_LINE)) and time.monotonic() < until:  # created, then written
                time.sleep(0.002)
            time.sleep(draw.random() ** 2 * 0.05)
        finally:
            program.send_signal(signal.SIGKILL)
            program.wait()
        read = Log(log)
        failures.check(not read.is_complete, "it was not finished")
        done = [(event.what, len(event.path) if event.what == "span" else None) for event in read.events]
        failures.equal(done, [wanted[at % len(wanted)] for at in range(len(done))], "what is there is a beginning")
        messages = convert(log, store).stderr
        failures.check("was not finished" in messages, "and it is reported that it ends early", messages)
        failures.equal(stored(store), in_tables(read.events), "it converts")
        failures.equal((dict(ask(store, "SELECT name, value FROM meta"))[b"complete"], ask(store, "PRAGMA integrity_check")), (b"0", [(b"ok",)]),
                       "to a whole store of what is no complete run")
    failures.check("was not finished" in adaptyst("variability", "--by=region", log).stdout.replace("\n", " "), "an analysis says so, too")


def case_a_metric_that_is_no_number_does_no_harm():
    def text(words):
        return bytes([len(words)]) + words
    values = (1.5, float("nan"), float("inf"))
    names = bytes([2, 9, 9]) + text(b"p") + text(b"h") + bytes([0, 3, 9, 0]) + text(b"t") + bytes([5, 0, 10, 0]) + text(b"residual") + bytes([6, 9, 0])
    block = names + b"".join(bytes([0x40, 1, 2]) + struct.pack("<d", value) for value in values) + bytes([8])
    framed = struct.pack("<I", len(block) | 1 << 31) + block
    log = work / "no_number.events"
    log.write_bytes(FIRST_LINE + struct.pack("<I", zlib.adler32(framed)) + framed)
    failures.equal([event.what for event in Log(log).events], ["metric"] * 3, "the log has three values")
    messages = convert(log, work / "no_number.sqlite").stderr
    failures.equal([event.value for event in stored(work / "no_number.sqlite")], [1.5, float("inf")], "the others are in the store")
    failures.check("lacks 1 values of metrics" in " ".join(messages.split()), "a message", messages)


def case_damage_is_reported():
    log, other = work / "good.events", work / "other.events"
    inside("all", output=log)
    good = log.read_bytes()
    draw = random.Random(6)
    for attempt in range(12):
        at = draw.randrange(len(FIRST_LINE), len(good))
        other.write_bytes(good[:at] + bytes([good[at] ^ (1 << draw.randrange(8))]) + good[at + 1:])
        done = adaptyst("convert", other, "-o", work / "no.sqlite")
        refused = done.returncode == 2 and "is damaged at byte" in done.stderr and other.name in done.stderr
        failures.check(refused or (done.returncode == 0 and "was not finished" in done.stderr), f"byte {at} is another one", done.stderr)
        failures.equal([file.name for file in work.glob("no.sqlite*")], [] if refused else ["no.sqlite"], "nothing is half written")
        (work / "no.sqlite").unlink(missing_ok=True)
    other.write_bytes(good.replace(b"log 3\n", b"log 4\n", 1))
    failures.check("has version 4" in adaptyst("convert", other, "-o", work / "no.sqlite").stderr, "a later version is refused")
    other.write_bytes(FIRST_LINE)
    failures.check("was not finished" in convert(other, work / "empty.sqlite").stderr, "one without events is a trace that was not finished")
    done = adaptyst("convert", log, log, "-o", work / "no.sqlite")
    failures.check(done.returncode == 2 and "twice" in done.stderr, "a log counts once", done.stderr)
    os.mkfifo(work / "pipe.events")
    failures.equal(adaptyst("convert", work / "pipe.events", "-o", work / "no.sqlite").returncode, 2, "a pipe is not waited for")


def case_a_small_ring_reports_its_losses():
    log, profile, store = work / "burst.events", work / "burst.json", work / "burst.sqlite"
    inside("bursts", "60000", output=f"{log};{profile},trace_events=64")
    read, timeline = Log(log), json.loads(profile.read_text())["timeline"]
    failures.equal(len(read.events), timeline["events"], "events")
    failures.equal(sum(read.losses.values()), timeline["lost"], "losses")
    failures.equal(timeline["events"] + timeline["lost"], 60000, "together all")
    convert(log, store)
    failures.equal(ask(store, "SELECT reason, events FROM loss"), [(b"ring_full", timeline["lost"])] if timeline["lost"] else [], "and in the store")


def case_a_child_does_not_write_into_its_parents_file():
    log = work / "fork.events"
    failures.equal(inside("fork", output=log).returncode, 0, "it runs")
    read = Log(log)
    failures.equal((read.is_complete, len(read.processes), read.count()["span", (read.events[0].path[0],)]), (True, 1, 200), "what the parent did")


def case_a_full_disk():
    """A file system of 128 KiB, if one may be mounted: the program runs to its end, and a part of an event log is removed."""
    small = work / "small"
    small.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", small], check=False, capture_output=True).returncode != 0:
        raise Missing("no file system may be mounted")
    try:
        log, profile = small / "full.events", work / "full.json"
        done = inside("bursts", "60000", output=f"{log};{profile}")
        failures.equal(done.returncode, 0, "the program ends as ever")
        failures.check("cannot write the timeline" in done.stderr and "No space left" in done.stderr, "it is reported", done.stderr)
        failures.check(not log.exists(), "a part does not fill the disk", [file.name for file in small.iterdir()])
        failures.check(json.loads(profile.read_text())["timeline"]["lost"] > 0, "its events are lost, and counted", profile.read_text()[-400:])
        store = small / "full.sqlite"
        done = subprocess.run([ADAPTYST, "run", "--engine=inline", "--format=none", "--overhead=none", f"--output=trace:{store}", f"--output={profile}", "--", PROGRAM,
                               "outside", "bursts", "60000"], capture_output=True, text=True, timeout=LIMIT, check=False)
        failures.check("cannot write the trace" in done.stderr and "full" in done.stderr, "a store says it, too", done.stderr)
        failures.check(json.loads(profile.read_text())["timeline"]["lost"] > 0, "and counts", profile.read_text()[-400:])
        if store.exists():
            done = adaptyst("convert", store, "-o", work / "of_full.sqlite")
            failures.check(done.returncode == 2 or "was not finished" in done.stderr, "what it left is no finished trace", done.stderr)
    finally:
        subprocess.run(["umount", small], check=False)


run_cases(globals(), sys.argv[3:], failures)
