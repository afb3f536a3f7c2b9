#!/usr/bin/env python3
"""The layers of `adaptyst levels --stack` in their order of execution, against tables that are made here from the same
events by search, without the command's method: layers.py ADAPTYST [case…]"""
import collections
import json
import math
import os
import pathlib
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import simulated_layers  # noqa: E402
from simulated_layers import network  # noqa: E402
import nsys_export  # noqa: E402

ADAPTYST = sys.argv[1]
failures = Failures()
work = scratch()


def command(*words):
    return subprocess.run([ADAPTYST, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=300, check=False)


def levels(*words):
    file = work / "levels.json"
    file.unlink(missing_ok=True)
    done = command("levels", "--stack", "-o", file, *words)
    failures.equal(done.returncode, 0, f"{words}: {done.stderr}")
    return json.loads(file.read_text()), done.stdout


def shape_of(event):
    sizes = event["args"].get("Input Dims", [])
    factors = {"aten::addmm": (1, 2)}.get(event["name"], (0, 1))
    texts = ["x".join(map(str, sizes[at])) for at in factors if at < len(sizes) and sizes[at]]
    if event["name"] not in ("aten::conv2d", "aten::addmm"):
        texts = texts[:1]
    return ",".join(f"{name}={text}" for name, text in zip(("shape", "weight"), texts))


def is_within(inner, outer):
    return (inner["tid"], inner["pid"]) == (outer["tid"], outer["pid"]) and outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]


class Oracle:
    """Tables of a trace, by comparing all events with all others of a pass."""

    def __init__(self, events):
        spans = [event for event in events if event["ph"] == "X"]
        self.calls = sorted((event for event in spans if event["cat"] == "user_annotation"), key=lambda event: event["ts"])
        operators = [event for event in spans if event["cat"] == "cpu_op"]
        launches = [event for event in spans if event["cat"] == "cuda_runtime"]
        kernels = {}
        for event in spans:
            if event["cat"] == "kernel":
                kernels.setdefault(event["args"]["correlation"], []).append(event["dur"])
        self.passes = collections.defaultdict(list)  # by model: lists of (name, shape, time, host kernels, device kernels)
        for call in self.calls:
            below = [event for event in operators if is_within(event, call)]
            layers = [event for event in below if not any(other is not event and is_within(event, other) for other in below)]
            made = []
            for layer in sorted(layers, key=lambda event: event["ts"]):
                nested = [event for event in below + launches if event is not layer and is_within(event, layer)]
                outermost = [event for event in nested if not any(other is not event and is_within(event, other) for other in nested)]
                device = sum(sum(kernels[launch["args"]["correlation"]]) for launch in launches if is_within(launch, layer))
                host = [event for event in outermost if event["cat"] != "cuda_runtime" and not device]
                made.append((layer["name"], shape_of(layer), layer["dur"], sum(event["dur"] for event in host), device, bool(device or host)))
            self.passes[call["name"]].append(made)

    def usual(self, model):
        """The passes with the most frequent sequence."""
        counts = collections.Counter(tuple(layer[:2] for layer in one) for one in self.passes[model])
        best = counts.most_common(1)[0][0]
        return [one for one in self.passes[model] if tuple(layer[:2] for layer in one) == best]


def mean_and_error(values):
    mean = sum(values) / len(values)
    if len(values) == 1:
        return mean, None
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))


def is_near(found, wanted):
    if found is None or wanted is None:
        return found is wanted
    return abs(found - wanted) <= 1e-9 * max(1, abs(wanted))


def check_order(stack, oracle):
    names = [model["name"] for model in stack["models"]]
    failures.equal([names[one["model"]] for one in stack["passes"]], [name for name in names if oracle.passes.get(name)], "a pass of each model")
    for found in stack["passes"]:
        model = names[found["model"]]
        usual = oracle.usual(model)
        failures.equal((found["passes"], found["other_passes"]), (len(usual), len(oracle.passes[model]) - len(usual)), "passes, and passes that differ")
        kinds = [stack["layers"][layer["layer"]] for layer in found["layers"]]
        failures.equal([(kind["type"], kind["shape"]) for kind in kinds], [layer[:2] for layer in usual[0]], "layers in their order of execution")
        for at, layer in enumerate(found["layers"]):
            same = [one[at] for one in usual]
            mean, error = mean_and_error([one[2] for one in same])
            host, device = (mean_and_error([one[column] for one in same])[0] for column in (3, 4))
            failures.check(is_near(layer["latency_ns"]["mean"], mean) and is_near(layer["latency_ns"]["error"], error), f"time of layer {at} of {model}", (layer, mean, error))
            failures.check(is_near(layer["kernels_ns"], host + device) and is_near(layer["device_ns"], device), f"kernels of layer {at} of {model}", (layer, host, device))
            failures.check(is_near(layer["other_ns"], mean - host - device if same[0][5] else None), f"the rest of layer {at} of {model}", layer)


