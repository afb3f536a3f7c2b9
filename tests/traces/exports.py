#!/usr/bin/env python3
"""What exports of Nsight Systems and stores may lack, or have in another form: exports.py ADAPTYST [case…]"""
import json
import pathlib
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
from nsys_export import repeat_rows  # noqa: E402

ADAPTYST = sys.argv[1]
PID, TID = 100 << 24, (100 << 24) | 100
TABLES = """CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel'), (2, 'k'), (3, 'solve'), (4, 'worker');"""
failures = Failures()
work = scratch()


class Export:
    def __init__(self, name, pragma=""):
        self.file = work / name
        self.db = sqlite3.connect(self.file)
        self.db.executescript(pragma + TABLES)

    def run(self, sql):
        self.db.executescript(sql)

    def nvtx(self, start, end, kind=59, text=None, text_id=3, tid=TID):
        self.db.execute("INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, textId) VALUES(?, ?, ?, ?, ?, ?)", (start, end, kind, text, tid, text_id))

    def call(self, start, end, correlation, tid=TID):
        self.db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?, ?, ?, ?, 1)", (start, end, tid, correlation))

    def kernel(self, start, end, correlation, name=2, short=2, pid=PID):
        self.db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?, ?, 0, 1, 7, ?, ?, ?, ?)", (start, end, correlation, pid, name, short))

    def convert(self, to, *others, status=0):
        self.db.commit()
        done = subprocess.run([ADAPTYST, "convert", self.file, *others, "-o", work / to], capture_output=True, text=True, timeout=60, check=False)
        failures.equal(done.returncode, status, f"{to}: {done.stderr}")
        return " ".join(done.stderr.split())


def ask(name, question):
    db = sqlite3.connect(work / name)
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def events_of(name):
    return json.loads((work / name).read_text())


def crossings(events):
    """Complete events of one track that cross."""
    tracks, found = {}, []
    for event in events:
        if event["ph"] == "X":
            tracks.setdefault((event["pid"], event["tid"]), []).append((event["ts"], -event["dur"], event["name"]))
    for spans in tracks.values():
        stack = []
        for start, minus, name in sorted(spans):
            while stack and stack[-1] <= start:
                stack.pop()
            if stack and start - minus > stack[-1] + 1e-9:
                found.append(name)
            stack.append(start - minus)
    return found


def case_what_is_absent():
    """NULL, 0, an empty text and a missing column are no values."""
    made = Export("old.sqlite")
    made.nvtx(1000, 50000, text="")
    made.nvtx(60000, 0, text="")
    made.nvtx(70000, 71000, text=None, text_id=0)
    made.call(61000, 62000, 0)
    made.kernel(63000, 64000, 0)
    made.kernel(65000, 66000, None, name=0)
    made.kernel(67000, 67500, None, name=None, short=0)
    made.kernel(None, 68000, None)
    made.kernel(69000, None, None)
    made.kernel("soon", 68500, None)
    made.kernel(70000, 70500, None, name=2.5)
    messages = made.convert("old.out.sqlite")
    failures.equal([name for name, in ask("old.out.sqlite", "SELECT name FROM path WHERE kind = 'region' ORDER BY name")], ["(unnamed)", "solve"], "names of ranges")
    failures.equal(ask("old.out.sqlite", "SELECT name, count(*) FROM span JOIN path ON path.id = path WHERE kind = 'kernel' GROUP BY name ORDER BY name"),
                   [("(unnamed)", 1), ("k", 2)], "names of kernels")
    failures.equal(ask("old.out.sqlite", "SELECT count(*) FROM message"), [(0,)], "0 correlates nothing")
    failures.check("5 rows are skipped: 2 have no end, 1 have no start, 2 have no whole number where one is needed; the first: " in messages, "bad rows, by their faults", messages)
    failures.check("old.sqlite, table CUPTI_ACTIVITY_KIND_KERNEL, row 4, has no start" in messages, "the first of them", messages)
    done = subprocess.run([ADAPTYST, "variability", made.file, "--format", "json"], capture_output=True, text=True, timeout=60, check=False)
    remarks = " ".join(json.loads(done.stdout)["parameters"]["remarks"])
    failures.check("4 rows are skipped: 1 have no end, 1 have no start, 2 have no whole number where one is needed" in remarks, "an analysis counts the same", remarks)
    failures.equal(sorted((kernel["name"], kernel["n"]) for kernel in json.loads(done.stdout)["kernels"]), [("(unnamed)", 1), ("k", 2)], "and has the same names")


