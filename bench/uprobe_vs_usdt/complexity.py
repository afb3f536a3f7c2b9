"""What each method takes to build and to use: lines of this repository by where they run, and kernels."""
import pathlib
import re

from study import METHODS, SOURCE, lines_of_code


def with_included(file):
    """A file of ours and all that it brings of ours, by name."""
    found, todo = [], [pathlib.Path(file)]
    while todo:
        file = todo.pop()
        if str(file) in found:
            continue
        found.append(str(file))
        for name in re.findall(r'^#include ["<]([^">]+)[">]', (SOURCE / file).read_text(), re.M):
            neighbour = pathlib.Path(*file.parts[:-1], name)
            for place in neighbour, pathlib.Path("include") / name:
                if (SOURCE / place).is_file():
                    todo.append((SOURCE / place).resolve().relative_to(SOURCE))
    return found


def pairs(*names):
    return [f"lib/{name}.{suffix}" for name in names for suffix in ("cpp", "hpp")]


HEADERS = with_included("include/adaptyst/region.hpp")
REGION_PROGRAM = with_included("probes/region.bpf.c")
FUNCTION_PROGRAM = with_included("probes/function.bpf.c")
RECORDER = pairs("recorder/recorder_reader", "recorder/memory", "recorder/clock_line")
SITES = pairs("discover/elf_probes", "discover/elf_handle", "support/regular_file", "kernel/uprobe_link", "kernel/kernel_rows",
              "kernel/summed_rows")
FUNCTIONS = pairs("discover/elf_functions", "discover/elf_symbols", "discover/entry_instruction", "discover/elf_handle",
                  "support/regular_file", "kernel/uprobe_link", "kernel/summed_rows")
RETURNS = FUNCTIONS + pairs("discover/function_request", "kernel/function_probes")

# In the program, in the kernel, in the collector; first kernel. Idle markers need the headers only, `xor` what `push` needs, sessions what pairs need.
NEEDS = {
    "inline": (HEADERS, [], RECORDER + ["lib/session/recorder_source.cpp"], "any"),
    "usdt_optimised": (HEADERS, REGION_PROGRAM, SITES + pairs("kernel/attach_point"), "6.18"),
    "usdt_classic": (HEADERS, REGION_PROGRAM, SITES, "6.10; 5.12 with `CAP_SYS_ADMIN`"),
    "uprobe_emulated": ([], REGION_PROGRAM, FUNCTIONS + pairs("kernel/kernel_rows"), "6.10"),
    "uprobe_pair": ([], FUNCTION_PROGRAM, RETURNS, "6.10; session 6.13"),
}


def table():
    yield "| method | lines in the program | in the kernel | in the collector | Linux |"
    yield "|---|---|---|---|---|"
    for method, (program, kernel, collector, linux) in NEEDS.items():
        counts = " | ".join(str(lines_of_code(*files)) if files else "–" for files in (program, kernel, collector))
        yield f"| {METHODS[method]} | {counts} | {linux} |"
