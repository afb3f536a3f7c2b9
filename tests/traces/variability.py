#!/usr/bin/env python3
"""`adaptyst variability` and `convert` on exports with known answers: variability.py ADAPTYST [case…]"""
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch, skip  # noqa: E402

try:
    import numpy  # noqa: F401
except ImportError:
    skip("no numpy (Debian: python3-numpy)")
import oracle  # noqa: E402
from nsys_export import Export  # noqa: E402

ADAPTYST = sys.argv[1]
GENERATE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "variability" / "generate.py"
MS = 1_000_000
LIMIT = 120
failures = Failures()
work = scratch()


def command(*words, launcher=(), limit=LIMIT, **options):
    return subprocess.run([*launcher, ADAPTYST, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=limit,
                          check=False, **options)


def command_that_aborts(*words, launcher):
    """The launcher of Open MPI 4.1.4 may hang after MPI_Abort() (in 1 of 30 runs on a busy machine), when all ranks have ended:
    PMIx_server_finalize() waits for a thread that waits for a mutex."""
    for _ in range(3):
        try:
            return command(*words, launcher=launcher, limit=20)
        except subprocess.TimeoutExpired:
            print("the launcher hangs: once more")
    return command(*words, launcher=launcher)


def analyse(*words, launcher=(), without_ranks=False):
    done = command("variability", "--format=json", *words, launcher=launcher)
    if not failures.check(done.returncode == 0, f"analysed: {words}", done.stderr):
        return {"windows": [], "kernels": [], "topk": [], "findings": [], "corr": {}, "parameters": {}, "ranks": []}
    made = json.loads(done.stdout)
    if without_ranks:
        made.pop("ranks")
    return made


def flagged(result):
    return sorted((window["start"], window["device"]) for window in result["windows"] if window["flag"])


def size_of_copy(start, end):
    """Some copies have more bytes than 32 bits can count."""
    return (5 << 30) + start if start % 7 == 0 else end - start


def mixed_trace(name, chance=1, **options):
    """Two devices, three kernels, copies, in no order; some spans go over windows and blocks. With what an oracle needs."""
    draw = random.Random(chance)
    export = Export(str(work / name), **options)
    for gpu in (0, 1):
        export.gpu(gpu)
        export.context(100, gpu + 1, gpu, gpu)
    kernels, copies = [], []
    for device in (0, 1):
        own = []
        for _ in range(1500):
            start = draw.randrange(0, 2000 * MS)
            own.append((start, start + int(draw.lognormvariate(12, 1)), "kernel_%d" % draw.randrange(3)))
        own += [(300 * MS, 300 * MS, "empty"), (640 * MS, 640 * MS + 5, "on_a_border"), (10 * MS, 1500 * MS, "long")]
        draw.shuffle(own)
        moved = [(start, start + draw.randrange(0, 3 * MS)) for start in (draw.randrange(0, 2000 * MS) for _ in range(300))]
        export.kernels(own, device=device, context=device + 1)
        export.copies([(start, end, size_of_copy(start, end)) for start, end in moved], device=device, context=device + 1)
        kernels += [(device, *interval) for interval in own]
        copies += [(device, *interval) for interval in moved]
    return export.finish(), kernels, copies


def near(a, b, within=1e-9):
    return abs(a - b) <= within * max(1, abs(a), abs(b))


def check_efficiency(parts, kernels, copies, devices):
    for part in parts:
        begin, end = part["start"], part["end"]
        works = [oracle.union((s, e) for d, s, e, _ in kernels if d == device) for device in range(devices)]
        actives = [oracle.union([(s, e) for d, s, e, _ in kernels if d == device] + [(s, e) for d, s, e in copies if d == device])
                   for device in range(devices)]
        busy = [oracle.covered(spans, begin, end) for spans in works]
        active = [oracle.covered(spans, begin, end) for spans in actives]
        if max(busy) == 0:
            failures.equal(part["parallel"], None, f"no efficiency from {begin}")
            continue
        expected = {"parallel": sum(busy) / devices / (end - begin), "load_balance": sum(busy) / devices / max(busy),
                    "communication": max(busy) / max(active), "orchestration": max(active) / (end - begin)}
        for field, right in expected.items():
            failures.check(near(part[field], right, 1e-12) and 0 <= part[field] <= 1, f"{field} from {begin}", f"{part[field]} {right}")
        failures.check(near(part["parallel"], part["load_balance"] * part["communication"] * part["orchestration"], 1e-12), f"their product from {begin}", part)


def case_efficiency_by_hand():
    """Of 100 us: what TALP's documentation and a pencil give."""
    us = 1000
    for name, work, moved, expected in (
            ("one half busy", {0: [(0, 50)]}, {0: [(0, 0)]}, (0.5, 1, 1, 0.5)),
            ("80 and 40", {0: [(0, 80)], 1: [(0, 40)]}, {}, (0.6, 0.75, 1, 0.8)),
            ("a copy under a kernel", {0: [(0, 50)]}, {0: [(10, 40)]}, (0.5, 1, 1, 0.5)),
            ("a copy behind it", {0: [(0, 50)]}, {0: [(50, 75)]}, (0.5, 1, 2 / 3, 0.75)),
            ("two streams", {0: [(0, 50), (25, 75)]}, {}, (0.75, 1, 1, 0.75))):
        export = Export(str(work_file := f"{globals()['work']}/pop.sqlite"))
        for device in (0, 1):
            export.context(100, device + 1, device, device)
        for device, spans in work.items():
            export.kernels([(s * us, e * us, "one") for s, e in spans], device=device, context=device + 1)
        # The end of the trace: a copy of no length.
        export.copies([(100 * us, 100 * us)], device=0, context=1)
        for device, spans in moved.items():
            export.copies([(s * us, e * us) for s, e in spans], device=device, context=device + 1)
        export.finish()
        found = analyse("--shards=1", work_file)["efficiency"]["whole"]
        got = tuple(found[key] for key in ("parallel", "load_balance", "communication", "orchestration"))
        failures.check(all(near(a, b, 1e-12) for a, b in zip(got, expected)), name, f"{got} {expected}")
    export = Export(str(work_file))
    export.copies([(0, 50)])
    export.finish()
    failures.equal(analyse(work_file)["efficiency"]["whole"]["parallel"], None, "no kernel: not available")


def case_efficiency_of_the_host():
    """Of 100 us, with two threads that call MPI and CUDA, and a helper that does neither."""
    us = 1000
    export = Export(f"{work}/host.sqlite")
    export.kernels([(0, 50 * us, "one"), (50 * us, 100 * us, "one")])

    def calls(table, tid, spans):
        export.rows(table, [{"start": start * us, "end": end * us, "globalTid": (100 << 24) + tid, "correlationId": None} for start, end in spans])
    calls("CUPTI_ACTIVITY_KIND_RUNTIME", 1, [(0, 20), (10, 30)])
    calls("CUPTI_ACTIVITY_KIND_RUNTIME", 2, [(90, 100), (95, 90)])  # one ends before it starts
    file = export.finish()
    with_mpi = sqlite3.connect(file)
    with_mpi.execute("CREATE TABLE MPI_COLLECTIVES_EVENTS(start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER)")
    with_mpi.executemany("INSERT INTO MPI_COLLECTIVES_EVENTS VALUES(?, ?, ?, 1)", [(80 * us, 100 * us, (100 << 24) + 1), (40 * us, 80 * us, (100 << 24) + 2)])
    with_mpi.execute("CREATE TABLE OSRT_API(start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER)")
    with_mpi.executemany("INSERT INTO OSRT_API VALUES(?, ?, ?, 1)", [(35 * us, 45 * us, (100 << 24) + 1), (0, 100 * us, (100 << 24) + 3)])
    with_mpi.commit()
    with_mpi.close()
    # Outside of MPI 80 and 60; useful 40 and 50.
    for threads in (1, 2):
        found = analyse("--window=50us", f"--threads={threads}", file)["efficiency"]["host"]
        for part, (first, second), (a, b) in ((found["whole"], (80, 60), (40, 50)), (found["windows"][0], (50, 40), (10, 40)), (found["windows"][1], (30, 20), (30, 10))):
            time = (part["end"] - part["start"]) / us
            expected = {"parallel": (a + b) / 2 / time, "mpi_load_balance": (first + second) / 2 / max(first, second),
                        "mpi_communication": max(first, second) / time, "device_offload": (a + b) / (first + second)}
            got = {key: part[key] for key in expected}
            failures.check(all(near(got[key], right, 1e-12) for key, right in expected.items()) and part["threads"] == 2, f"from {part['start']}", f"{got} {expected}")
        failures.equal(found["bound"], "upper", "what it is")
    remarks = [remark for remark in analyse(file)["parameters"]["remarks"] if "the host efficiency excludes 1 calls" in remark and "CUPTI_ACTIVITY_KIND_RUNTIME, row 4" in remark]
    failures.equal(len(remarks), 1, "the call that ends before it starts is reported with its row")
    failures.check("of 2 threads of the host: at most 45.0%" in command("variability", file).stdout, "on the terminal", command("variability", file).stdout)
    export = Export(f"{work}/no_host.sqlite")
    export.kernels([(0, 50, "one")])
    failures.check("host" not in analyse(export.finish())["efficiency"], "no calls: not known")


def case_numbers_are_numpys():
    file, kernels, copies = mixed_trace("mixed.sqlite")
    found = analyse(file)
    expected = oracle.windows(kernels, copies, 10 * MS)
    windows = {(window["start"], window["device"]): window for window in found["windows"]}
    failures.equal(sorted(windows), sorted(expected), "the windows in which anything happened")
    for key in windows.keys() & expected.keys():
        kernel, right = windows[key], expected[key]
        for field in ("n", "busy", "stall", "copied"):
            failures.equal(kernel[field], right[field], f"{field} of {key}")
        for field in ("mean", "std", "min", "max", "p50", "p95"):
            if right["n"]:
                failures.check(near(kernel[field], right[field]), f"{field} of {key}", f"{kernel[field]} {right[field]}")
        if right["n"]:
            failures.check(near(kernel["value"], right["value"], 1e-4), f"value of {key}", f"{kernel['value']} {right['value']}")
        copied = sum(size_of_copy(start, end) for device, start, end in copies if device == key[1] and key[0] <= start < key[0] + 10 * MS)
        failures.equal(kernel["bytes"], copied, f"bytes of {key}")
    failures.equal(sum(window["n"] for window in found["windows"]), len(kernels), "kernels in all")
    failures.equal(sum(window["bytes"] for window in found["windows"]), sum(size_of_copy(start, end) for _, start, end in copies), "bytes in all")
    compared = sum(window["n"] != 0 for window in found["windows"])
    for device in (0, 1):
        keys = [key for key in sorted(windows) if key[1] == device and windows[key]["n"]]
        beyond = oracle.slowness_beyond([expected[key] for key in keys], 1.5, compared)
        for key, excess in zip(keys, beyond):
            # The third moment is from a histogram.
            if abs(excess) > 0.01:
                failures.equal(windows[key]["flag"], bool(excess > 0), f"flag of {key}")
    both = [(window["stall"], window["p95"]) for window in found["windows"] if window["n"]]
    x, y = zip(*both)
    failures.check(near(found["corr"]["pearson"], oracle.pearson(x, y), 1e-9), "Pearson", found["corr"])
    failures.check(near(found["corr"]["spearman"], oracle.spearman(x, y), 1e-9), "Spearman", found["corr"])
    for kernel in found["kernels"]:
        durations = numpy.array([e - s for d, s, e, name in kernels if d == kernel["device"] and name == kernel["name"]])
        failures.equal((kernel["n"], kernel["total"]), (len(durations), float(durations.sum())), f"n and total of {kernel['name']}")
        for field, q in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            exact = numpy.quantile(durations, q, method="inverted_cdf")
            failures.check(near(kernel[field], exact, 0.031), f"{field} of {kernel['name']}", f"{kernel[field]} {exact}")
    failures.check(found["parameters"]["simulated"] is True, "it is named as simulated")
    efficiency = found["efficiency"]
    check_efficiency([efficiency["whole"]], kernels, copies, 2)
    check_efficiency(efficiency["windows"][::20], kernels, copies, 2)
    # Whatever the windows are, the sums are the same.
    for words in (["--shards=1"], ["--shards=5"], ["--shards=64"], ["--window=1ms"], ["--window=3s"]):
        other = analyse(*words, file)
        for field in ("n", "busy", "stall", "copied"):
            failures.equal(sum(window[field] for window in other["windows"]), sum(window[field] for window in found["windows"]), f"{field} with {words}")
    failures.equal(len({window["start"] for window in analyse("--shards=1", file)["windows"]} & {min(s for _, s, _, _ in kernels)}), 1,
                   "shards count from the first start")


def case_copies_by_direction_are_those_of_sql():
    """Against sums that SQLite makes from the export; a copy without a kind or without bytes is unknown."""
    file, _, _ = mixed_trace("directions.sqlite", chance=4)
    kinds = {1: "host to device", 2: "device to host", 8: "device to device", 10: "device to device", 11: "host to device"}
    db = sqlite3.connect(file)
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = (SELECT value FROM (SELECT 1 AS at, 1 AS value UNION SELECT 2, 2 UNION SELECT 3, 8"
               " UNION SELECT 4, 10 UNION SELECT 5, 11 UNION SELECT 0, 0) WHERE at = CUPTI_ACTIVITY_KIND_MEMCPY.rowid % 6)")
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = NULL WHERE rowid = (SELECT MIN(rowid) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 2 AND deviceId = 1)")
    db.commit()

    def sums():
        cases = " ".join(f"WHEN {kind} THEN '{name}'" for kind, name in kinds.items())
        rows = db.execute(f"SELECT deviceId, CASE copyKind {cases} END, COUNT(*), SUM(end - start), CASE WHEN COUNT(bytes) = COUNT(*) THEN SUM(bytes) END"
                          " FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY 1, 2")
        return sorted((device, name or "", count, time_ns, size) for device, name, count, time_ns, size in rows)

    def listed(found):
        return sorted((row["device"], row.get("direction", ""), row["n"], row["total"], row.get("bytes")) for row in found["copies"])

    expected = sums()
    failures.equal(len(expected), 8, "two devices, three directions and none")
    failures.equal([row[:2] for row in expected if row[4] is None], [(1, "device to host")], "the bytes of a copy are unknown")
    for words in ([], ["--window=1ms"], ["--shards=3"], ["--by=kernel"]):
        failures.equal(listed(analyse(*words, file)), expected, f"copies by direction with {words}")
    for name, words in list(launchers().items())[:1]:
        failures.equal(listed(analyse(file, launcher=[*words, "-n", "2"])), expected, f"{name}: the same with ranks")
    shown = command("variability", file).stdout
    failures.check("device to device" in shown and "direction unknown" in shown, "the table has them", shown)
    stored = work / "directions-store.sqlite"
    command("convert", file, "-o", stored)
    failures.equal([row[:4] for row in listed(analyse(stored))], [row[:4] for row in expected], "the same from a store")
    db.execute("DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY")
    db.commit()
    db.close()
    failures.check("copies" not in analyse(file), "absent without copies")
    failures.check("COPIES" not in command("variability", file).stdout, "also from the table")


def make_waits(name, follows, windows=40):
    """In each window, 9 times a kernel, a copy, and a kernel at `follows(end of the copy)`; the copies of a window are similar."""
    draw = random.Random(7)
    export, kernels, copies = Export(str(work / name)), [], []
    for window in range(windows):
        usual = draw.uniform(50_000, 600_000)
        for number in range(9):
            begin = window * 10 * MS + number * MS + 100_000
            before = begin + draw.randrange(20_000, 90_000)
            copied = int(usual * draw.uniform(0.9, 1.1))
            start, end, kernel = follows(draw, before, copied, begin)
            kernels += [(begin, before, "producer"), (kernel, kernel + 30_000, "consumer")]
            copies.append((start, end))
    export.kernels(kernels)
    export.copies(copies)
    return export.finish(), kernels, copies


def waits_by_hand(kernels, copies):
    """(kernels, windows, r) of consumers, from the order of their events."""
    by_window = {}
    for start, _, name in kernels:
        if name != "consumer":
            continue
        before = max(end for begin, end, _ in kernels if begin < start)
        last = max(((end, begin) for begin, end in copies if begin < start), default=None)
        if last and before <= last[0] <= start <= last[0] + 50_000:
            by_window.setdefault(start // (10 * MS), []).append((last[0] - last[1], start - before))
    means = numpy.array([numpy.mean(rows, axis=0) for rows in by_window.values()])
    r = numpy.corrcoef(numpy.log2(means[:, 0]), numpy.log2(means[:, 1]))[0, 1] if len(means) > 1 else None
    return sum(map(len, by_window.values())), len(by_window), r, means


def case_kernels_that_start_later_after_longer_copies():
    def waits(draw, before, copied, begin):
        end = before + 2_000 + copied
        return before + 2_000, end, end + draw.randrange(3_000, 9_000)

    def at_a_fixed_time(draw, before, copied, begin):
        kernel = begin + 800_000
        return kernel - 5_000 - copied, kernel - 5_000, kernel

    def much_later(draw, before, copied, begin):
        end = before + 2_000 + copied
        return before + 2_000, end, end + 60_000

    def at_any_time(draw, before, copied, begin):
        end = before + 2_000 + copied // 2
        return before + 2_000, end, end + draw.randrange(3_000, 400_000)

    file, kernels, copies = make_waits("waits.sqlite", waits)
    count, windows, r, means = waits_by_hand(kernels, copies)
    found = analyse(file)
    failures.equal([(row["name"], row["device"], row["n"], row["windows"]) for row in found["waits"]], [("consumer", 0, count, windows)], "the kernel that waits")
    for row in found.get("waits", []):
        failures.check(near(row["pearson"], r, 1e-4) and r > 0.95, "its correlation", (row, r))
        failures.check(near(row["copy"], means[:, 0].mean(), 0.02) and near(row["delay"], means[:, 1].mean(), 0.02), "its means", (row, means.mean(axis=0)))
    shown = command("variability", file).stdout
    failures.check("correlation, not cause" in shown and "consumer" in shown.split("correlation, not cause")[1], "the table has it", shown)
    failures.equal(analyse("--threads=1", file)["waits"], found["waits"], "the same with a thread")
    for name, follows, most in (("fixed.sqlite", at_a_fixed_time, 0.5), ("later.sqlite", much_later, None), ("any.sqlite", at_any_time, 1)):
        file, kernels, copies = make_waits(name, follows)
        count, windows, r, _ = waits_by_hand(kernels, copies)
        # Those that start soon after a copy by chance have a correlation, since their delay contains it.
        is_control = {0.5: lambda: count == 360 and r < 0.5, None: lambda: count == 0, 1: lambda: 15 < count < 120 and windows >= 10 and r > 0.5}
        failures.check(is_control[most](), f"{name}: a control", (count, windows, r))
        failures.check("waits" not in analyse(file), f"{name}: nothing waits")
        failures.check("correlation, not cause" not in command("variability", file).stdout, f"{name}: no table")


def case_the_same_for_any_number_of_threads():
    file, _, _ = mixed_trace("threads.sqlite")
    for words in ([], ["--by=kernel"], ["--shards=7", "--metric=stall"], ["--by=rank", "--metric=launch-gap"]):
        serial, parallel = (analyse(*words, f"--threads={threads}", file, without_ranks=True) for threads in (1, 2))
        failures.equal(json.dumps(serial), json.dumps(parallel), f"threads with {words}")


def case_memory_is_that_of_the_command():
    """Not that of what started it, which the kernel counts as the command's too. AddressSanitizer needs memory of its own."""
    file, _, _ = mixed_trace("memory.sqlite")
    peak = "import json, subprocess, sys; held = b'x' * (1 << 28); print(json.loads(subprocess.run(sys.argv[1:], check=True, stdout=-1).stdout)['ranks'][0]['peak_rss'])"
    done = subprocess.run([sys.executable, "-c", peak, ADAPTYST, "variability", "--format=json", file], capture_output=True, text=True, check=False)
    failures.check(done.returncode == 0 and 1 << 20 < int(done.stdout) < 1 << 27, "the most memory of the command", done.stdout + done.stderr)


def launchers():
    commands = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader,tcp"], "mpich": ["mpirun.mpich"]}
    return {name: words for name, words in commands.items()
            if shutil.which(words[0]) and (pathlib.Path(ADAPTYST).parent.parent / f"adapters/libadaptyst-ranks-{name}.so").exists()}


def case_the_same_for_any_number_of_ranks():
    file, _, _ = mixed_trace("ranks.sqlite", chance=2)
    for name, words in launchers().items():
        for options in ([], ["--shards=5", "--by=kernel"]):
            alone = analyse(*options, "--threads=1", file, without_ranks=True)
            for ranks in ((2, 7) if not options else (3,)):
                found = analyse(*options, file, launcher=[*words, "-n", str(ranks)])
                failures.equal([rank["rank"] for rank in found["ranks"]], list(range(ranks)), f"{name}: {ranks} ranks are reported")
                found.pop("ranks")
                failures.equal(json.dumps(found), json.dumps(alone), f"{name}: {ranks} ranks with {options}")


def case_a_failure_of_one_rank_is_reported():
    file, _, _ = mixed_trace("damaged_for_ranks.sqlite", chance=3)
    damage(file)
    for name, words in launchers().items():
        output = work / f"{name}.json"
        done = command_that_aborts("variability", f"--output={output}", file, launcher=[*words, "-n", "3"])
        failures.check(done.returncode != 0 and "table" in done.stderr, f"{name}: a damaged file", done.stderr)
        failures.check(not output.exists(), f"{name}: nothing is written")


def case_ranks_read_equal_shares():
    """Also of a table that is hardly larger than what one thread reads at a time."""
    rows = 139_000
    export = Export(str(work / "shares.sqlite"))
    export.kernels([(n * 5000, n * 5000 + 3000, "same") for n in range(rows)])
    file = export.finish()
    for name, words in launchers().items():
        for ranks in (2, 3):
            read = [rank["rows"] for rank in analyse(file, launcher=[*words, "-n", str(ranks)])["ranks"]]
            failures.check(sum(read) == rows and max(read) <= rows // ranks + 1, f"{name}: {ranks} ranks", read)


def noisy(draw, windows, slow=(), factor=2.0, in_window=50, names=("stencil", "reduce")):
    made = []
    for window in range(windows):
        for number in range(in_window):
            name = names[number % len(names)]
            length = draw.lognormvariate(10 if name == names[0] else 8, 0.3) * (factor if window in slow else 1)
            made.append((window * 10 * MS + number * 150_000, window * 10 * MS + number * 150_000 + int(length), name))
    return made


def case_planted_windows_are_found_and_no_others():
    draw = random.Random(7)
    export = Export(str(work / "planted.sqlite"))
    export.kernels(noisy(draw, 200, slow=(31, 90, 91)))
    found = analyse("--iqr=3", export.finish())
    failures.equal([start // (10 * MS) for start, _ in flagged(found)], [31, 90, 91], "the slow windows")
    failures.equal(sorted(window["start"] // (10 * MS) for window in found["topk"][:3]), [31, 90, 91], "they are the worst")
    failures.check(any(finding["kind"] == "slow_windows" for finding in found["findings"]), "and a finding", found["findings"])


def steady(draw, windows=60, longer=(), larger=(), sparse=()):
    """Kernels and copies of a device. In the windows `longer`, advect takes 1.6 times as long; in `larger`, copies have 8 times the
    bytes; in `sparse`, a quarter of the kernels start."""
    kernels, copies = [], []
    for window in range(windows):
        now = window * 10 * MS + 20_000
        for number in range(5 if window in sparse else 20):
            if number % 5 == 0:
                size = (1 << 20) * (8 if window in larger else 1)
                length = int(size / 10 * draw.lognormvariate(0, 0.02))
                copies.append((now, now + length, size))
                now += length
            name = ("advect", "project")[number % 2]
            length = int((150_000 if name == "advect" else 80_000) * draw.lognormvariate(0, 0.05))
            length = int(length * 1.6) if window in longer and name == "advect" else length
            kernels.append((now, now + length, name))
            now += length + draw.randrange(10_000, 30_000)
        assert now < (window + 1) * 10 * MS
    return kernels, copies


def make_steady(name, seed, **planted):
    export = Export(str(work / name))
    export.gpu(0)
    export.context(100, 1, 0, 0)
    export.host("node0")
    export.rank(100, 3)
    kernels, copies = steady(random.Random(seed), **planted)
    export.kernels(kernels)
    export.copies(copies)
    return export.finish(), kernels, copies


def check_why(window, kernels, copies, result, name):
    """The reason of a flag by numpy, from the rows of the trace."""
    why, width = window["why"], 10 * MS
    slow = {other["start"] for other in result["windows"] if other["flag"]}
    extra, expected = 0, {}
    for kernel in {kernel for _, _, kernel in kernels}:
        here = numpy.array([end - start for start, end, other in kernels if other == kernel and start // width * width == window["start"]])
        usual = numpy.array([end - start for start, end, other in kernels if other == kernel and start // width * width not in slow])
        every = numpy.array([end - start for start, end, other in kernels if other == kernel])
        if not len(here) or not len(usual):
            continue
        more = here.sum() - len(here) * usual.mean()
        extra += max(0, more)
        z = more / (every.std() * len(here) ** 0.5)
        if z >= 3:
            expected[kernel] = (len(here), here.mean(), usual.mean(), more, z)
    failures.check(near(why["extra"], extra, 1e-9), f"{name}: extra time", f"{why['extra']} {extra}")
    failures.equal({cause["name"] for cause in why["longer"]}, set(expected), f"{name}: which kernels took longer")
    for cause in why["longer"]:
        got = tuple(cause[key] for key in ("n", "mean", "usual", "extra", "z"))
        right = expected.get(cause["name"], (0,) * 5)
        failures.check(all(near(a, b) for a, b in zip(got, right)), f"{name}: {cause['name']}", f"{got} {right}")
        failures.check(near(cause["share"], cause["extra"] / extra), f"{name}: its share", cause)
    last = max(end for _, end, *_ in kernels + copies)
    whole = [start for start in range(0, last, width) if min(start + width, last) - max(start, min(s for s, *_ in kernels + copies)) >= 0.99 * width]
    work = oracle.union((start, end) for start, end, _ in kernels + copies)
    moved = oracle.union((start, end) for start, end, _ in copies)

    def measures(begin):
        count = sum(begin <= start < begin + width for start, _, _ in kernels)
        stop, first = min(begin + width, last), max(begin, min(s for s, *_ in kernels + copies))
        return {"bytes": sum(size for start, _, size in copies if begin <= start < begin + width), "copied": oracle.covered(moved, begin, begin + width),
                "launch_gap": (stop - first - oracle.covered(work, begin, begin + width)) / max(count, 1), "starts": count}
    every = [measures(begin) for begin in whole]
    for key, value in measures(window["start"]).items():
        right = (value, numpy.median([other[key] for other in every]))
        failures.check(near(why[key]["value"], right[0]) and near(why[key]["usual"], right[1]), f"{name}: {key}", f"{why[key]} {right}")


def case_why_a_window_is_flagged():
    planted = {"longer": "duration", "larger": "stall", "sparse": "launch-gap"}
    for what, metric in planted.items():
        file, kernels, copies = make_steady(f"{what}.sqlite", 41, **{what: (23,)})
        result = analyse(f"--metric={metric}", file)
        failures.equal([start // (10 * MS) for start, _ in flagged(result)], [23], f"{what}: the planted window")
        for window in result["windows"]:
            failures.equal("why" in window, window["flag"], f"{what}: a reason for each flag")
        window = next((window for window in result["windows"] if window["flag"]), None)
        if not failures.check(window is not None, f"{what}: a flag"):
            continue
        why = window["why"]
        check_why(window, kernels, copies, result, what)
        failures.equal([cause["name"] for cause in why["longer"]], ["advect"] if what == "longer" else [], f"{what}: kernels")
        unusual = {key for key in ("bytes", "copied", "launch_gap", "starts") if why[key]["unusual"]}
        failures.equal(unusual, {"longer": set(), "larger": {"bytes", "copied"}, "sparse": {"launch_gap", "starts"}}[what], f"{what}: copies and gaps")
        failures.check(why["z"] > why["z_limit"] > 0 and why["n"] in (59, 60), f"{what}: the flag in numbers", why)
        failures.check(near(why["effect"], window["value"] / why["usual"]), f"{what}: the effect", why)
        failures.equal((window["device"], why["rank"]), (0, 3), f"{what}: the device and its rank")
        words = {"longer": ["advect took", "% of the extra "], "larger": ["Copies had 33.6 MB, usually 4.19 MB"], "sparse": ["gaps for each kernel were", "5 kernels started, usually 20"]}[what]
        text = command("variability", f"--metric={metric}", file).stdout.replace("\n    ", " ")
        for word in ["! GPU 0 of rank 3 at 230 ms: ", *words]:
            failures.check(word in text and word in "! " + why["text"], f"{what}: the sentence has: {word}", f"{why['text']}\n{text}")
        for other in {"advect", "It copied", "Copies took", "Started kernels"} - {word for word in ("advect", "It copied", "Copies took", "Started kernels") if word in " ".join(words)}:
            if (what, other) != ("larger", "Copies took"):
                failures.check(other not in why["text"], f"{what}: nothing else is blamed", why["text"])


def case_without_a_flag_there_is_no_reason():
    file, _, _ = make_steady("unplanted.sqlite", 42)
    for metric in ("duration", "stall", "busy", "launch-gap"):
        result = analyse(f"--metric={metric}", file)
        failures.equal([window for window in result["windows"] if "why" in window], [], f"{metric}: none")
        failures.check("! " not in command("variability", f"--metric={metric}", file).stdout, f"{metric}: nor on the terminal")


def case_unknown_parts_of_a_reason_are_absent():
    file, kernels, copies = make_steady("without_bytes.sqlite", 43, larger=(23,))
    db = sqlite3.connect(file)
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = NULL WHERE start BETWEEN 230000000 AND 239999999")
    db.execute("DROP TABLE MPI_RANKS")
    db.commit()
    db.close()
    result = analyse("--metric=stall", file)
    why = [window for window in result["windows"] if "why" in window]
    failures.equal(len(why), 1, "the window is flagged")
    if why:
        failures.equal((why[0]["bytes"], "bytes" in why[0]["why"], "rank" in why[0]["why"]), (None, False, False), "bytes and rank are absent")
        failures.check("copied" in why[0]["why"] and "Copies took" in why[0]["why"]["text"], "the time of copies is there", why[0]["why"])
    # A kernel that runs in the flagged window only has no usual duration.
    export = Export(str(work / "only_there.sqlite"))
    export.kernels([(start, end, "rare" if start // (10 * MS) == 23 else name) for start, end, name in kernels])
    export.copies(copies)
    result = analyse("--metric=stall", export.finish())
    why = [window["why"] for window in result["windows"] if "why" in window]
    failures.equal([(cause["longer"], "extra" in cause) for cause in why], [([], False)], "no time is compared with nothing")
    found = analyse("--by=kernel", file)
    failures.equal({(window["bytes"], window["launch_gap"]) for window in found["windows"]}, {(None, None)}, "a kernel has no copies and no gaps")


def case_reasons_by_rank_and_by_kernel():
    export = Export(str(work / "why_by.sqlite"))
    for rank in (0, 1):
        export.gpu(rank)
        export.context(100 + rank, 1, 0, rank)
        export.rank(100 + rank, rank)
        kernels, copies = steady(random.Random(44 + rank), longer=(23,) if rank == 1 else ())
        export.kernels(kernels, pid=100 + rank)
        export.copies(copies, pid=100 + rank)
    file = export.finish()
    by_rank = [window for window in analyse("--by=rank", file)["windows"] if window["flag"]]
    failures.equal([(window["rank"], [cause["name"] for cause in window["why"]["longer"]]) for window in by_rank], [(1, ["advect"])], "by rank")
    by_kernel = [window for window in analyse("--by=kernel", file)["windows"] if window["flag"]]
    failures.equal([(window["kernel"], [(cause["name"], cause["device"]) for cause in window["why"]["longer"]]) for window in by_kernel],
                   [("advect", [("advect", 1)])], "by kernel: the device")
    failures.equal([set(window["why"]) & {"bytes", "copied", "launch_gap", "rank"} for window in by_kernel], [set()], "a kernel has no copies")


def case_a_slow_gpu_is_named_by_its_physical_number():
    draw = random.Random(8)
    export = Export(str(work / "slow_gpu.sqlite"))
    # All processes call their own device 0.
    for gpu in range(4):
        export.gpu(gpu)
        export.context(100 + gpu, 1, 0, 3 - gpu)
        export.kernels([(s, s + int((e - s) * (1.3 if gpu == 1 else 1)), n) for s, e, n in noisy(draw, 30)], pid=100 + gpu)
    found = analyse("--iqr=3", export.finish())
    failures.equal([(finding["kind"], finding["device"]) for finding in found["findings"]], [("slow_group", 2)], "GPU 2 is slow")
    if found["findings"]:
        failures.check(near(found["findings"][0]["value"], 1.3, 0.03), "by 1.3", found["findings"])
    failures.equal({window["device"] for window in found["windows"]}, {0, 1, 2, 3}, "physical numbers")


def make_runs(name, slower, runs=3, gpus=4, uuids=None, seed=51):
    """Files of runs, and the logarithms of durations by (name, run, GPU). `slower(run, gpu)`: a factor."""
    draw, files, logs = random.Random(seed), [], {}
    for run in range(runs):
        export = Export(str(work / f"{name}_{run}.sqlite"))
        export.began_at((1 + 40 * run) * 10**17)  # years apart
        for gpu in range(gpus):
            place = gpu if uuids is None else uuids[run].index(gpu)  # the number of this GPU in this run
            export.gpu(place, uuid=f"uuid-{gpu}")
            export.context(100, place + 1, place, place)
            spans, now = [], 0
            for number in range(200):
                kernel = ("advect", "project")[number % 2]
                length = max(1, int((100_000 if kernel == "advect" else 20_000) * draw.lognormvariate(0, 0.1) * slower(run, gpu)))
                spans.append((now, now + length, kernel))
                logs.setdefault((kernel, run, gpu), []).append(numpy.log(length))
                now += 2 * length
            export.kernels(spans, device=place, context=place + 1)
        files.append(export.finish())
    return files, logs


def variations(logs, kernel, runs, gpus):
    """By numpy: within a cell, between runs, between GPUs; of a balanced table."""
    cells = numpy.array([[numpy.mean(logs[kernel, run, gpu]) for gpu in range(gpus)] for run in range(runs)])
    count = len(logs[kernel, 0, 0])
    within = sum(((numpy.array(values) - numpy.mean(values)) ** 2).sum() for (name, _, _), values in logs.items() if name == kernel) / (runs * gpus * (count - 1))
    made = [within ** 0.5]
    for axis, others in ((1, gpus), (0, runs)):
        made.append(max(0, numpy.var(cells.mean(axis=axis), ddof=1) - within / count / others) ** 0.5)
    return made


def case_runs_are_compared():
    # GPU 2 is slow in every run, GPU 0 in the last one only, and the second run is slow.
    factors = {(0, 2): 1.2, (1, 2): 1.2 * 1.15, (2, 2): 1.2, (2, 0): 1.3, (1, 0): 1.15, (1, 1): 1.15, (1, 3): 1.15}
    files, logs = make_runs("runs", lambda run, gpu: factors.get((run, gpu), 1))
    found = analyse("--compare", *files)
    failures.equal([(finding["kind"], finding.get("group"), finding.get("run")) for finding in found["findings"]],
                   [("slow_in_every_run", 2, None), ("slow_run", None, 1)], "GPU 2 and the second run, and nothing else")
    gpus = {group["device"]: group for group in found["groups"]}
    failures.equal([gpus[gpu]["slow_runs"] for gpu in range(4)], [1, 0, 3, 0], "in how many runs each GPU is slow")
    for gpu in range(4):
        for entry in gpus[gpu]["runs"]:
            run, ratios = entry["run"], []
            for kernel in ("advect", "project"):
                others = numpy.concatenate([logs[kernel, run, other] for other in range(4) if other != gpu])
                ratios.append(numpy.mean(logs[kernel, run, gpu]) - others.mean())
            failures.check(near(entry["difference"]["ratio"], numpy.exp(numpy.mean(ratios)), 1e-4), f"GPU {gpu} in run {run}", entry)
    if found["findings"]:
        finding = found["findings"][0]
        least = min(entry["difference"]["ratio"] for entry in gpus[2]["runs"])
        z = min(entry["difference"]["z"] for entry in gpus[2]["runs"])
        failures.check(finding["value"] == least and f"lowest z {z:.1f}, limit 6" in finding["text"] and "GPU 2 is slow in each of 3 runs" in finding["text"], "with its statistic and limit", finding)
    for kernel in found["kernels"]:
        right = variations(logs, kernel["name"], 3, 4)
        got = [kernel[key] for key in ("within", "between_runs", "between_groups")]
        failures.check(all(near(a, b, 1e-4) for a, b in zip(got, right)), f"variations of {kernel['name']}", f"{got} {right}")
        failures.equal((kernel["n"], kernel["runs"], kernel["groups"]), (1200, 3, 4), "over all runs and GPUs")
        failures.equal((kernel["slowest"], kernel["fastest"]), (1, 0), "the slowest and the fastest run")
        means = numpy.array([numpy.mean([numpy.mean(logs[kernel["name"], run, gpu]) for gpu in range(4)]) for run in range(3)])
        # Three runs of equal errors: that of a run minus the mean of all is smaller by the square root of 2/3.
        error = 1.96 * right[0] / (4 * len(logs[kernel["name"], 0, 0])) ** 0.5 * (2 / 3) ** 0.5
        for run, mean in zip(kernel["in_runs"], means - means.mean()):
            failures.check(all(near(run[key], numpy.exp(mean + off), 1e-4) for key, off in (("ratio", 0), ("low", -error), ("high", error))), f"{kernel['name']} in a run", (run, mean, error))
        failures.equal([run["run"] for run in kernel["in_runs"]], [0, 1, 2], "each run")
    text = command("variability", "--compare", *files).stdout
    for word in ("GPU 2 is slow in each of 3 runs", "runs_1.sqlite", "BETWEEN RUNS", "BETWEEN GPUS", "1 of 3 runs", "SIMULATED"):
        failures.check(word in text, f"the table has: {word}", text)
    failures.check(command("variability", "--compare", "--format=csv", *files).stdout.startswith('"n","mean_ns","within","between_runs"'), "as CSV")
    failures.check("| advect |" in command("variability", "--compare", "--format=markdown", *files).stdout, "as Markdown")
    threads = [json.dumps(analyse("--compare", f"--threads={count}", *files)) for count in (1, 2)]
    failures.check(threads[0] == threads[1], "the same for any number of threads")


def case_equal_runs_have_no_finding():
    for seed in range(5):
        files, _ = make_runs("equal", lambda run, gpu: 1, seed=60 + seed)
        failures.equal(analyse("--compare", *files)["findings"], [], f"seed {seed}")


def case_gpus_of_runs_are_matched_by_uuid():
    files, _ = make_runs("matched", lambda run, gpu: 1.2 if gpu == 1 else 1, runs=2, gpus=3, uuids=((0, 1, 2), (1, 2, 0)))
    found = analyse("--compare", *files)
    failures.equal([finding["kind"] for finding in found["findings"]], ["slow_in_every_run"], "the same GPU with other numbers")
    failures.equal(len(found["groups"]), 3, "three GPUs in all")
    files, _ = make_runs("by_number", lambda run, gpu: 1.2 if gpu == run else 1, runs=2, gpus=3)
    failures.equal([finding["kind"] for finding in analyse("--compare", *files)["findings"]], [], "another GPU in each run")


def case_what_cannot_be_compared_is_refused():
    files, _ = make_runs("refused", lambda run, gpu: 1, runs=2, gpus=1)
    export = Export(str(work / "refused_regions.sqlite"))
    export.rows("NVTX_EVENTS", [{"start": n * MS, "end": n * MS + 9000, "eventType": 59, "text": "step", "globalTid": 4711 << 24 | 1} for n in range(50)])
    regions = export.finish()
    for words, word in ((files[:1], "at least two"), ([files[0], files[0]], "twice"), ([files[0], regions], "--by region")):
        done = command("variability", "--compare", *words)
        failures.check(done.returncode == 2 and word in done.stderr, f"refused: {word}", done.stderr)
    found = analyse("--compare", *files)
    failures.equal([(group["runs"], group["least_z"]) for group in found["groups"]], [([], None)], "a single GPU is compared with none")


def case_an_even_trace_has_no_flag():
    export = Export(str(work / "even.sqlite"))
    export.kernels([(n * 100_000, n * 100_000 + 50_000, "same") for n in range(20_000)])
    file = export.finish()
    for metric in ("duration", "stall", "busy"):
        found = analyse(f"--metric={metric}", file)
        failures.equal(flagged(found), [], f"no flag by {metric}")
        failures.equal(found["findings"], [], f"no finding by {metric}")
    failures.equal((found["corr"]["pearson"], found["corr"]["spearman"]), (None, None), "no correlation is defined")
    done = command("variability", file)
    failures.check("undefined" in done.stdout and "SIMULATED" in done.stdout, "and the page reports it", done.stdout)


def case_a_cut_last_window_is_not_flagged():
    draw = random.Random(12)
    for number in range(10):
        export = Export(str(work / f"cut{number}.sqlite"))
        kernels, copies, now = [], [], 0
        while now < 603 * MS:
            start = now + int(draw.expovariate(1 / 20_000))
            copies.append((now, start))
            now = start + int(draw.lognormvariate(11.5, 0.3))
            kernels.append((start, now, "same"))
        export.kernels(kernels)
        export.copies(copies[::7])
        file = export.finish()
        for metric in ("duration", "stall", "busy", "launch-gap"):
            failures.equal([window for window in flagged(analyse(f"--metric={metric}", file)) if window[0] >= 600 * MS], [], f"{metric}: the last window")


def case_only_devices_have_stalls():
    export = Export(str(work / "stalls.sqlite"))
    export.kernels([(n * 100_000, n * 100_000 + 50_000, "same") for n in range(1000)])
    export.copies([(n * 100_000 + 50_000, n * 100_000 + 70_000) for n in range(1000)])
    file = export.finish()
    found = analyse("--by=kernel", file)
    failures.equal({(window["stall"], window["copied"]) for window in found["windows"]}, {(None, None)}, "of a kernel they are not known")
    text = command("variability", "--by=kernel", file).stdout
    failures.check("STALL" not in text and "COPIED" not in text, "no column", text)
    text = command("variability", "--metric=stall", file).stdout
    failures.equal(text.count("STALL"), 1, "one column")
    found = analyse("--by=kernel", "--metric=stall", file)
    failures.check(not found["topk"] and "a copy belongs to a device" in " ".join(found["parameters"]["remarks"]), "why there is none", found["parameters"])


def case_equal_windows_are_listed_from_the_earliest():
    export = Export(str(work / "ties.sqlite"))
    export.kernels([(n * 10 * MS, n * 10 * MS + 1000, "same") for n in range(50)])
    found = analyse("--top=5", export.finish())
    failures.equal([window["start"] for window in found["topk"]], [n * 10 * MS for n in range(5)], "the earliest five")


def case_stalls_and_slowness():
    draw = random.Random(9)
    kernels, copies = [], []
    for window in range(100):
        stall = draw.randrange(0, 2 * MS)
        begin = window * 10 * MS
        copies.append((begin, begin + stall))
        for number in range(20):
            start = begin + stall + number * 300_000
            kernels.append((start, start + 50_000 + stall // 20 + draw.randrange(2000), "late"))
    export = Export(str(work / "caused.sqlite"))
    export.kernels(kernels)
    export.copies(copies)
    found = analyse("--metric=stall", export.finish())
    failures.check(found["corr"]["spearman"] > 0.9 and found["corr"]["pearson"] > 0.9, "copies make kernels late", found["corr"])
    failures.check(any(finding["kind"] == "stalls_go_with_slowness" for finding in found["findings"]), "a finding", found["findings"])
    lengths = [end - start for start, end in copies]
    draw.shuffle(lengths)
    # The same lengths, in other windows; behind the kernels, where they stall nothing else.
    export = Export(str(work / "permuted.sqlite"))
    export.kernels(kernels)
    export.copies([(n * 10 * MS + 9 * MS, n * 10 * MS + 9 * MS + length // 4) for n, length in enumerate(lengths)])
    found = analyse("--metric=stall", export.finish())
    bound = 3 / found["corr"]["n"] ** 0.5
    failures.check(abs(found["corr"]["spearman"]) < bound and abs(found["corr"]["pearson"]) < bound, "permuted copies", found["corr"])


def case_processes_may_share_numbers():
    export = Export(str(work / "swapped.sqlite"))
    export.gpu(0)
    export.gpu(1)
    for pid, order in ((100, (0, 1)), (200, (1, 0))):
        for device, gpu in enumerate(order):
            export.context(pid, device + 1, device, gpu)
        export.rows("CUPTI_ACTIVITY_KIND_RUNTIME", [{"start": pid, "end": pid + 5, "globalTid": (pid << 24) | 7, "correlationId": 1,
                                                     "nameId": export.string("cudaLaunchKernel_v7000")}])
        export.kernels([(1000 * pid, 1000 * pid + 10 * pid, "of_%d" % pid)], pid=pid, device=0, context=1)
    file = export.finish()
    found = analyse(file)
    failures.equal(sorted((kernel["name"], kernel["device"]) for kernel in found["kernels"]), [("of_100", 0), ("of_200", 1)], "devices by process")
    failures.equal(command("convert", file, "-o", work / "swapped.json").returncode, 0, "converted")
    events = json.loads((work / "swapped.json").read_text())
    arrows = sorted((event["pid"], event["ts"]) for event in events if event["ph"] == "s")
    failures.equal(arrows, [(100, 0.1), (200, 0.2)], "each kernel was launched by its own process")


def case_versions_of_the_schema():
    full, _, _ = mixed_trace("full.sqlite", chance=4)
    expected = analyse(full)
    for name, options in {"older": {"without": ("greenContextId", "graphNodeId", "launchType")}, "newer": {"extra_columns": ("madeUp",)}}.items():
        file, _, _ = mixed_trace(f"{name}.sqlite", chance=4, **options)
        failures.equal(analyse(file)["windows"], expected["windows"], f"an {name} version")
    export = Export(str(work / "kernels_only.sqlite"))
    export.kernels([(0, 5, "one")])
    failures.equal([window["n"] for window in analyse(export.finish())["windows"]], [1], "no table of copies")
    nothing = analyse("--by=device", Export(str(work / "nothing.sqlite")).finish())
    failures.equal((nothing["windows"], nothing["parameters"]["remarks"] != []), ([], True), "no events at all")


def damage(file):
    """Overwrites pages in the middle."""
    size = os.path.getsize(file)
    with open(file, "r+b") as to:
        to.seek(size // 2 // 4096 * 4096)
        to.write(b"\xa5" * 4096 * 8)


def case_rows_that_a_search_misses_are_reported():
    """The key of a cell in the tree is too low: each search for the rows below it ends behind them, and SQLite reports nothing."""
    export = Export(str(work / "missed.sqlite"))
    export.kernels([(n * 1000, n * 1000 + 500, "same") for n in range(20_000)])
    file = export.finish()
    expected = analyse("--threads=1", file, without_ranks=True)
    db = sqlite3.connect(file)
    root, = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_KERNEL'").fetchone()
    db.close()
    pages = bytearray(pathlib.Path(file).read_bytes())
    at = (root - 1) * 4096
    cells = int.from_bytes(pages[at + 3:at + 5], "big")
    cell = at + 12 + 2 * ((cells - 1) // 2)
    key = at + int.from_bytes(pages[cell:cell + 2], "big") + 4
    failures.check(pages[at] == 5 and pages[key] & 0x80 and not pages[key + 1] & 0x80, "a key of two bytes", pages[key:key + 2])
    pages[key:key + 2] = b"\x80\x01"
    pathlib.Path(file).write_bytes(pages)
    failures.equal(analyse("--threads=1", file, without_ranks=True), expected, "one thread walks the whole tree, and misses none")
    for words, launcher in ((["--threads=3"], []), *(([], [*words, "-n", "3"]) for words in launchers().values())):
        output = work / "missed.json"
        done = command("variability", *words, f"--output={output}", file, launcher=launcher)
        failures.check(done.returncode != 0 and "missed.sqlite, table CUPTI_ACTIVITY_KIND_KERNEL: " in done.stderr and
                       " of 20000 rows were found: the file is malformed" in done.stderr, f"{launcher} {words}", done.stderr)
        failures.check(not output.exists(), "nothing is written")


def case_rows_in_no_order():
    """As in exports since 2025.6. With 64 threads, which share the memory, blocks are sorted in a file."""
    results = {}
    for name, shuffled in (("ordered", []), ("shuffled", ["--shuffled"])):
        file = work / f"{name}.sqlite"
        subprocess.run(["/usr/bin/python3", GENERATE, file, "40000", "10000", *shuffled], check=True, timeout=LIMIT)
        db = sqlite3.connect(file)
        starts = [start for start, in db.execute("SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL")]
        db.close()
        failures.equal(starts[:1000] == sorted(starts[:1000]), name == "ordered", f"{name}: the rows are as they are called")
        for words in (["--threads=1"], ["--threads=2"], ["--threads=64", "--shards=3"]):
            made = analyse(*words, file, without_ranks=True)
            made["parameters"].pop("traces")
            made["parameters"].pop("shards", None)
            results.setdefault(" ".join(words), []).append(json.dumps(made))
    for words, (ordered, shuffled) in results.items():
        failures.check(ordered == shuffled, f"the same result with {words}")


def case_bad_files_are_reported():
    good, _, _ = mixed_trace("good.sqlite", chance=5)

    def copy(name):
        return shutil.copy(good, work / name)

    (work / "empty.sqlite").write_bytes(b"")
    (work / "text.sqlite").write_text("no database at all, but long enough to be one of them\n" * 50)
    damaged = copy("damaged.sqlite")
    damage(damaged)
    cut = copy("cut.sqlite")
    os.truncate(cut, os.path.getsize(cut) // 3)
    foreign = sqlite3.connect(work / "foreign.sqlite")
    foreign.execute("CREATE TABLE recipes(name)")
    foreign.commit()
    foreign.close()
    for name, word in {"missing.sqlite": "No such file", "empty.sqlite": "is empty", "text.sqlite": "is no SQLite file", "damaged.sqlite": "malformed",
                       "cut.sqlite": "malformed", "foreign.sqlite": "no trace", ".": "is no file"}.items():
        for words in (["variability", work / name], ["convert", work / name, "-o", work / "out.json"]):
            done = command(*words)
            failures.equal(done.returncode, 2, f"{words[0]} {name} ends with 2")
            failures.check(word in done.stderr and "terminate" not in done.stderr, f"{words[0]} {name} says: {word}", done.stderr)
            failures.check(not (work / "out.json").exists(), f"{words[0]} {name} writes nothing")
    failures.check("table CUPTI_ACTIVITY_KIND_" in command("variability", work / "damaged.sqlite").stderr, "the table is named",
                   command("variability", work / "damaged.sqlite").stderr)
    locked = sqlite3.connect(good, isolation_level=None)
    locked.execute("BEGIN EXCLUSIVE")
    done = command("variability", good)
    failures.check(done.returncode == 2 and "locked" in done.stderr, "a locked file", done.stderr)
    locked.close()
    done = command("variability", good, good)
    failures.check(done.returncode == 2 and "twice" in done.stderr, "one file twice", done.stderr)
    done = command("variability", f"--output={work}/no/such/folder.json", good)
    failures.check(done.returncode == 2, "an output that cannot be written", done.stderr)
    for wrong in (["--window=10x"], ["--window=0ns"], ["--shards=0"], ["--metric=speed"], ["--output=a.folded"], ["--iqr=-1"], ["--threads=0"]):
        failures.equal(command("variability", *wrong, good).returncode, 2, f"wrong usage: {wrong}")
    done = command("variability", "--window=1ns", good)
    failures.check(done.returncode == 2 and "--window" in done.stderr, "windows that are too many", done.stderr)


def case_two_files_of_one_process():
    files = []
    for name in ("a", "b"):
        export = Export(str(work / f"same_{name}.sqlite"))
        export.began_at(1_700_000_000_000_000_000)
        export.context(100, 1, 0, 0)
        export.kernels([(0, 5, "one")])
        files.append(export.finish())
    done = command("variability", *files)
    failures.check(done.returncode == 2 and "same process" in done.stderr, "a process in two files", done.stderr)


def case_bad_rows_are_left_out_and_counted():
    export = Export(str(work / "rows.sqlite"))
    export.kernels([(0, 5, "good"), (10, 5, "backwards"), (-5, 5, "early"), (5, 1 << 62, "late"), (1 << 61, (1 << 61) + 5, "later")])
    file = export.finish()
    for threads in (1, 2):
        found = analyse(f"--threads={threads}", file)
        failures.equal([kernel["name"] for kernel in found["kernels"]], ["good"], "what is left")
        remark = " ".join(found["parameters"]["remarks"])
        failures.check("4 rows are skipped: 1 end before they start, 3 have times out of range" in remark and
                       "table CUPTI_ACTIVITY_KIND_KERNEL, row 2, ends before it starts: 10 to 5" in remark, "they are reported", remark)
    done = command("convert", file, "-o", work / "rows.json")
    failures.check(done.returncode == 0 and "are skipped" in done.stderr and ", row " in done.stderr, "in a conversion, too", done.stderr)


def case_numbers_at_the_ends_of_their_types():
    export = Export(str(work / "ends.sqlite"))
    export.kernels([(0, 5, "first"), ((1 << 56) - 6, 1 << 56, "last")])
    export.db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET rowid = ? WHERE start != 0", ((1 << 63) - 1,))
    for lowest, numbers in ((1 - (1 << 63), (1,)), (-(1 << 63), (1, 1000))):
        export.db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET rowid = ? WHERE start = 0", (lowest,))
        export.db.commit()
        for shards in numbers:  # windows do not depend on the numbers of rows
            found = analyse(f"--shards={shards}", export.file)
            failures.equal((sum(window["n"] for window in found["windows"]), len(found["windows"])), (2, min(2, shards)),
                           f"row {lowest}, {shards} windows over two years")
    failures.equal(command("variability", "--iqr=nan", export.finish()).returncode, 2, "no number")


def case_shards_reach_to_the_last_end():
    export = Export(str(work / "shards.sqlite"))
    export.kernels([(0, 1000, "one"), (1, 1000, "one"), (2, 20_000_000_000, "one")])
    file = export.finish()
    failures.equal([window["n"] for window in analyse("--shards=1", file)["windows"]], [3], "one window")
    failures.equal(len(analyse("--shards=4", file)["windows"]), 4, "four, of which the last kernel covers all")


def case_machines_whose_clocks_are_centuries_apart():
    files = []
    for name, began in (("then", 1), ("now", 5_000_000_000_000_000_000)):
        export = Export(str(work / f"{name}.sqlite"))
        export.began_at(began)
        export.kernels([(n * 10, n * 10 + 5, "one") for n in range(100)], pid=100 + len(files))
        files.append(export.finish())
    found = analyse(*files)
    failures.equal(sum(window["n"] for window in found["windows"]), 200, "all are kernels still")
    done = command("convert", *files, "-o", work / "both.sqlite")
    failures.equal(done.returncode, 0, "both become one")
    failures.check("years apart" in " ".join(found["parameters"]["remarks"]), "it is reported", found["parameters"])


def case_what_is_written_over():
    file, _, _ = mixed_trace("over.sqlite", chance=7)
    before = pathlib.Path(file).read_bytes()
    (work / "second_name.sqlite").symlink_to(file)
    for name in (file, work / "." / "over.sqlite", work / "second_name.sqlite"):
        done = command("convert", file, "-o", f"{work}/./{pathlib.Path(name).name}")
        failures.check(done.returncode == 2 and "written over" in done.stderr, f"{name} is read", done.stderr)
    failures.check(pathlib.Path(file).read_bytes() == before, "it is as it was")
    # What a killed writer of that name has left is no part of the new one.
    for ending in ("-wal", "-journal"):
        old, out = work / f"old{ending}.sqlite", work / f"out{ending}.sqlite"
        db = sqlite3.connect(old)
        db.execute("PRAGMA journal_mode=" + ("WAL" if ending == "-wal" else "DELETE"))
        db.execute("PRAGMA cache_size=1")
        db.execute("CREATE TABLE of_old(a)")
        db.commit()
        db.execute("INSERT INTO of_old WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n")
        if ending == "-wal":
            db.commit()
        shutil.copy(old, out)
        shutil.copy(f"{old}{ending}", f"{out}{ending}")
        db.close()
        failures.equal(command("convert", file, "-o", out).returncode, 0, f"converted beside a {ending}")
        failures.equal(analyse(out)["windows"], analyse(file)["windows"], f"nothing of the {ending} is in it")


def case_names_with_any_bytes():
    export = Export(str(work / "names.sqlite"))
    names = ['quote " and \\', "tab\tand\nline", "ünï", b"\xff\xfe\x00 rest", b"\xc3(", "", "x" * 5000]
    export.kernels([(n * 10, n * 10 + 5, name) for n, name in enumerate(names)])
    file = export.finish()
    found = analyse(file)
    failures.equal(len({kernel["name"] for kernel in found["kernels"]}), len(names), "all names are there")
    failures.check({'quote " and \\', "tab\tand\nline", "ünï"} <= {kernel["name"] for kernel in found["kernels"]}, "as they are")
    done = command("variability", file)
    failures.check(done.returncode == 0 and "\x00" not in done.stdout, "and harmless in a table", done.stdout)
    failures.equal(command("convert", file, "-o", work / "names.trace.json").returncode, 0, "converted")
    json.loads((work / "names.trace.json").read_text())
    failures.equal(command("variability", "--by=kernel", f"--output={work}/names.csv", file).returncode, 0, "as CSV")


def case_what_is_converted_is_the_same():
    file, kernels, copies = mixed_trace("convert.sqlite", chance=6)
    store = work / "store.sqlite"
    done = command("convert", file, "-o", store)
    failures.check(done.returncode == 0 and "simulated" in done.stderr, "converted", done.stderr)
    db = sqlite3.connect(store)
    failures.equal(db.execute("PRAGMA integrity_check").fetchone(), ("ok",), "whole")
    failures.equal(db.execute("SELECT count(*) FROM event WHERE kind = 'kernel'").fetchone(), (len(kernels),), "kernels")
    failures.equal(db.execute("SELECT count(*) FROM event WHERE kind = 'copy_to'").fetchone(), (len(copies),), "copies")
    failures.equal(dict(db.execute("SELECT name, value FROM meta"))["complete"], "1", "finished")
    db.close()
    before, after = analyse(file), analyse(store)
    for part in ("windows", "kernels", "corr", "topk"):
        failures.equal(after[part], before[part], f"{part} of the store")
    failures.check(after["parameters"]["simulated"] is True, "still simulated")
    failures.equal(command("convert", store, "-o", work / "store.json").returncode, 0, "and on to JSON")
    events = json.loads((work / "store.json").read_text())
    failures.equal(sum(event["ph"] in "Xb" for event in events), len(kernels) + len(copies), "all spans")
    failures.equal([path.name for path in work.iterdir() if "partial" in path.name], [], "no halves are left")


def case_ranges_are_regions():
    export = Export(str(work / "ranges.sqlite"))
    export.rows("NVTX_EVENTS", [{"start": n * MS, "end": n * MS + 400_000 + (300_000 if pid == 200 else 0), "eventType": 59, "text": "step" if n % 2 else None,
                                 "textId": export.string("solve"), "globalTid": (pid << 24) | 1} for pid in (100, 200, 300) for n in range(200)])
    export.rows("NVTX_EVENTS", [{"start": 1, "end": None, "eventType": 34, "text": "mark", "globalTid": 100 << 24},
                                {"start": 1, "end": None, "eventType": 59, "text": "open", "globalTid": 100 << 24}])
    found = analyse(export.finish())
    failures.equal(found["parameters"]["by"], "region", "chosen, as nothing else is there")
    text = command("variability", "--by=rank", export.file).stdout
    failures.check("REGION" in text and "of regions in" in text and "kernel" not in text.lower(), "by rank they are regions as well", text)
    failures.check("STALL" not in text, "regions have no stalls", text)
    failures.equal(sorted((kernel["name"], kernel["process"], kernel["n"]) for kernel in found["kernels"]),
                   [(name, pid, 100) for name in ("solve", "step") for pid in (100, 200, 300)], "by name and process")
    failures.equal([(finding["kind"], finding.get("process")) for finding in found["findings"] if finding["kind"] == "slow_group"], [("slow_group", 200)], "a slow process")
    failures.check("1 have no end" in " ".join(found["parameters"]["remarks"]), "an open range is counted", found["parameters"])


def two_nodes(ranks=(0, 1)):
    """The same process number, device number and kind of work on two machines."""
    files = []
    for node, rank in enumerate(ranks):
        export = Export(str(work / f"node{node}_{rank}.sqlite"))
        export.began_at(1_700_000_000_000_000_000 + node * 5)
        export.gpu(0, uuid=f"simulated-{node}")
        export.context(4711, 1, 0, 0)
        export.host(f"node{node}")
        if rank is not None:
            export.rank(4711, rank)
        export.kernels([(n * MS, n * MS + 1000 * (1 + node), f"of_node{node}") for n in range(100)], pid=4711)
        export.rows("NVTX_EVENTS", [{"start": n * MS, "end": n * MS + 9000, "eventType": 59, "text": None, "textId": export.string(f"step_of_node{node}"),
                                     "globalTid": 4711 << 24 | 1} for n in range(50)])
        files.append(export.finish())
    return files


def case_several_traces_are_one():
    files = two_nodes()
    both = work / "joined.sqlite"
    failures.equal(command("convert", *files, "-o", both).returncode, 0, "joined")
    db = sqlite3.connect(both)
    processes = db.execute("SELECT number, host, rank FROM process ORDER BY rank").fetchall()
    failures.equal(processes, [(4711, "node0", 0), (4711, "node1", 1)], "each process keeps its number, host and rank")
    failures.equal(db.execute("""SELECT host, path.name, count(*) FROM span JOIN path ON path.id = path JOIN process ON process.id = process
                                 GROUP BY 1, 2 ORDER BY 1, 2""").fetchall(),
                   [(f"node{node}", name, count) for node in (0, 1) for name, count in ((f"of_node{node}", 100), (f"step_of_node{node}", 50))],
                   "each event keeps its name and its process")
    failures.equal(db.execute("SELECT DISTINCT physical, uuid FROM device ORDER BY 1").fetchall(), [(0, "simulated-0"), (1, "simulated-1")],
                   "two GPUs of the same number are two")
    failures.equal(db.execute("SELECT value FROM meta WHERE name = 'utc_ns'").fetchone(), ("1700000000000000000",), "the begin of the first")
    failures.equal(db.execute("SELECT min(start) FROM span JOIN process ON process.id = process WHERE rank = 1").fetchone(), (5,), "aligned")
    db.close()
    for words in ([], ["--by=rank"], ["--by=region"], ["--by=kernel"]):
        separate, joined = analyse(*words, *files), analyse(*words, both)
        for part in ("windows", "kernels", "topk", "corr"):
            for entry in separate[part] + joined[part] if part != "corr" else []:
                entry.pop("trace", None)
            failures.equal(joined[part], separate[part], f"{part} with {words}")
    found = analyse("--by=rank", both)
    failures.equal(sorted({(window["rank"], window["host"]) for window in found["windows"]}), [(0, "node0"), (1, "node1")], "ranks and hosts are reported")
    done = command("convert", *files, "-o", work / "joined.json")
    names = {event["args"]["name"] for event in json.loads((work / "joined.json").read_text()) if event["name"] == "process_name"}
    failures.check(done.returncode == 0 and {"process 4711, rank 0 on node0", "process 4711, rank 1 on node1"} <= names, "in a Chrome trace, too", names)


def case_processes_of_two_nodes_may_have_one_number():
    files = two_nodes(ranks=(None, None))
    found = analyse("--by=rank", *files)
    failures.equal(sorted((kernel["process"], kernel["host"], kernel["n"]) for kernel in found["kernels"]), [(4711, "node0", 100), (4711, "node1", 100)], "two processes")
    done = command("variability", "--by=rank", *files)
    failures.check("process 4711 of node1" in done.stdout, "told apart", done.stdout)
    # Two runs of the same ranks are not mixed.
    files = two_nodes(ranks=(0, 0))
    found = analyse("--by=rank", *files)
    failures.equal(len({kernel["host"] for kernel in found["kernels"]}), 2, "the same rank of two runs")
    failures.check("have a rank 0" in " ".join(found["parameters"]["remarks"]), "it is reported", found["parameters"])


def case_an_idle_device():
    export = Export(str(work / "idle.sqlite"))
    # Busy for half of each window but those; the trace begins and ends in the middle of one.
    idle = (40, 41, 70)
    export.kernels([(n * MS, n * MS + 500_000, "steady") for n in range(5, 1005) if n // 10 not in idle])
    file = export.finish()
    for metric in ("busy", "launch-gap"):
        found = analyse(f"--metric={metric}", file)
        failures.equal([start // (10 * MS) for start, _ in flagged(found)], list(idle), f"{metric}: idle windows, and no cut ones")
        failures.equal(sorted(window["start"] // (10 * MS) for window in found["topk"][:3]), list(idle), f"{metric}: they are the worst")
        failures.equal(len(found["windows"]), 101, f"{metric}: all windows are listed")
        failures.check("3 of " in " ".join(finding["text"] for finding in found["findings"]), f"{metric}: a finding", found["findings"])
        failures.check(all(window["n"] == 0 and window["busy"] == 0 for window in found["windows"] if window["flag"]), f"{metric}: nothing ran in them")
    done = command("variability", "--metric=busy", "--window=1us", export.file)
    failures.equal(done.returncode, 0, "a million windows are compared")
    done = command("variability", "--metric=busy", "--window=10ns", export.file)
    failures.check(done.returncode == 2 and "--window" in done.stderr, "not a hundred million", done.stderr)


def case_graphs_are_work():
    export = Export(str(work / "graphs.sqlite"))
    export.rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", [{"start": n * MS, "end": n * MS + 1000 * n, "deviceId": 0, "contextId": 1, "streamId": 7, "graphId": 3,
                                                     "correlationId": n, "globalPid": 100 << 24} for n in range(1, 50)])
    file = export.finish()
    failures.equal([(kernel["name"], kernel["n"]) for kernel in analyse(file)["kernels"]], [("CUDA graph 3", 49)], "as kernels")
    failures.equal(command("convert", file, "-o", work / "graphs_store.sqlite").returncode, 0, "converted")
    failures.equal(analyse(work / "graphs_store.sqlite")["kernels"], analyse(file)["kernels"], "to the same")


def have_ended(word, launcher, limit=60):
    """Whether no process but the launcher has the word in its command line any longer; one that waits to be reaped has none."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        left = set()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if word.encode() in (folder / "cmdline").read_bytes():
                    left.add(int(folder.name))
        if left <= {launcher}:
            return True
        time.sleep(0.05)
    return False


def find_rank(number, word, limit=20):
    """The process of that rank with the word in its command line."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes().split(b"\0")
                if word.encode() in (folder / "cmdline").read_bytes() and {b"OMPI_COMM_WORLD_RANK=%d" % number, b"PMI_RANK=%d" % number} & set(environment):
                    return int(folder.name)
            except OSError:
                continue
    return None


def case_a_rank_is_killed():
    file, _, _ = mixed_trace("for_killed.sqlite", chance=11)
    for name, words in launchers().items():
        for number, delay in enumerate((0, 0.1, 0.3)):
            output = work / f"killed_{name}_{number}.json"
            running = subprocess.Popen([*words, "-n", "3", ADAPTYST, "variability", f"--output={output}", file],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            rank = find_rank(1, output.name)
            time.sleep(delay)
            if rank:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGKILL)
            failures.check(have_ended(output.name, running.pid), f"{name}: the others end as well, {delay} s after the start")
            try:
                status = running.wait(timeout=1)
            except subprocess.TimeoutExpired:  # Open MPI 4 with PMIx 4 may wait for a lock of its own for ever, once its ranks are gone
                running.kill()
                status = running.wait()
            if output.exists():
                failures.equal(len(json.loads(output.read_text())["ranks"]), 3, f"{name}: what is there is whole")
            else:
                failures.check(status != 0, f"{name}: a rank killed after {delay} s", status)
            failures.equal([path.name for path in work.iterdir() if path.name.startswith(f"killed_{name}_{number}") and path != output], [],
                           f"{name}: no half is left")


def case_a_full_disk():
    """A file system of 64 KiB, if one may be mounted: nothing is left under the name."""
    small = work / "small"
    small.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", small], check=False, capture_output=True).returncode != 0:
        return
    try:
        file, _, _ = mixed_trace("for_full.sqlite", chance=10)
        for name in ("full.sqlite", "full.json"):
            done = command("convert", file, "-o", small / name)
            failures.check(done.returncode == 2 and "cannot write" in done.stderr, f"{name}: a full disk", done.stderr)
            failures.equal(os.listdir(small), [], f"{name}: nothing is left")
        done = command("variability", f"--output={small}/full.json", file)
        failures.check(done.returncode == 2 and "full.json" in done.stderr, "a result that has no room", done.stderr)
        failures.equal(os.listdir(small), [], "nothing is left of it")
        # Events that memory has no room for: of one window, and of the share of memory that one of many threads has.
        export = Export(str(work / "for_spill.sqlite"))
        export.kernels([(n * 100, n * 100 + 50, "one") for n in range(20_000)])
        file = export.finish()
        failures.equal([window["n"] for window in analyse("--shards=1", "--threads=64", file)["windows"]], [20_000], "all of them")
        for name, words in {"alone": [], **{name: [*words, "-n", "3"] for name, words in launchers().items()}}.items():
            output = work / f"spilled_{name}.json"
            # Open MPI has files of its own in $TMPDIR.
            done = command("variability", "--shards=1", "--threads=64", f"--output={output}", file,
                           launcher=[*words, "env", f"TMPDIR={small}"])
            failures.check(done.returncode != 0 and f"cannot write spans that exceed the memory limit to {small}" in done.stderr,
                           f"{name}: no room for events", done.stderr)
            failures.check(not output.exists(), f"{name}: nothing is written")
    finally:
        subprocess.run(["umount", small], check=False)


run_cases(globals(), sys.argv[2:], failures)
