#!/usr/bin/env python3
"""rocpd files of all schemas, converted and analysed: rocpd.py ADAPTYST [case…]"""
import collections
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
from nsys_export import repeat_rows  # noqa: E402
from rocpd_file import SCHEMAS, RocpdFile  # noqa: E402

ADAPTYST = sys.argv[1]
BOOT = 40 * 86_400 * 10**9  # the machine runs for 40 days
failures = Failures()
work = scratch()


def command(*words, timeout=60):
    return subprocess.run([ADAPTYST, *map(str, words)], capture_output=True, text=True, timeout=timeout, check=False)


def analyse(*words):
    done = command("variability", "--format", "json", *words)
    failures.equal(done.returncode, 0, f"analysed: {done.stderr}")
    return json.loads(done.stdout)


def convert(*files, to="out.sqlite"):
    done = command("convert", *files, "-o", work / to)
    failures.equal(done.returncode, 0, f"converted: {done.stderr}")
    return " ".join(done.stderr.split())


def ask(question, name="out.sqlite"):
    db = sqlite3.connect(work / name)
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def paths(name="out.sqlite"):
    """Spans and instant events by process and start, with their call paths and kinds."""
    whole = dict((number, (path, kind)) for number, path, kind in ask("""
        WITH RECURSIVE whole(id, name, kind) AS (SELECT id, name, kind FROM path WHERE parent IS NULL
          UNION ALL SELECT path.id, whole.name || '/' || path.name, path.kind FROM path JOIN whole ON path.parent = whole.id)
        SELECT id, name, kind FROM whole""", name))
    return {(process, start, end, *whole[path]) for process, start, end, path in
            ask('SELECT process, start, "end", path FROM span UNION ALL SELECT process, time, time, path FROM instant', name)}


def step(process, at, rank=0):
    """A step with two kernels, launched in different ranges, and three copies. Calls have the numbers 4 to 6 + 10 * rank."""
    base = 10 * rank
    process.marker(at, at + 1000, "step", stack=base + 1)
    process.marker(at + 100, at + 500, "inner", stack=base + 2)
    process.marker(at + 50, at + 50, "here", "roctxMarkA", stack=base + 3)
    process.marker(at + 20, at + 4000, "open", "roctxRangeStartA", stack=base + 7)
    process.region(at + 110, at + 150, "hipLaunchKernel", stack=base + 4)
    process.region(at + 120, at + 140, "hsa_queue_add_write_index", "HSA_CORE_API", stack=base + 5, parent=base + 4)
    process.region(at + 600, at + 700, "hipDeviceSynchronize", stack=base + 6)
    process.kernel(at + 2000, at + 3000, "axpy<double>", stack=base + 4, counters=[("SQ_WAVES", 12.5), ("GRBM_COUNT", 7)])
    process.kernel(at + 2500, at + 3500, "dot", gpu=1, stack=base + 5)
    process.copy(at + 4000, at + 4100, 0, 2, stack=base + 6)
    process.copy(at + 4200, at + 4300, 2, 0, size=100)
    process.copy(at + 4400, at + 4500, 2, 3)


def expected_step(pid, at):
    return {(pid, at + start, at + end, path, kind) for start, end, path, kind in (
        (0, 1000, "step", "region"), (100, 500, "step/inner", "region"), (50, 50, "here", "mark"), (20, 4000, "open", "region"),
        (110, 150, "step/inner/hipLaunchKernel", "function"), (120, 140, "step/inner/hipLaunchKernel/hsa_queue_add_write_index", "function"),
        (600, 700, "step/hipDeviceSynchronize", "wait"), (2000, 3000, "step/inner/axpy<double>", "kernel"), (2500, 3500, "step/inner/dot", "kernel"),
        (4000, 4100, "step/copy host to device", "copy_to"), (4200, 4300, "copy device to host", "copy_from"), (4400, 4500, "copy device to another", "copy_to"))}


