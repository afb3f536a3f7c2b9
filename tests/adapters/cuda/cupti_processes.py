#!/usr/bin/env python3
"""libadaptyst-cuda.so in programs of their own: cupti_processes.py ADAPTYST PROGRAM ADAPTER STUB [CASE …]

The program uses a stub of CUPTI, and no device."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, PROGRAM, ADAPTER, STUB = sys.argv[1:5]
failures = Failures()
work = scratch()
LIMIT = 60
TAIL = "adaptyst: CUDA is not observed: "


def start(words, **environment):
    everything = {**os.environ, **environment}
    for name in ("CUDA_INJECTION64_PATH", "ADAPTYST_CUPTI", "LD_PRELOAD"):
        if name not in environment:
            everything.pop(name, None)
    return subprocess.run(words, env=everything, capture_output=True, text=True, timeout=LIMIT, check=False)


def observed(*words, **environment):
    """The program under `adaptyst run`, and its profile."""
    file = work / "profile.json"
    file.unlink(missing_ok=True)
    done = start([ADAPTYST, "run", "--engine=inline", "--format=none", f"--output={file}", "--", PROGRAM, *words], **environment)
    return done, profiles.read(file.read_text()) if file.exists() else {"regions": [], "accounting": {}, "devices": []}


def counts(profile):
    return {"/".join(region["path"]): region["count"] for region in profile["regions"]}


def case_what_is_done_at_the_end_is_in_the_profile():
    done, profile = observed("calls", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=STUB)
    failures.equal((done.returncode, done.stdout), (0, "injected: 1\ndone\n"), "the program runs as ever")
    failures.equal(done.stderr, "", "and nothing is reported")
    failures.equal(counts(profile), {"step": 100, "step/stencil(double*, double*)": 100}, "every kernel, below its launcher")
    failures.equal(profile["accounting"]["lost"], {}, "nothing is lost")
    kernel = next(region for region in profile["regions"] if region["kind"] == "kernel")
    failures.equal(kernel["total_ns"], 100 * 500, "as long as the device said")
    gpu = next(device for device in profile["devices"] if device["kind"] == "gpu")
    failures.equal(gpu["kernel_ns"], 100 * 500, "and the device was busy for as long")
    failures.equal(gpu["clock"], None, "in our clock")


def case_preloaded_it_is_what_the_driver_will_call():
    done, profile = observed("calls", LD_PRELOAD=ADAPTER, ADAPTYST_CUPTI=STUB)
    failures.equal(done.stdout, "injected: 1\ndone\n", "the driver finds it")
    failures.equal(counts(profile).get("step/stencil(double*, double*)"), 100, "every kernel")
    other = start([PROGRAM], LD_PRELOAD=ADAPTER, CUDA_INJECTION64_PATH="/no/such/tool")
    failures.equal(other.stdout, "cannot open /no/such/tool\n", "another tool is left where it is")


def case_a_clock_that_cupti_insists_on_is_converted():
    done, profile = observed("calls", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=STUB, CUPTI_STUB_WITHOUT_CLOCK="1")
    failures.equal(done.stderr, "", "nothing is reported")
    failures.equal(counts(profile).get("step/stencil(double*, double*)"), 100, "every kernel")
    kernel = next(region for region in profile["regions"] if region["kind"] == "kernel")
    gpu = next(device for device in profile["devices"] if device["kind"] == "gpu")
    failures.equal((gpu["clock"] or {}).get("name"), "realtime", "which clock is reported")
    failures.check(abs(kernel["total_ns"] - 100 * 500) < 100 * 50, "as long as the device said", kernel["total_ns"])
    failures.equal(profile["accounting"]["lost"], {}, "nothing is lost")


def spaces(profile):
    """Allocated, freed and live bytes of each memory space, the high-water mark and the region in which it was reached."""
    paths = {row["id"]: "/".join(row["path"]) for row in profile["regions"]}
    return {space["name"]: (space["allocated_bytes"], space["freed_bytes"], space.get("live_bytes"),
                            space["high_water_bytes"], paths[space["high_water_region"]])
            for space in profile.get("memory_spaces") or []}


def case_memory_of_devices():
    expected = {"CUDA, device 0": (4192, 4096, 96, 4096, "allocate"), "CUDA, device 1": (100, 0, 100, 100, "allocate"),
                "CUDA, managed": (300, 0, 300, 300, "allocate")}
    done, profile = observed("memory", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=STUB)
    failures.equal((done.returncode, done.stderr), (0, ""), "the program runs as ever")
    failures.equal(spaces(profile), expected, "memory by device; what ends with the program is live")
    done, profile = observed("memory", "late", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=STUB)
    failures.equal(done.stderr, "", "calls at the end wait for nothing")
    failures.equal(spaces(profile)["CUDA, device 0"], (4192, 4192, 0, 4096, "allocate"), "a destructor of a static object frees")
    done, profile = observed("memory", "unknown", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=STUB)
    expected["CUDA, device 0"] = (4192, 4096, None, 4096, "allocate")
    failures.equal(spaces(profile), expected, "after the free of unknown memory, live bytes are absent")
    done, profile = observed("memory", "twice", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=STUB)
    live = {name: space[2] for name, space in spaces(profile).items()}
    failures.equal(live, {"CUDA, device 0": 103, "CUDA, device 1": None, "CUDA, managed": 300},
                   "an address that is allocated twice was freed unseen on its first device")
    done, profile = observed("calls", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=STUB)
    failures.equal(spaces(profile), {}, "without allocations, there is nothing")


def case_thread_that_waits_in_cupti():
    """It holds the adapter's lock: the end of the program waits for it once."""
    done, profile = observed("memory", "late", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=STUB, CUPTI_STUB_WAITS="1")
    failures.equal((done.returncode, done.stderr), (0, ""), "later calls do not wait")
    failures.equal(spaces(profile)["CUDA, device 0"], (4192, 4192, 0, 4096, "allocate"), "contexts of the end free nothing")


