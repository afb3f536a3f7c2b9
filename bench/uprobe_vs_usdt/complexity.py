"""What each method takes to build and to use: lines of this repository by where they run, permissions, kernels."""
from study import METHODS, lines_of_code


def pairs(*names):
    return [f"lib/{name}.{suffix}" for name in names for suffix in ("cpp", "hpp")]


HEADERS = ["include/adaptyst/" + name for name in (
    "region.hpp", "config.hpp", "version.hpp", "probe_abi.h", "histogram.h", "detail/announce.hpp", "detail/atomic.hpp",
    "detail/clock.hpp", "detail/intervals.hpp", "detail/marker.hpp", "detail/probes.hpp", "detail/process.hpp",
    "detail/recorder.hpp", "detail/text.hpp")]
REGION_PROGRAM = ["probes/region.bpf.c", "probes/aggregate.bpf.h", "probes/record.h"]
FUNCTION_PROGRAM = ["probes/function.bpf.c", "probes/function_record.h", "probes/aggregate.bpf.h", "probes/record.h"]
RECORDER = pairs("record/recorder_reader", "record/memory", "record/clock_line")
SITES = pairs("discover/elf_probes", "record/uprobe_link", "record/kernel_rows")
FUNCTIONS = pairs("discover/elf_functions", "discover/elf_symbols", "discover/entry_instruction", "record/uprobe_link")
RETURNS = FUNCTIONS + pairs("discover/function_request", "record/function_probes", "record/summed_rows")

CAPABILITIES = "`CAP_BPF`, `CAP_PERFMON`"
# In the program, in the kernel, in the collector; permissions; first kernel.
NEEDS = {
    "idle": (HEADERS, [], [], "none", "any"),
    "inline": (HEADERS, [], RECORDER + ["lib/record/inline_engine.cpp"], "none", "any"),
    "usdt_optimised": (HEADERS, REGION_PROGRAM, SITES + pairs("record/attach_point"), CAPABILITIES, "6.18"),
    "usdt_classic": (HEADERS, REGION_PROGRAM, SITES, CAPABILITIES, "6.10; 5.12 with `CAP_SYS_ADMIN`"),
    "uprobe_emulated": ([], REGION_PROGRAM, FUNCTIONS + pairs("record/kernel_rows"), CAPABILITIES, "6.10"),
    "uprobe_session": ([], FUNCTION_PROGRAM, RETURNS, CAPABILITIES, "6.13"),
    "uprobe_pair": ([], FUNCTION_PROGRAM, RETURNS, CAPABILITIES, "6.10"),
    "uprobe_single_step": ([], REGION_PROGRAM, FUNCTIONS + pairs("record/kernel_rows"), CAPABILITIES, "6.10"),
}


def table():
    yield "| method | lines in the program | in the kernel | in the collector | permissions | Linux |"
    yield "|---|---|---|---|---|---|"
    for method, (program, kernel, collector, permissions, linux) in NEEDS.items():
        counts = " | ".join(str(lines_of_code(*files)) if files else "–" for files in (program, kernel, collector))
        yield f"| {METHODS[method]} | {counts} | {permissions} | {linux} |"