def case_all_events_have_their_place():
    for schema in SCHEMAS:
        made = RocpdFile(work / f"{schema}.db", schema)
        process = made.process(100, init=BOOT, environment={"OMPI_COMM_WORLD_RANK": "3"})
        process.thread(1, "main")
        step(process, BOOT + 10)
        process.allocation(BOOT + 1, BOOT + 2, 77)
        made.db.execute(f"CREATE TABLE {process.table('of_tomorrow')}(id TEXT PRIMARY KEY) WITHOUT ROWID")
        made.db.execute(f"INSERT INTO {process.table('of_tomorrow')} VALUES('a'), ('b')")
        printed = convert(made.finish())
        failures.equal(paths(), expected_step(100, 10), f"{schema}: events")
        failures.equal(ask("SELECT name, number, host, rank FROM process"), [("solver", 100, "node0", 3)], f"{schema}: process")
        failures.equal(ask("SELECT id, name FROM thread"), [(1, "main")], f"{schema}: thread")
        failures.equal(ask("SELECT physical, name, uuid FROM device ORDER BY 1"), [(number, f"gpu{number} Simulated MI300X", f"machine-0, agent {number + 2}") for number in (0, 1)],
                       f"{schema}: devices")
        failures.equal(ask('SELECT submitted, correlation, thread, queue, bytes FROM span WHERE bytes IS NOT NULL OR submitted IS NOT NULL ORDER BY start'),
                       [(120, 4, 1, 1, None), (130, 5, 1, 1, None), (610, 6, 1, 1, 4096), (None, None, 1, 1, 100), (None, None, 1, 1, 4096)], f"{schema}: operations")
        failures.equal(sorted(ask("SELECT time, name, value FROM sample JOIN path ON path.id = path")), [(2010, "GRBM_COUNT", 7), (2010, "SQ_WAVES", 12.5)], f"{schema}: counters")
        failures.check("2 operations are unattributed" in printed, f"{schema}: operations without a call", printed)
        failures.check("tables that are not read: rocpd_memory_allocate (1 rows), rocpd_of_tomorrow (2 rows)" in printed, f"{schema}: allocations", printed)
        failures.check("simulated" in printed, f"{schema}: simulated", printed)


def many(name, schema="3.0.0", count=3000, chance=1):
    """Kernels and copies with known totals by name."""
    draw, totals = random.Random(chance), collections.defaultdict(lambda: [0, 0])
    made = RocpdFile(work / name, schema)
    process = made.process(100, init=BOOT)
    for number in range(count):
        start, length, kernel, gpu = BOOT + number * 5000 + draw.randrange(1000), draw.randrange(1, 6000), f"kernel {draw.randrange(5)}", draw.randrange(2)
        process.kernel(start, start + length, kernel, gpu=gpu, stack=number + 1)
        totals[kernel][0] += 1
        totals[kernel][1] += length
        if number % 3 == 0:
            process.copy(start, start + draw.randrange(1, 9000), 0, 2 + gpu)
    return made, dict(totals)


def case_an_analysis_counts_all():
    """The same from the file, by any number of threads, and from a store made from the file."""
    for schema in SCHEMAS:
        made, totals = many(f"many {schema}.db", schema)
        file = made.finish()
        found = analyse("--threads=1", file)
        failures.equal({kernel["name"]: [kernel["n"], kernel["total"]] for kernel in found["kernels"] if kernel["device"] == 0}.keys(), totals.keys(), f"{schema}: names")
        sums = collections.defaultdict(lambda: [0, 0])
        for kernel in found["kernels"]:
            sums[kernel["name"]][0] += kernel["n"]
            sums[kernel["name"]][1] += kernel["total"]
        failures.equal(dict(sums), totals, f"{schema}: numbers and durations")
        failures.check(found["parameters"]["simulated"] is True, f"{schema}: simulated")
        convert(file)
        for name, words in (("three threads", ["--threads=3", file]), ("a store", [work / "out.sqlite"])):
            other = analyse(*words)
            for part in ("windows", "kernels", "corr", "topk"):
                failures.equal(other[part], found[part], f"{schema}: {part} of {name}")


def case_regions_are_the_same_from_a_store():
    for schema in SCHEMAS:
        made = RocpdFile(work / f"regions {schema}.db", schema)
        process = made.process(100, init=BOOT)
        for number in range(50):
            step(process, BOOT + number * 10_000, number)
        file = made.finish()
        convert(file)
        # A store has whole call paths.
        sets = [{(entry["name"].rsplit("/", 1)[-1], entry["n"], entry["total"]) for entry in analyse("--by=region", path)["kernels"]} for path in (file, work / "out.sqlite")]
        failures.equal(sets[0], sets[1], f"{schema}: regions")
        failures.check({("step", 50, 50_000), ("inner", 50, 20_000), ("hipLaunchKernel", 50, 2000)} <= sets[0], f"{schema}: names and times", sets[0])
        efficiency = [analyse(path)["efficiency"] for path in (file, work / "out.sqlite")]
        failures.equal(efficiency[0], efficiency[1], f"{schema}: efficiency")
        failures.equal(efficiency[0]["host"]["whole"]["threads"], 1, f"{schema}: a thread that calls HIP")


