#!/usr/bin/env python3
"""`adaptyst variability` and `convert` on Chrome traces, also those of PyTorch's profiler: chrome.py ADAPTYST [case…]

The traces are written here with Python's json module, from the format's description; all are simulated.
"""
import gzip
import json
import pathlib
import random
import sqlite3
import subprocess
import sys

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
BASE = 1_700_000_000_000_000_000
MS = 1_000_000
failures = Failures()
work = scratch()


def command(*words):
    return subprocess.run([ADAPTYST, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=120, check=False)


def analyse(*words):
    done = command("variability", "--format=json", *words)
    failures.equal(done.returncode, 0, f"{words}: {done.stderr}")
    return json.loads(done.stdout)


def convert(file, to, status=0):
    done = command("convert", file, "-o", work / to)
    failures.equal(done.returncode, status, f"{file}: {done.stderr}")
    return " ".join(done.stderr.split())


def ask(name, question):
    db = sqlite3.connect(work / name)
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def us(ns):
    """Exact decimal microseconds, which a double does not have."""
    return f"{ns // 1000}.{ns % 1000:03}"


def text_of(events, **members):
    """JSON with exact numbers: times are given in ns."""
    rows = []
    for event in events:
        row = json.dumps({key: value for key, value in event.items() if key not in ("ts", "dur")})
        for key in ("ts", "dur"):
            if key in event:
                row = f'{row[:-1]}, "{key}": {us(event[key])}}}'
        rows.append(row)
    return json.dumps({"schemaVersion": 1, "simulated": True, **members})[:-1] + ', "traceEvents": [\n' + ",\n".join(rows) + "\n]}"


def kernel(start, end, name, correlation=0, device=0, stream=7, category="kernel", **more):
    return {"ph": "X", "cat": category, "name": name, "pid": device, "tid": stream, "ts": start, "dur": end - start,
            "args": {"device": device, "stream": stream, "correlation": correlation, "grid": [1, 2, 3], **more}}


def host(start, end, name, category="cpu_op", pid=100, tid=101, correlation=None):
    args = {} if correlation is None else {"correlation": correlation}
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": end - start, "args": args}


def write(name, text):
    (work / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return work / name


def mixed():
    """Two devices, three kernels, copies. With what an oracle needs."""
    draw = random.Random(3)
    events, kernels, copies = [host(0, 2000 * MS, "step", "user_annotation")], [], []
    for device in (0, 1):
        for _ in range(1200):
            start = draw.randrange(0, 2000 * MS)
            entry = (start, start + int(draw.lognormvariate(12, 1)), f"kernel_{draw.randrange(3)}")
            kernels.append((device, *entry))
            events += [kernel(*entry, correlation=len(events) + 1, device=device), host(max(0, start - 500), start, "cudaLaunchKernel", "cuda_runtime", correlation=len(events) + 1)]
        for _ in range(300):
            start = draw.randrange(0, 2000 * MS)
            copies.append((device, start, start + draw.randrange(0, 3 * MS)))
            events.append(kernel(*copies[-1][1:], "Memcpy HtoD (Pageable -> Device)", device=device, stream=8, category="gpu_memcpy"))
    draw.shuffle(events)
    return events, kernels, copies


def case_numbers_are_the_oracles():
    events, kernels, copies = mixed()
    text = text_of(events, baseTimeNanoseconds=BASE)
    file = write("mixed.json", text)
    (work / "mixed.json.gz").write_bytes(gzip.compress(text.encode()))
    found = analyse("--window=100ms", file)
    expected = oracle.windows(kernels, copies, 100 * MS)
    failures.equal({(window["start"], window["device"]) for window in found["windows"]}, set(expected), "the windows")
    for window in found["windows"]:
        right = expected[window["start"], window["device"]]
        fields = {"n", "busy", "stall", "copied", *(("min", "max", "mean", "std", "p50", "p95") if right["n"] != 0 else ())}
        failures.equal(fields - set(window), set(), f"the fields of {window['start']}, {window['device']}")
        failures.equal(fields - set(right), set(), "the fields of the oracle")
        for field in fields & {"n", "busy", "stall", "copied", "min", "max"}:
            failures.equal(window.get(field), right[field], f"{field} of {window['start']}, {window['device']}")
        for field in fields & {"mean", "std", "p50", "p95"}:
            failures.check(abs(window[field] - right[field]) <= 1e-9 * max(1, right[field]), field, f"{window[field]} {right[field]}")
    failures.check(any("busy" in window for window in found["windows"]) and found["efficiency"]["whole"]["parallel"] > 0, "efficiencies", found["efficiency"])
    failures.check(found["efficiency"].get("host") is not None, "the host's efficiency", found["efficiency"])
    for other in (analyse("--window=100ms", work / "mixed.json.gz"), analyse("--window=100ms", "--threads=2", file)):
        failures.equal((other["windows"], other["kernels"]), (found["windows"], found["kernels"]), "the same from gzip, and with two threads")
    failures.equal(sum(window["n"] for window in analyse("--by=region", file)["windows"]), 1, "regions are no calls")
    convert(file, "mixed.html")
    failures.check("kernel_1" in (work / "mixed.html").read_text(), "a page")


def case_kernels_are_below_the_regions_of_their_calls():
    events = [{"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "args": {"name": "python"}},
              {"ph": "M", "name": "thread_name", "pid": 100, "tid": 101, "args": {"name": "main"}},
              host(1000, 90000, "step", "user_annotation"), host(2000, 50000, "aten::mm"), host(3000, 4000, "cudaLaunchKernel", "cuda_runtime", correlation=5),
              kernel(60000, 70000, "gemm", 5), kernel(60000, 70000, "gemm", 5), kernel(71000, 72000, "alone", 6),
              kernel(73000, 74000, "Memcpy DtoH (Device -> Pinned)", 5, category="gpu_memcpy", bytes=4096),
              {"ph": "s", "cat": "ac2g", "id": 5, "pid": 100, "tid": 101, "ts": 3000}, {"ph": "f", "cat": "ac2g", "id": 5, "pid": 0, "tid": 7, "ts": 60000, "bp": "e"},
              host(0, 95000, "PyTorch Profiler (0)", "Trace", pid="Spans", tid="PyTorch Profiler"),
              kernel(60000, 70000, "step", category="gpu_user_annotation"),
              {"ph": "C", "name": "memory", "pid": 100, "tid": 101, "ts": 5000, "args": {"allocated": 3.5}},
              {"ph": "i", "name": "mark", "pid": 100, "tid": 101, "ts": 6000, "s": "t"},
              # As PyTorch 2.11 writes them on a GPU:
              host(500, 600, "Activity Buffer Request", "overhead", pid=-1, tid=0),
              {"ph": "i", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": 0, "s": "g"},
              {"ph": "i", "name": "Record Window End", "pid": "", "tid": "", "ts": 95000, "s": "g"}]
    file = write("paths.json", text_of(events, baseTimeNanoseconds=BASE, distributedInfo={"backend": "nccl", "rank": 3},
                                       deviceProperties=[{"id": 0, "name": "A100"}]))
    messages = convert(file, "paths.sqlite")
    paths = {row[0]: row[1:] for row in ask("paths.sqlite", "SELECT id, parent, name, kind FROM path")}

    def full(path):
        parent, name, _ = paths[path]
        return (full(parent) + "/" if parent else "") + name
    spans = {(full(row[0]), row[1], row[2]) for row in ask("paths.sqlite", 'SELECT path, start, "end" FROM span')}
    failures.equal(spans, {("step", 1000, 90000), ("step/aten::mm", 2000, 50000), ("step/aten::mm/cudaLaunchKernel", 3000, 4000), ("step/aten::mm/gemm", 60000, 70000),
                           ("alone", 71000, 72000), ("step/aten::mm/Memcpy DtoH (Device -> Pinned)", 73000, 74000)}, "paths and times")
    failures.equal(ask("paths.sqlite", "SELECT id, name FROM process"), [(100, "python")], "no process of the profiler itself")
    failures.equal([row[0] for row in ask("paths.sqlite", "SELECT name FROM instant JOIN path ON path.id = path")], ["mark"], "its marks are not the program's")
    failures.check("5 events of gpu_user_annotation, cuda_sync and the profiler itself are not read" in messages, "what is not read is counted", messages)
    failures.check("1 operations occur twice, and count once" in messages, "a duplicate", messages)
    failures.check("1 operations are unattributed" in messages, "no call", messages)
    failures.equal(ask("paths.sqlite", "SELECT name, rank FROM process WHERE rank IS NOT NULL"), [("python", 3)], "the rank")
    failures.equal(ask("paths.sqlite", "SELECT name FROM device"), [("gpu0 A100",)], "the device")
    failures.equal(sorted(entry["kind"] for entry in [{"kind": kind} for _, _, kind in paths.values() if kind.startswith("copy")]), ["copy_from"], "a copy's kind")
    failures.equal(ask("paths.sqlite", "SELECT value FROM meta WHERE name = 'utc_ns'"), [(str(BASE),)], "the time of day")


def levels(*words):
    file = work / "levels.json"
    file.unlink(missing_ok=True)
    done = command("levels", "--format", "none", "-o", file, *words)
    return done, json.loads(file.read_text()) if file.exists() else None


def case_levels_are_read_from_a_trace():
    events = [{"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "args": {"name": "python"}}]
    for step in range(3):
        at = step * 1_000_000
        conv = host(at + 1000, at + 500_000, "aten::conv2d")
        conv["args"]["Input Dims"] = [[8, 3, 64, 64], [64, 3, 7, 7], [], [[], []]]
        events += [host(at, at + 900_000, "step", "user_annotation"), conv, host(at + 500_100, at + 500_200, "aten::relu"),
                   host(at + 2000, at + 400_000, "aten::convolution"), host(at + 3000, at + 4000, "cudaLaunchKernel", "cuda_runtime", correlation=step + 1),
                   kernel(at + 600_000, at + 700_000, "gemm", step + 1), kernel(at + 710_000, at + 711_000, "Memcpy DtoH", step + 1, category="gpu_memcpy", bytes=4096)]
    file = write("levels_trace.json", text_of(events, deviceProperties=[{"id": 0, "name": "A100"}]))
    converted = work / "levels_trace.sqlite"
    convert(file, converted.name)
    done, found = levels("--stack", "--trace", file)
    simulated = "simulated: made by a generator, not measured"
    failures.equal((done.returncode, done.stderr), (0, f"adaptyst: {simulated}\n"), "read")
    failures.check(simulated in found["remarks"], "simulated input is named in the result", found["remarks"])
    failures.check("flops are unknown: traces have no counts of operations" in found["remarks"], "no flops", found["remarks"])
    failures.check("flops" not in str(levels("--trace", file)[1]["remarks"]), "flops are only shown with --stack")
    shaped = "aten::conv2d [shape=8x3x64x64,weight=64x3x7x7]"
    rows = {"/".join(row["path"]): (row["level"], row["device"], row["calls"], row["total_ns"]["mean"], row["overhead_ns"]) for row in found["regions"]}
    failures.equal(rows, {"step": ("model", "host", 3, 2_700_000, None), "step/" + shaped: ("layer", "host", 3, 3 * 499_000, None),
                          "step/" + shaped + "/aten::convolution": ("library", "host", 3, 3 * 398_000, None),
                          "step/" + shaped + "/aten::convolution/cudaLaunchKernel": ("library", "host", 3, 3000, None),
                          "step/" + shaped + "/aten::convolution/gemm": ("device", "gpu0", 3, 300_000, None),
                          "step/" + shaped + "/aten::convolution/Memcpy DtoH": ("device", "gpu0", 3, 3000, None), "step/aten::relu": ("layer", "host", 3, 300, None)}, "each level, without overhead")
    layer = found["stack"]["layers"][0]
    failures.equal((layer["type"], layer["shape"], layer["work"]["total_ns"], layer["device_ns"]), ("aten::conv2d", "shape=8x3x64x64,weight=64x3x7x7", 499_000, 101_000), "a layer and its kernels, in a call of the model")
    failures.equal([copy["work"]["bytes"] for copy in found["stack"]["kernels"] if copy["name"] == "Memcpy DtoH"], [4096], "bytes of copies")
    failures.equal(found["parameters"], {"command": [], "traces": [str(file)], "repeat": None, "trim": 0, "engine": None, "overhead": None, "rules": []},
                   "no run was made")
    failures.equal(levels("--level", "step=layer", "--trace", file)[1]["parameters"]["rules"], ["step=layer"], "the user's levels")
    failures.equal(found["levels"][0]["run_ns"]["mean"], 2_900_000, "from the first event to the last")
    failures.equal({row["device"] for row in levels("--trace", converted)[1]["regions"]}, {"host", "gpu0"}, "a store is read as well")
    failures.equal({row["level"] for row in levels("--level", "layer", "--trace", file)[1]["regions"]}, {"model", "layer"}, "the deepest level")
    for words, hint in (([], "--trace FILE"), (["--trace", file, "--", "true"], "--trace FILE"), (["--trace", file, "--with", "torch"], "--with"),
                        (["--trace", work / "none.json"], "none.json")):
        done, found = levels(*words)
        failures.check(done.returncode == 2 and hint in done.stderr and found is None, "refused: " + " ".join(map(str, words)), done.stderr)


def case_a_colour_belongs_to_a_name_and_kind():
    mark = {"ph": "i", "name": "both", "pid": 100, "tid": 101, "ts": 500 * MS, "args": {"color": "#0000ff"}}
    plain = {"ph": "i", "name": "plain mark", "pid": 100, "tid": 101, "ts": 600 * MS}
    ranges = [host(0, MS, "both"), host(2 * MS, 3 * MS, "other")]
    ranges[0]["args"]["color"] = "#76b900"
    convert(write("colours.json", text_of([mark, plain, *ranges])), "colours.sqlite")
    colors = {(name, kind): color for name, kind, color in ask("colours.sqlite", "SELECT name, kind, color FROM path")}
    failures.equal({name: color for (name, kind), color in colors.items() if kind != "region"}, {"both": "#0000ff", "plain mark": None}, "marks")
    failures.equal({name: color for (name, kind), color in colors.items() if kind == "region"}, {"both": "#76b900", "other": None}, "ranges")


def case_shapes_are_those_of_the_adapter_of_torch():
    def shaped(name, dims):
        event = host(1000, 2000, name)
        event["args"]["Input Dims"] = dims
        return event
    cases = {"aten::addmm": ([[10], [8, 512], [512, 10]], "shape=8x512,weight=512x10"), "aten::mm": ([[8, 4], [4, 2]], "shape=8x4,weight=4x2"),
             "aten::cudnn_convolution": ([[8, 3, 9], [4, 3, 3]], "shape=8x3x9,weight=4x3x3"),
             "aten::scaled_dot_product_attention": ([[8, 4], [4, 2]], "shape=8x4"), "aten::item": ([[]], None), "aten::cat": ([[[2, 3], [4, 3]]], None),
             "aten::odd": ({"a": {"b": 5}}, None), "aten::odder": ([{"b": 5}], None), "aten::texts": ([["x"], "y"], None)}
    events = []
    for at, (name, (dims, _)) in enumerate(cases.items()):
        event = shaped(name, dims)
        event["ts"] += 10_000 * at
        events.append(event)
    file = write("shapes.json", text_of(events))
    paths = levels("--trace", file)[1]["regions"]
    failures.equal([row["path"][-1] for row in paths], [f"{name} [{shape}]" if shape else name for name, (_, shape) in cases.items()], "names of layers")


def case_categories_of_other_programs_are_read():
    file = write("others.json", json.dumps({"traceEvents": [{"ph": "X", "name": "work", "cat": "overhead", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}))
    convert(file, "others.sqlite")
    failures.equal(ask("others.sqlite", "SELECT name FROM path"), [("work",)], "only PyTorch's profiler writes about itself")


def case_levels_of_a_deep_trace_have_limited_memory():
    """Paths that nest 500 deep, with names of 300 bytes."""
    events = []
    for tower in range(20):
        events += [host(tower * 10_000_000 + at, tower * 10_000_000 + 9_000_000 - at, f"{tower} {at} " + "n" * 300) for at in range(500)]
    file = write("deep.json", text_of(events))
    done, found = levels("--trace", file)
    failures.equal(done.returncode, 0, "read")
    failures.equal(sum(row["calls"] for row in found["regions"]), len(events), "every event is in a row")
    failures.check(any('below "(unknown)"' in " ".join(remark.split()) for remark in found["remarks"]), "a remark", found["remarks"])
    failures.check(sum(len(name) for row in found["regions"] for name in row["path"]) < 64 << 20, "bounded names")


def case_losses_of_a_trace_are_in_its_levels():
    convert(write("losses.json", text_of([host(1000, 2000, "step")])), "losses.sqlite")
    with sqlite3.connect(work / "losses.sqlite") as store:
        process = store.execute("SELECT id FROM process").fetchone()[0]
        store.executemany("INSERT INTO loss VALUES (?, ?, ?)", [(process, f"reason {at:02}", 2) for at in range(70)])
    remarks = [remark for remark in levels("--trace", work / "losses.sqlite")[1]["remarks"] if "are missing in the trace" in remark]
    failures.equal(sum(int(remark.split()[0]) for remark in remarks), 140, "every lost event")
    failures.check("12 events are missing in the trace: other reasons" in remarks and len(remarks) == 65, "64 reasons, and the others", remarks)


def case_times_are_exact():
    base = 1_700_000_000_000_000_123
    write("exact.json", text_of([host(base, base + 1, "a"), host(base + 7, base + 1_000_000_000_008, "b")]))
    convert(work / "exact.json", "exact.sqlite")
    failures.equal(ask("exact.sqlite", 'SELECT start, "end" FROM span ORDER BY 1'), [(0, 1), (7, 1_000_000_000_008)], "to a nanosecond")
    write("forms.json", '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1e3,"dur":2.5E-1},{"ph":"X","name":"b","pid":1,"tid":1,"ts":1000.0005,"dur":0.00049},'
                        '{"ph":"X","name":"c","pid":1,"tid":1,"ts":"1003","dur":"1"}]')
    convert(work / "forms.json", "forms.sqlite")
    failures.equal(ask("forms.sqlite", 'SELECT start, "end" FROM span ORDER BY 1, 2'), [(0, 250), (1, 1), (3000, 4000)], "other forms of numbers")


def case_halves_are_joined():
    def half(phase, ts, name="", **more):
        return {"ph": phase, "name": name, "cat": "x", "pid": "solver", "tid": "main", "ts": ts, **more}
    events = [half("B", 0, "outer"), half("B", 1000, "inner"), half("E", 2000), half("E", 9000), half("b", 1500, "io", id="0x1"), half("e", 12000, "io", id="0x1"),
              half("b", 3000, "io", id2={"local": "7"}), half("e", 3500, "io", id2={"local": "7"}), half("E", 13000), half("B", 14000, "open")]
    random.Random(1).shuffle(events)
    messages = convert(write("halves.json", json.dumps([{**event, "ts": event["ts"] / 1000} for event in events])), "halves.sqlite")
    found = ask("halves.sqlite", 'SELECT name, start, "end" FROM span JOIN path ON path.id = path ORDER BY 2')
    failures.equal(found, [("outer", 0, 9000), ("inner", 1000, 2000), ("io", 1500, 12000), ("io", 3000, 3500)], "joined in order of time")
    failures.check("2 rows are skipped: 1 have no end, 1 have no start" in messages, "halves without another", messages)
    failures.equal(ask("halves.sqlite", "SELECT name FROM process"), [("solver",)], "a process with a name instead of a number")


def case_what_is_complete_is_read():
    whole = "[" + ",\n".join(json.dumps({**host(at * 1000, at * 1000 + 500, "a"), "ts": at, "dur": 0.5}) for at in range(100))
    damaged = whole.replace('"ts": 50,', '"ts": !,')
    for name, text, count, words in (("open.json", whole, 100, "without a closing bracket: 100 complete events are read"),
                                     ("cut.json", whole[:-30], 99, f"ends at byte {len(whole) - 30} within an event: 99 complete events are read"),
                                     ("bad.json", damaged, 50, f"is damaged at byte {damaged.index('!')}")):
        messages = convert(write(name, text), f"{name}.sqlite")
        failures.check(words in messages, name, messages)
        failures.equal(ask(f"{name}.sqlite", "SELECT count(*) FROM span"), [(count,)], name)
        failures.equal(ask(f"{name}.sqlite", "SELECT value FROM meta WHERE name = 'complete'"), [("0",)], f"{name} is incomplete")
    packed = gzip.compress(whole.encode() + b"]")
    messages = convert(write("cut.json.gz", packed[:len(packed) // 2]), "gz.sqlite")
    failures.check("the gzip file is cut" in messages, "gzip", messages)


def case_texts_with_any_bytes():
    row = '{"ph":"X","name":"%s","pid":1,"tid":1,"ts":%d,"dur":1}'
    names = [r"\ud83d\ude00", r"\ud83d", r"\ude00x", r"\ud83d\ud83d\ude00", r"\\ud83d", r"a\u0000b"]
    text = "[" + ",".join(row % (name, 10 * at) for at, name in enumerate(names)) + "," + row % ("BYTES", 100) + "]"
    convert(write("texts.json", text.encode().replace(b"BYTES", b"\xff\xc0\xaf")), "texts.sqlite")
    found = [bytes(name) for name, in ask("texts.sqlite", "SELECT CAST(name AS BLOB) FROM path JOIN span ON path.id = path ORDER BY start")]
    failures.equal(found[:5], ["\U0001f600".encode(), "\ufffd".encode(), "\ufffdx".encode(), "\ufffd\U0001f600".encode(), b"\\ud83d"], "surrogates")
    failures.equal(len(found), 7, "all events")
    # An escape at each place of the reader's buffer.
    long = "[" + ",".join(row % (r"\ud83d\ude00" * (1 + at % 7), 2 * at) for at in range(20000)) + "]"
    convert(write("long.json", long), "long.sqlite")
    failures.equal(ask("long.sqlite", "SELECT count(*), count(DISTINCT name) FROM span JOIN path ON path.id = path"), [(20000, 7)], "over the buffer's end")
    deep = "[" + row % ("a", 1) + ',{"ph":"X","args":' + "[" * 100000
    failures.check("nested too deeply" in convert(write("deep.json", deep), "deep.sqlite"), "a deep file")


def case_bad_events_are_counted():
    rows = ['{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}', '{"ph":"X","name":"a","pid":1,"tid":1,"ts":2,"dur":-1}', '{"ph":"X","name":"a","pid":1,"tid":1,"ts":"soon","dur":1}',
            '{"ph":"X","name":"a","pid":1,"tid":1,"dur":1}', '{"ph":"X","name":"a","pid":1,"tid":1,"ts":3}', '{"ph":"X","name":"a","pid":1,"tid":1,"ts":-3e14,"dur":1}', '7', '"x"']
    text = "[" + ",\n".join(rows) + "]"
    messages = convert(write("rows.json", text), "rows.sqlite")
    failures.check("5 rows are skipped: 1 end before they start, 1 have times out of range, 1 have no end, 1 have no start, 1 have no whole number" in messages, "by fault", messages)
    failures.check(f"rows.json, byte {text.index(rows[1])}, ends before it starts" in messages, "the first, by its byte", messages)
    failures.equal(ask("rows.sqlite", "SELECT count(*) FROM span"), [(1,)], "the good event")


def case_half_events_of_a_device_are_not_read():
    def half(phase, ts, name="", category="cpu_op", **more):
        return {"ph": phase, "name": name, "cat": category, "pid": 1, "tid": 2, "ts": ts, **more}
    events = [half("B", 0, "outer"), half("B", 1000, "range", "gpu_user_annotation"), half("E", 2000), half("B", 3000, "wait", "cuda_sync"), half("E", 4000), half("E", 9000),
              kernel(100, 200, "range", category="gpu_user_annotation")]
    messages = convert(write("annotations.json", text_of(events)), "annotations.sqlite")
    failures.equal(ask("annotations.sqlite", 'SELECT name, start, "end" FROM span JOIN path ON path.id = path'), [("outer", 0, 9000)], "an end belongs to its own begin")
    failures.check("3 events of gpu_user_annotation, cuda_sync and the profiler itself are not read" in messages and "skipped" not in messages, "a message", messages)


def case_metrics_that_are_not_finite_are_counted():
    events = [{"ph": "C", "name": "memory", "pid": 1, "tid": 1, "ts": at, "args": {"value": value}} for at, value in enumerate((1.5, float("nan"), float("-inf"), 2.5))]
    messages = convert(write("metrics.json", json.dumps(events)), "metrics.sqlite")
    failures.equal(ask("metrics.sqlite", "SELECT value FROM sample ORDER BY time"), [(1.5,), (2.5,)], "the other values")
    failures.check("2 values of metrics are not finite" in messages, "a message", messages)


def case_arguments_without_a_name_are_none():
    events = [{"ph": "C", "name": "a", "pid": 1, "tid": 1, "ts": 1, "args": {"value": 1}}, {"ph": "C", "name": "b", "pid": 1, "tid": 1, "ts": 2, "args": [7]}, host(3000, 4000, "c")]
    convert(write("unnamed.json", json.dumps(events)), "unnamed.sqlite")
    failures.equal(ask("unnamed.sqlite", "SELECT name, value FROM sample JOIN path ON path.id = path"), [("a", 1.0)], "metrics")


def case_long_texts_are_cut():
    long = "x" * 10000
    events = [host(1000, 2000, "a", pid="p" + long, tid="t" + long), {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "q" + long}},
              {"ph": "M", "name": "thread_name", "pid": 7, "tid": 8, "args": {"name": "u" + long}}, host(1000, 2000, "b", pid=7, tid=8)]
    convert(write("names.json", text_of(events)), "names.sqlite")
    failures.equal(sorted(ask("names.sqlite", "SELECT substr(name, 1, 1), length(name) FROM process")), [("p", 256), ("q", 256)], "names of processes")
    failures.equal(sorted(ask("names.sqlite", "SELECT substr(name, 1, 1), length(name) FROM thread")), [("t", 256), ("u", 256)], "names of threads")
    whole = json.dumps([host(0, 1, "a"), host(2, 3, "y" * (1 << 25))])
    messages = convert(write("text.json", whole), "text.sqlite")
    failures.check("has a text that is too long" in messages and "1 complete events are read" in messages, "a text of 32 MiB", messages)


def case_paths_have_limited_memory():
    row = '{"ph":"X","name":"%s","pid":1,"tid":1,"ts":%d,"dur":%d}'
    rows = []
    for at in range(8400):
        rows += [row % (f"p{at}", 100 * at, 90), row % ("n" * 16384, 100 * at + 10, 20)]
    messages = convert(write("long_paths.json.gz", gzip.compress(("[" + ",".join(rows) + "]").encode(), 1)), "long_paths.sqlite")
    (count, names), = ask("long_paths.sqlite", "SELECT count(*), sum(length(name)) FROM path")
    failures.check(count > 8000 and names <= 1 << 27, "the length of all names", (count, names))
    failures.equal(ask("long_paths.sqlite", "SELECT count(*) FROM span"), [(16800,)], "all events")
    (others,), = ask("long_paths.sqlite", "SELECT count(*) FROM span JOIN path ON path.id = path WHERE name = '(other paths)' AND parent IS NULL")
    failures.check(others > 0, "further paths are one", others)
    failures.check("further events have the path (other paths)" in messages, "a message", messages)


def case_further_processes_are_one():
    row = '{"ph":"X","name":"a","pid":%s,"tid":1,"ts":%d,"dur":1}'
    names = '{"ph":"M","name":"process_name","pid":%d,"args":{"name":"late"}}'
    rows = [row % (at, at) for at in range(65539)] + [names % 65538]
    messages = convert(write("processes.json", "[" + ",".join(rows) + "]"), "processes.sqlite")
    failures.equal(ask("processes.sqlite", "SELECT name, count(*) FROM span JOIN process ON process.id = process GROUP BY process.id HAVING count(*) != 1"),
                   [("(other processes)", 3)], "further processes")
    failures.check("3 events have the process (other processes)" in messages, "a message", messages)


def case_threads_with_texts_and_numbers_get_numbers_quickly():
    row, count, highest = '{"ph":"X","name":"a","pid":1,"tid":%s,"ts":1,"dur":1}', 60000, (1 << 32) - 1
    rows = [row % (highest - 2 * count + at) for at in range(count)] + [row % f'"t{at}"' for at in range(count)]
    convert(write("threads.json", "[" + ",".join(rows) + "]"), "threads.sqlite")
    failures.equal(ask("threads.sqlite", "SELECT count(*), count(DISTINCT thread) FROM span"), [(2 * count, 2 * count)], "a number for each thread")


def case_ends_beyond_the_limit_belong_to_no_other_begin():
    row = '{"ph":"%s","name":"%s","pid":1,"tid":%d,"ts":%d}'
    rows = [row % ("B", "outer", 2, 0), *[row % ("B", "a", 1, 1)] * ((1 << 20) - 1), row % ("B", "inner", 2, 2), row % ("E", "", 2, 3), row % ("E", "", 2, 9)]
    messages = convert(write("ends.json.gz", gzip.compress(("[" + ",".join(rows) + "]").encode(), 1)), "ends.sqlite")
    failures.equal(ask("ends.sqlite", 'SELECT name, start, "end" FROM span JOIN path ON path.id = path'), [("outer", 0, 9000)], "the first begin has the last end")
    failures.check(f"{1 << 20} rows are skipped: {1 << 20} have no end" in messages, "the others", messages)


def case_temporary_files_are_limited_by_the_size_of_the_file():
    row = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}'
    packed = gzip.compress(("[" + ",".join([row] * 2_200_000) + "]").encode(), 6)
    done = command("convert", write("small.json.gz", packed), "-o", work / "none.sqlite")
    failures.check(done.returncode == 2 and "small.json.gz needs more than" in done.stderr and "MiB of temporary files in" in done.stderr, "a small file with many events", done.stderr)


def case_no_traces_are_refused():
    for name, text, words in (("profile.json", '{"schema": 1, "regions": []}', "no trace: it has no traceEvents"), ("none.json", "[]", "no trace: it has no events"),
                              ("start.json", '{"traceEvents": [{"ph"', "start.json ends at byte 22 within an event"), ("brace.json", "{", "brace.json ends at byte 1")):
        done = command("convert", write(name, text), "-o", work / "none.sqlite")
        failures.check(done.returncode == 2 and words in done.stderr, name, done.stderr)


def case_changed_files_do_no_harm():
    draw = random.Random(7)
    events, _, _ = mixed()
    seeds = [text_of(events[:12], baseTimeNanoseconds=BASE).encode(), text_of([{"ph": phase, "name": "n", "cat": "c", "id": 1, "pid": 1, "tid": 2, "ts": 10 * at, "args": {"value": at}}
                                                                             for at, phase in enumerate("BEbesfCiMNSTF")]).encode()]
    pieces = [b"{", b"}", b"[", b"]", b'"', b"\\ud8", b"-", b"9" * 40, b"e308", b"null", b"\x00", b'"ts":', b'"ph":"B"', b'"args":{', b",", b"NaN"]
    for turn in range(150):
        text = bytearray(draw.choice(seeds))
        for _ in range(draw.randrange(1, 8)):
            at = draw.randrange(len(text))
            how = draw.randrange(4)
            if how == 0:
                text[at] = draw.randrange(256)
            elif how == 1:
                text[at:at] = draw.choice(pieces)
            elif how == 2:
                del text[at:at + draw.randrange(1, 60)]
            else:
                text[at:at] = text[at:at + draw.randrange(1, 200)]
        if turn % 10 == 0:
            text = bytearray(gzip.compress(bytes(text)))
            text[draw.randrange(len(text))] ^= 1 << draw.randrange(8)
        file = write("changed.json", bytes(text))
        for words in (["convert", file, "-o", work / "changed.sqlite"], ["variability", file]):
            done = command(*words)
            if not failures.check(done.returncode in (0, 2), f"{words[0]} in turn {turn}", f"{done.returncode} {done.stderr}"):
                (work / f"harm-{turn}.json").write_bytes(bytes(text))


def case_an_own_trace_is_read_back():
    export = Export(str(work / "own.sqlite"))
    export.gpu(0)
    export.context(100, 1, 0, 0)
    export.kernels([(10_000 * at, 10_000 * at + 1000 + at, f"k{at % 3}") for at in range(500)])
    export.rows("NVTX_EVENTS", [{"start": 1, "end": 900_000, "eventType": 59, "text": "range", "globalTid": (100 << 24) + 100}])
    export.rows("CUPTI_ACTIVITY_KIND_RUNTIME", [{"start": 10_000 * at + 5, "end": 10_000 * at + 9, "correlationId": at, "nameId": 1, "globalTid": (100 << 24) + 100} for at in range(2, 50)])
    first = analyse("--window=1ms", export.finish())
    convert(work / "own.sqlite", "own.json")
    convert(work / "own.json", "back.sqlite")
    spans = 'SELECT name, kind, start, "end" FROM span JOIN path ON path.id = path WHERE kind IN (\'kernel\', \'region\') ORDER BY 3, 1'
    convert(work / "own.sqlite", "direct.sqlite")
    failures.equal(ask("back.sqlite", spans), ask("direct.sqlite", spans), "the same spans")
    failures.equal(analyse("--window=1ms", work / "own.json")["kernels"], first["kernels"], "the same kernels")


run_cases(globals(), sys.argv[2:], failures)