def check_sums(stack, oracle):
    """Models, layers and types, in a call of the model, from all passes."""
    by_layer = collections.defaultdict(list)
    for name, passes in oracle.passes.items():
        for layer in (layer for one in passes for layer in one):
            by_layer[name, *layer[:2]].append((layer, len(passes)))
    found = {(stack["models"][layer["model"]]["name"], layer["type"], layer["shape"]): layer for layer in stack["layers"]}
    failures.equal(sorted(found), sorted(by_layer), "each layer with its shape")
    by_type = collections.defaultdict(lambda: [0, 0])
    for key, layers in by_layer.items():
        count, time, kernels, device = (sum(values) / layers[0][1] for values in ([1] * len(layers), *([layer[column] for layer, _ in layers] for column in (2, 3, 4))))
        by_type[key[:2]][0] += count
        by_type[key[:2]][1] += time
        layer = found[key]
        failures.check(is_near(layer["executed"], count) and is_near(layer["work"]["calls"], count) and is_near(layer["work"]["total_ns"], time), f"work of {key}", (layer, count, time))
        failures.check(is_near(layer["kernels"]["total_ns"], kernels + device) and is_near(layer["device_ns"], device), f"kernels of {key}", (layer, kernels, device))
    sums = {name: [sum(entry[at] for (model, _), entry in by_type.items() if model == name) for at in (0, 1)] for name in oracle.passes}
    for kind in stack["types"]:
        model = stack["models"][kind["model"]]["name"]
        wanted, (count, time) = by_type.pop((model, kind["type"])), sums[model]
        failures.check(is_near(kind["executed"], wanted[0]) and is_near(kind["work"]["total_ns"], wanted[1]), f"type {kind['type']}", (kind, wanted))
        failures.check(is_near(kind["share_of_layers"], wanted[0] / count) and is_near(kind["share_of_time"], wanted[1] / time), f"shares of {kind['type']}", (kind, wanted))
    failures.equal(list(by_type), [], "every type")
    for model in stack["models"]:
        passes = oracle.passes[model["name"]]
        calls = [call["dur"] for call in oracle.calls if call["name"] == model["name"]]
        failures.check(is_near(model["latency_ns"], sum(calls) / len(calls)), "latency of a model", model)
        failures.check(is_near(model["executed"], sum(map(len, passes)) / len(passes)), "executed layers of a model", model)
        failures.check(is_near(model["kernels"]["total_ns"], sum(layer[3] + layer[4] for one in passes for layer in one) / len(passes)), "kernels in a call of the model", model)


def case_tables_are_the_oracles():
    trace = simulated_layers.inference()
    found, shown = levels("--trace", trace.write(work / "network.json"))
    oracle = Oracle(trace.events)
    stack = found["stack"]
    failures.equal([(len(one["layers"]), len({layer["layer"] for layer in one["layers"]})) for one in stack["passes"]], [(70, 30), (70, 30)], "70 executed layers, 30 shapes")
    check_order(stack, oracle)
    check_sums(stack, oracle)
    text = "1 of 6 passes execute another sequence of layers, and are in no mean"
    failures.equal(sum(remark.endswith(text) for remark in found["remarks"]), 2, "passes that differ are named")
    failures.check("order of layers is not recorded" not in str(found["remarks"]), "there is an order")
    failures.equal(found["remarks"][0], "simulated: made by a generator, not measured", "the first remark")
    failures.equal(shown.count("LAYERS AS EXECUTED in resnet18"), 2, "a table for each model")
    failures.check(shown.find("LAYERS AS EXECUTED") < shown.find("TYPES OF LAYERS") and "REGION " not in shown, "the tables come first, and regions with --verbose", shown)
    failures.equal([line for line in shown.splitlines() if len(line) > 100], [], "no line is wider than 100 columns")
    heading, *rows = shown[shown.index("LAYERS: shape"):].splitlines()[1:22]
    names = {row[:heading.index("CALLS") - 2] for row in rows}
    failures.check(len(names) == 20, "20 layers have 20 names", names)
    failures.check("REGION " in levels("--verbose", "--trace", work / "network.json")[1], "regions with --verbose")