def case_several_ranks():
    """Each in a file, and all in one, which has tables for each process. Processes of two machines have the same number."""
    expected, files = set(), []
    merged = RocpdFile(work / "merged.db")
    for rank in range(3):
        alone = RocpdFile(work / f"rank{rank}.db")
        about = {"host": f"node{rank // 2}", "machine": f"machine-{rank // 2}", "environment": {"SLURM_PROCID": str(rank)}, "init": BOOT * (1 + rank // 2) + rank * 100}
        for of in (alone, merged):
            step(of.process(100 + rank % 2, **about), about["init"] + 10)
        files.append(alone.finish())
    convert(merged.finish())
    # Times of one machine are of one clock.
    for pid, at in ((100, 10), (101, 110), ((1 << 22) - 1, 10)):
        expected |= expected_step(pid, at)
    failures.equal(paths(), expected, "one file")
    failures.equal(ask("SELECT rank, number, host FROM process ORDER BY rank"), [(0, 100, "node0"), (1, 101, "node0"), (2, 100, "node1")], "processes")
    failures.equal(ask("SELECT count(DISTINCT physical), count(*) FROM device"), [(4, 6)], "two GPUs of each machine")
    printed = convert(*files)
    failures.equal(paths(), {((2 << 22) + 100 if pid == (1 << 22) - 1 else pid, *rest) for pid, *rest in expected}, "several files")
    failures.equal(ask("SELECT rank, number, host FROM process ORDER BY rank"), [(0, 100, "node0"), (1, 101, "node0"), (2, 100, "node1")], "processes of files")
    failures.equal(ask("SELECT count(*) FROM span"), [(33,)], "spans of files")
    failures.equal(ask("SELECT count(DISTINCT physical) FROM device"), [(4,)], "devices of files")
    failures.check("traces of a machine are aligned by its clock, machines at their begin" in printed, "alignment is reported", printed)
    failures.check("traces are aligned by their machine's clock" in convert(*files[:2]), "one machine")
    done = command("variability", files[0], shutil.copy(files[0], work / "again.db"))
    failures.check(done.returncode == 2 and "same process 100" in done.stderr, "a process in two files", done.stderr)
    convert(*files)
    found = analyse("--by=rank", *files)
    failures.equal({window["rank"] for window in found["windows"]}, {0, 1, 2}, "ranks")


def case_bad_rows_are_skipped_and_counted():
    for schema in SCHEMAS:
        made = RocpdFile(work / f"bad {schema}.db", schema)
        process = made.process(100, init=BOOT)
        for start, end in ((BOOT, BOOT + 5), (BOOT + 10, BOOT + 5), (-5, 5), (BOOT, 1 << 62), (-(1 << 63), 1), (None, BOOT), (BOOT, None), (BOOT, 0), ("soon", BOOT), (BOOT + 0.5, BOOT + 5),
                           (b"\xff\x00", BOOT)):
            process.kernel(start, end, "good")
        file = made.finish()
        printed = convert(file)
        failures.equal(ask("SELECT count(*) FROM span"), [(1,)], f"{schema}: what is left")
        failures.check("10 rows are skipped: 1 end before they start" in printed and "have no end" in printed and f"table {process.table('kernel_dispatch')}, row 2, ends before it starts" in printed,
                       f"{schema}: faults by table and row", printed)
        found = analyse(file)
        failures.equal([(kernel["name"], kernel["n"]) for kernel in found["kernels"]], [("good", 1)], f"{schema}: of an analysis")
        failures.check("10 rows are skipped" in " ".join(found["parameters"]["remarks"]), f"{schema}: also counted there", found["parameters"]["remarks"])


def case_what_is_absent():
    """References to nothing, parents in a circle, and ranges that cross."""
    for schema in SCHEMAS:
        made = RocpdFile(work / f"absent {schema}.db", schema)
        process = made.process(100, init=BOOT)
        process.kernel(BOOT + 1, BOOT + 2, "k", kernel_id=99, event_id=None)
        process.kernel(BOOT + 3, BOOT + 4, "k", event_id=12345)
        process.kernel(BOOT + 5, BOOT + 6, "k", kernel_id=None)
        process.copy(BOOT + 7, BOOT + 8, 2, None)
        process.copy(BOOT + 9, BOOT + 10, 77, 78)
        process.copy(BOOT + 9, BOOT + 10, 0, 1)
        process.region(BOOT + 11, BOOT + 20, "hipA", stack=1, parent=2)
        process.region(BOOT + 12, BOOT + 19, "hipB", stack=2, parent=1)
        process.region(BOOT + 13, BOOT + 18, "hipC", stack=3, parent=3)
        process.region(BOOT + 21, BOOT + 30, "x", name_id=99, event_id=None)
        process.marker(BOOT + 31, BOOT + 35, "first")
        process.marker(BOOT + 33, BOOT + 37, "second")
        process.marker(BOOT + 41, BOOT + 42, b"\xff\xfe" if process.has_tracks else "any")
        process.marker(BOOT + 43, BOOT + 44, "h" * 3_000_000)
        if "track_id" in process.columns["kernel_dispatch"]:
            process.kernel(BOOT + 45, BOOT + 46, "k", track_id=4242)
        else:
            process.kernel(BOOT + 45, BOOT + 46, "k", agent_id=4242, pid=4242, tid=None)
        file = made.finish()
        printed = convert(file)
        names = {path for *_, path, _ in paths()}
        failures.check({"name 99", "k", "(unnamed)", "copy, kind unknown", "hipA", "hipA/hipB", "hipC", "first", "second"} <= names, f"{schema}: names", sorted(name[:50] for name in names))
        failures.equal(ask("SELECT device.name FROM device JOIN path ON device.id = path.device WHERE path.name = 'copy host to host'"), [("host memory",)], f"{schema}: without a GPU")
        failures.check("2 of 5 ranges are ambiguous" in printed, f"{schema}: ranges that cross", printed)
        failures.equal(sum(kernel["n"] for kernel in analyse(file)["kernels"]), 3, f"{schema}: kernels of an analysis")


def damage(file):
    size = os.path.getsize(file)
    with open(file, "r+b") as to:
        to.seek(size // 2 // 4096 * 4096)
        to.write(b"\xa5" * 4096 * 8)


def case_bad_files_are_refused():
    """With file and table, and without an output. A view is no table, whatever it does."""
    made, _ = many("good.db")
    process = made.processes[0]
    table = process.table("kernel_dispatch")
    good = made.finish()

    def changed(name, sql):
        file = shutil.copy(good, work / name)
        db = sqlite3.connect(file)
        db.executescript(sql)
        db.close()
        return file

    cut, damaged = shutil.copy(good, work / "cut.db"), shutil.copy(good, work / "damaged.db")
    os.truncate(cut, os.path.getsize(cut) // 3 // 4096 * 4096)
    damage(damaged)
    renamed = f'DROP VIEW rocpd_kernel_dispatch; ALTER TABLE {table} RENAME COLUMN "start" TO begun;'
    for file, words in ((cut, ["malformed"]), (damaged, ["malformed", "table rocpd_"]), (changed("renamed.db", renamed), [f"table {table}: there is no column start", "begun"]),
                        (changed("strings.db", f'DROP VIEW rocpd_string; ALTER TABLE {process.table("string")} RENAME COLUMN string TO text'), ["there is no column string"])):
        for done in (command("variability", file), command("convert", file, "-o", work / "none.sqlite")):
            failures.equal(done.returncode, 2, f"{file} is refused: {done.stderr}")
            printed = " ".join(done.stderr.split())
            failures.check(pathlib.Path(file).name in printed and all(word in printed for word in words) and "terminate" not in printed, f"{file}: {words}", printed)
            failures.check(not (work / "none.sqlite").exists(), "no output")
    endless = changed("endless.db", f"""DROP VIEW rocpd_kernel_dispatch; ALTER TABLE {table} RENAME TO other;
        CREATE VIEW {table} AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
          SELECT id, 1 AS "start", 2 AS "end", 1 AS kernel_id, 1 AS agent_id, 1 AS event_id FROM n""")
    printed = convert(endless)
    failures.equal(ask("SELECT count(*) FROM span JOIN path ON path.id = path WHERE kind = 'kernel'"), [(0,)], f"a view is no table: {printed}")


def case_numbers_that_are_no_keys():
    """Tables without a primary key: texts and rows are still found by their ids. In bounded time."""
    for schema, count in (("3.0.0", 30_000), ("4.0.0", 300), ("4.1.0", 300)):
        made = RocpdFile(work / f"keyless {schema}.db", schema)
        process = made.process(100, init=BOOT)
        for number in range(count):
            process.region(BOOT + number * 10, BOOT + number * 10 + 5, f"hipCall{number}", stack=number + 1)
            if number == count // 3:
                process.kernel(BOOT + 1_000_000, BOOT + 1_000_100, "k", stack=7)
        for name in ("string", "event", "info_kernel_symbol"):
            table = process.table(name)
            made.db.execute(f"CREATE TABLE copy AS SELECT * FROM {table} ORDER BY id DESC")
            made.db.execute(f"DROP TABLE {table}")
            made.db.execute(f"ALTER TABLE copy RENAME TO {table}")
        file = made.finish(views=False)
        failures.equal(command("convert", file, "-o", work / "out.sqlite", timeout=20).returncode, 0, f"{schema}: converted")
        failures.equal(ask("SELECT count(DISTINCT name), max(submitted), max(correlation) FROM span JOIN path ON path.id = path"), [(count + 1, 60, 7)], f"{schema}: names, and the call")


def case_a_file_of_many_processes():
    made = RocpdFile(work / "hundreds.db")
    for number in range(100):
        made.process(1000 + number, init=BOOT).kernel(BOOT + number * 100, BOOT + number * 100 + 50, "k")
    file = made.finish(views=False)
    failures.equal(sum(window["n"] for window in analyse("--by=rank", file)["windows"]), 100, "kernels of all")
    convert(file)
    failures.equal(ask("SELECT count(*), count(DISTINCT process) FROM span"), [(100, 100)], "and converted")


def case_a_process_without_a_begin():
    """Times then count from the first event; also if the begin is of another clock."""
    for init in (None, 0, BOOT + 50):
        made = RocpdFile(work / "begin.db")
        process = made.process(100, init=init)
        process.kernel(BOOT + 1000, BOOT + 1010, "k")
        process.copy(BOOT + 20, BOOT + 30, 0, 2)
        file = made.finish()
        convert(file)
        failures.equal(ask('SELECT start, "end" FROM span ORDER BY 1'), [(0, 10), (980, 990)], f"times, from {init}")
        failures.equal(sum(window["n"] for window in analyse(file)["windows"]), 1, f"an analysis, from {init}")


def case_large_texts_are_read_once_and_cut():
    """In bounded time and memory, however many rows have the text: its first 16 KiB count."""
    def limited(*words):
        done = subprocess.run(["bash", "-c", 'ulimit -v 1000000; exec "$0" "$@"', ADAPTYST, *map(str, words)], capture_output=True, text=True, timeout=30, check=False)
        failures.equal(done.returncode, 0, f"{words[0]}: {done.stderr}")

    for schema in ("3.0.0", "4.1.0"):
        made = RocpdFile(work / "large.db", schema)
        process = made.process(100, init=BOOT)
        inner = {"message": "roctxRangePushA" if process.has_tracks else "inside"}
        huge = process.event("MARKER_CORE_RANGE_API", extdata=json.dumps({**inner, "more": "h" * 3_900_000}))
        small = process.event("MARKER_CORE_RANGE_API", extdata=json.dumps({**inner, "more": "h" * 60_000}))
        name = "inside" if process.has_tracks else "roctxRangePushA"
        for number in range(20_000):
            process.region(BOOT + number * 10, BOOT + number * 10 + 5, name, event_id=huge if number % 2 else small)
        long = process.string("n" * 16_383 + "\N{GREEK SMALL LETTER ALPHA}" + "n" * 5_000_000)
        for number in range(2000):
            process.region(BOOT + 1_000_000 + number, BOOT + 2_000_000 - number, "", "USER", name_id=long)
        file = made.finish(views=False)
        for words in (("convert", file, "-o", work / "out.sqlite"), ("variability", "--by=region", file)):
            limited(*words)
        names = collections.Counter(ask("SELECT name FROM span JOIN path ON path.id = path WHERE start < 1000000"))
        failures.equal(names[("inside",)], 20_000 if process.has_tracks else 10_000, f"{schema}: the message of a small text")
        failures.equal(ask("SELECT DISTINCT name FROM span JOIN path ON path.id = path WHERE start >= 1000000 AND start < 1000010"),
                       [("n" * 16_383,)], f"{schema}: a cut name")


def case_texts_instead_of_times_are_not_sorted():
    """Rows that refer to one large text: it would be in the temporary file of the sort for each row."""
    made = RocpdFile(work / "texts.db", "4.0.0")
    process = made.process(100, init=BOOT)
    for number in range(1000):
        process.region(BOOT + number * 10, BOOT + number * 10 + 5, "range", "USER")
    times, regions = process.table("timestamp"), process.table("region")
    text = made.db.execute(f"INSERT INTO {times}(value) VALUES(?)", ("t" * 1_000_000,)).lastrowid
    made.db.execute(f"UPDATE {regions} SET start_id = {text} WHERE id > 1")
    file = made.finish(views=False)
    done = subprocess.run(["bash", "-c", 'ulimit -f 100000; exec "$0" "$@"', ADAPTYST, "convert", file, "-o", work / "out.json"], capture_output=True, text=True, timeout=60, check=False)
    failures.equal(done.returncode, 0, f"a limit of 100 MB for a file: {done.stderr}")
    failures.check("999 rows are skipped" in " ".join(done.stderr.split()), "a message", done.stderr)


def case_call_paths_beyond_the_memory_limit():
    made = RocpdFile(work / "deep.db", "4.1.0")
    process = made.process(100, init=BOOT)
    for number in range(10_000):
        process.marker(BOOT + number, BOOT + 20_000_000 - number, "n" * 20_000)
    printed = convert(made.finish(views=False))
    failures.check("has too many call paths: further events have the path (other paths)" in printed, "reported", printed)
    failures.equal(ask("SELECT count(*) FROM span"), [(10_000,)], "all ranges are there")


def case_nested_calls_in_any_order():
    """An inner call with its row before that of its outer call, for writers with and without an order."""
    made = RocpdFile(work / "inner first.db")
    process = made.process(100, init=BOOT)
    process.marker(BOOT, BOOT + 100, "step")
    process.region(BOOT + 20, BOOT + 30, "hsa_inner", "HSA_CORE_API", stack=2, parent=1)
    process.region(BOOT + 10, BOOT + 40, "hipOuter", stack=1)
    process.kernel(BOOT + 50, BOOT + 60, "k", stack=2)
    file = made.finish()
    convert(file)
    failures.check({(100, 20, 30, "step/hipOuter/hsa_inner", "function"), (100, 10, 40, "step/hipOuter", "function"), (100, 50, 60, "step/k", "kernel")} <= paths(), "in a store", paths())
    convert(file, to="out.json")
    convert(work / "out.json", to="out of json.sqlite")
    failures.check({"hsa_inner", "hipOuter"} <= {path.rsplit("/", 1)[-1] for *_, path, _ in paths("out of json.sqlite")}, "in a Chrome trace")


def case_begins_that_are_unknown():
    """Of a machine's processes, only known begins count; and the earliest event counts wherever its row is."""
    for schema in SCHEMAS:
        made = RocpdFile(work / "unknown begin.db", schema)
        made.process(99, init=None)
        process = made.process(100, init=BOOT + 50)
        process.kernel(BOOT + 1000, BOOT + 1010, "k")
        process.kernel(BOOT + 20, BOOT + 30, "k")
        process.kernel("soon", BOOT + 30, "k")
        made.process(101, init=0)
        file = made.finish()
        printed = convert(file)
        failures.equal(ask('SELECT start, "end" FROM span ORDER BY 1'), [(0, 10), (980, 990)], f"{schema}: times")
        failures.check("1 rows are skipped" in printed, f"{schema}: one bad row", printed)
        failures.equal(sum(kernel["n"] for kernel in analyse(file)["kernels"]), 2, f"{schema}: an analysis")


def case_many_processes_with_the_same_number():
    """Each has a number of its own, also as a rank of an analysis."""
    made = RocpdFile(work / "sevens.db")
    process = made.process(7, init=BOOT)
    for number in range(1, 1100):
        process.add("info_process", id=1000 + number, nid=71, pid=7 if number < 1098 else (1 << 40) + number, init=BOOT)
    for number in range(1100):
        process.kernel(BOOT + number * 100, BOOT + number * 100 + 50, "k", pid=1000 + number if number != 0 else 7)
    file = made.finish(views=False)
    convert(file)
    failures.equal(ask("SELECT count(*), count(DISTINCT process), min(process) FROM span"), [(1100, 1100, 7)], "spans")
    failures.check(ask("SELECT max(id) FROM process")[0][0] < 1 << 22, "numbers of Linux", ask("SELECT max(id) FROM process"))
    failures.equal(ask("SELECT count(*) FROM process WHERE number = 7"), [(1098,)], "the given number")
    failures.equal(sum(window["n"] for window in analyse("--by=rank", file)["windows"]), 1100, "an analysis")


def case_unknown_agents_and_processes_are_counted():
    """They are no GPU 0, no process 0 and no thread 0; numbers beyond 32 bits do not wrap. An analysis counts the same."""
    for schema in ("3.0.0", "4.0.0", "4.1.0"):
        made = RocpdFile(work / "unknown.db", schema)
        process = made.process(100, init=BOOT, gpus=1)
        process.add("info_process", id=8, nid=71, pid=108, init=BOOT)
        process.add("info_process", id=9, nid=71, pid="many", init=BOOT)
        process.add("info_agent", id=50, nid=71, pid=100, type="GPU", absolute_index=(1 << 32) + 2, type_index=(1 << 32) + 2, name="far")

        def place(tid=1, **agent):
            return {"track_id": process.add("track", nid=71, pid=agent.get("pid", 100), tid=tid, agent_id=agent.get("agent_id", 2))} if process.has_tracks else {"tid": tid, **agent}

        for number, where in enumerate((place(), place(agent_id=50), place(agent_id=None), place(agent_id=-1), place(agent_id=(1 << 32) + 2), place(agent_id=77), place(pid=None),
                                        place(pid=-5), place(pid=(1 << 32) + 100), place(pid=9), {"track_id": 4242} if process.has_tracks else place(pid=1 << 62))):
            process.kernel(BOOT + number * 10, BOOT + number * 10 + 5, "k", **where)
        for number, (source, target) in enumerate(((0, 2), (2, None), (2, 77), (None, None), (77, -1), (None, (1 << 32) + 2))):
            process.copy(BOOT + 1000 + number * 10, BOOT + 1000 + number * 10 + 5, source, target)
        process.region(BOOT + 2000, BOOT + 2010, "work", "USER", **place(tid=(1 << 32) + 1))
        file = made.finish(views=False)
        printed = convert(file)
        good, bad = 3 + 3, 8 + 3
        failures.equal(ask("SELECT count(*) FROM span WHERE start < 2000"), [(good,)], f"{schema}: operations")
        failures.check(f"{bad} rows are skipped: {bad} have an agent, process or track that is not in the file" in printed and "row 3, has no agent" in printed, f"{schema}: counted", printed)
        failures.equal(ask("SELECT DISTINCT physical, name FROM device ORDER BY 1"), [(0, "gpu0 Simulated MI300X"), (1, "gpu1 far")], f"{schema}: devices")
        failures.equal(ask("SELECT thread.name FROM span JOIN thread ON thread.id = span.thread AND thread.process = span.process WHERE start = 2000"), [("(thread unknown)",)], f"{schema}: thread")
        failures.equal({number for number, in ask("SELECT id FROM process")} - {100, 108}, {(1 << 22) - 1}, f"{schema}: a process with a text as its number")
        for words in ((), ("--by=rank",)):
            found = [analyse(*words, path) for path in (file, work / "out.sqlite")]
            sums = [(sum(kernel["n"] for kernel in of["kernels"]), sum(kernel["total"] for kernel in of["kernels"])) for of in found]
            failures.equal(sums[0], sums[1], f"{schema}: an analysis {words}")
            failures.check("11 rows are skipped" in " ".join(found[0]["parameters"]["remarks"]), f"{schema}: counted by an analysis {words}", found[0]["parameters"]["remarks"])


def case_missing_and_zero_numbers_of_kernels():
    """A kernel without a number of a name, and one with the number 0, have different names."""
    made = RocpdFile(work / "zero.db")
    process = made.process(100, init=BOOT)
    for number, kernel in enumerate((None, 0, None, 0, 0)):
        process.kernel(BOOT + number * 10, BOOT + number * 10 + 5, "k", kernel_id=kernel)
    file = made.finish()
    convert(file)
    for path in (file, work / "out.sqlite"):
        failures.equal({of["name"].rsplit("/", 1)[-1]: of["n"] for of in analyse(path)["kernels"]}, {"(unnamed)": 2, "name 0": 3}, "names")


def case_values_of_counters_without_a_kernel():
    """A text is no value; values of no kernel or sample, or of two kernels, are left out. All are counted."""
    for schema in SCHEMAS:
        made = RocpdFile(work / "values.db", schema)
        process = made.process(100, init=BOOT)
        process.kernel(BOOT + 10, BOOT + 20, "k", counters=[("A", 1), ("B", "abc"), ("C", 9e999), ("D", None), ("E", 2.5)])
        shared = process.event("KERNEL_DISPATCH")
        for number in range(3):
            process.kernel(BOOT + 30 + number, BOOT + 40 + number, "k", event_id=shared)
        sampled = process.event("COUNTER")
        process.add("sample", **process.place(1, name=process.string("samples")), event_id=sampled, **({"timestamp": BOOT + 5} if schema != "4.0.0" else
                    {"timestamp_id": process.times(BOOT + 5, None)["start_id"]}))
        for event, value in ((shared, 3), (sampled, 4), (None, 5), (12345, 6), ("which", 7)):
            process.add("pmc_event", event_id=event, pmc_id=process.counters["A"], value=value)
        printed = convert(made.finish())
        failures.equal(ask("SELECT time, name, value FROM sample JOIN path ON path.id = path ORDER BY value"), [(10, "A", 1), (10, "E", 2.5), (5, "A", 4)], f"{schema}: values")
        failures.check("3 rows are skipped: 3 have no whole number" in printed and "has no finite number in its column value" in printed, f"{schema}: bad values", printed)
        failures.check("4 values of counters are not read" in printed, f"{schema}: unused values", printed)


def case_unread_tables_with_any_name():
    """In time that is linear in the length of names; a message lists five tables."""
    made = RocpdFile(work / "tables.db")
    process = made.process(100, init=BOOT)
    process.kernel(BOOT, BOOT + 10, "k")
    for number in range(8):
        made.db.execute(f"CREATE TABLE {process.table(f'new{number}')}(id)")
        made.db.execute(f"INSERT INTO {process.table(f'new{number}')} VALUES(1)")
    for number in range(20):
        made.db.execute(f"CREATE TABLE rocpd_{'_' * 200_000}{number}(id)")
    file = made.finish()
    printed = " ".join(command("convert", file, "-o", work / "out.sqlite", timeout=15).stderr.split())
    failures.check("not read: rocpd_new0 (1 rows), rocpd_new1 (1 rows), rocpd_new2 (1 rows), rocpd_new3 (1 rows), rocpd_new4 (1 rows) and 3 more" in printed, "five tables", printed[:500])


def each_command(file, timeout=30):
    for words in (("convert", file, "-o", work / "any.sqlite"), ("convert", file, "-o", work / "any.json"), ("variability", file), ("variability", "--by=region", file)):
        done = command(*words, timeout=timeout)
        yield " ".join(map(str, words)), done.returncode, " ".join(done.stderr.split())


def case_virtual_tables_and_rows_without_an_end():
    """No command runs for ever, or reports rows of a virtual table."""
    made = RocpdFile(work / "virtual.db")
    process = made.process(100, init=BOOT)
    step(process, BOOT + 10)
    for name in ("memory_allocate", "pmc_event"):
        made.db.execute(f"DROP TABLE {process.table(name)}")
        made.db.execute(f"""CREATE VIEW endless_{name} AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
            SELECT id, 1 AS event_id, 1 AS pmc_id, 1 AS value FROM n""")
        made.db.execute(f"CREATE VIRTUAL TABLE {process.table(name)} USING fts5(event_id, pmc_id, value, content='endless_{name}', content_rowid='id')")
    for label, status, messages in each_command(made.finish(views=False)):
        failures.check(status == 0 and "rocpd_memory_allocate" not in messages, label, messages)
    for schema, name in (("4.1.0", "region"), ("3.0.0", "sample"), ("3.0.0", "pmc_event"), ("3.0.0", "info_thread"), ("4.1.0", "info_agent"), ("3.0.0", "memory_allocate")):
        made = RocpdFile(work / f"endless {name}.db", schema)
        process = made.process(100, init=BOOT)
        for number in range(20):
            step(process, BOOT + 10_000 * number, number)
            process.allocation(BOOT + 1, BOOT + 2, 77)
        found = list(each_command(repeat_rows(made.finish(views=False), process.table(name))))
        failures.check(any(status == 2 for _, status, _ in found), f"{name}: refused", found)
        failures.check(all(status == 0 or ("damaged" in messages and process.table(name) in messages) for _, status, messages in found), f"{name}: by file and table", found)


def case_many_nested_calls_and_devices():
    made = RocpdFile(work / "nested.db")
    process = made.process(100, init=BOOT, gpus=0)
    process.marker(BOOT, BOOT + 900_000, "step")
    count = 20_000
    for number in range(count):
        process.region(BOOT + 10 + number, BOOT + 800_000 - number, "hipLaunchKernel", stack=number + 1, parent=number)
    for number in range(count // 2):
        process.add("info_agent", id=10 + number, nid=71, pid=100, type="GPU", absolute_index=10 + number, type_index=number, product_name="model")
        process.kernel(BOOT + 1_000_000 + number, BOOT + 1_000_001 + number, "k", gpu=8 + number, stack=count)
    printed = convert(made.finish(views=False))
    whole = paths()
    failures.equal(max(path.count("/") for *_, path, _ in whole), 512, "levels of calls")
    failures.equal({path for *_, path, kind in whole if kind == "kernel"}, {"step/k"}, "kernels are in the range around all calls")
    failures.equal(len(whole), 1 + count + count // 2, "all events")
    failures.check("has more than 4096 devices: 5904 operations have the device (other devices)" in printed, "devices", printed)
    failures.equal(ask("SELECT count(*) FROM device"), [(4097,)], "devices of the store")


def case_ids_that_are_not_row_numbers():
    for schema in SCHEMAS:
        made = RocpdFile(work / f"ids {schema}.db", schema)
        process = made.process(100, init=BOOT, environment={"OMPI_COMM_WORLD_RANK": "3"})
        step(process, BOOT + 10)
        for name in ("event", "track", "info_kernel_symbol", "string"):
            table = process.table(name)
            made.db.execute(f"CREATE TABLE copy AS SELECT * FROM {table} ORDER BY id DESC")
            made.db.execute(f"DROP TABLE {table}")
            made.db.execute(f"ALTER TABLE copy RENAME TO {table}")
        convert(made.finish(views=False))
        failures.equal(paths(), expected_step(100, 10), f"{schema}: events")
    made = RocpdFile(work / "times.db", "4.0.0")
    process = made.process(100, init=BOOT)
    for number in reversed(range(9)):
        process.kernel(BOOT + number * 100, BOOT + number * 100 + 50, "k")
    table = process.table("timestamp")
    for column in ("start_id", "end_id"):
        made.db.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    made.db.commit()
    convert(work / "times.db")
    failures.equal([start for start, in ask("SELECT start FROM span ORDER BY rowid")], list(range(0, 900, 100)), "sorted, whatever columns the table of times has")
    made.db.execute(f"CREATE TABLE copy AS SELECT * FROM {table}")
    made.db.execute(f"DROP TABLE {table}")
    made.db.execute(f"ALTER TABLE copy RENAME TO {table}")
    for label, status, messages in each_command(made.finish(views=False)):
        failures.check("--by=region" in label or status == 2 and f"table {table}: column id is not the row number" in messages, label, messages)


run_cases(globals(), sys.argv[2:], failures)
