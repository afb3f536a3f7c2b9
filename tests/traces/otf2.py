#!/usr/bin/env python3
"""OTF2 archives, read by OTF2's own programs and by ours: otf2.py ADAPTYST TRACED_PROGRAM FOREIGN [case…]. FOREIGN writes an
archive as another program would."""
import collections
import json
import os
import pathlib
import resource
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402

ADAPTYST, PROGRAM, FOREIGN = sys.argv[1:4]
LIMIT = 120
failures = Failures()
work = scratch()


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False, **options)


def convert(*files):
    done = run(ADAPTYST, "convert", *files[:-1], "-o", files[-1])
    failures.equal(done.returncode, 0, f"convert {files}: {done.stderr}")
    return done


def ask(file, question):
    db = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def log():
    file = work / "run-3.events"
    if not file.exists():
        environment = {**os.environ, "ADAPTYST": f"engine=inline,report=none,overhead=none,output={work}/run-%r.events", "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}
        failures.equal(run(PROGRAM, "inside", "all", env=environment).returncode, 0, "the program runs")
    return file


SPANS = """SELECT name, kind, process, CASE WHEN queue IS NULL THEN thread END, start, "end", queue, submitted, correlation, bytes, nests
           FROM span JOIN path ON path.id = span.path"""


def case_it_comes_back():
    store, archive, back = work / "run.sqlite", work / "run.otf2", work / "back.sqlite"
    convert(log(), store)
    done = convert(store, archive)
    failures.equal(done.stderr.count("lacks"), 0, f"nothing is lost: {done.stderr}")
    failures.equal(sorted(path.name for path in work.iterdir() if path.name.startswith("run.") or path.name == "run"),
                   ["run", "run.def", "run.otf2", "run.sqlite"], "its files")
    convert(archive, back)
    spans = ask(store, SPANS)
    failures.check(len(spans) > 1000, "there are spans", len(spans))
    failures.equal(collections.Counter(ask(back, SPANS)), collections.Counter(spans), "the same spans")
    for question in ("SELECT name, process, thread, time, value FROM sample JOIN path ON path.id = path ORDER BY 1, 4",
                     "SELECT name, process, thread, time FROM instant JOIN path ON path.id = path ORDER BY 1, 4",
                     "SELECT name, number, rank, host FROM process", "SELECT id, name FROM thread ORDER BY 1", "SELECT physical, name FROM device",
                     "SELECT value FROM meta WHERE name = 'utc_ns'"):
        failures.equal(ask(back, question), ask(store, question), question)
    depth = """WITH RECURSIVE at(id, depth) AS (SELECT id, 1 FROM path WHERE parent IS NULL
               UNION ALL SELECT path.id, depth + 1 FROM path JOIN at ON path.parent = at.id)
               SELECT path.name, depth, count(*) FROM span JOIN at ON at.id = span.path JOIN path ON path.id = at.id WHERE queue IS NULL AND nests GROUP BY 1, 2 ORDER BY 1, 2"""
    failures.equal(ask(back, depth), ask(store, depth), "call paths")
    answers = []
    for file in (store, archive):
        done = run(ADAPTYST, "variability", "--format=json", "--by=region", "--window=1ms", file)
        failures.equal(done.returncode, 0, f"variability {file}: {done.stderr}")
        made = json.loads(done.stdout)
        del made["ranks"]
        made["parameters"].pop("traces", None)
        answers.append(json.dumps(made).replace(str(archive), str(store)).replace("an OTF2 archive", "adaptyst trace, schema 1"))
    failures.equal(answers[0], answers[1], "the analysis has the same results")
    failures.check('"n": ' in answers[0], "with something in it", answers[0][:300])


def case_other_programs_read_it():
    if not shutil.which("otf2-print"):
        raise Missing("otf2-print (Debian: otf2-tools)")
    store, archive = work / "printed.sqlite", work / "printed.otf2"
    convert(log(), store)
    convert(log(), archive)
    printed = run("otf2-print", archive)
    failures.equal((printed.returncode, printed.stderr), (0, ""), "otf2-print reads it")
    counts = collections.Counter(line.split()[0] for line in printed.stdout.splitlines() if line[:1].isalpha())
    spans = ask(store, "SELECT count(*) FROM span")[0][0] + ask(store, "SELECT count(*) FROM instant")[0][0]
    failures.equal((counts["ENTER"], counts["LEAVE"], counts["METRIC"]), (spans, spans, ask(store, "SELECT count(*) FROM sample")[0][0]), "events")
    definitions = run("otf2-print", "-G", archive).stdout
    failures.check("MPI Rank 3" in definitions and "ACCELERATOR_STREAM" in definitions, "ranks and queues", definitions[:2000])
    for line in run("otf2-print", "-L", "0", archive).stdout.splitlines():
        failures.check("error" not in line.lower(), "no event is out of order", line)


def case_an_archive_of_another_program():
    folder, store = work / "foreign", work / "foreign.sqlite"
    done = run(FOREIGN, folder)
    failures.equal(done.returncode, 0, f"it is written: {done.stderr}")
    done = convert(folder / "traces.otf2", store)
    failures.check("1 regions have no end" in done.stderr and "1 ends of regions" in done.stderr, "what is unpaired is counted", done.stderr)
    failures.equal(ask(store, 'SELECT name, kind, start, "end", process, queue IS NULL FROM span JOIN path ON path.id = span.path ORDER BY start, "end" DESC'),
                   [("main", "function", 0, 9000, 0, 1), ("solve", "region", 1000, 5000, 0, 1), ("MPI_Barrier", "function", 2000, 3000, 0, 1),
                    ("saxpy", "kernel", 4000, 6000, 0, 0), ("copy", "copy_to", 6500, 7000, 0, 0)], "spans in ns")
    failures.equal(ask(store, "SELECT name, time, value FROM sample JOIN path ON path.id = path"), [("temperature", 2500, -7.0)], "values")
    failures.equal(ask(store, "SELECT rank, host FROM process"), [(5, "node7")], "rank and host")


def case_an_archive_of_many_threads():
    folder = work / "wide"
    failures.equal(run(FOREIGN, folder, 300).returncode, 0, "it is written")

    def limited(most):
        return run(ADAPTYST, "convert", folder / "traces.otf2", "-o", work / f"wide-{most}.sqlite",
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, most)))
    failures.equal(limited(1000).returncode, 0, "the limit on open files is raised")
    done = limited(100)
    failures.check(done.returncode == 2 and "ulimit -n" in done.stderr, "too many locations are refused", done.stderr)


