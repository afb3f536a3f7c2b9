#!/usr/bin/env python3
"""Timelines in Perfetto's form, decoded by protobuf's own compiler: perfetto.py ADAPTYST TRACED_PROGRAM [case…]"""
import codecs
import collections
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402

ADAPTYST, PROGRAM = sys.argv[1:3]
LIMIT = 120
HERE = pathlib.Path(__file__).resolve().parent
failures = Failures()
work = scratch()


def decode(content):
    """The packets of a file, as nested dictionaries of lists."""
    if not shutil.which("protoc"):
        raise Missing("protoc (Debian: protobuf-compiler)")
    done = subprocess.run(["protoc", f"--proto_path={HERE}", "--decode=Trace", "perfetto.proto"], input=content, capture_output=True, timeout=LIMIT, check=False)
    failures.equal((done.returncode, done.stderr), (0, b""), "protoc decodes the file")
    top = collections.defaultdict(list)
    within = [top]
    for line in done.stdout.decode().splitlines():
        key, _, value = line.strip().partition(": ")
        if key == "}":
            within.pop()
        elif key.endswith(" {"):
            within.append(collections.defaultdict(list))
            within[-2][key[:-2]].append(within[-1])
        elif value.startswith('"'):
            within[-1][key].append(codecs.escape_decode(value[1:-1].encode())[0].decode())
        else:
            failures.check(not key.isdigit(), "no field is unknown", line)
            within[-1][key].append(value)
    return top["packet"]


class Timeline:
    """The packets as a viewer reads them: sorted by time, then by place in the file."""

    def __init__(self, content):
        self.spans, self.instants, self.values, self.starts, self.ends = [], [], [], set(), set()
        self.tracks, texts, defaults, events = {}, collections.defaultdict(dict), {}, []
        for packet in decode(content):
            sequence = packet["sequence"][0] if packet["sequence"] else None
            for one in packet["defaults"]:
                defaults[sequence] = one["event"][0]["track"][0] if one["event"] else None
                failures.equal(packet["flags"], ["1"], "the state of the sequence begins")
            for kind in ("category", "name", "annotation"):
                for entry in packet["interned"][0][kind] if packet["interned"] else ():
                    texts[sequence, kind][entry["id"][0]] = entry["text"][0]
            for track in packet["track"]:
                self.tracks[track["id"][0]] = track
            for event in packet["event"]:
                events.append((int(packet["timestamp"][0]), sequence, event))
        stacks = collections.defaultdict(list)
        for at, sequence, event in sorted(events, key=lambda event: event[0]):
            track = event["track"][0] if event["track"] else defaults[sequence]
            failures.check(track in self.tracks, "the track has a description", track)
            name = texts[sequence, "name"][event["name"][0]] if event["name"] else None
            self.starts.update(event["flow"])
            self.ends.update(event["ending_flow"])
            what = event["type"][0]
            if what == "BEGIN":
                stacks[track].append((name, at))
            elif what == "END":
                stack = stacks[track]
                place = max(at for at, span in enumerate(stack) if span[0] == name)
                self.spans.append((name, stack.pop(place)[1], at))
            elif what == "INSTANT":
                self.instants.append((name, at))
            else:
                self.values.append((self.tracks[track]["name"][0], at, float(event["value"][0])))
        self.open = sum(map(len, stacks.values()))

    def count(self):
        return collections.Counter(name for name, _, _ in self.spans)


def read(file):
    return Timeline(pathlib.Path(file).read_bytes())


def inside(*words, output):
    environment = {**os.environ, "ADAPTYST": f"engine=inline,report=none,overhead=none,output={output}"}
    return subprocess.run([PROGRAM, "inside", *words], env=environment, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)


def convert(*files):
    done = subprocess.run([ADAPTYST, "convert", *files[:-1], "-o", files[-1]], capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, f"convert {files}: {done.stderr}")
    return done


def ask(file, question):
    db = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def case_it_has_the_events_of_a_store():
    log, store, made = work / "run.events", work / "run.sqlite", work / "run.pftrace"
    failures.equal(inside("all", output=log).returncode, 0, "the program runs")
    convert(log, store)
    convert(log, made)
    of = read(made)
    spans = ask(store, 'SELECT name, start, "end" FROM span JOIN path ON path.id = span.path WHERE path.device = 0 OR queue IS NOT NULL')
    # An offload is on its thread and on its device.
    spans += 2 * ask(store, 'SELECT name, start, "end" FROM span JOIN path ON path.id = span.path WHERE path.device != 0 AND queue IS NULL')
    failures.check(len(spans) > 1000, "there are spans", len(spans))
    failures.equal(collections.Counter(of.spans), collections.Counter(spans), "the same spans, at the same times")
    failures.equal(of.open, 0, "each span ends")
    failures.equal(sorted(of.values), sorted(ask(store, "SELECT name, time, value FROM sample JOIN path ON path.id = sample.path")), "the same numbers")
    marks = [mark for mark in of.instants if mark[0] != "submit"]
    failures.equal(sorted(marks), sorted(ask(store, "SELECT name, time FROM instant JOIN path ON path.id = instant.path")), "the same marks")
    failures.equal(len(of.starts), ask(store, "SELECT count(*) FROM span WHERE submitted IS NOT NULL")[0][0], "an arrow for each operation")
    failures.equal(of.starts, of.ends, "arrows have two ends")
    made_again = work / "again.pftrace"
    convert(store, made_again)
    failures.equal(collections.Counter(read(made_again).spans), collections.Counter(spans), "the store has the same")