def case_children_that_free():
    """A thread of the parent may hold the adapter's lock at the fork, and the lock stays locked in the child."""
    done, profile = observed("forks", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=STUB)
    failures.equal((done.returncode, done.stdout), (0, "injected: 1\nchildren: 20\ndone\n"), "no child waits without end")
    failures.equal(done.stderr, "", "no child calls CUPTI")
    allocated, freed, live = spaces(profile)["CUDA, device 0"][:3]
    failures.check(allocated == freed == 80000 and live == 0, "memory of the parent is counted", (allocated, freed, live))


def case_without_cupti():
    done, profile = observed("calls", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI="/no/such/libcupti.so")
    failures.equal((done.returncode, done.stdout), (0, "injected: 1\ndone\n"), "the program runs as ever")
    failures.equal(done.stderr, TAIL + "cannot open /no/such/libcupti.so; ADAPTYST_CUPTI=FILE names another\n", "one line")
    failures.equal(counts(profile), {"step": 100}, "its own regions are there")
    done, _ = observed("calls", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI="libc.so.6")
    failures.check(done.stderr.startswith(TAIL + "this libcupti.so lacks functions"), "a library that is not CUPTI", done.stderr)
    done, _ = observed("calls", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=STUB, CUPTI_STUB_VERSION="8")
    failures.check("is of version 8, which is too old" in done.stderr, "an old CUPTI", done.stderr)


def case_without_a_driver():
    for function, result in (("cuptiActivityEnable", 999), ("cuptiSubscribe", 999), ("cuptiSubscribe", 39),
                             ("cuptiActivityRegisterCallbacks", 1)):
        done, profile = observed("calls", CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=STUB,
                                 CUPTI_STUB_FAILS=f"{function}:{result}")
        why = "another tool observes CUDA" if result == 39 else "is there a driver, and a device?"
        failures.equal((done.returncode, done.stdout), (0, "injected: 1\ndone\n"), f"{function}: the program runs as ever")
        failures.equal(done.stderr, f"{TAIL}{function}: RESULT_OF_THE_STUB ({result}); {why}\n", f"{function}: one line")
        failures.equal(counts(profile), {"step": 100}, f"{function}: its own regions are there")


def case_without_observer():
    done = start([PROGRAM, "calls"], CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI="/no/such/libcupti.so")
    failures.equal((done.returncode, done.stdout, done.stderr), (0, "injected: 1\ndone\n", ""), "CUPTI is not even opened")


def case_real_cupti_without_a_device():
    real = next((path for path in (pathlib.Path("/usr/local/cuda/lib64/libcupti.so.13"),
                                   pathlib.Path("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so")) if path.exists()), None)
    if real is None:
        raise Missing("no CUPTI of NVIDIA's")
    if pathlib.Path("/dev/nvidiactl").exists():
        raise Missing("there is a device")
    # What it leaves behind or does not lock is not ours to judge.
    done, profile = observed(CUDA_INJECTION64_PATH=ADAPTER, ADAPTYST_CUPTI=str(real), ASAN_OPTIONS="detect_leaks=0",
                             TSAN_OPTIONS="report_bugs=0")
    failures.equal((done.returncode, done.stdout), (0, "injected: 1\ndone\n"), "the program runs as ever")
    failures.equal(done.stderr, TAIL + "cuptiSubscribe: CUPTI_ERROR_UNKNOWN (999); is there a driver, and a device?\n", "one line")
    failures.equal(profile["regions"], [], "nothing is made up")


run_cases(globals(), sys.argv[5:], failures)
