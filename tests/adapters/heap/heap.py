#!/usr/bin/env python3
"""Programs that allocate in regions, observed with memory=heap: heap.py ADAPTYST PROGRAM STATIC NEXT BOTH LINKED UNLINKED ENGINE [CASE…]"""
import itertools
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, output, scratch, tool  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, PROGRAM, STATIC, NEXT, BOTH, LINKED, UNLINKED, ENGINE = sys.argv[1:9]
failures = Failures()
profile_file = scratch() / "profile.json"
LIMIT_KIB = 250_000
KEYS = ("allocated_bytes", "allocations", "freed_bytes", "frees")


def observe(way, memory, program=PROGRAM, limit_kib=None, **variables):
    """Returns the profile, the output of the program, and the messages."""
    limited = ["sh", "-c", f'ulimit -v {limit_kib}; exec "$@"', "sh"] if limit_kib else []
    done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--format=none", "--with=none", "--overhead=none", f"--memory={memory}",
                           f"--output={profile_file}", "--", *limited, program, way], capture_output=True, text=True, timeout=200, check=False,
                          env={**os.environ, **variables})
    failures.equal(done.returncode, 0, f"{way} ends as ever: {done.stderr}")
    return profiles.read(profile_file.read_text(encoding="utf-8")), done.stdout, done.stderr


def heap_of(profile):
    return {"/".join(row["path"]): row["heap"] for row in profile["regions"] if "heap" in row}


def accounts(printed):
    return {words[0]: dict(zip(KEYS, map(int, words[1:]))) for words in map(str.split, printed.splitlines())}


def case_each_function_is_counted_exactly():
    profile, printed, messages = observe("known", "exact-heap")
    failures.equal(messages, "", "messages")
    found = heap_of(profile)
    for region, expected in accounts(printed).items():
        failures.equal({key: found[region][key] for key in KEYS}, expected, region)
        failures.equal("allocated_bytes_error" in found[region], False, "an exact number has no error")


def case_four_threads_are_counted_exactly():
    profile, printed, _ = observe("mixed", "exact-heap")
    found = heap_of(profile)
    for region, expected in accounts(printed).items():
        failures.equal({key: found[region][key] for key in KEYS}, expected, region)


def case_estimates_are_within_their_error():
    profile, printed, _ = observe("mixed", "heap")
    found, expected = heap_of(profile), accounts(printed)
    of_solve = found["solve"]
    # Not the numbers of calls: few of the small blocks are sampled, and the error does not include the others.
    failures.check(abs(of_solve["allocated_bytes"] - expected["solve"]["allocated_bytes"]) < 5 * of_solve["allocated_bytes_error"],
                  f"{of_solve} {expected}")
    failures.check(of_solve["allocated_bytes_error"] < 0.05 * expected["solve"]["allocated_bytes"], f"the error is small: {of_solve}")
    failures.check(abs(found["release"]["freed_bytes"] - expected["release"]["freed_bytes"]) < 5 * of_solve["allocated_bytes_error"],
                  f"freed: {found} {expected}")
    failures.equal(found["release"]["allocations"], 0, "none is made up")
    failures.check(abs(found["release"]["freed_bytes"] - expected["release"]["freed_bytes"]) < 5 * found["release"]["freed_bytes_error"],
                  f"freed by its own error: {found}")
    live = expected["solve"]["allocated_bytes"] - expected["release"]["freed_bytes"]
    failures.check(abs(of_solve["live_bytes"] - live) < 5 * of_solve["live_bytes_error"], f"live: {of_solve}, {live}")
    failures.equal(of_solve["sampling_interval_bytes"], 512 << 10, "sampled")


