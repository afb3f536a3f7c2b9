#!/usr/bin/env python3
"""The trace store of a program of ours, read by others than us: own.py ADAPTYST TRACED_PROGRAM [case…]"""
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402

ADAPTYST, PROGRAM = sys.argv[1:3]
LIMIT = 120
failures = Failures()
work = scratch()


def observe(*files, words=("all",)):
    timelines = [f"--output={file}" for file in files]
    return subprocess.run([ADAPTYST, "run", "--engine=inline", "--format=none", "--overhead=none", *timelines, "--", PROGRAM, "outside", *words],
                          capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)


def ask(file, question):
    db = sqlite3.connect(f"file:{file}?mode=ro", uri=True)  # which makes no file where a writer is about to make one
    db.text_factory = bytes
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def case_a_run_is_a_store():
    file, profile = work / "run.sqlite", work / "run.json"
    done = observe(file, profile)
    failures.equal(done.returncode, 0, "the run")
    failures.equal(ask(file, "PRAGMA integrity_check"), [(b"ok",)], "whole")
    failures.equal([path.name for path in work.iterdir() if path.name.startswith("run.sqlite-")], [], "one file is left")
    meta = dict(ask(file, "SELECT name, value FROM meta"))
    failures.equal((meta[b"format"], meta[b"schema"], meta[b"complete"]), (b"adaptyst trace", b"1", b"1"), "what it is")
    read = json.loads(profile.read_text())
    regions = [(region["name"], region["count"]) for region in read["regions"]]
    spans = []
    for name, parent, kind, count in ask(file, """
            SELECT path.name, parent.name, path.kind, count(*) FROM span JOIN path ON path.id = span.path
            LEFT JOIN path AS parent ON parent.id = path.parent GROUP BY path.id"""):
        spans.append(((name, parent, kind), count))
    nested = {count for (name, parent, _), count in spans if name == b"nested" and parent == b"nested"}
    failures.equal(sum(count for name, count in regions if name == "nested"),
                   sum(count for (name, _, _), count in spans if name == b"nested"), "as many regions as in the profile")
    failures.check(len(nested) == 4, "call paths are kept", spans)
    failures.equal([count for (name, parent, kind), count in spans if (name, kind) == (b"kernel", b"kernel")], [100], "operations")
    failures.equal(ask(file, "SELECT count(*) FROM message WHERE received >= sent")[0][0] >= 200, True, "that were submitted")
    failures.equal(ask(file, "SELECT count(*) FROM sample"), [(200,)], "numbers")
    failures.equal(ask(file, "SELECT count(*) FROM instant"), [(20,)], "marks")
    failures.equal(ask(file, 'SELECT count(*) FROM span WHERE "end" < start'), [(0,)], "none ends before it starts")


def case_it_is_analysed():
    file = work / "analysed.sqlite"
    observe(file)
    for words in ([], ["--by=region"], ["--by=rank"]):
        done = subprocess.run([ADAPTYST, "variability", "--format=json", "--window=1ms", *words, file], capture_output=True, text=True, timeout=LIMIT, check=False)
        if not failures.equal(done.returncode, 0, f"analysed {words}: {done.stderr}"):
            continue
        found = json.loads(done.stdout)
        names = {kernel["name"]: kernel["n"] for kernel in found["kernels"]}
        if words == ["--by=region"]:
            failures.equal(sum(n for name, n in names.items() if name.endswith("nested")), 600, f"regions, {names}")
        else:
            failures.equal(names.get("kernel"), 100, "kernels")


def case_both_formats_say_the_same():
    file = work / "both.sqlite"
    observe(file)
    subprocess.run([ADAPTYST, "convert", file, "-o", work / "both.json"], check=True, timeout=LIMIT, capture_output=True)
    events = json.loads((work / "both.json").read_text())
    failures.equal(sum(event["ph"] == "X" and event["name"] == "nested" for event in events), 600, "regions in JSON")
    failures.equal(sum(event["ph"] == "i" for event in events), 20, "marks in JSON")