def case_an_archive_that_nests_deeply():
    folder, store = work / "deep", work / "deep.sqlite"
    failures.equal(run(FOREIGN, folder, 0, 65536 + 10).returncode, 0, "it is written")
    done = convert(folder / "traces.otf2", store)
    failures.check("10 regions are nested too deeply" in done.stderr and "1 ends of regions" in done.stderr, "their ends are no others", done.stderr)
    failures.equal(ask(store, "SELECT count(*) FROM span JOIN path ON path.id = path WHERE name = 'saxpy'"), [(65536 + 1,)], "the others are there")


def case_faults():
    archive = work / "faulty.otf2"
    convert(log(), archive)
    done = run(ADAPTYST, "convert", log(), "-o", archive)
    failures.check(done.returncode == 2 and "exists" in done.stderr, "it is not replaced", done.stderr)
    for part in sorted((work / "faulty").glob("*.evt")):
        part.write_bytes(part.read_bytes()[:-40])
    damaged = work / "damaged.sqlite"
    done = run(ADAPTYST, "convert", archive, "-o", damaged)
    failures.check(done.returncode == 2 and "faulty.otf2" in done.stderr and not damaged.exists(), "truncated events are refused", done.stderr)
    (work / "faulty.def").write_bytes(b"")
    done = run(ADAPTYST, "variability", archive)
    failures.check(done.returncode == 2 and "otf2-print" in done.stderr, "definitions are missing", done.stderr)
    (work / "text.otf2").write_text("no archive")
    done = run(ADAPTYST, "convert", work / "text.otf2", "-o", damaged)
    failures.check(done.returncode == 2 and "text.otf2" in done.stderr, "a text is no archive", done.stderr)
    done = run(ADAPTYST, "convert", log(), "-o", "/nowhere/x.otf2")
    failures.check(done.returncode == 2 and "/nowhere" in done.stderr, "no such folder", done.stderr)
    if os.geteuid() != 0:
        return
    place = work / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", place], check=True)
    try:
        done = run(ADAPTYST, "convert", log(), "-o", place / "run.otf2")
        failures.equal(done.returncode, 2, f"a full disk is reported: {done.stderr}")
        failures.equal(list(place.iterdir()), [], "nothing is left")
    finally:
        subprocess.run(["umount", place], check=True)


def case_a_killed_conversion_is_named():
    if not shutil.which("strace"):
        raise Missing("strace")
    archive = work / "killed.otf2"
    for by, when in (("SIGKILL", 1), ("SIGKILL", 2), ("SIGTERM", 3)):
        killed = run("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e", f"inject=renameat2:signal={by}:when={when}:error=EIO", ADAPTYST, "convert", log(), "-o", archive)
        failures.check(killed.returncode in (-9, -15, 137, 143), f"{by} ends it", (killed.returncode, killed.stderr))
        failures.check(not archive.exists(), "there is no archive", "")
        left = list(work.glob("killed.otf2.*.partial"))
        failures.equal(len(left), 1, "one folder is left")
        done = run(ADAPTYST, "convert", log(), "-o", archive)
        failures.check(left[0].name in done.stderr, "the next conversion names it", done.stderr)
        parts = [part for part in (work / "killed", work / "killed.def") if part.exists()]
        if when > 1:
            failures.check(done.returncode == 2 and f"{work / 'killed'}" in done.stderr and "remove them" in done.stderr, "and parts without an anchor", done.stderr)
        else:
            failures.equal(done.returncode, 0, "is complete")
        for part in (*parts, left[0], archive):
            shutil.rmtree(part) if part.is_dir() else part.unlink(missing_ok=True)
    failures.equal(convert(log(), archive).stderr, "", "no further message")


run_cases(globals(), sys.argv[4:], failures)
