#!/usr/bin/env python3
"""Parents and children in a store made of an export of Nsight Systems: containment.py ADAPTYST [case…]"""
import pathlib
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
from nsys_export import Export, global_pid, global_tid  # noqa: E402

ADAPTYST = sys.argv[1]
PUSH_POP, START_END, MARK = 59, 60, 34
failures = Failures()
work = scratch()


def ranges(export, pid, tid, spans, kind=PUSH_POP):
    export.rows("NVTX_EVENTS", [{"start": start, "end": end, "eventType": kind, "text": name, "globalTid": global_tid(pid, tid)}
                                for start, end, name in spans])


def calls(export, pid, tid, spans):
    """`spans`: (start, end, correlation)."""
    export.rows("CUPTI_ACTIVITY_KIND_RUNTIME", [{"start": start, "end": end, "globalTid": global_tid(pid, tid), "correlationId": correlation,
                                                 "nameId": export.string("cudaLaunchKernel_v7000")} for start, end, correlation in spans])


def kernels(export, pid, spans):
    """`spans`: (start, end, name, correlation)."""
    export.rows("CUPTI_ACTIVITY_KIND_KERNEL", [{"start": start, "end": end, "contextId": 1, "streamId": 7, "correlationId": correlation,
                                                "globalPid": global_pid(pid), "demangledName": export.string(name), "shortName": export.string(name)}
                                               for start, end, name, correlation in spans])


def convert(file):
    """The call path of each span and mark, by process and start; and the messages."""
    out = work / "out.sqlite"
    done = subprocess.run([ADAPTYST, "convert", file, "-o", out], capture_output=True, text=True, timeout=60, check=False)
    failures.equal(done.returncode, 0, f"converted: {done.stderr}")
    db = sqlite3.connect(out)
    paths = dict(db.execute("""
        WITH RECURSIVE whole(id, name) AS (SELECT id, name FROM path WHERE parent IS NULL
          UNION ALL SELECT path.id, whole.name || '/' || path.name FROM path JOIN whole ON path.parent = whole.id)
        SELECT id, name FROM whole"""))
    found = {(process, start, paths[path]) for process, start, path in
             db.execute("SELECT process, start, path FROM span UNION ALL SELECT process, time, path FROM instant")}
    db.close()
    return found, " ".join(done.stderr.split())


def case_operations_lie_below_what_launched_them():
    """Two processes with two threads each, and the same correlation ids."""
    export = Export(str(work / "nested.sqlite"))
    expected = set()
    for pid, step in ((100, "step"), (200, "phase")):
        ranges(export, pid, 2, [(500, 700, "halo")])
        ranges(export, pid, 1, [(20, 50, "solve"), (0, 100, step), (20, 30, "assemble")])
        ranges(export, pid, 1, [(0, 1000, "whole")], START_END)
        ranges(export, pid, 1, [(25, None, "here")], MARK)
        calls(export, pid, 1, [(20, 22, 1), (40, 50, 2), (100, 101, 3)])
        calls(export, pid, 2, [(22, 24, 4), (690, 700, 5)])
        kernels(export, pid, [(26, 28, "in_time", 1), (5000, 6000, "late", 2), (102, 103, "outside", 3), (26, 27, "of_another_thread", 4),
                              (701, 702, "exchange", 5)])
        expected |= {(pid, *row) for row in (
            (0, "whole"), (0, step), (20, f"{step}/solve"), (20, f"{step}/solve/assemble"), (25, "here"), (500, "halo"),
            (20, f"{step}/solve/assemble/cudaLaunchKernel"), (40, f"{step}/solve/cudaLaunchKernel"), (100, "cudaLaunchKernel"),
            (22, "cudaLaunchKernel"), (690, "halo/cudaLaunchKernel"),
            (26, f"{step}/solve/assemble/in_time"), (5000, f"{step}/solve/late"), (102, "outside"), (26, "of_another_thread"),
            (701, "halo/exchange"))}
    found, messages = convert(export.finish())
    failures.equal(found, expected, "call paths")
    failures.check("ambiguous" not in messages and "unattributed" not in messages, "all have their place", messages)


def case_uncertain_parents_are_reported():
    export = Export(str(work / "unsure.sqlite"))
    ranges(export, 100, 1, [(0, 100, "step"), (10, 30, "first"), (20, 40, "second"), (50, 60, "third")])
    calls(export, 100, 1, [(12, 14, 1), (25, 26, 2), (28, 35, 3)])
    kernels(export, 100, [(13, 15, "a", 1), (70, 80, "b", 2), (80, 90, "c", 3), (52, 53, "without", None), (54, 55, "lost", 77)])
    found, messages = convert(export.finish())
    failures.equal({path for _, _, path in found if not path.endswith("cudaLaunchKernel")},
                   {"step", "step/first", "step/second", "step/third", "step/first/a", "step/second/b", "step/second/c", "without", "lost"}, "call paths")
    failures.check("2 of 4 ranges are ambiguous" in messages, "ranges that cross", messages)
    failures.check("2 operations are unattributed" in messages, "operations that no call is known of", messages)
    page = subprocess.run([ADAPTYST, "convert", work / "unsure.sqlite", "-o", work / "unsure.html"], capture_output=True, text=True, timeout=60, check=False)
    failures.check("2 of 4 ranges are ambiguous" in " ".join(page.stderr.split()), "also by the page", page.stderr)


run_cases(globals(), sys.argv[2:], failures)
