#!/usr/bin/env python3
"""OTF2 archives, read by OTF2's own programs and by ours: otf2.py ADAPTYST TRACED_PROGRAM FOREIGN FOREIGN_MPI SCRIPTED
[case…]. The last three write archives as other programs would."""
import collections
import fcntl
import json
import os
import pathlib
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402

ADAPTYST, PROGRAM, FOREIGN, FOREIGN_MPI, SCRIPTED = sys.argv[1:6]
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
    failures.check("1 region has no end" in done.stderr and "1 end of a region" in done.stderr, "what is unpaired is counted", done.stderr)
    failures.equal(ask(store, 'SELECT name, kind, start, "end", process, queue IS NULL FROM span JOIN path ON path.id = span.path ORDER BY start, "end" DESC'),
                   [("main", "function", 0, 9000, 0, 1), ("solve", "region", 1000, 5000, 0, 1), ("MPI_Barrier", "function", 2000, 3000, 0, 1),
                    ("saxpy", "kernel", 4000, 6000, 0, 0), ("copy [direction unknown]", "copy_to", 6500, 7000, 0, 0)], "spans in ns")
    failures.check("1 copy has an unknown direction" in done.stderr, "no direction is guessed", done.stderr)
    failures.equal(ask(store, "SELECT name, time, value FROM sample JOIN path ON path.id = path"), [("temperature", 2500, -7.0)], "values")
    failures.equal(ask(store, "SELECT rank, host FROM process"), [(5, "node7")], "rank and host")


# The messages in foreign_mpi_otf2.c: rank, call, form, communicator and its ranks, peer, tag, bytes, received bytes.
WORLD, SOME = ("MPI_COMM_WORLD", "0 1 2"), ("some,ranks", "2 0")
MESSAGES = [(0, "MPI_Send", "send", *WORLD, 1, 7, 4096, None), (1, "MPI_Recv", "receive", *WORLD, 0, 7, 4096, None), (0, "MPI_Isend", "send", *SOME, 0, 9, 0, None),
            (2, "MPI_Wait", "receive", *SOME, 1, 9, 0, None), (1, "MPI_Isend", "send", *WORLD, 0, 1, 10, None), (1, "MPI_Isend", "send", *WORLD, 0, 2, 20, None),
            (0, "MPI_Waitall", "receive", *WORLD, 1, 2, 20, None), (0, "MPI_Waitall", "receive", *WORLD, 1, 1, 10, None),
            *((rank, "MPI_Allreduce", "collective", *SOME, None, None, 8, 16) for rank in (0, 2)),
            *((rank, "MPI_Bcast", "collective", *WORLD, 2, None, 300 * (rank == 2), 100) for rank in range(3))]
STORED = """SELECT process.rank, path.name, form, communicator.name, ranks, peer, tag, coalesce(mpi_message.bytes, span.bytes), received
            FROM span JOIN path ON path.id = path JOIN process ON process.id = process JOIN mpi_message ON call = mpi_call
            LEFT JOIN communicator ON communicator.id = communicator"""


def printed_messages(archive):
    """Events of MPI by otf2-print: location, event without the request, and the call around."""
    made, calls = collections.Counter(), collections.defaultdict(list)
    for line in run("otf2-print", archive).stdout.splitlines():
        found = re.match(r"(ENTER|LEAVE|MPI_\w+) +(\d+) +(\d+) *(.*)", line)
        if not found or found[1] == "MPI_IRECV_REQUEST":
            continue
        event, location, _, about = found.groups()
        if event == "ENTER":
            calls[location].append(re.search('"(.*)"', about)[1])
        elif event == "LEAVE":
            calls[location].pop()
        else:
            about = re.sub(r", Request: \d+|<\d+>|\"Master thread\" ", "", about)
            made[location, event.replace("MPI_I", "MPI_").lower(), about, calls[location][-1]] += 1
    return made


def foreign_mpi():
    folder = work / "mpi"
    if not folder.exists():
        failures.equal(run(FOREIGN_MPI, folder).returncode, 0, "it is written")
    return folder / "traces.otf2"