def case_a_program_and_an_observer_write_it():
    file, other = work / "direct.pftrace", work / "outside.pftrace"
    failures.equal(inside("all", output=file).returncode, 0, "the program writes it")
    done = subprocess.run([ADAPTYST, "run", "--engine=inline", "--format=none", "--overhead=none", f"--output={other}", "--", PROGRAM, "outside", "all"],
                          capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, f"an observer writes it: {done.stderr}")
    counts = [read(name).count() for name in (file, other)]
    failures.check(counts[0]["nested"] > 0, "there are regions", counts[0])
    failures.equal(counts[0], counts[1], "they have the same spans")
    clocks = {clock["id"][0]: int(clock["time"][0]) for clock in decode(file.read_bytes())[0]["clock_snapshot"][0]["clock"]}
    failures.check(abs(clocks["1"] / 1e9 - time.time()) < 3600, "the time of day", clocks)
    failures.check(0 < clocks["3"] <= time.monotonic_ns(), "the time since the machine's start", clocks)
    failures.check(clocks["6"] + 1_000_000 >= clocks["3"], "with the time of its sleep", clocks)


def case_a_killed_program_leaves_whole_packets():
    file = work / "killed.pftrace"
    environment = {**os.environ, "ADAPTYST": f"engine=inline,report=none,overhead=none,output={file}"}
    process = subprocess.Popen([PROGRAM, "inside", "endless"], env=environment)
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline and (not file.exists() or file.stat().st_size < 200000):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    content = file.read_bytes()
    failures.check(len(Timeline(content).spans) > 1000, "the spans are there")
    for pages in (1, 7, 20):
        failures.check(Timeline(content[:4096 * pages]).open <= 64, "whole pages have whole packets")