def case_a_killed_writer_leaves_a_whole_file():
    """At random moments: what was committed is there, and every span of it."""
    draw = random.Random(11)
    for attempt in range(10):
        file = work / f"killed-{attempt}.sqlite"
        program = subprocess.Popen([ADAPTYST, "run", "--engine=inline", "--format=none", "--overhead=none", f"--output=trace:{file}", "--", PROGRAM, "outside", "endless"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            until = time.monotonic() + LIMIT
            while time.monotonic() < until and program.poll() is None:
                try:
                    if ask(file, "SELECT count(*) FROM span")[0][0] > 0:
                        break
                except sqlite3.Error:
                    pass
                time.sleep(0.02)
            time.sleep(draw.random() ** 3 * 0.6)
        finally:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
        failures.equal(ask(file, "PRAGMA integrity_check"), [(b"ok",)], "whole")
        failures.check(ask(file, "SELECT count(*) FROM span")[0][0] > 0, "with what was committed")
        failures.equal(ask(file, "SELECT count(*) FROM span LEFT JOIN path ON path.id = span.path WHERE path.id IS NULL"), [(0,)], "each has its path")
        done = subprocess.run([ADAPTYST, "variability", "--by=region", file], capture_output=True, text=True, timeout=LIMIT, check=False)
        failures.check(done.returncode == 0 and "was not finished" in " ".join(done.stdout.split()), "it is analysed, and said not to be finished", done.stderr + done.stdout[-500:])


def copied(file, name, *changes):
    """A copy of a store with other rows."""
    other = work / name
    other.write_bytes(file.read_bytes())
    db = sqlite3.connect(other, isolation_level=None)
    for change in changes:
        db.execute(change)
    db.close()
    return other


def converted(*files):
    return subprocess.run([ADAPTYST, "convert", *files[:-1], "-o", files[-1]], capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)


def case_impossible_rows_are_reported():
    file, out = work / "rows.sqlite", work / "rows_out.sqlite"
    observe(file)
    spans = ask(file, "SELECT count(*) FROM span")[0][0]
    for change, row in (('UPDATE span SET "end" = start - 1 WHERE rowid = 7', 7), ("UPDATE span SET start = -5 WHERE rowid = 8", 8),
                        ('UPDATE span SET "end" = 4611686018427387904 WHERE rowid = 9', 9), ("UPDATE span SET path = 999 WHERE rowid = 10", 10)):
        done = converted(copied(file, "row.sqlite", change), out)
        failures.equal(done.returncode, 0, change)
        failures.check("1 rows are skipped" in done.stderr and f"row.sqlite, table span, row {row}, " in done.stderr, "file, table and row", done.stderr)
        failures.equal(ask(out, "SELECT count(*) FROM span")[0][0], spans - 1, "the others are there")
    # Beside another trace, times are shifted.
    late = copied(file, "late.sqlite", "UPDATE meta SET value = value + 1000000 WHERE name = 'utc_ns'", "UPDATE span SET start = 9223372036854775807 WHERE rowid = 11")
    done = converted(file, late, out)
    failures.equal(done.returncode, 0, "a start at the end of all numbers")
    failures.check("1 end before they start" in done.stderr and "late.sqlite, table span, row 11, " in done.stderr, "file, table and row", done.stderr)
    submitted = ask(file, "SELECT count(submitted) FROM span")[0][0]
    for when in ("-3", "9223372036854775807"):
        other = copied(file, "submitted.sqlite", f"UPDATE span SET submitted = {when} WHERE rowid = (SELECT min(rowid) FROM span WHERE submitted IS NOT NULL)")
        failures.equal(converted(other, out).returncode, 0, "a submission that cannot be")
        failures.equal(ask(out, "SELECT count(submitted) FROM span")[0][0], submitted - 1, "is not known")
    names = copied(file, "names.sqlite", "UPDATE path SET name = CAST(x'610062ff' AS TEXT) WHERE id = 1")
    failures.equal(converted(names, out).returncode, 0, "a name of any bytes")
    failures.equal(ask(out, "SELECT CAST(name AS BLOB) FROM path WHERE id = 1"), [(b"a\0b\xef\xbf\xbd",)], "is kept")
    failures.equal(converted(names, work / "names.json").returncode, 0, "a name of any bytes in JSON")
    json.loads((work / "names.json").read_text())


def case_a_cut_store_is_refused():
    """At borders of pages and within them: nothing is written that looks whole."""
    file, out = work / "cut.sqlite", work / "cut_out.sqlite"
    observe(file)
    whole = file.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    other = work / "part.sqlite"
    for length in sorted({*range(0, len(whole), size), *range(1, len(whole), size * 3 + 100), len(whole) - 1}):
        other.write_bytes(whole[:length])
        done = converted(other, out)
        failures.equal(done.returncode, 2, f"cut at {length} of {len(whole)}")
        failures.check("part.sqlite" in done.stderr and "terminate" not in done.stderr, "the file is named", done.stderr)
    for table in ("thread", "device", "process", "sample", "loss"):
        done = converted(copied(file, "without.sqlite", "PRAGMA writable_schema=ON", f"DROP TABLE {table}"), out)
        failures.check(done.returncode == 2 and table in done.stderr, f"a store without its table {table}", done.stderr)
    failures.equal([path.name for path in work.glob("cut_out*")], [], "no file of that name and no part of it is left")


def case_a_killed_conversion_leaves_no_half():
    """At random moments: the file has its old content, or all of the new one."""
    file, out = work / "large.sqlite", work / "large_out.sqlite"
    observe(file)
    db = sqlite3.connect(file)
    db.execute("INSERT INTO span SELECT span.* FROM span, (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i FROM n)")
    db.commit()
    db.close()
    spans = ask(file, "SELECT count(*) FROM span")
    begin = time.monotonic()
    converted(file, out)
    takes = time.monotonic() - begin
    whole = out.read_bytes()
    draw = random.Random(12)
    finished = 0
    for attempt in range(20):
        had = draw.random() < 0.5
        if had:
            out.write_bytes(b"what was there before")
        else:
            out.unlink(missing_ok=True)
        program = subprocess.Popen([ADAPTYST, "convert", file, "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(takes * draw.random() * 1.1)
        program.kill()
        program.wait()
        if out.exists() and out.read_bytes() != b"what was there before":
            finished += 1
            failures.equal((ask(out, "PRAGMA integrity_check"), ask(out, "SELECT count(*) FROM span"), dict(ask(out, "SELECT name, value FROM meta"))[b"complete"]),
                           ([(b"ok",)], spans, b"1"), "what has the name is whole")
        else:
            failures.equal(out.exists(), had, "what was there before is there still")
        for left in work.glob("large_out.sqlite.*"):
            failures.check(left.name.endswith(".partial") and left.name.split(".")[-2] == str(program.pid), "what is left says what it is", left.name)
            left.unlink()
    print(f"    {finished} of 20 had finished")
    failures.check(finished < 20 and len(whole) > 0, "some were killed", finished)


def case_a_program_writes_none_itself():
    file = work / "inside.sqlite"
    done = subprocess.run([PROGRAM, "inside", "all"], env={**os.environ, "ADAPTYST": f"engine=inline,report=none,overhead=none,output={file}"},
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "the program runs")
    failures.check("does not write SQLite itself" in done.stderr, "and says what to do", done.stderr)
    failures.check(not file.exists(), "there is no file")


def case_an_existing_file_is_replaced():
    file = work / "replaced.sqlite"
    (work / "target").write_text("kept")
    file.symlink_to(work / "target")
    observe(file)
    failures.equal((work / "target").read_text(), "kept", "a link is not followed")
    failures.check(file.is_file() and not file.is_symlink(), "a new file is there")


run_cases(globals(), sys.argv[3:], failures)
