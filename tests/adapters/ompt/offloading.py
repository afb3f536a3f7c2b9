"""Target regions, kernels and copies of a program that offloads, compared with the program's own figures."""
from openmp_programs import Runtime, attribute, check_account, failures, find_kind, sources, total

TO_HOST = "-fopenmp-targets=x86_64-pc-linux-gnu"


def select_kind(profile, kind):
    return [region for region in profile["regions"] if region["kind"] == kind]


def check(runtime):
    printed, messages, profile = runtime.observed(runtime.program("offloaded.c", TO_HOST))
    targets, kernels, to, came_back, devices = map(int, printed)
    check_account(profile, "LLVM 19")
    failures.equal(devices, 4, "the runtime has devices")
    failures.check("timed by the host" in messages and messages.count("adaptyst:") == 1, "the source of the times is reported, once", messages)

    seen = [region for region in profile["regions"] if find_kind(region["path"][-1]).startswith("target")]
    failures.equal(total(seen, "count"), targets, "target regions")
    waits = [region for region in seen if region["kind"] == "wait"]
    failures.equal(total(waits, "count"), targets, "they are waits; LLVM 19 tells nothing of `nowait`")
    names = {find_kind(row["path"][-1]) for row in seen}
    failures.equal(names, {"target", "target enter data", "target exit data", "target update"}, "what they are called")

    failures.equal(total(select_kind(profile, "kernel"), "count"), kernels, "kernels")
    failures.equal(attribute(select_kind(profile, "copy_to"), "bytes"), to, "bytes to devices")
    failures.equal(attribute(select_kind(profile, "copy_from"), "bytes"), came_back, "bytes from devices")
    allocated, freed = ([region for region in profile["regions"] if region["path"][-1] == name] for name in ("allocate", "free"))
    failures.check(total(allocated, "count") > 0, "allocations")
    failures.check(attribute(profile["regions"], "allocated_bytes") > 0, "bytes allocated")
    failures.equal(total(allocated, "count"), total(freed, "count"), "what is allocated is freed")
    for row in select_kind(profile, "kernel") + select_kind(profile, "copy_to") + allocated:
        failures.check(find_kind(row["path"][-2]).startswith("target"), f"{row['path']} is below its target region")

    found = {device["index"]: device for device in profile["devices"] if device["name"] == "OpenMP generic-64bit"}
    failures.equal(set(found), {0, 1}, "devices that were used")
    failures.equal({found_device["kind"] for found_device in found.values()}, {"accelerator"}, "their kind")
    failures.equal(len(profile["devices"]), 3, "no device of an unknown number")
    by_id = {device["id"]: device for device in profile["devices"]}
    second = [copy for copy in select_kind(profile, "copy_to") if by_id[copy["device"]]["index"] == 1]
    failures.equal(attribute(second, "bytes"), 5 * 8000, "bytes to the second device")


def check_silent(runtime):
    """LLVM 14 offloads, and reports it to no tool."""
    printed, messages, profile = runtime.observed(runtime.program("offloaded.c", TO_HOST))
    failures.equal(len(printed), 5, "LLVM 14: the program runs")
    failures.check("OMPT target callbacks: unavailable" in messages and '"never"' in messages, "LLVM 14: that is reported", messages)
    failures.equal(select_kind(profile, "kernel") + select_kind(profile, "copy_to"), [], "LLVM 14: nothing is made up")
    check_account(profile, "LLVM 14")


def check_example(runtime):
    printed, _, profile = runtime.observed(runtime.program(sources / "examples/openmp_heat/main.cpp", TO_HOST))
    failures.equal(printed[:2], ["heat", "1.000000000000,"], "openmp_heat: no heat is lost")
    failures.equal(total(select_kind(profile, "kernel"), "count"), 100, "openmp_heat: a kernel a step")
    for kind in ("copy_to", "copy_from"):
        failures.equal(attribute(select_kind(profile, kind), "bytes"), 2 * 200000 * 8, f"openmp_heat: the rod, {kind}")
    check_account(profile, "openmp_heat")


check_silent(Runtime(14))
latest = Runtime(19)
if latest.is_there:
    check(latest)
    check_example(latest)
else:
    print("skipped: LLVM 19's OpenMP is not there (scripts/install-dependencies test)")
failures.exit(min_checks=5)