def case_a_file_that_cannot_be_written():
    store = work / "some.sqlite"
    log = work / "some.events"
    inside("all", output=log)
    convert(log, store)
    done = subprocess.run([ADAPTYST, "convert", log, "-o", "/nowhere/run.pftrace"], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.check(done.returncode == 2 and "/nowhere/run.pftrace" in done.stderr, "it is refused", done.stderr)
    if os.geteuid() != 0:
        return
    place = work / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", place], check=True)
    try:
        done = subprocess.run([ADAPTYST, "convert", log, "-o", place / "run.pftrace"], capture_output=True, text=True, timeout=LIMIT, check=False)
        failures.check(done.returncode == 2 and "No space" in done.stderr, "a full disk is reported", done.stderr)
        failures.equal(list(place.iterdir()), [], "nothing is left")
    finally:
        subprocess.run(["umount", place], check=True)


def varint(value):
    made = b""
    while value >= 128:
        made += bytes([value % 128 | 128])
        value //= 128
    return made + bytes([value])


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def hand_made(host, boottime, realtime):
    """A trace of another machine: a clock snapshot and a process, with the numbers of the published format."""
    clocks = b"".join(field(1, field(1, kind) + field(2, at)) for kind, at in ((6, boottime), (1, realtime)))
    labels = field(8, f"host: {host}".encode()) if host else b""
    process = field(60, field(1, 7) + field(3, field(1, 4711) + labels + field(6, b"solver")) + field(99, b"unknown"))
    return field(1, field(6, clocks + field(2, 6)) + field(10, 1)) + field(1, process + field(10, 1))


def archive(*files):
    return subprocess.run([ADAPTYST, "convert", *files[:-1], "-o", files[-1]], capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)


def members_of(file):
    with tarfile.open(file, "r:") as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def case_all_ranks_in_one_file():
    own = []
    for rank in range(2):
        own.append(work / f"own-{rank}.pftrace")
        failures.equal(inside("all", output=own[-1]).returncode, 0, "the program runs")
    snapshot = next(packet["clock_snapshot"][0] for packet in decode(own[0].read_bytes()) if packet["clock_snapshot"])
    clocks = {clock["id"][0]: int(clock["time"][0]) for clock in snapshot["clock"]}
    host = os.uname().nodename
    labels = {label for packet in decode(own[0].read_bytes()) for track in packet["track"] for process in track["process"] for label in process["label"]}
    failures.equal(labels, {f"host: {host}"}, "a process has the name of its machine")
    others = []
    for number, (name, boot) in enumerate((("node \"7\"", 1000), ("node \"7\"", 5000), ("", 90_000_000), ("", 90_000_400))):
        (work / f"folder{number}").mkdir()
        others.append(work / f"folder{number}" / "r.pftrace")
        others[-1].write_bytes(hand_made(name, boot, 1_790_000_000_000_000_000 + boot))
    tar = work / "all.tar"
    done = archive(*own, *others, tar)
    failures.equal((done.returncode, done.stderr), (0, ""), "it is written")
    listed = subprocess.run(["tar", "-tvf", tar], capture_output=True, text=True, check=False)
    names = ["own-0.pftrace", "own-1.pftrace", "r.pftrace", "trace-3.pftrace", "trace-4.pftrace", "trace-5.pftrace"]
    failures.equal((listed.returncode, listed.stderr, [line.split()[-1] for line in listed.stdout.splitlines()]), (0, "", names + ["perfetto_manifest.json"]), "tar lists it")
    failures.equal(tar.stat().st_size % 512, 0, "in whole blocks")
    members = members_of(tar)
    for name, file in zip(names, own + others):
        failures.check(members[name] == file.read_bytes(), "a member is the file", name)
    text = members["perfetto_manifest.json"].decode()
    failures.check("".join(text.split()).startswith('{"perfetto_manifest"'), "readers detect the manifest by its begin", text)
    manifest = json.loads(text)["perfetto_manifest"]
    files = manifest["files"]
    failures.equal((manifest["version"], [entry["path"] for entry in files]), (1, names), "the manifest lists all")
    failures.equal([entry["machine"]["name"] for entry in files], [host, host, 'node "7"', 'node "7"', "machine 1", "machine 1"], "machines")
    failures.equal(manifest["trace_time"], {"clock": "BOOTTIME", "file": names[0]}, "the clock of the whole")
    # An instant is T on the other machine and T + offset on the first: both clocks show the same time of day then.
    offset = clocks["6"] - clocks["1"] + 1_790_000_000_000_000_000
    related = {entry["path"]: entry["clocks"] for entry in files if "clocks" in entry}
    wanted = {"clock": "BOOTTIME", "sync_to": {"file": names[0], "clock": "BOOTTIME"}, "offset_ns": offset}
    failures.equal(related, {"r.pftrace": wanted, "trace-4.pftrace": wanted}, "clocks are related once a machine")


def case_an_archive_takes_only_whole_traces():
    whole, cut, text, tar = (work / name for name in ("whole.pftrace", "cut.pftrace", "text.pftrace", "faulty.tar"))
    whole.write_bytes(hand_made("a", 10, 20))
    cut.write_bytes(whole.read_bytes() + field(1, bytes(100))[:-1])
    text.write_text("no trace")
    done = archive(whole, cut, tar)
    failures.equal(done.returncode, 0, "a truncated trace is kept")
    failures.check(f"cut.pftrace at byte {whole.stat().st_size}" in " ".join(done.stderr.split()), "and reported", done.stderr)
    failures.check(members_of(tar)["cut.pftrace"] == cut.read_bytes(), "as it is", "")
    tar.unlink()
    for files, reason in (((whole, text), "text.pftrace is not in Perfetto"), ((whole, whole), "given twice"), ((whole, work / "none"), "cannot read"), ((work,), "cannot read")):
        done = archive(*files, tar)
        failures.check(done.returncode == 2 and reason in done.stderr and not tar.exists(), reason, done.stderr)
    huge = work / "huge.pftrace"
    with open(huge, "wb") as file:
        file.truncate(1 << 33)
    done = archive(huge, tar)
    failures.check(done.returncode == 2 and "too large for a TAR" in done.stderr and not tar.exists(), "a size that the form cannot hold", done.stderr)


def case_a_killed_conversion_is_named():
    if not shutil.which("strace"):
        raise Missing("strace")
    trace, tar = work / "killed.pftrace", work / "killed.tar"
    trace.write_bytes(hand_made("a", 10, 20))
    for by in ("SIGKILL", "SIGTERM"):
        killed = subprocess.run(["strace", "-qq", "-o", "/dev/null", "-e", "trace=link", "-e", f"inject=link:signal={by}:when=1:error=EIO", ADAPTYST, "convert", trace, "-o", tar],
                                capture_output=True, text=True, timeout=LIMIT, check=False)
        failures.check(killed.returncode in (-9, -15, 137, 143), f"{by} ends it", (killed.returncode, killed.stderr))
        failures.check(not tar.exists(), "nothing has the name", "")
        left = list(work.glob("killed.tar.*.partial"))
        failures.equal(len(left), 1, "one file is left")
        done = archive(trace, tar)
        failures.check(done.returncode == 0 and left[0].name in done.stderr, "the next conversion names it", done.stderr)
        left[0].unlink()
        tar.unlink()
        failures.equal(archive(trace, tar).stderr, "", "and no other")
        tar.unlink()


run_cases(globals(), sys.argv[3:], failures)