def case_a_store_of_others():
    """Absent values of a store: names, paths and times."""
    made = Export("any.sqlite")
    made.nvtx(1000, 5000)
    made.convert("third.sqlite")
    db = sqlite3.connect(work / "third.sqlite")
    db.executescript("UPDATE process SET name = '', host = ''; UPDATE span SET path = 77")
    db.commit()
    db.close()
    messages = " ".join(subprocess.run([ADAPTYST, "convert", work / "third.sqlite", "-o", work / "third.json"], capture_output=True, text=True, timeout=60, check=False).stderr.split())
    failures.check("1 rows are skipped: 1 have a path that is not in the file; the first: " in messages and "has path 77, which does not exist" in messages, "a path", messages)


def case_slices_nest():
    made = Export("cross.sqlite")
    made.nvtx(1000, 101000, text="A")
    made.nvtx(51000, 151000, text="B")
    made.call(91000, 121000, 1)
    made.call(2000, 3000, 2)
    made.nvtx(160000, 170000, text="C")
    made.convert("cross.json")
    events = events_of("cross.json")
    failures.equal(crossings(events), [], "no slices cross")
    failures.equal(sorted(event["name"] for event in events if event["ph"] == "X"), ["A", "C", "cudaLaunchKernel"], "what nests is a slice")
    failures.equal(sorted(event["name"] for event in events if event["ph"] == "b"), ["B", "cudaLaunchKernel"], "what crosses is a pair")
    made.convert("cross.out.sqlite")
    subprocess.run([ADAPTYST, "convert", work / "cross.out.sqlite", "-o", work / "again.json"], timeout=60, check=True)
    failures.equal(crossings(events_of("again.json")), [], "nor by way of a store")


def case_processes_and_devices_have_numbers_of_their_own():
    for number, host in enumerate(("nodeA", "nodeB")):
        made = Export(f"{host}.sqlite")
        made.run(f"""CREATE TABLE PROCESSES(pid INTEGER, name TEXT); INSERT INTO PROCESSES VALUES(1, 'prog');
                     CREATE TABLE MPI_RANKS(globalTid INTEGER, rank INTEGER); INSERT INTO MPI_RANKS VALUES({(1 << 24) | 1}, {number});
                     CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT); INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES('Hostname', '{host}')""")
        made.nvtx(1000, 90000, text=f"range of rank {number}", tid=(1 << 24) | 1)
        made.kernel(4000, 9000, 1, pid=1 << 24)
        made.db.commit()
    made.convert("both.json", work / "nodeA.sqlite")
    names = {}
    for event in events_of("both.json"):
        if event["name"] == "process_name":
            names.setdefault(event["pid"], []).append(event["args"]["name"])
    failures.equal(len(names), 4, "two processes and two devices")
    failures.equal([all for all in names.values() if len(all) > 1], [], "each number has one meaning")


def case_kernels_without_a_call_are_in_their_queue():
    made = Export("alone.sqlite")
    made.kernel(4000, 9000, 9)
    made.convert("alone.json")
    names = [event["args"]["name"] for event in events_of("alone.json") if event["name"] == "thread_name"]
    failures.check("queue 1" in names and not any("offloads" in name for name in names), "a queue", names)


def case_names_of_threads():
    made = Export("threads.sqlite")
    made.run(f"CREATE TABLE ThreadNames(nameId INTEGER, priority INTEGER, globalTid INTEGER); INSERT INTO ThreadNames VALUES(4, 0, {TID})")
    made.nvtx(1000, 2000)
    made.convert("threads.json")
    failures.equal([event["args"]["name"] for event in events_of("threads.json") if event["name"] == "thread_name"], ["worker"], "the thread's name")