def case_the_high_water_mark_has_its_region():
    for memory, most in (("exact-heap", 65 << 20), ("heap", 90 << 20)):
        profile, _, _ = observe("peaks", memory)
        totals = profile["heap"]
        region = [row for row in profile["regions"] if row["id"] == totals["high_water_region"]]
        failures.equal([row["path"] for row in region], [["first"]], "where it is reached")
        mark = totals["all"]["high_water_bytes"]
        failures.check((64 << 20 if memory == "exact-heap" else 45 << 20) <= mark <= most, f"{memory}: {mark}")
        failures.check(totals["live_bytes"] < 4 << 20, f"live: {totals}")


def case_a_child_counts_its_own_blocks():
    profile, printed, _ = observe("forked", "exact-heap")
    failures.equal(printed, "failed 0\n", "no child fails")
    child = heap_of(profile)["child"]
    failures.equal({key: child[key] for key in KEYS}, {"allocated_bytes": 750000, "allocations": 250, "freed_bytes": 750000, "frees": 250},
                   "blocks of the parent are not the child's")


def case_signal_handlers_may_allocate():
    profile, printed, _ = observe("signals", "exact-heap")
    failures.equal(printed, "handled 20000\n", "the program ends as ever")
    failures.equal(heap_of(profile)["solve"]["allocations"], 40000, "allocations between events")


def case_short_threads_share_recorders():
    profile, _, _ = observe("threads", "exact-heap")
    found = heap_of(profile)["thread"]
    failures.equal((found["allocations"], found["frees"], found["allocated_bytes"]), (20000, 20000, 2000000), "threads")


def case_glibc_may_allocate_while_a_thread_obtains_its_recorder():
    """With the 40 keys of the other allocator, pthread_setspecific() calls calloc(), once in each thread."""
    profile, _, _ = observe("threads", "exact-heap", LD_PRELOAD=NEXT)
    found = heap_of(profile)["thread"]
    failures.equal((found["allocations"], found["frees"], found["allocated_bytes"]), (20000, 20000, 2000000), "threads")
    failures.check(19000 < found["nested_calls"] <= 20000, f"calls of glibc: {found}")
    failures.equal(profile["accounting"]["lost"], {}, "no event is lost")


def case_another_preloaded_allocator_gets_the_calls():
    profile, printed, _ = observe("known", "exact-heap", LD_PRELOAD=NEXT)
    calls = [line for line in printed.splitlines() if line.startswith("next ")]
    failures.equal(len(calls), 1, "it ends with a line")
    own = accounts("\n".join(line for line in printed.splitlines() if not line.startswith("next ")))
    found = heap_of(profile)
    for region, expected in own.items():
        failures.equal({key: found[region][key] for key in KEYS}, expected, region)
    failures.check(int(calls[0].split()[1]) > own["solve"]["allocations"] // 2, f"it is called: {calls}")


ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4")


def find_allocators():
    found = [str(file) for name in ALLOCATORS for file in sorted(pathlib.Path("/usr/lib").glob(f"*/{name}"))[:1]]
    if not found:
        raise Missing(" and ".join(ALLOCATORS))
    return found


def case_blocks_of_jemalloc_and_tcmalloc_are_counted():
    """Except those of their own operator new: in each step of solve one of 33 bytes; four of them are freed in release."""
    for allocator in find_allocators():
        profile, printed, messages = observe("elsewhere", "exact-heap", LD_PRELOAD=allocator)
        failures.equal(messages, "", f"{allocator}: messages")
        found, expected = heap_of(profile), accounts(printed)
        for region, allocated, freed in (("solve", 10, 0), ("release", 0, 4)):
            account = expected[region]
            failures.equal({key: found[region][key] for key in KEYS},
                           {"allocated_bytes": account["allocated_bytes"] - 33 * allocated, "allocations": account["allocations"] - allocated,
                            "freed_bytes": account["freed_bytes"] - 33 * freed, "frees": account["frees"] - freed}, f"{allocator}: {region}")
        profile, printed, _ = observe("mixed", "heap", LD_PRELOAD=allocator)
        found, expected = heap_of(profile)["solve"], accounts(printed)["solve"]
        failures.check(abs(found["allocated_bytes"] - expected["allocated_bytes"]) < 5 * found["allocated_bytes_error"], f"{allocator}: {found}, {expected}")


def case_an_allocator_in_front_is_named():
    """It gets the calls of the program, and the adapter none: figures would be 0."""
    for allocator in find_allocators():
        for memory in ("exact-heap", "heap"):
            words = ["sh", "-c", f'LD_PRELOAD="{allocator}:$LD_PRELOAD" exec "$@"', "sh", PROGRAM, "elsewhere"]
            done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--format=none", "--with=none", "--overhead=none", f"--memory={memory}",
                                   f"--output={profile_file}", "--", *words], capture_output=True, text=True, timeout=200, check=False)
            failures.equal(done.returncode, 0, f"{allocator} ends as ever: {done.stderr}")
            profile = profiles.read(profile_file.read_text(encoding="utf-8"))
            failures.equal([row for row in heap_of(profile) if row in ("solve", "release")], [], f"{allocator}: nothing is made up")
            message = " ".join(done.stderr.split())
            failures.equal(message.count(f"{os.path.basename(allocator)} is in front of the heap adapter"), 1, f"{allocator}: {message}")


