#!/usr/bin/env python3
"""Traces for Paraver, checked by a reader that was written from the description of its three files: paraver.py ADAPTYST TRACED_PROGRAM
[case…]"""
import collections
import math
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
from nsys_export import Export  # noqa: E402

ADAPTYST, PROGRAM = sys.argv[1:3]
LIMIT = 120
failures = Failures()
work = scratch()


class Paraver:
    """The records of a trace, each with a valid place, a valid form and named values."""

    def __init__(self, file):
        self.states, self.events, self.arrows = [], [], []
        self.read_names(file.with_suffix(".pcf").read_text())
        lines = file.read_text().splitlines()
        head = re.fullmatch(r"#Paraver \(([^)]*)\):(\d+)_ns:0:1:(\d+)\(((?:\d+:1,?)+)\)", lines[0])
        failures.check(head, "the first line", lines[0])
        self.end = int(head[2])
        self.threads = [int(part.split(":")[0]) for part in head[4].split(",")]
        failures.equal(len(self.threads), int(head[3]), "tasks")
        failures.check(min(self.threads) > 0, "each task has a thread", self.threads)
        self.read_rows(file.with_suffix(".row").read_text())
        last = 0
        for line in lines[1:]:
            kind, *fields = map(int, line.split(":"))
            failures.equal(fields[0:2], [0, 1], f"no processor, one application: {line}")
            place = self.place(*fields[2:4])
            at = fields[4]
            failures.check(last <= at <= self.end, "sorted, within the trace", line)
            last = at
            if kind == 1:
                failures.check(len(fields) == 7 and at < fields[5] <= self.end and fields[6] in self.state_names, "a state", line)
                self.states.append((place, at, *fields[5:7]))
            elif kind == 2:
                pairs = fields[5:]
                failures.check(pairs and len(pairs) % 2 == 0, "types and values", line)
                for type_, value in zip(pairs[::2], pairs[1::2]):
                    failures.check(type_ in self.types, "the type has a name", line)
                    values = self.types.get(type_)
                    failures.check(not values or value in values, "the value has a name", line)
                    self.events.append((place, at, type_, value))
            else:
                failures.equal((kind, len(fields)), (3, 14), f"an arrow: {line}")
                failures.equal(fields[6:8], [0, 1], "to the same application")
                failures.check(at <= fields[5] <= fields[11] and fields[10] <= fields[11], "forward in time", line)
                self.arrows.append((place, at, self.place(*fields[8:10]), fields[11], *fields[12:14]))

    def place(self, task, thread):
        failures.check(1 <= task <= len(self.threads) and 1 <= thread <= self.threads[task - 1], "the thread exists", (task, thread))
        return self.names[sum(self.threads[:task - 1]) + thread - 1]

    def read_names(self, text):
        self.types, self.state_names = {}, {}
        section, new = None, []
        for line in text.splitlines():
            failures.check(line == "" or line.strip() != "", "no line of blanks", repr(line))
            if line in ("DEFAULT_OPTIONS", "DEFAULT_SEMANTIC", "STATES", "STATES_COLOR", "EVENT_TYPE", "VALUES"):
                section = line
                new = [] if line == "EVENT_TYPE" else new
            elif section == "STATES" and line:
                self.state_names[int(line.split()[0])] = line.split(None, 1)[1]
            elif section == "EVENT_TYPE" and line and not line.startswith("PRECISION"):
                type_ = int(line.split()[1])
                failures.check(0 < type_ < 1 << 31 and type_ not in self.types, "a type has 32 bits", line)
                self.types[type_] = {}
                new.append(type_)
            elif section == "VALUES" and line:
                number, name = line.split(None, 1)
                failures.check(0 <= int(number) < 1 << 31, "a value with a name has 32 bits", line)
                for type_ in new:
                    self.types[type_][int(number)] = name

    def read_rows(self, text):
        parts = dict(re.findall(r"LEVEL (\w+) SIZE \d+\n((?:.+\n)*)\n", text))
        for level, size in re.findall(r"LEVEL (\w+) SIZE (\d+)", text):
            failures.equal(len(parts[level].splitlines()), int(size), f"names of {level}")
        self.names = parts["THREAD"].splitlines()
        self.tasks = parts["TASK"].splitlines()
        failures.equal((len(self.names), len(self.tasks)), (sum(self.threads), len(self.threads)), "a name for each row")

    def spans(self, type_):
        """The spans of a type that does not nest, by name."""
        made, began = [], {}
        for place, at, of, value in self.events:
            if of != type_:
                continue
            if place in began:
                begin, name = began.pop(place)
                made.append((name, begin, at))
            if value:
                began[place] = at, self.types[of][value]
        failures.equal(began, {}, "each span ends")
        return made