def case_messages_of_mpi():
    if not shutil.which("otf2-print"):
        raise Missing("otf2-print (Debian: otf2-tools)")
    archive, store, back, again = foreign_mpi(), work / "mpi.sqlite", work / "mpi-back.otf2", work / "mpi-again.sqlite"
    done = convert(archive, store)
    failures.check("1 transfer by a host thread is skipped" in done.stderr and "1 copy has an unknown direction" in done.stderr, "losses are counted", done.stderr)
    failures.equal(collections.Counter(ask(store, STORED)), collections.Counter(MESSAGES), "messages in the store")
    failures.equal(ask(store, "SELECT file, line FROM path WHERE name = 'main'"), [("main.c", 12)], "the source line")
    failures.equal(ask(store, "SELECT name, kind, start, \"end\", bytes FROM span JOIN path ON path.id = path WHERE queue IS NOT NULL ORDER BY start"),
                   [("copy", "copy_to", 3000, 3100, 64), ("copy", "copy_from", 3200, 3300, 32), ("copy [DtoD]", "copy_to", 3400, 3500, 16),
                    ("copy [direction unknown]", "copy_to", 3600, 3700, None), ("Memcpy DtoH", "copy_from", 3800, 3900, None)], "directions of copies")
    done = convert(store, back)
    failures.equal(done.stderr, "", "nothing is lost")
    wanted = printed_messages(archive)
    failures.equal(sum(wanted.values()), len(MESSAGES) + 5, "events with five begins of collective calls")
    failures.equal(printed_messages(back), wanted, "the same events of MPI in the written archive")
    failures.check(re.search(r'"main" .*File: "main.c".*Begin: 12', run("otf2-print", "-G", back).stdout), "the source line is in the archive", run("otf2-print", "-G", back).stdout)
    convert(back, again)
    failures.equal(collections.Counter(ask(again, STORED)), collections.Counter(MESSAGES), "messages after both ways")
    convert(store, work / "mpi.pftrace")
    arrows = collections.Counter()
    if shutil.which("protoc"):
        text = subprocess.run(["protoc", f"--proto_path={pathlib.Path(__file__).parent}", "--decode=Trace", "perfetto.proto"], input=(work / "mpi.pftrace").read_bytes(), capture_output=True, check=True).stdout
        arrows.update(re.findall(rb"\b(flow|ending_flow): (\d+)", text))
        begins, ends = ({number for kind, number in arrows if kind == wanted} for wanted in (b"flow", b"ending_flow"))
        failures.equal((len(begins), begins), (4, ends), "an arrow from each send to its receive")


def without_locations(archive):
    """Their numbers are free."""
    made = collections.Counter()
    for (_, *event), number in printed_messages(archive).items():
        made[tuple(event)] += number
    return made


RING = """#include <mpi.h>
int main(int count, char** arguments) {
  int rank, ranks, token = 0;
  double mine = 1, sum;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int round = 0; round != 10; ++round) {
    if (rank == 0) MPI_Send(&token, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(&token, 1, MPI_INT, (rank + 1) % ranks, 7, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
"""


def case_a_trace_of_eztrace():
    """Another tool writes the archive of three ranks of Open MPI; it is read, and written again with the same events."""
    for tool in ("eztrace", "mpicc.openmpi", "mpirun.openmpi", "otf2-print"):
        if not shutil.which(tool):
            raise Missing(tool)
    (work / "ring.c").write_text(RING)
    failures.equal(run("mpicc.openmpi", work / "ring.c", "-o", work / "ring").returncode, 0, "the program compiles")
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = run("mpirun.openmpi", "--oversubscribe", "-n", "3", "eztrace", "-t", "openmpi", work / "ring", cwd=work, env=environment)
    archive, store, back = work / "ring_trace/eztrace_log.otf2", work / "eztrace.sqlite", work / "eztrace-back.otf2"
    failures.check(done.returncode == 0 and archive.exists(), "eztrace has written an archive", done.stderr)
    convert(archive, store)
    convert(store, back)
    found = collections.Counter(ask(store, "SELECT form, tag FROM span JOIN mpi_message ON call = mpi_call"))
    failures.equal(found, {("send", 7): 30, ("receive", 7): 30, ("collective", None): 30}, "messages in the store")
    peers = collections.Counter(ask(store, "SELECT rank, peer FROM span JOIN mpi_message ON call = mpi_call JOIN process ON process.id = process WHERE form = 'send'"))
    failures.equal(peers, {(0, 1): 10, (1, 2): 10, (2, 0): 10}, "senders and receivers")
    failures.equal(without_locations(back), without_locations(archive), "the same events of MPI in the written archive")