PASSING_ON = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
static unsigned long calls;
void* malloc(size_t bytes) {
  static void* (*next)(size_t);
  if (next == NULL) next = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
  ++calls;
  return next(bytes);
}
"""
# As mimalloc: its reallocarray() calls its own realloc() within.
WITH_REALLOCARRAY = """#include <stddef.h>
extern void* __libc_malloc(size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_calloc(size_t, size_t);
extern void __libc_free(void*);
void* malloc(size_t bytes) { return __libc_malloc(bytes); }
void free(void* block) { __libc_free(block); }
void* calloc(size_t count, size_t bytes) { return __libc_calloc(count, bytes); }
void* realloc(void* block, size_t bytes) { return __libc_realloc(block, bytes); }
void* reallocarray(void* block, size_t count, size_t bytes) {
  size_t all;
  return __builtin_mul_overflow(count, bytes, &all) ? NULL : __libc_realloc(block, all);
}
"""
OWN_MALLOC = """#include <stddef.h>
extern void* __libc_malloc(size_t);
void* malloc(size_t bytes) { return __libc_malloc(bytes); }
int main(void) { return 0; }
"""


def compile_c(name, text, *options):
    made, source = profile_file.parent / name, profile_file.parent / f"{name}.c"
    source.write_text(text)
    output([tool("cc"), "-O1", "-fno-builtin", *options, source, "-o", made])
    return made


def start_with(library, program, *words, stderr=subprocess.PIPE):
    """Observes a program with the library in front of the adapter."""
    return subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--format=none", "--with=none", "--overhead=none", "--memory=exact-heap",
                           f"--output={profile_file}", "--", "sh", "-c", 'LD_PRELOAD="$0:$LD_PRELOAD" "$@"; echo "ended $?"', library, program, *words],
                          stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=200, check=False)


def case_calls_that_another_malloc_passes_on_are_counted():
    done = start_with(compile_c("passing_on.so", PASSING_ON, "-shared", "-fPIC"), PROGRAM, "known")
    failures.equal((done.returncode, done.stderr), (0, ""), "the program ends as ever, without messages")
    found = heap_of(profiles.read(profile_file.read_text(encoding="utf-8")))
    for region, expected in accounts(done.stdout).items():
        if region != "ended":
            failures.equal({key: found.get(region, {}).get(key) for key in KEYS}, expected, region)


def case_an_allocator_between_two_adapters_is_named():
    done = start_with(NEXT, BOTH, "known")
    message = " ".join(done.stderr.split())
    failures.equal(message.count("another allocator is in front of the heap adapter and gets the calls"), 1, message)
    found = heap_of(profiles.read(profile_file.read_text(encoding="utf-8")))
    failures.equal([row for row in found if row in ("solve", "release")], [], "nothing is made up")


def case_a_message_has_no_effect_on_the_program():
    """Its own malloc() passes nothing on; the message goes to a pipe without a reader."""
    program = compile_c("own_malloc", OWN_MALLOC)
    message = " ".join(start_with("", program).stderr.split())
    failures.check("own_malloc is in front of the heap adapter" in message and "call the next malloc() from it" in message, message)
    reader, writer = os.pipe()
    os.close(reader)
    failures.equal(start_with("", program, stderr=writer).stdout, "ended 0\n", "the program ends as ever")
    os.close(writer)


def case_reallocarray_of_another_allocator_is_counted():
    profile, printed, _ = observe("known", "exact-heap", LD_PRELOAD=str(compile_c("with_reallocarray.so", WITH_REALLOCARRAY, "-shared", "-fPIC")))
    found = heap_of(profile)
    for region, expected in accounts(printed).items():
        failures.equal({key: found[region][key] for key in KEYS}, expected, region)


def case_churn_and_growth_are_found_and_a_cache_is_not():
    profile, _, _ = observe("steps", "heap")
    found = sorted((finding["kind"], finding["path"]) for finding in profile["findings"] if finding["kind"].startswith("heap"))
    failures.equal(found, [("heap_churn", ["churn"]), ("heap_growth", ["grow"])], str(heap_of(profile)))


def case_resident_memory_needs_no_adapter():
    profile, _, _ = observe("peaks", "rss")
    failures.equal(heap_of(profile), {}, "no allocations")
    process = profile["process"]
    failures.check(1 << 20 < process["rss_bytes"] <= process["peak_rss_bytes"], str(process))
    failures.check("peak_rss_bytes" not in observe("peaks", "none")[0]["process"], "not without a request")


def case_resident_memory_over_time():
    profile, printed, _ = observe("resident", "rss")
    points = profile["process"]["resident"]
    failures.check(8 <= len(points) <= 128, "up to ten points a second", len(points))
    failures.check(all(a["after_ns"] < b["after_ns"] for a, b in zip(points, points[1:])), "in order", points)
    at_ns, held = zip(*(map(int, line.split()) for line in printed.splitlines()))
    least = points[-1]["rss_bytes"]
    near = [(next((step for step in sorted(set(held)) if abs(point["rss_bytes"] - least - step) < 2 << 20), None), point["after_ns"]) for point in points]
    steps = [(step, [after_ns for _, after_ns in found])
             for step, found in itertools.groupby((point for point in near if point[0] is not None), lambda point: point[0])]
    falls = sum(a["rss_bytes"] - b["rss_bytes"] > 2 << 20 for a, b in zip(points, points[1:]))
    failures.check(falls <= 2, "memory grows until all is returned", points)  # a point may be in the middle of that
    # The observation begins before the program's own clock, on a busy machine much earlier: lengths are compared.
    if failures.equal(tuple(step for step, _ in steps), held, "each step has points"):
        for before, (_, within), after, begin_ns, end_ns in zip(steps, steps[1:], steps[2:], at_ns[1:], at_ns[2:]):
            failures.check(within[-1] - within[0] - 1e8 < end_ns - begin_ns < after[1][0] - before[1][-1] + 1e8, "lengths of steps", (steps, at_ns))
    failures.check("resident" not in observe("resident", "none")[0]["process"], "not without a request")


LARGE_BEFORE = "import os, sys, time; held = bytearray(200 << 20); time.sleep(0.6); os.execv(sys.argv[1], sys.argv[1:])"


def case_resident_memory_is_that_of_the_last_program():
    """As its peak: exec() begins another program."""
    done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--format=none", "--with=none", "--memory=rss", f"--output={profile_file}", "--",
                           sys.executable, "-c", LARGE_BEFORE, PROGRAM, "resident"], capture_output=True, text=True, timeout=100, check=False)
    failures.equal(done.returncode, 0, f"the program ends as ever: {done.stderr}")
    process = profiles.read(profile_file.read_text(encoding="utf-8"))["process"]
    points = process["resident"]
    failures.check(len(points) >= 8, "points of the last program", points)
    most = max(point["rss_bytes"] for point in points)  # the kernel rounds both figures
    failures.check(most <= process["peak_rss_bytes"] + (1 << 20), "no point is above the peak", (most, process["peak_rss_bytes"]))
    failures.check(most < 190 << 20, "200 MiB were those of the first program", most)
    failures.check(points[0]["after_ns"] > 500e6, "after the first program", points[0])


def case_large_blocks_have_an_error_too():
    """Each block of 1 MiB or more is sampled with p near 1, and is an estimate all the same."""
    for region in ("first", "second"):
        heap = heap_of(observe("peaks", "heap")[0])[region]
        failures.check(heap["high_water_error"] > 0 if region == "first" else True, str(heap))
        for key in ("allocated_bytes_error", "allocations_error", "freed_bytes_error", "frees_error", "live_bytes_error"):
            failures.check(key in heap, f"{region} {key}: {heap}")


def case_a_linked_and_preloaded_adapter_counts_once():
    profile, printed, messages = observe("known", "exact-heap", program=BOTH)
    failures.equal(messages, "", "messages")
    found = heap_of(profile)
    for region, expected in accounts(printed).items():
        failures.equal({key: found[region][key] for key in KEYS}, expected, region)


def case_frees_are_unknown_if_the_table_has_no_memory():
    """The table of exact-heap takes 160 MiB of addresses."""
    profile, printed, _ = observe("known", "exact-heap", limit_kib=LIMIT_KIB)
    heap, expected = heap_of(profile)["solve"], accounts(printed)["solve"]
    failures.equal([heap[key] for key in ("allocations", "allocated_bytes")], [expected[key] for key in ("allocations", "allocated_bytes")],
                   "allocations are counted")
    failures.equal(heap["untracked_bytes"], expected["allocated_bytes"], "all are untracked")
    failures.equal([key for key in ("freed_bytes", "frees", "high_water_bytes") if key in heap], [], "unknown values are absent")
    failures.equal(profile["heap"]["live_bytes"], None, "unknown")


def case_a_preloaded_sanitizer_is_refused():
    profile, _, messages = observe("known", "heap", LD_PRELOAD="/nowhere/libasan.so.8")
    failures.check("a sanitizer has its own allocator" in " ".join(messages.split()), messages)
    failures.equal(heap_of(profile), {}, "nothing is made up")


def case_a_static_program_is_named():
    profile, _, messages = observe("known", "heap", program=STATIC)
    failures.check("linked statically: its allocations cannot be counted" in " ".join(messages.split()), messages)
    failures.equal(heap_of(profile), {}, "nothing is made up")


def case_a_collector_uses_the_linked_adapter():
    """A region within the program's own operator new is nested in the open region, with the allocation."""
    done = subprocess.run([LINKED], capture_output=True, text=True, timeout=100, check=False)
    failures.equal((done.returncode, done.stderr), (0, ""), "the program ends as ever")
    failures.equal(sorted(done.stdout.splitlines()), ["operator new 1 4 1 0", "solve 1 1000 10 11"], "regions")


def case_a_process_has_one_mode():
    done = subprocess.run([LINKED, "again"], capture_output=True, text=True, timeout=100, check=False)
    failures.equal(done.returncode, 0, "the program ends as ever")
    failures.check("in the other mode already" in " ".join(done.stderr.split()), "the message", done.stderr)


def case_a_collector_without_the_adapter_warns():
    done = subprocess.run([UNLINKED], capture_output=True, text=True, timeout=100, check=False)
    failures.equal(done.returncode, 0, "the program ends as ever")
    failures.check("memory=heap: no heap adapter in this program" in done.stderr, "the message", done.stderr)
    failures.equal(sorted(done.stdout.splitlines()), ["operator new 1 0 0 0", "solve 1 0 0 0"], "regions")


run_cases(dict(globals()), sys.argv[9:], failures)