def case_forms_of_traces_agree():
    trace = simulated_layers.inference(batches=(4,), passes=3, seed=2)
    file = trace.write(work / "forms.json")
    wanted = levels("--trace", file)[0]["stack"]
    done = command("convert", file, "-o", work / "forms.sqlite")
    failures.equal(done.returncode, 0, done.stderr)
    failures.equal(levels("--trace", work / "forms.sqlite")[0]["stack"], wanted, "the same from a store")
    check_order(wanted, Oracle(trace.events))


def case_a_loop_without_models_repeats():
    trace = simulated_layers.Trace(3)
    for _ in range(4):
        for layer in network(2):
            trace.layer(*layer)
    for layer in network(2)[:5]:
        trace.layer(*layer)
    stack = levels("--trace", trace.write(work / "loop.json"))[0]["stack"]
    failures.equal(stack["models"], [], "no model")
    failures.equal([(one["model"], one["passes"], one["other_passes"], len(one["layers"])) for one in stack["passes"]], [(None, 4, 0, 70)], "the sequence that repeats; the cut one is in no mean")
    layers = sorted((event for event in trace.events if "Input Dims" in event.get("args", {})), key=lambda event: event["ts"])
    for at, layer in enumerate(stack["passes"][0]["layers"]):
        failures.check(is_near(layer["latency_ns"]["mean"], mean_and_error([layers[at + 70 * turn]["dur"] for turn in range(4)])[0]), f"layer {at}", layer)


def case_steps_of_the_profiler_are_calls_of_a_model():
    trace = simulated_layers.Trace(4)
    for step in range(3):
        trace.call(f"ProfilerStep#{step + 7}", network(2)[:10])
    stack = levels("--trace", trace.write(work / "steps.json"))[0]["stack"]
    failures.equal([(model["name"], model["executed"]) for model in stack["models"]], [("ProfilerStep", 10)], "a model")
    failures.equal([(one["passes"], len(one["layers"])) for one in stack["passes"]], [(3, 10)], "three passes")


def case_threads_are_passes_of_their_own():
    """Two threads run the same model at the same time, and a third one layers without it."""
    traces = [simulated_layers.Trace(5), simulated_layers.Trace(6), simulated_layers.Trace(7)]
    for trace in traces[:2]:
        for _ in range(3):
            trace.call("net [batch=2]", network(2)[:20], has_kernels=False)
    for layer in network(3)[:4]:
        traces[2].layer(*layer, has_kernels=False)
    for thread, trace in enumerate(traces):
        for event in trace.events:
            if event["ph"] == "X":
                event["tid"] = 500 + thread
    traces[0].events += traces[1].events + traces[2].events
    found = levels("--trace", traces[0].write(work / "threads.json"))[0]
    traces[0].events = [event for event in traces[0].events if event["tid"] != 502]
    check_order(found["stack"], Oracle(traces[0].events))
    failures.equal([one["passes"] for one in found["stack"]["passes"]], [6], "passes of both threads")


def case_ranges_of_nsight_systems_are_layers():
    export = nsys_export.Export(work / "nsys.sqlite")
    gemm = export.string("gemm")
    ranges, calls, kernels, now, correlation = [], [], [], 1000, 0
    for _ in range(3):
        begin = now
        for number in (2, 1, 2):
            correlation += 1
            start, now = now + 10, now + 1000 * number + 7 * correlation
            ranges.append((start, now, f"conv{number}"))
            calls.append({"start": start + 5, "end": start + 50, "globalTid": nsys_export.global_tid(9, 9), "correlationId": correlation, "nameId": export.string("cudaLaunchKernel_v7000")})
            kernels.append({"start": 100_000 + 1000 * correlation, "end": 100_000 + 1000 * correlation + 10 * correlation, "deviceId": 0, "contextId": 1, "streamId": 7,
                            "correlationId": correlation, "globalPid": nsys_export.global_pid(9), "demangledName": gemm, "shortName": gemm})
        now += 100
        ranges.append((begin, now, "step"))
    export.rows("NVTX_EVENTS", [{"start": start, "end": end, "eventType": 59, "globalTid": nsys_export.global_tid(9, 9), "textId": export.string(name), "text": None} for start, end, name in ranges])
    export.rows("CUPTI_ACTIVITY_KIND_RUNTIME", calls)
    export.rows("CUPTI_ACTIVITY_KIND_KERNEL", kernels)
    stack = levels("--level", "step=model,conv*=layer", "--trace", export.finish())[0]["stack"]
    failures.equal([(one["passes"], [stack["layers"][layer["layer"]]["type"] for layer in one["layers"]]) for one in stack["passes"]], [(3, ["conv2", "conv1", "conv2"])], "the order of ranges")
    # The first call of conv2 has the kernels 1, 4 and 7; the second 3, 6 and 9.
    failures.equal([layer["device_ns"] for layer in stack["passes"][0]["layers"]], [40, 50, 60], "each call has its own kernel")