def scripted(name, script, *more):
    folder = work / name
    done = run(SCRIPTED, folder, *more, input=script)
    failures.equal(done.returncode, 0, f"{name} is written: {done.stderr}")
    return folder / "traces.otf2"


CALLS = "MPI_Barrier MPI_Comm_dup MPI_Send MPI_Recv MPI_Waitall MPI_Isend".split()


def script_of(events, communicators=("MPI_COMM_WORLD 0",)):
    """Events: location, call and its message; each call takes 10 ns, from 10 ns on, or from a given time on."""
    made = [f"region {name} - 0" for name in CALLS] + [f"communicator {each}" for each in communicators]
    now = collections.Counter({0: 10, 1: 10})
    for location, call, *messages in events:
        begin = now[location] = max(now[location], 10)
        made.append(f"enter {location} {begin} {CALLS.index(call)}")
        made += [f"{message.split()[0]} {location} {begin + 1} {message.split(maxsplit=1)[1]}" for message in messages]
        made.append(f"leave {location} {begin + 9} {CALLS.index(call)}")
        now[location] += 10
    return "\n".join(made) + "\n"


def case_equal_messages_of_different_calls():
    """As Score-P records MPI_Comm_dup: a collective call, which we do not write."""
    if not shutil.which("otf2-print"):
        raise Missing("otf2-print (Debian: otf2-tools)")
    barrier, duplicate = ("MPI_Barrier", "collective 0 0"), ("MPI_Comm_dup", "collective 19 0")
    for name, calls in (("barrier-first", [barrier, duplicate]), ("duplicate-first", [duplicate] + [barrier] * 5)):
        archive = scripted(name, script_of([(rank, *call) for call in calls for rank in range(2)]))
        store, back = work / f"{name}.sqlite", work / f"{name}-back.otf2"
        convert(archive, store)
        done = convert(store, back)
        failures.check("2 calls of MPI without their messages" in done.stderr, "MPI_Comm_dup is counted", done.stderr)
        wanted = {key: count for key, count in printed_messages(archive).items() if key[3] == "MPI_Barrier"}
        failures.equal(printed_messages(back), wanted, f"{name}: all barriers are written")


def case_communicators_with_one_name():
    if not shutil.which("otf2-print"):
        raise Missing("otf2-print (Debian: otf2-tools)")
    archive = scripted("twins", script_of([(0, "MPI_Send", "send 1 0 5 111"), (0, "MPI_Send", "send 1 1 5 222"), (1, "MPI_Recv", "recv 0 1 5 222"),
                                           (1, "MPI_Recv", "recv 0 0 5 111")], ("- 0", "- 1")))
    store, back = work / "twins.sqlite", work / "twins-back.otf2"
    convert(archive, store)
    failures.equal(ask(store, "SELECT ranks FROM communicator"), [("0 1",)] * 2, "both are stored")
    convert(store, back)
    used = [re.findall(r"MPI_(?:SEND|RECV) .*Communicator: .*?<(\d+)>", run("otf2-print", file).stdout) for file in (archive, back)]
    numbers = [[list(dict.fromkeys(each)).index(number) for number in each] for each in used]
    failures.equal(numbers[1], numbers[0], "they are two in the written archive")
    failures.equal(len(set(numbers[0])), 2, "and in the read one")
    failures.equal(arrows_of(store), {(111, 111), (222, 222)}, "arrows join messages of one communicator")