def busy(spans):
    """The time in which there is at least one span."""
    total = last = 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, last))
        last = max(last, end)
    return total


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False, **options)


def ask(file, question):
    db = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def record(rank=None):
    file = work / f"run-{rank}.events"
    name = file if rank is None else work / "run-%r.events"
    environment = {**os.environ, "ADAPTYST": f"engine=inline,report=none,overhead=none,output={name}"}
    if rank is not None:
        environment.update({"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "9"})
    failures.equal(run(PROGRAM, "inside", "all", env=environment).returncode, 0, "the program runs")
    return file


def convert(*files):
    done = run(ADAPTYST, "convert", *files[:-1], "-o", files[-1])
    failures.equal(done.returncode, 0, f"convert {files}: {done.stderr}")
    return done


def case_it_has_the_events_of_a_store():
    log, store, made = record(), work / "run.sqlite", work / "run.prv"
    convert(log, store)
    done = convert(log, made)
    of = Paraver(made)
    operations = ask(store, """SELECT name, start, "end" FROM span JOIN path ON path.id = path WHERE queue IS NOT NULL AND kind NOT LIKE 'copy%' AND kind <> 'fill'""")
    failures.check(len(operations) > 50, "there are operations", len(operations))
    queues, rows = collections.defaultdict(list), collections.defaultdict(list)
    for process, queue, start, end in ask(store, 'SELECT process, queue, start, "end" FROM span WHERE queue IS NOT NULL'):
        queues[process, queue].append((start, end))
    for place, start, end, _ in of.states:
        rows[place].append((start, end))
    failures.equal(sorted(map(busy, queues.values())), sorted(map(busy, rows.values())), "queues have states while they work")
    failures.equal([busy(row) for row in rows.values()], [sum(end - start for start, end in row) for row in rows.values()], "states do not overlap")
    begins = collections.Counter((at, of.types[63000006][value]) for _, at, type_, value in of.events if type_ == 63000006 and value)
    failures.equal(sum(begins.values()) >= len(operations), True, "an event for each kernel")
    submitted = ask(store, "SELECT submitted, start, coalesce(bytes, 0) FROM span WHERE submitted IS NOT NULL AND submitted <= start")
    failures.equal(collections.Counter((arrow[1], arrow[3], arrow[4]) for arrow in of.arrows), collections.Counter(submitted), "an arrow for each launch")
    values = ask(store, "SELECT time, name, value FROM sample JOIN path ON path.id = path")
    written = collections.Counter((at, value) for _, at, type_, value in of.events if type_ >= 9400000 and type_ < 9500000)
    failures.equal(written, collections.Counter((at, math.floor(value * 1e6 + 0.5)) for at, _, value in values), "values with six decimals")
    failures.check("decimals" in done.stderr, "rounded values are counted", done.stderr)
    regions = ask(store, "SELECT count(*) FROM span JOIN path ON path.id = path WHERE queue IS NULL AND nests AND kind = 'region'")[0][0]
    changes = sum(1 for _, _, type_, _ in of.events if type_ == 9600)
    failures.equal(changes, 2 * regions + 2 * ask(store, "SELECT count(*) FROM span JOIN path ON path.id = path WHERE queue IS NULL AND nests AND kind NOT IN ('region', 'function')")[0][0], "two events for each region")


def case_spans_that_cross_end_as_themselves():
    store, made = work / "cross.sqlite", work / "cross.prv"
    convert(record(), store)
    db = sqlite3.connect(store)
    (kernel, device), = db.execute("SELECT id, device FROM path WHERE kind = 'kernel' LIMIT 1")
    copy, = db.execute("SELECT id FROM path WHERE kind = 'copy_to' AND device = ? LIMIT 1", (device,)).fetchone()
    other = db.execute("INSERT INTO path(name, kind, device) VALUES('other', 'kernel', ?)", (device,)).lastrowid
    process, queue = db.execute("SELECT process, queue FROM span WHERE path = ? LIMIT 1", (kernel,)).fetchone()
    db.execute("DELETE FROM span")
    for path, start, end, size in ((kernel, 0, 10, None), (other, 2, 30, None), (kernel, 4, 20, None), (copy, 40, 40, 123)):
        db.execute('INSERT INTO span(start, "end", path, process, thread, queue, bytes, nests) VALUES(?, ?, ?, ?, 0, ?, ?, 0)', (start, end, path, process, queue, size))
    db.commit()
    db.close()
    convert(store, made)
    of = Paraver(made)
    found = [(at, of.types[type_].get(value)) for _, at, type_, value in of.events if type_ == 63000006]
    failures.equal(found, [(0, "kernel"), (2, "other"), (4, "kernel"), (10, "kernel"), (20, "other"), (30, "End")], "the last begun has the row")
    failures.equal([(at, value) for _, at, type_, value in of.events if type_ == 63000002], [(40, 123), (40, 0)], "bytes of a copy without a duration")


def case_ranks_are_tasks():
    made = work / "ranks.prv"
    convert(record(3), record(1), made)
    of = Paraver(made)
    failures.equal([re.search(r"rank (\d)", task)[1] for task in of.tasks], ["1", "3"], "in the order of the ranks")


def factors_of(printed):
    """The factors of devices and of the host, as printed."""
    made = {}
    for line in printed.splitlines():
        head = re.match(r"parallel efficiency of (\d+) (device|host thread)s?: ", line)
        if head:
            made[head[2]] = (int(head[1]), *map(float, re.findall(r"(?<=[ ])(?:\d[\d.e-]*)(?= |$)", line[head.end() - 1:])))
    return made


def factors_by_records(of):
    """The same from the text of the three files: a span of a type lasts while the value of its row is not 0."""
    spans = collections.defaultdict(list)
    open_ = {}
    for place, at, type_, value in of.events:
        begin, before = open_.get((place, type_), (0, 0))
        if before:
            spans[place, type_, of.types[type_].get(before, "").startswith("MPI_")].append((begin, at))
        open_[place, type_] = at, value
    total = of.end
    devices = {re.match(r"CUDA-D(\d+)\.", name)[1] for name in of.names if name.startswith("CUDA-D")}

    def union(chosen):
        return busy([span for key, some in spans.items() if chosen(*key) for span in some])
    work = [union(lambda place, type_, _, of=device: place.startswith(f"CUDA-D{of}.") and type_ == 63000006) for device in devices]
    active = [union(lambda place, type_, _, of=device: place.startswith(f"CUDA-D{of}.") and type_ in (63000006, 63000001)) for device in devices]
    mean = math.fsum(work) / len(work)
    made = {"device": (len(work), mean / total, mean / max(work), max(work) / max(active), max(active) / total)}
    outside, useful = [], []
    for name in of.names:
        if any(place == name and (is_mpi or type_ == 63000000) for place, type_, is_mpi in spans):
            outside.append(total - union(lambda place, _, is_mpi, of=name: place == of and is_mpi))
            useful.append(total - union(lambda place, type_, is_mpi, of=name: place == of and (is_mpi or type_ == 63000000)))
    if outside:
        count = len(outside)
        made["host thread"] = (count, sum(useful) / count / total, sum(outside) / count / max(outside), max(outside) / total, sum(useful) / sum(outside))
    return made


def case_efficiencies():
    """POP's factors, against the text of the trace; and a hand trace of 100 us."""
    draw = random.Random(5)
    for attempt in range(6):
        export = Export(str(work / f"pop{attempt}.sqlite"))
        for device in range(attempt % 3 + 1):
            export.context(100, device + 1, device, device)
            for stream in (7, 8):
                begins = sorted(draw.sample(range(100_000), 40))
                export.kernels([(begin, begin + draw.randrange(1, 4000), "k") for begin in begins], device=device, context=device + 1, stream=stream)
            begins = sorted(draw.sample(range(100_000), 20))
            export.copies([(begin, begin + draw.randrange(1, 4000)) for begin in begins], device=device, context=device + 1, stream=9)
        calls = {}
        for thread in range(attempt):
            edges = sorted(draw.sample(range(100_000), 60))
            calls[thread] = list(zip(edges[::2], edges[1::2]))
            export.rows("CUPTI_ACTIVITY_KIND_RUNTIME", [{"start": start, "end": end, "globalTid": (100 << 24) + 50 + thread, "correlationId": None, "nameId": export.string("cudaMalloc")}
                                                        for start, end in calls[thread][::2]])
        name = export.string("MPI_Allreduce")
        file = export.finish()
        with sqlite3.connect(file) as db:
            db.execute("CREATE TABLE MPI_COLLECTIVES_EVENTS(start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER)")
            for thread, spans in calls.items():
                db.executemany("INSERT INTO MPI_COLLECTIVES_EVENTS VALUES(?, ?, ?, ?)", [(start, end, (100 << 24) + 50 + thread, name) for start, end in spans[1::2]])
        db.close()
        done = run(ADAPTYST, "convert", "--verbose", file, "-o", work / f"pop{attempt}.prv")
        failures.equal(done.returncode, 0, done.stderr)
        printed, wanted = factors_of(done.stdout), factors_by_records(Paraver(work / f"pop{attempt}.prv"))
        failures.equal((sorted(printed), len(printed)), (sorted(wanted), 1 + (attempt > 0)), f"both kinds: {done.stdout}")
        for kind, right in wanted.items():
            got = printed[kind]
            failures.equal((got[0], len(got)), (right[0], 5), f"number of {kind}s")
            failures.check(all(abs(a - b) <= 1e-12 and 0 <= a <= 1 for a, b in zip(got[1:], right[1:])), f"factors of {kind}", (got, right))
            failures.check(abs(got[1] - got[2] * got[3] * got[4]) <= 1e-12, "their product", got)
    export = Export(str(work / "hand.sqlite"))
    for device, length in ((0, 80), (1, 40)):
        export.context(100, device + 1, device, device)
        export.kernels([(0, length, "k")], device=device, context=device + 1)
    export.copies([(100, 100)], device=0, context=1)
    done = run(ADAPTYST, "convert", export.finish(), "-o", work / "hand.prv")
    failures.check("parallel efficiency of 2 devices: 0.6 = load balance 0.75 x communication 1 x orchestration 0.8" in done.stdout, "by hand", done.stdout)
    failures.check("host threads: not available" in done.stdout, "without calls", done.stdout)


def case_faults():
    log = record()
    done = run(ADAPTYST, "convert", log, "-o", "/nowhere/run.prv")
    failures.check(done.returncode == 2 and "/nowhere/run.prv" in done.stderr, "it is refused", done.stderr)
    if os.geteuid() != 0:
        return
    place = work / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", place], check=True)
    try:
        done = run(ADAPTYST, "convert", log, "-o", place / "run.prv")
        failures.check(done.returncode == 2 and "No space" in done.stderr, "a full disk is reported", done.stderr)
        failures.equal(list(place.iterdir()), [], "nothing is left")
    finally:
        subprocess.run(["umount", place], check=True)


run_cases(globals(), sys.argv[3:], failures)
