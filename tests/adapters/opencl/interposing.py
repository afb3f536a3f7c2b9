#!/usr/bin/env python3
"""libadaptyst-opencl.so on programs that know nothing of it: interposing.py ADAPTYST LIBRARY VECTOR_SUM UNMODIFIED
SAXPY ENGINE [CASE …]"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, output, scratch, tool  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, LIBRARY, VECTOR_SUM, UNMODIFIED, SAXPY, ENGINE = sys.argv[1:7]
failures = Failures()
work = scratch()
# A sanitizer's runtime wants to be the first of all libraries.
PRELOADED = ["env", f"LD_PRELOAD={LIBRARY}", f"ASAN_OPTIONS={os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"]


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)


def observe(*command, preloaded=True):
    file = work / "profile.json"
    done = run(ADAPTYST, "run", f"--engine={ENGINE}", "--format=none", f"--output={file}", "--",
               *(PRELOADED if preloaded else []), *command)
    failures.equal(done.returncode, 0, "the program succeeds")
    if not file.exists():
        failures.add("a profile was written", done.stdout + done.stderr)
        return done, {"regions": [], "accounting": {}, "devices": []}
    profile = profiles.read(file.read_text())
    file.unlink()
    account = profile["accounting"]
    failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), "the account adds up")
    failures.equal(profile["engine"], ENGINE, "the engine that was asked for")
    return done, profile


def regions(profile):
    return {"/".join(region["path"]): region for region in profile["regions"]
            if not region["path"][0].startswith("bytes ")}  # metrics outside all regions


def memory(profile):
    [space] = profile.get("memory_spaces", [{}])
    return [space.get(name) for name in ("allocated_bytes", "freed_bytes", "live_bytes", "high_water_bytes")]


def case_vector_sum():
    _, profile = observe(VECTOR_SUM, 100, preloaded=False)
    failures.equal(profile.get("adapters"), {"opencl": "libOpenCL.so.1"}, "a program without own names has the adapter")
    done, profile = observe(VECTOR_SUM, 100)
    failures.equal(done.stdout, "524800\n", "the result is the program's")
    seen = regions(profile)
    failures.equal({path: region["count"] for path, region in seen.items()},
                   {"add": 100, "read buffer": 1, "clFinish": 100, "clEnqueueReadBuffer": 1}, "each command and wait is counted")
    failures.equal({path: region["kind"] for path, region in seen.items()},
                   {"add": "kernel", "read buffer": "copy_from", "clFinish": "wait", "clEnqueueReadBuffer": "wait"}, "kinds")
    failures.equal(seen["read buffer"]["attributes"]["bytes"]["sum"], 4096, "bytes")
    failures.equal(profile["accounting"]["lost"], {}, "nothing is lost")
    failures.equal(memory(profile), [3 * 4096, 3 * 4096, 0, 3 * 4096], "three buffers")
    failures.equal(profile["devices"][1]["operations"], 101, "operations of the device")


REFUSING = """#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
static int calls;
#ifdef REFUSE_CALLBACK
cl_int clSetMemObjectDestructorCallback(cl_mem of, void(CL_CALLBACK* call)(cl_mem, void*), void* data) {
  cl_int (*next)(cl_mem, void(CL_CALLBACK*)(cl_mem, void*), void*) = dlsym(RTLD_NEXT, __func__);
  return calls++ == 0 ? CL_OUT_OF_RESOURCES : next(of, call, data);
}
#else
cl_int clGetMemObjectInfo(cl_mem of, cl_mem_info what, size_t bytes, void* value, size_t* needed) {
  cl_int (*next)(cl_mem, cl_mem_info, size_t, void*, size_t*) = dlsym(RTLD_NEXT, __func__);
  return what == CL_MEM_SIZE && calls++ == 0 ? CL_OUT_OF_RESOURCES : next(of, what, bytes, value, needed);
}
#endif
"""


def case_unknown_memory():
    (work / "refusing.c").write_text(REFUSING)
    for option in ("-DREFUSE_CALLBACK", "-DREFUSE_SIZE"):
        library = work / f"refusing{option}.so"
        output([tool("cc"), "-w", "-shared", "-fPIC", "-DCL_TARGET_OPENCL_VERSION=120", option, work / "refusing.c", "-o", library, "-ldl"])
        PRELOADED[1] += f":{library}"
        done, profile = observe(VECTOR_SUM, 10)
        PRELOADED[1] = f"LD_PRELOAD={LIBRARY}"
        failures.equal(done.stdout, "524800\n", f"{option}: the result is the program's")
        failures.equal(memory(profile), [2 * 4096, 2 * 4096, None, 2 * 4096], f"{option}: live bytes are unknown")
        failures.equal([space.get("has_unknown_changes") for space in profile["memory_spaces"]], [True], f"{option}: and changes")


def case_every_command():
    done, profile = observe(UNMODIFIED)
    seen = regions(profile)
    printed_rows = [line.rsplit(" ", 2) for line in done.stdout.splitlines()]
    failures.check(len(printed_rows) >= 24, "the program prints its commands", done.stdout + done.stderr)
    for name, count, nanoseconds in printed_rows:
        region = seen.get(name, {"count": 0, "total_ns": 0})
        failures.equal(region["count"], int(count), f"{name}: count")
        if int(nanoseconds):
            off = abs(region["total_ns"] - int(nanoseconds))
            failures.check(off <= 100 * int(count), f"{name}: {region['total_ns']} ns, by its events {nanoseconds} ns")
    failures.equal(sorted(path for path, region in seen.items() if region["kind"] not in ("wait",)),
                   sorted(name for name, _, _ in printed_rows), "nothing but these")
    waits = {path: region["count"] for path, region in seen.items() if region["kind"] == "wait"}
    failures.equal(waits, {"clFinish": 2, "clWaitForEvents": 1, "clEnqueueWriteBuffer": 1, "clEnqueueReadBuffer": 1,
                           "clEnqueueReadBufferRect": 1, "clEnqueueMapBuffer": 1, "clEnqueueWriteImage": 1,
                           "clEnqueueMapImage": 1, "clEnqueueSVMMemcpy": 1, "clEnqueueSVMMap": 1}, "waits")
    sums = {"write buffer": 2 * 4096, "read buffer": 4096, "write buffer rect": 1024, "fill buffer": 4096,
            "copy buffer": 4096, "copy buffer rect": 1024, "write image": 4096, "read image": 4096,
            "copy image": 4096, "copy image to buffer": 4096, "copy buffer to image": 4096,
            "fill shared memory": 4096, "copy shared memory": 4096}
    failures.equal({name: seen[name]["attributes"]["bytes"]["sum"] for name in sums if name in seen}, sums, "bytes")
    shared = [name for name in ("map buffer", "map image", "map shared memory", "unmap", "unmap shared memory") if name in seen]
    failures.check("map buffer" in shared and "unmap" in shared, "the program maps memory", shared)
    if profile["devices"][1]["kind"] == "cpu":
        failures.equal({(seen[name]["kind"], "bytes" in seen[name]["attributes"]) for name in shared}, {("other", False)},
                       "on a processor, to map is not to copy")
    failures.equal(profile["accounting"]["lost"], {}, "nothing is lost")
    allocated, freed, live, most = memory(profile)
    failures.check(allocated >= 4 * 4096 and (allocated, 0, allocated) == (freed, live, most), "two buffers, two images", memory(profile))


def case_example():
    done, profile = observe(SAXPY, preloaded=False)
    failures.equal(done.stdout, "21\n", "the result")
    failures.equal({path: (region["kind"], region["count"]) for path, region in regions(profile).items()},
                   {"upload": ("region", 1), "upload/x": ("copy_to", 1), "upload/y": ("copy_to", 1), "step": ("region", 10),
                    "step/saxpy": ("kernel", 10), "download": ("copy_from", 1), "wait for the result": ("wait", 1)}, "by itself")
    failures.equal(regions(profile)["step/saxpy"]["attributes"]["flops"]["sum"], 10 * 2 * 2**20, "flops")
    failures.equal(profile.get("adapters", {}), {}, "no adapter replaces the names and amounts of the program")
    failures.equal(profile.get("skipped_adapters", {}), {"opencl": f"{pathlib.Path(SAXPY).name} contains track() of <adaptyst/opencl.hpp>, "
                                                         "which names commands itself; all commands by --with auto,opencl"}, "the reason")
    done, profile = observe(SAXPY)
    kernels = [(path, region["count"]) for path, region in regions(profile).items() if region["kind"] == "kernel"]
    failures.equal(kernels, [("step/saxpy", 10)], "what tracks itself is not tracked twice")
    failures.equal(profile["devices"][1]["operations"], 13, "operations of the device")


def case_without_observer():
    failures.equal(run(*PRELOADED, VECTOR_SUM, 10).stdout, "524800\n", "the result is the program's")
    failures.equal(run(*PRELOADED, UNMODIFIED).returncode, 0, "every command works")
    failures.equal(run(*PRELOADED, "echo", "no OpenCL").stdout, "no OpenCL\n", "other programs run as ever")


def case_without_profiling():
    PRELOADED.append("ADAPTYST_OPENCL_PROFILING=no")
    done, profile = observe(VECTOR_SUM, 10)
    PRELOADED.pop()
    failures.equal(profile["accounting"]["lost"], {"no_times": 11}, "commands are lost by name")
    failures.equal(done.stderr.count("without CL_QUEUE_PROFILING_ENABLE"), 1, "it is reported once")
    failures.equal(regions(profile).get("clFinish", {}).get("count"), 10, "waits are seen")


run_cases(globals(), sys.argv[7:], failures)