def case_deep_paths_take_bounded_time():
    """A hostile store: each of 200,000 nested regions is a layer."""
    trace = simulated_layers.inference(batches=(4,), passes=1, seed=8)
    file = work / "deep.sqlite"
    failures.equal(command("convert", trace.write(work / "deep.json"), "-o", file).returncode, 0, "a store")
    with sqlite3.connect(file) as store:
        kind, = store.execute("SELECT kind FROM path WHERE level IS NOT NULL OR device = 0 LIMIT 1").fetchone()
        top, = store.execute("SELECT max(id) FROM path").fetchone()
        store.executemany("INSERT INTO path(id, parent, name, kind, device, level) VALUES(?, ?, 'deep', ?, 0, 3)", [(top + at, top + at - 1 if at > 1 else None, kind) for at in range(1, 200_001)])
        store.execute('INSERT INTO span(start, "end", path, process, thread, queue, submitted, correlation, bytes, flops, nests) SELECT max("end") + 1, max("end") + 2, ?, process, thread, NULL, NULL, NULL, NULL, NULL, 1 FROM span WHERE queue IS NULL', (top + 200_000,))
    store.close()
    began = time.monotonic()
    done = command("levels", "--stack", "--trace", file)
    print(f"{time.monotonic() - began:.1f} s")
    failures.check(done.returncode in (0, 1), "a result or an error", done.stderr)


def case_memory_is_limited():
    """More calls than are kept: the order is of the first passes, and every call is in the sums."""
    passes, size = 6_000, 220
    layers = [("aten::relu_", [[at % 7 + 1, 3]]) for at in range(size)]
    file = work / "long.json"
    with file.open("w") as out:
        out.write('{"schemaVersion": 1, "simulated": true, "traceEvents": [\n{"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "args": {"name": "python"}}')
        now = 1000
        for _ in range(passes):
            out.write(f',\n{{"ph":"X","cat":"user_annotation","name":"net","pid":100,"tid":101,"ts":{now},"dur":{3 * size},"args":{{}}}}')
            for at, (name, sizes) in enumerate(layers):
                out.write(f',\n{{"ph":"X","cat":"cpu_op","name":"{name}","pid":100,"tid":101,"ts":{now + 3 * at},"dur":{2 + at % 2},"args":{{"Input Dims":{json.dumps(sizes)}}}}}')
            now += 3 * size + 5
    made = work / "long_levels.json"
    with subprocess.Popen([ADAPTYST, "levels", "--stack", "-o", made, "--trace", file], stdout=subprocess.DEVNULL) as running:
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    failures.equal(running.returncode, 0, "status")
    found = json.loads(made.read_text())
    one, = found["stack"]["passes"]
    failures.check(4000 < one["passes"] < passes and one["other_passes"] == 0, "the first passes", one["passes"])
    failures.check("the order of layers is that of the first passes: memory for further calls is limited" in found["remarks"], "a remark", found["remarks"])
    failures.equal({layer["latency_ns"]["mean"] for layer in one["layers"]}, {2000.0, 3000.0}, "their times")
    failures.equal(sum(layer["work"]["calls"] for layer in found["stack"]["layers"]), size, "all calls are in the sums")
    failures.check(usage.ru_maxrss < (450 << 10), "memory", f"{usage.ru_maxrss} KiB")
    file.unlink()


run_cases(globals(), sys.argv[2:], failures)