def case_nothing_is_passed_over_in_silence():
    made = Export("renamed.sqlite")
    made.nvtx(1000, 90000)
    made.kernel(4000, 9000, 1)
    for table in ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_KERNEL"):
        made.run(f"ALTER TABLE {table} RENAME TO {table}_V2")
    messages = made.convert("renamed.json")
    failures.check("has tables that are not read: CUPTI_ACTIVITY_KIND_KERNEL_V2, NVTX_EVENTS_V2" in messages, "tables that are not read", messages)
    failures.check("renamed.json has no events: none were found in" in messages and "Nsight Systems" in messages, "an empty result, and of what", messages)
    made = Export("start_end.sqlite")
    made.nvtx(1000, 90000, kind=60)
    made.kernel(4000, 9000, 1)
    messages = made.convert("start_end.json")
    failures.check("1 ranges may begin and end on different threads" in messages, "ranges that need not nest", messages)


def case_colours_of_ranges():
    made = Export("colours.sqlite")
    made.run("ALTER TABLE NVTX_EVENTS ADD COLUMN color INTEGER")
    for at, (text, color) in enumerate({"green": 0xFF76B900, "signed": 0xFF0000FF - (1 << 32), "zero": 0, "none": None, "text": "red"}.items()):
        made.nvtx(1000 + 10 * at, 2000 - 10 * at, text=text)
        made.db.execute("UPDATE NVTX_EVENTS SET color = ? WHERE text = ?", (color, text))
    for at, color in enumerate((None, 0xFF76B900, 0xFF0000FF)):
        made.nvtx(3000 + 100 * at, 3050 + 100 * at, text="later")
        made.db.execute("UPDATE NVTX_EVENTS SET color = ? WHERE start = ?", (color, 3000 + 100 * at))
    made.convert("colours.out.sqlite")
    wanted = {"green": "#76b900", "signed": "#0000ff", "zero": None, "none": None, "text": None, "later": "#76b900"}
    failures.equal(dict(ask("colours.out.sqlite", "SELECT name, color FROM path")), wanted, "colours")
    failures.equal(ask("colours.out.sqlite", "SELECT count(*) FROM span"), [(8,)], "no range is omitted for its colour")


def case_names_of_any_length_are_cut():
    made = Export("long.sqlite")
    made.nvtx(1000, 2000, text="ä" * 1_000_000)
    made.convert("long.out.sqlite")
    failures.equal(ask("long.out.sqlite", "SELECT name FROM path"), [("ä" * 8192,)], "the name")


def case_other_forms_of_the_same():
    """UTF-16, names in another case; a table without a column that is needed is refused."""
    expected = None
    for name, pragma, change in (("plain", "", ""), ("utf16", "PRAGMA encoding = 'UTF-16le';", ""),
                                 ("case", "", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO cupti_activity_kind_kernel_;"
                                              "ALTER TABLE cupti_activity_kind_kernel_ RENAME TO cupti_activity_kind_kernel;"
                                              "ALTER TABLE cupti_activity_kind_kernel RENAME COLUMN start TO START_;"
                                              "ALTER TABLE cupti_activity_kind_kernel RENAME COLUMN START_ TO START;"
                                              "ALTER TABLE cupti_activity_kind_kernel RENAME COLUMN demangledName TO DEMANGLEDNAME_;"
                                              "ALTER TABLE cupti_activity_kind_kernel RENAME COLUMN DEMANGLEDNAME_ TO DEMANGLEDNAME")):
        made = Export(f"{name}.form.sqlite", pragma)
        made.run(change)
        for at in range(1000):
            made.kernel(1000 + 100 * at, 1040 + 100 * at, at + 1)
        made.db.commit()
        done = subprocess.run([ADAPTYST, "variability", made.file, "--format", "json"], capture_output=True, text=True, timeout=60, check=False)
        failures.equal(done.returncode, 0, f"{name}: {done.stderr}")
        found = [(kernel["name"], kernel["n"], kernel["total"]) for kernel in json.loads(done.stdout)["kernels"]]
        expected = expected or found
        failures.equal(found, [("k", 1000, 40000)], name)
        made.convert(f"{name}.out.sqlite")
        failures.equal(ask(f"{name}.out.sqlite", "SELECT name, count(*) FROM span JOIN path ON path.id = path GROUP BY name"), [("k", 1000)], f"{name}, converted")
    made = Export("noend.sqlite")
    made.kernel(1000, 2000, 1)
    made.run("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN end TO stop")
    messages = made.convert("noend.json", status=2)
    failures.check("table CUPTI_ACTIVITY_KIND_KERNEL: there is no column end" in messages and "stop" in messages, "what is missing, and what is there", messages)