def arrows_of(store):
    """Bytes of the calls at both ends of each arrow, from a store, by protoc."""
    if not shutil.which("protoc"):
        raise Missing("protoc (Debian: protobuf-compiler)")
    file = store.with_suffix(".pftrace")
    done = convert(store, file)
    text = subprocess.run(["protoc", f"--proto_path={pathlib.Path(__file__).parent}", "--decode=Trace", "perfetto.proto"], input=file.read_bytes(), capture_output=True, check=True).stdout.decode()
    ends = collections.defaultdict(dict)
    for packet in text.split("\npacket {"):
        flow = re.search(r"\b(flow|ending_flow): (\d+)", packet)
        if flow:
            ends[flow[2]][flow[1]] = int(re.search(r"timestamp: (\d+)", packet)[1])
    sizes = {kind: dict(ask(store, f"SELECT start, coalesce(span.bytes, mpi_message.bytes) FROM span JOIN mpi_message ON call = mpi_call WHERE form = '{form}'"))
             for kind, form in (("flow", "send"), ("ending_flow", "receive"))}
    arrows_of.stderr = done.stderr
    return {tuple(sizes[kind].get(times.get(kind)) for kind in ("flow", "ending_flow")) for times in ends.values()}


def case_arrows_join_the_right_messages():
    def arrows(name, events):
        store = work / f"{name}.sqlite"
        convert(scripted(name, script_of(events)), store)
        return arrows_of(store)
    sends = [(0, "MPI_Isend", f"send 1 0 5 {100 + at}") for at in range(8)]
    receives = [(1, "MPI_Recv", f"recv 0 0 5 {100 + at}") for at in range(8)]
    failures.equal(arrows("in-order", sends + receives), {(100 + at,) * 2 for at in range(8)}, "an arrow for each message")
    failures.equal(arrows_of.stderr, "", "nothing is lost")
    failures.equal(arrows("completed", sends[:2] + [(1, "MPI_Waitall", "irecv 0 0 5 101"), (1, "MPI_Waitall", "irecv 0 0 5 100")]), set(), "the order of completion is no order of messages")
    failures.check("4 ends of MPI messages without an arrow" in arrows_of.stderr, "they are counted", arrows_of.stderr)
    failures.equal(arrows("many", sends + [(1, "MPI_Waitall", *(f"irecv 0 0 5 {100 + at}" for at in range(4)))] * 2), set(), "calls with many messages")
    failures.equal(arrows("unreceived", sends + receives[:7]), set(), "a message without a receive")
    failures.check("15 ends of MPI messages" in arrows_of.stderr, "they are counted", arrows_of.stderr)


def case_what_cannot_be_written_is_counted():
    store = work / "peer.sqlite"
    convert(scripted("peer", script_of([(0, "MPI_Send", "send 77 0 5 111"), (1, "MPI_Recv", "recv 0 0 5 111")])), store)
    done = convert(store, work / "peer-back.otf2")
    failures.check("1 call of MPI without its messages: the other rank" in done.stderr, "a rank beyond the communicator", done.stderr)
    db = sqlite3.connect(store)
    db.executescript("""UPDATE span SET mpi_call = NULL, bytes = NULL; DELETE FROM mpi_message; DELETE FROM communicator;
        UPDATE path SET name = 'MPI_Send [peer=1,bytes=5000000000,communicator=MPI_COMM_WORLD]' WHERE name = 'MPI_Send';""")
    db.commit()
    convert(store, work / "large-back.otf2")
    if shutil.which("otf2-print"):
        failures.check("Length: 5000000000" in run("otf2-print", work / "large-back.otf2").stdout, "bytes beyond 32 bits", run("otf2-print", work / "large-back.otf2").stdout)
    db.executescript("""INSERT INTO communicator VALUES(1, 'odd', '0 x'); UPDATE span SET mpi_call = 1;
        INSERT INTO mpi_message VALUES(1, 1, 'shout', 1, 1, 0, 0, 0), (1, 2, 'send', 1, 1, 0, 0, 0);""")
    db.commit()
    db.close()
    done = convert(store, work / "odd.sqlite")
    failures.check("1 message of MPI has an unknown form" in done.stderr and "1 communicator of MPI lacks its ranks" in done.stderr, "faults of a store", done.stderr)
    done = convert(scripted("transfers", "put 2 10 7 64\nput 2 20 7 64\ndone 2 30 7\n"), work / "transfers.sqlite")
    failures.check("1 transfer has no end and the number of another" in done.stderr, "transfers with one number", done.stderr)
    failures.equal(ask(work / "transfers.sqlite", "SELECT start, \"end\" FROM span"), [(20, 30)], "the other one is there")


