#!/usr/bin/env python3
"""The CUDA adapters on a real GPU, and what they cost: on_gpu.py ADAPTYST PROGRAM ADAPTER [OUTPUT.json] [CASE …]

Prints, and writes to OUTPUT.json, the errors of durations and the cost of a launch. Skipped without a GPU."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch, skip  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, PROGRAM, ADAPTER = sys.argv[1:4]
OUTPUT = next((word for word in sys.argv[4:] if word.endswith(".json")), None)
failures = Failures()
figures = {}
work = scratch()


def plain(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 77:
        skip("no GPU: " + done.stderr.strip())
    return read_figure(done)


def observed(*words, adapter="CUDA_INJECTION64_PATH"):
    file = work / "profile.json"
    environment = dict(os.environ) if adapter is None else {**os.environ, adapter: ADAPTER}
    done = subprocess.run([ADAPTYST, "run", "--engine=inline", "--format=none", f"--output={file}", "--", PROGRAM,
                           *map(str, words)], env=environment, capture_output=True, text=True, timeout=120, check=False)
    failures.equal((done.returncode, done.stderr), (0, ""), f"{words}: runs without a message")
    return read_figure(done), profiles.read(file.read_text())


def read_figure(done):
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


def kernels(profile, below="launcher"):
    return [row for row in profile["regions"] if row["kind"] == "kernel" and row["path"][0] == below]


def gpu(profile):
    return next(device for device in profile["devices"] if device["kind"] == "gpu")


def case_durations_are_those_of_the_gpus_timer():
    count = 200
    truth, profile = observed("spin", count)
    rows = [row for row in kernels(profile) if "spin" in row["path"][-1]]
    failures.equal(sum(row["count"] for row in rows), count, "every kernel is below the region that launched it")
    failures.equal(profile["accounting"]["lost"], {}, "nothing is lost")
    # The kernel's own time lacks its begin and end, some 1 us of 200.
    ours = sum(row["total_ns"] for row in rows)
    figures["cuda_duration_error_percent"] = round(100 * abs(ours / truth["kernels_ns"] - 1), 3)
    figures["cuda_events_error_percent"] = round(100 * abs(truth["events_ns"] / truth["kernels_ns"] - 1), 3)
    failures.check(abs(ours / truth["kernels_ns"] - 1) <= 0.02, "within 2 % of the GPU's timer", (ours, truth))


def case_tracked_by_events():
    count = 200
    truth, profile = observed("tracked", count, adapter=None)
    rows = kernels(profile)
    failures.equal(sum(row["count"] for row in rows), count, "every piece of work")
    failures.equal(profile["accounting"]["lost"], {}, "nothing is lost")
    ours = sum(row["total_ns"] for row in rows)
    figures["cuda_tracked_error_percent"] = round(100 * abs(ours / truth["kernels_ns"] - 1), 3)
    failures.check(abs(ours / truth["kernels_ns"] - 1) <= 0.02, "within 2 % of the GPU's timer", (ours, truth))
    failures.check(gpu(profile)["clock"]["sync_points"] >= 2, "its clock was compared", gpu(profile)["clock"])


def case_preloaded():
    _, profile = observed("spin", 20, adapter="LD_PRELOAD")
    failures.equal(sum(row["count"] for row in kernels(profile)), 20, "the driver calls a preloaded library")


def case_streams_overlap():
    _, profile = observed("streams")
    total = sum(row["total_ns"] for row in kernels(profile))
    failures.check(gpu(profile)["busy_ns"] < 0.75 * total, "the union is less than the sum", (gpu(profile)["busy_ns"], total))


def case_graphs():
    _, profile = observed("graph", 50)
    failures.equal(sum(row["count"] for row in kernels(profile)), 50, "every kernel of the graph is below its launch")


def case_memory_of_devices():
    truth, profile = observed("memory")
    paths = {row["id"]: row["path"] for row in profile["regions"]}
    spaces = {space["name"]: space for space in profile["memory_spaces"]}
    failures.equal(sorted(spaces), ["CUDA, device 0", "CUDA, managed", "CUDA, memory pools"], "a space for each kind")
    device, managed = spaces["CUDA, device 0"], spaces["CUDA, managed"]
    pitched, plain = truth["pitched_bytes"], 64 << 20
    failures.equal((device["allocated_bytes"], device["freed_bytes"]), (plain + pitched, plain),
                   "all bytes, without those that failed or are in a graph")
    failures.equal((device.get("live_bytes"), managed.get("live_bytes")), (pitched, 1 << 20), "what is not freed is live")
    failures.equal(paths[device["high_water_region"]], ["allocate"], "the region with the high-water mark")
    failures.equal((managed["allocated_bytes"], managed["freed_bytes"]), (1 << 20, 0), "managed memory")
    pools = spaces["CUDA, memory pools"]
    failures.equal((pools["allocated_bytes"], pools["freed_bytes"]), (1 << 16, 1 << 16), "memory of a stream")
    _, profile = observed("streams")
    failures.equal(profile.get("memory_spaces") or [], [], "kernels alone allocate nothing")


def case_launch_overhead():
    """Over a launch alone, and over what CUPTI costs by itself."""
    kinds = {"alone": [], "with records": [], "with callbacks": [], "observed": []}
    for _ in range(5):
        kinds["alone"].append(plain("launches", 5000)["launch_ns"])
        kinds["with records"].append(plain("launches", 5000, "records")["launch_ns"])
        kinds["with callbacks"].append(plain("launches", 5000, "callbacks")["launch_ns"])
        kinds["observed"].append(observed("launches", 5000)[0]["launch_ns"])
    medians = {kind: statistics.median(values) for kind, values in kinds.items()}
    figures["cuda_launch_overhead_ns"] = round(medians["observed"] - medians["alone"], 1)
    figures["cuda_launch_over_cupti_ns"] = round(medians["observed"] - medians["with callbacks"], 1)
    failures.check(True, "measured")
    for kind, values in kinds.items():
        print(f"a launch {kind}, ns: " + ", ".join(f"{value:.0f}" for value in sorted(values)))


plain("launches", 1)
try:
    run_cases(globals(), [word for word in sys.argv[4:] if word != OUTPUT], failures)
finally:
    print(json.dumps(figures))
    if OUTPUT:
        pathlib.Path(OUTPUT).write_text(json.dumps(figures))