def run(file, timeout=20):
    """All commands that read it; messages of each, and no command may run longer."""
    for words in (["convert", file, "-o", work / "any.sqlite"], ["convert", file, "-o", work / "any.json"], ["variability", file], ["variability", "--by=region", file]):
        done = subprocess.run([ADAPTYST, *words], capture_output=True, text=True, timeout=timeout, check=False)
        yield words[0] + words[-1].name, done.returncode, " ".join(done.stderr.split())


def case_a_virtual_table_is_no_table():
    """Its rows may not end."""
    columns = '"start", "end", eventType, text, globalTid, textId, deviceId'
    for table in ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"):
        made = Export(f"{table}.virtual.sqlite")
        made.call(1000, 2000, 1)
        made.run(f"""DROP TABLE IF EXISTS {table};
            CREATE VIEW endless AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
              SELECT id, 1 AS "start", 2 AS "end", 59 AS eventType, 'x' AS text, 0 AS globalTid, 0 AS textId, 0 AS deviceId FROM n;
            CREATE VIRTUAL TABLE {table} USING fts5({columns}, content='endless', content_rowid='id')""")
        made.db.commit()
        for label, status, messages in run(made.file):
            failures.check(status == 0 or "has no " in messages, f"{table}, {label}", messages)


def case_rows_without_an_end_are_refused():
    """In a small file with a damaged tree."""
    for table in ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "ThreadNames", "TARGET_INFO_GPU", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"):
        made = Export(f"{table}.endless.sqlite")
        made.run("""CREATE TABLE ThreadNames(nameId INTEGER, priority INTEGER, globalTid INTEGER); INSERT INTO ThreadNames VALUES(4, 0, 7);
            CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT, uuid TEXT); INSERT INTO TARGET_INFO_GPU VALUES(0, 'x', 'y');
            CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER)""")
        for number in range(50):
            made.nvtx(1000 * number, 1000 * number + 500)
            made.call(1000 * number, 1000 * number + 500, number + 1)
            made.kernel(1000 * number, 1000 * number + 500, number + 1)
        made.db.commit()
        made.db.close()
        repeat_rows(made.file, table)
        refused = 0
        for label, status, messages in run(made.file):
            failures.check(status in (0, 2) and (status == 0 or ("damaged" in messages and table in messages)), f"{table}, {label}", messages)
            refused += status == 2
        failures.check(refused >= (1 if table != "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION" else 0), f"{table}: is refused", refused)
        failures.check(not [file for file in work.iterdir() if "etilqs" in file.name], "no temporary file is left")


def case_names_are_found_with_wrong_statistics():
    """In bounded time: statistics in a file decide whether SQLite uses the first column of a key for a search."""
    made = Export("statistics.sqlite")
    made.run("""DROP TABLE StringIds; CREATE TABLE StringIds(id INTEGER, part INTEGER, value TEXT, PRIMARY KEY(id, part));
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) INSERT INTO StringIds SELECT i, 0, 'name ' || i || '!' FROM n;
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 1000 * id, 1000 * id + 500, 0, 1, 7, id, 1677721600, id, id FROM StringIds;
        ANALYZE; UPDATE sqlite_stat1 SET stat = '50000 50000 1' WHERE tbl = 'StringIds'""")
    made.db.commit()
    for label, status, messages in run(made.file):
        failures.check(status == 0 or "--by=region" in label or "has no " in messages, f"{label}", messages)
    made.convert("statistics.out.sqlite")
    failures.equal(ask("statistics.out.sqlite", "SELECT count(DISTINCT name) FROM path WHERE name LIKE 'name %!'"), [(50000,)], "all names are found")


