#!/usr/bin/env python3
"""Markers are found wherever they run: layouts.py ADAPTYST LAID_OUT PLUGIN CONSTRUCTORS ENGINE [CASE …]

A file may be laid out in another way than GNU ld does it, have no section headers, or be gone; and what runs may be a copy of it.
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, LAID_OUT, PLUGIN, CONSTRUCTORS, ENGINE = sys.argv[1:6]
LIMIT = 60  # seconds that nothing here comes near to
COUNT = 300
failures = Failures()
work = scratch()
written = work / "profile.json"
started = []


def changed(name, change):
    """A copy of the program, with its bytes changed."""
    content = bytearray(pathlib.Path(LAID_OUT).read_bytes())
    change(content)
    copy = work / name
    copy.write_bytes(content)
    copy.chmod(0o755)
    return copy


def join_notes(content):
    """As mold does it: one segment of notes with the greatest alignment, in which they are padded to 4 bytes."""
    table, number = struct.unpack_from("<Q", content, 0x20)[0], struct.unpack_from("<H", content, 0x38)[0]
    notes = [at for at in (table + 56 * index for index in range(number)) if struct.unpack_from("<I", content, at)[0] == 4]
    spans = sorted(struct.unpack_from("<QQQQQQ", content, at + 8) for at in notes)
    size = spans[-1][0] + spans[-1][3] - spans[0][0]
    struct.pack_into("<QQQQQQ", content, notes[0] + 8, *spans[0][:3], size, size, 8)
    for at in notes[1:]:
        struct.pack_into("<I", content, at, 0)


def drop_section_headers(content):
    content[0x28:0x30] = bytes(8)
    content[0x3a:0x40] = bytes(6)


def read(label, status=0, done=None):
    failures.equal(done.returncode, status, f"{label}: status")
    if not written.exists():
        failures.add(f"{label}: no profile", done.stderr)
        return {}, {"engine": "", "regions": []}
    profile = profiles.read(written.read_text(encoding="utf-8"))
    return {region["name"]: region["count"] for region in profile["regions"]}, profile


def observe(label, *command, engine=ENGINE, **options):
    written.unlink(missing_ok=True)
    done = subprocess.run([ADAPTYST, "run", f"--engine={engine}", "--overhead=none", f"--output={written}", "--", *map(str, command)],
                          capture_output=True, text=True, timeout=LIMIT, check=False, **options)
    return (*read(label, done=done), done.stderr)


def collect(label, *command, engine=ENGINE, **options):
    """The program collects for itself."""
    written.unlink(missing_ok=True)
    chosen = f"engine={engine},overhead=none,report=none,output={written}"
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT, check=False,
                          env={**os.environ, "ADAPTYST": chosen}, **options)
    return (*read(label, done=done), done.stderr)


def in_every_way(label, program, *wrapper):
    for engine in dict.fromkeys((ENGINE, "auto")):
        counts, _, messages = observe(f"{label}, {engine}", *wrapper, program, "run", COUNT, 0, engine=engine)
        failures.equal(counts.get("step"), COUNT, f"{label}: run with {engine}: {messages}")
        counts, _, messages = collect(f"{label}, own {engine}", *wrapper, program, "own", COUNT, 0, engine=engine)
        failures.equal(counts.get("step"), COUNT, f"{label}: own collector with {engine}: {messages}")


def case_notes_in_one_segment():
    in_every_way("one segment of notes", changed("joined", join_notes))


def case_started_by_the_loader():
    in_every_way("started by the loader", LAID_OUT, "/lib64/ld-linux-x86-64.so.2")


def case_no_section_headers():
    program = changed("sectionless", drop_section_headers)
    counts, profile, messages = observe("no section headers, inline", program, "run", COUNT, 0, engine="inline")
    failures.equal(counts.get("step"), COUNT, f"no section headers: run with inline: {messages}")
    for way, mode in ((observe, "run"), (collect, "own")):
        counts, profile, messages = way("no section headers, auto", program, mode, COUNT, 0, engine="auto")
        failures.equal(counts.get("step"), COUNT, f"no section headers: {mode} with auto: {messages}")
        failures.check("section headers" in messages + profile.get("reason", "") or profile["engine"] == "inline", "why its recorder is read",
                       (messages, profile.get("reason")))
    if ENGINE == "ebpf":
        written.unlink(missing_ok=True)
        done = subprocess.run([ADAPTYST, "run", "--engine=ebpf", "--", program, "run", "5", "0"], capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        failures.check("it has no section headers" in done.stderr, "engine=ebpf says why it cannot", done.stderr)
    shown = subprocess.run([ADAPTYST, "sites", "--format=json", program], capture_output=True, text=True, timeout=LIMIT, check=True)
    objects = json.loads(shown.stdout)[0]["objects"]
    failures.check(len(objects) == 1 and objects[0]["control_block"] and "section headers" in objects[0]["no_probes_because"],
                   "sites finds its markers", objects)


def case_library_that_is_gone():
    for mode in ("own", "own,unlink"):
        for engine in dict.fromkeys((ENGINE, "auto")):
            library = shutil.copy(PLUGIN, work / "gone.so")
            counts, _, messages = collect(f"{mode}, {engine}", LAID_OUT, mode, COUNT, 0, library, engine=engine)
            failures.equal((counts.get("step"), sum(counts.values())), (COUNT, 2 * COUNT), f"{mode}, {engine}: {counts} {messages}")


def case_code_that_was_moved():
    for engine in dict.fromkeys(("inline", "auto")):
        counts, _, messages = collect(f"moved, own {engine}", LAID_OUT, "own,move", COUNT, 0, engine=engine)
        failures.equal(counts.get("step"), COUNT, f"moved, own {engine}: {messages}")
        started.append(subprocess.Popen([LAID_OUT, "move", "100000", "300"]))
        time.sleep(0.3)
        written.unlink(missing_ok=True)
        done = subprocess.run([ADAPTYST, "attach", f"--engine={engine}", "--duration=0.5", f"--output={written}", str(started[-1].pid)],
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        counts, profile = read(f"moved, attach {engine}", done=done)
        failures.check(counts.get("step", 0) > 100, f"moved, attach {engine}: {counts} {done.stderr}")
        failures.equal(started[-1].poll(), None, f"moved, attach {engine}: it runs on")
        started[-1].kill()


def case_code_that_moves_under_probes():
    """It cannot be saved, but the message names the cause; inline, it runs."""
    counts, _, messages = observe("moves, inline", LAID_OUT, "move", COUNT, 0, engine="inline")
    failures.equal(counts.get("step"), COUNT, f"moves, inline: {messages}")
    if ENGINE == "ebpf":
        program = f"{LAID_OUT} move {COUNT} 0"
        for how, words in (("ebpf", ["--engine=ebpf", "--", *program.split()]), ("a child", ["--engine=ebpf", "--", "sh", "-c", f"{program}; true"]),
                           ("inline, context", ["--engine=inline", "--context=cpu", "--", *program.split()])):
            done = subprocess.run([ADAPTYST, "run", *words], capture_output=True, text=True, timeout=LIMIT, check=False)
            has_ended_well = done.returncode == 0 and "signal" not in done.stderr
            failures.check(has_ended_well or "was ended by SIGTRAP" in done.stderr and "--engine inline" in done.stderr,
                           f"{how}: the cause is named", done.stderr)


def case_constructors():
    counts, _, messages = observe("constructors", CONSTRUCTORS)
    expected = {name: 1 for name in ("static object", "constructor 101", "constructor", "main", "destructor")}
    failures.equal(counts, expected, f"markers before and after main(): {messages}")


run_cases(globals(), sys.argv[6:], failures, started)
