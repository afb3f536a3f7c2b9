"""No header brings what it promises not to: the light ones little at all, none of them a library of the collector's.

usage: check_weight.py ROOT PFR COMPILER
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from compiling import Failures, Includes, LinkedMarkers, output, run, scratch, tool

LIGHT = ["detail/config.hpp", "probe_abi.h", "detail/histogram.h", "region.hpp", "metric.hpp", "detail/device.hpp",
         "offload.hpp", "operation.hpp", "adapter/callback_region.hpp", "adapter/device_clock.hpp"]
WITH_REFLECTION = ["payload.hpp", "adaptyst.hpp"]
STANDARD_AND_HEAVY = ["string", "string_view", "iostream", "ostream", "istream", "sstream", "atomic", "memory", "vector", "map",
                      "unordered_map", "functional", "thread", "mutex", "chrono", "algorithm", "link.h", "time.h", "errno.h", "pthread.h", "mman.h"]


def included(compiler, includes, standard, flags, work, *headers):
    """The files that headers bring, as the compiler lists them."""
    unit = work / "unit.cpp"
    unit.write_text("".join(f"#include <adaptyst/{header}>\n" for header in headers))
    text = output([compiler, "-std=" + standard, *includes.flags, *flags, "-M", unit])
    return text.replace("\\\n", " ").split()[1:]


def is_standard(path, name):
    return path.endswith("/" + name) and ("/c++/" in path or "/v1/" in path or name.endswith(".h"))


def main(root, pfr, compiler):
    compiler = tool(compiler)
    includes = Includes(root, pfr)
    work = scratch()
    failures = Failures()
    for standard in ["c++17", "c++20"]:
        for flags in [[], ["-DADAPTYST_DISABLE"]]:
            # Disabled, all are light. Some light header brings a file exactly if all together do.
            for headers in [LIGHT + WITH_REFLECTION] if flags else [LIGHT, *([header] for header in WITH_REFLECTION)]:
                files = included(compiler, includes, standard, flags, work, *headers)
                for header in headers:
                    failures.check(any(path.endswith("adaptyst/" + header) for path in files), f"{header} is among what it includes")
                for path in files:
                    label = f"{headers[0] if len(headers) == 1 else 'a light header'} in {standard} {' '.join(flags)}: brings {path}"
                    if headers[0] in LIGHT:
                        failures.check("/boost/" not in path, label)
                        for name in STANDARD_AND_HEAVY:
                            failures.check(not is_standard(path, name), label)
                    failures.check(not is_standard(path, "iostream"), label)
                    for library in ["/bpf/", "/fmt/", "/nlohmann/", "/lib/kernel/", "/lib/recorder/", "/lib/report/", "/probes/"]:
                        failures.check(library not in path, label)
                # The weakest of these is only worth something if the heavy one is recognised where it is.
                if headers == ["payload.hpp"]:
                    failures.check(any("/boost/pfr" in path for path in files), "payload.hpp is seen to bring Boost.PFR")

    # Nothing but prefixed names is left for the program to trip over.
    unit = work / "unit.cpp"
    unit.write_text("#include <sys/sdt.h>\n#include <asm/unistd.h>\n#include <stddef.h>\n#include <stdint.h>\n")
    def macros():
        text = output([compiler, "-std=c++20", *includes.flags, "-dM", "-E", unit])
        return {line.split()[1].split("(")[0] for line in text.splitlines()}
    standard_macros = macros()
    unit.write_text(unit.read_text() + "".join(f"#include <adaptyst/{header}>\n" for header in LIGHT))
    ours = macros() - standard_macros
    failures.check(len(ours) > 20, "macros of ours are seen")
    for name in sorted(ours):
        failures.check(name.startswith("ADAPTYST_"), f"a macro without our prefix: {name}")
    for name in sorted(ours):
        for_probes_alone = name.startswith(("ADAPTYST_DETAIL_PROBE_", "ADAPTYST_DETAIL_OPERANDS", "ADAPTYST_DETAIL_SEMAPHORE",
                                            "ADAPTYST_DETAIL_NAMED_BY_ASSEMBLY"))
        is_include_guard = name.endswith("_HPP")
        failures.check(is_include_guard or not for_probes_alone, f"a macro that only the probes need is left: {name}")

    # Where the code that markers call is linked, a unit does not compile it.
    files = included(compiler, includes, "c++17", LinkedMarkers.unit_flags, work, "region.hpp", "offload.hpp", "metric.hpp", "operation.hpp")
    failures.check(any(path.endswith("detail/text.hpp") for path in files), "linked markers are seen")
    for name in ["recorder.hpp", "process.hpp", "frames.hpp", "rows.hpp", "device_activity.hpp", "histogram.h"]:
        failures.check(not any(path.endswith("detail/" + name) for path in files), f"linked, a header brings detail/{name}")

    # Without Boost.PFR, the light ones work and the heavy one gives advice.
    unit.write_text("".join(f"#include <adaptyst/{header}>\n" for header in LIGHT))
    bare = Includes(root)
    failures.check(run([compiler, "-std=c++17", *bare.flags, "-fsyntax-only", unit]).returncode == 0, "light headers without PFR")
    failures.exit(min_checks=1000)


if __name__ == "__main__":
    main(*sys.argv[1:])