def case_devices_without_a_limit():
    """Numbers of devices beyond a limit count as one device."""
    made = Export("devices.sqlite")
    made.run("""CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT, uuid TEXT);
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 10000) INSERT INTO TARGET_INFO_GPU SELECT i, 'model', 'u' || i FROM n;
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 1000 * id, 1000 * id + 500, id, 1, 7, 0, 1677721600, 2, 2 FROM TARGET_INFO_GPU;
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1, 2, -1, 1, 7, 0, 1677721600, 2, 2)""")
    messages = made.convert("devices.out.sqlite")
    failures.equal(ask("devices.out.sqlite", "SELECT count(*) FROM device"), [(4097,)], "devices")
    failures.equal(ask("devices.out.sqlite", "SELECT name, physical FROM device WHERE physical IN (7, 4096) ORDER BY 2"), [("gpu7 model", 7), ("(other devices)", 4096)], "names")
    failures.check("devices.sqlite has more than 4096 devices: 5905 operations have the device (other devices)" in messages, "reported", messages)
    done = subprocess.run([ADAPTYST, "variability", made.file, "--format", "json"], capture_output=True, text=True, timeout=60, check=False)
    failures.equal(done.returncode, 0, done.stderr)
    failures.equal(max(kernel["device"] for kernel in json.loads(done.stdout)["kernels"]), 4096, "devices of an analysis")


def case_verbose_shows_all_rows():
    made = Export("verbose.sqlite")
    for number in range(25):
        made.run(f"INSERT INTO StringIds VALUES({100 + number}, 'kernel_{number}')")
        made.kernel(10_000 * number, 10_000 * number + 1000 + number, 0, name=100 + number, short=100 + number)
    made.db.commit()

    def ask_command(*words):
        done = subprocess.run([ADAPTYST, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
        failures.equal(done.returncode, 0, f"{words}: {done.stderr}")
        return done.stdout

    usual, verbose = ask_command("variability", made.file), ask_command("variability", "-v", made.file)
    rows = [[line.split()[-1] for line in text.split("SHARE")[1].splitlines() if "kernel_" in line] for text in (usual, verbose)]
    failures.equal([len(set(names)) for names in rows], [20, 25], "names in the table")
    failures.equal(["and 5 more, with --verbose" in text for text in (usual, verbose)], [True, False], "the number of the others")
    failures.equal(["quantiles of windows are exact" in text for text in (usual, verbose)], [False, True], "the conditions")
    failures.equal(ask_command("convert", made.file, "-o", work / "quiet.json"), "", "without --verbose")
    printed = ask_command("convert", "--verbose", made.file, "-o", work / "verbose.json")
    failures.check("verbose.json: 25 events of " in printed and "verbose.sqlite (" in printed, "the form of the trace and its events", printed)


def case_other_formats_are_named():
    """With the command that converts them."""
    (work / "folder").mkdir()
    (work / "folder" / "CUPTI_ACTIVITY_KIND_KERNEL.parquet").write_bytes(b"PAR1")
    (work / "empty").mkdir()
    for name, content, words in (("b.gz", b"\x1f\x8b\x08\x00", ["gzip"]), ("c.data", b"xxxx", ["unknown format"]),
                                 ("r.nsys-rep", b"xxxx", ["a report of Nsight Systems", "nsys export --type sqlite r.nsys-rep"]),
                                 ("r.qdrep", b"xxxx", ["a report of Nsight Systems", "nsys export --type sqlite r.qdrep"]),
                                 ("r.pftrace", b"\x0a\x01x", ["a trace of Perfetto", "traceconv json r.pftrace r.json"]),
                                 ("r.perfetto-trace", b"\x0a\x01x", ["a trace of Perfetto", "traceconv json r.perfetto-trace r.json"]),
                                 ("1_kernel_trace.csv", b'"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id"\n', ["a CSV table of rocprofv3", "rocprofv3 --output-format"]),
                                 ("k.parquet", b"PAR1", ["a Parquet or Arrow file", "nsys export --type sqlite"]),
                                 ("folder", None, ["a folder of Parquet files", "nsys export --type sqlite"]), ("empty", None, ["is no file, but a folder"])):
        if content is not None:
            (work / name).write_bytes(content)
        done = subprocess.run([ADAPTYST, "convert", name, "-o", "none.json"], cwd=work, capture_output=True, text=True, timeout=60, check=False)
        messages = " ".join(done.stderr.split())
        failures.check(done.returncode == 2 and all(word in messages for word in words) and name in messages, f"{name} is named", done.stderr)


run_cases(globals(), sys.argv[2:], failures)