def case_names_with_slashes():
    convert(scripted("slashes", "region read io/file.c 10\nregion read/io file.c 10\n" + "".join(f"enter 0 {at * 10 + 10} {at}\nleave 0 {at * 10 + 15} {at}\n" for at in range(2))), work / "slashes.sqlite")
    failures.equal(ask(work / "slashes.sqlite", "SELECT name, file FROM span JOIN path ON path.id = path ORDER BY start"), [("read", "io/file.c"), ("read/io", "file.c")], "two regions")


def case_many_large_communicators():
    ranks, count = 300_000, 40
    archive = scripted("many-communicators", script_of([(0, "MPI_Send", f"send 1 {at} 0 8") for at in range(count)], [f"c{at} 1" for at in range(count)]), ranks)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = convert(archive, work / "many-communicators.sqlite")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    failures.check(after.ru_maxrss < 400 << 10, "memory has a limit", after.ru_maxrss)
    failures.check(after.ru_utime - before.ru_utime < 20, "time is not quadratic", after.ru_utime - before.ru_utime)
    failures.check("13 communicators of MPI lack their ranks: all have too many" in done.stderr, "they are counted", done.stderr)
    failures.equal(ask(work / "many-communicators.sqlite", "SELECT count(*), count(ranks) FROM communicator"), [(count, (1 << 23) // ranks)], "the others have ranks")


def case_labels_of_mpi_calls():
    """A store as `--with mpi` and ADAPTYST_MPI_LABELS write it: labels have the peer, the bytes and the communicator."""
    if not shutil.which("otf2-print"):
        raise Missing("otf2-print (Debian: otf2-tools)")
    store = work / "labels.sqlite"
    convert(foreign_mpi(), store)
    db = sqlite3.connect(store)
    db.executescript("""UPDATE span SET mpi_call = NULL, bytes = NULL; DELETE FROM mpi_message; DELETE FROM communicator;
        UPDATE path SET name = 'MPI_Send [peer=1,distance=node,bytes=4096,communicator=MPI_COMM_WORLD]' WHERE name = 'MPI_Send';
        UPDATE path SET name = 'MPI_Recv [peer=any,communicator=MPI_COMM_WORLD]' WHERE name = 'MPI_Recv';
        UPDATE path SET name = 'MPI_Isend [peer=0,communicator=of 2 ranks]' WHERE name = 'MPI_Isend';
        UPDATE path SET name = 'MPI_Allreduce [communicator=MPI_COMM_WORLD]' WHERE name = 'MPI_Allreduce';""")
    db.commit()
    db.close()
    done = convert(store, work / "labels.otf2")
    # MPI_Recv, three times MPI_Isend, and MPI_Bcast of three ranks.
    failures.check("7 calls of MPI without their messages: the other rank or the communicator is unknown" in done.stderr, "they are counted", done.stderr)
    failures.check("2 messages of MPI of unknown size" in done.stderr, "and unknown sizes", done.stderr)
    failures.check("1 receive of MPI without its message: the ends are unknown" in done.stderr, "and MPI_Irecv", done.stderr)
    made = printed_messages(work / "labels.otf2")
    failures.equal(collections.Counter(event for _, event, _, _ in made.elements()), collections.Counter(mpi_send=1, mpi_collective_begin=2, mpi_collective_end=2), "events of MPI")
    failures.check(any("Receiver: 1" in about and "Length: 4096" in about for _, event, about, _ in made if event == "mpi_send"), "the peer and the bytes", made)
    db = sqlite3.connect(store)
    db.execute("UPDATE process SET rank = 7 WHERE rank = 2")
    db.commit()
    db.close()
    done = convert(store, work / "lacking.otf2")
    failures.check("10 calls of MPI without their messages: the trace lacks ranks" in done.stderr, "a rank is missing", done.stderr)
    failures.equal(printed_messages(work / "lacking.otf2"), collections.Counter(), "no event of MPI")


def case_a_killed_reader_leaves_nothing():
    if not shutil.which("strace"):
        raise Missing("strace")
    place = work / "temporary"
    place.mkdir()
    environment = {**os.environ, "TMPDIR": str(place)}
    archive = foreign_mpi()
    command = (ADAPTYST, "convert", archive, "-o", work / "read.sqlite")
    killed = run("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=rename", "-e", "inject=rename:signal=SIGKILL:when=1", *command, env=environment)
    left = list(place.iterdir())
    failures.check(killed.returncode in (-9, 137) and len(left) == 1, "a killed reader leaves its folder", (killed.returncode, left))
    run(*command, env=environment)
    failures.equal(list(place.iterdir()), left, "a new folder may be in use")
    os.utime(left[0], (time.time() - 100,) * 2)
    run(*command, env=environment)
    failures.equal(list(place.iterdir()), [], "the next reader removes it")
    used, own, full, link = (place / f"adaptyst-otf2-{end}" for end in ("used00", "examples", "full00", "link00"))
    for folder in (used, own, full):
        folder.mkdir(0o700)
    for folder in (own, full):
        (folder / "archive.sqlite").write_text("a store")
    (full / "thesis.txt").write_text("of a person")
    link.symlink_to(own)
    for folder in (used, own, full):
        os.utime(folder, (time.time() - 100,) * 2)
    folder = os.open(used, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    before = sorted(place.rglob("*"))
    run(*command, env=environment)
    failures.equal(sorted(place.rglob("*")), before, "folders in use and of a person stay")
    os.close(folder)


def case_an_archive_of_many_threads():
    folder = work / "wide"
    failures.equal(run(FOREIGN, folder, 110).returncode, 0, "it is written")

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
    failures.check("10 regions are nested too deeply" in done.stderr and "1 end of a region" in done.stderr, "their ends are no others", done.stderr)
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
    # An anchor of 80 bytes, made by a fuzzer, for which libotf2 took 15 GB and 100 s.
    (work / "anchor.otf2").write_bytes(bytes.fromhex("03424f5446320003020300020000040000000000000040000000000001010400ffffffffffffffffffffffffffffff00000000000039000000000000000061646170747973740000000000004a9596e2"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = run(ADAPTYST, "convert", work / "anchor.otf2", "-o", damaged)
    failures.check(done.returncode == 2 and "anchor.otf2" in done.stderr, "a damaged anchor is refused", done.stderr)
    failures.check(max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) < 1 << 20, "in little memory", before)
    done = run(ADAPTYST, "convert", log(), "-o", "/nowhere/x.otf2")
    failures.check(done.returncode == 2 and "/nowhere" in done.stderr, "no such folder", done.stderr)
    if os.geteuid() != 0:
        return
    place = work / "small"
    place.mkdir()
    large = scripted("full-disk", "region f - 0\n" + "".join(f"enter {at % 2} {at + 10} 0\nleave {at % 2} {at + 11} 0\n" for at in range(400_000)))
    for size, source in (("16k", log()), ("1m", large), ("6m", large)):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place], check=True)
        try:
            done = run(ADAPTYST, "convert", source, "-o", place / "run.otf2")
            failures.equal((done.returncode, "cannot write the trace" in done.stderr), (2, True), f"a full disk of {size} is reported: {done.stderr}")
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


run_cases(globals(), sys.argv[6:], failures)
