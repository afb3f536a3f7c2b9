"""The study's program, with so little time that its figures mean nothing: each method is attached and counts every
event."""
import math
import os
import re
import signal
import subprocess
import sys

import sample

done = subprocess.run([sys.argv[2], "2", "1"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
assert done.returncode == 0, done.stderr
figures = {key: float(value) for key, value in map(str.split, done.stdout.splitlines())}

# Nothing else may be left out, and that only by kernels that lack it.
needs = {"usdt_optimised": (6, 18), "uprobe_session": (6, 13)}
linux = tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups()))
lacking = [method for method, first in needs.items() if linux < first]
left_out = re.findall(r"^(\S+) left out", done.stderr, re.M)
assert sorted(set(left_out)) == sorted(lacking), done.stderr

expected = sample.figures(without=lacking)
assert not set(expected) - set(figures), sorted(set(expected) - set(figures))
assert "uprobe_session" in lacking or "function_over_entry" in figures
assert all(map(math.isfinite, figures.values())), figures
assert figures["study_rounds"] == 2, figures
assert figures["study_uncounted_events"] == 0, figures
# What no noise can turn round.
assert figures["uprobe_single_step_ns"] > figures["uprobe_emulated_ns"] > figures["study_inline_ns"], figures
# Every site counts what it should, also in threads, and not after it is detached.
wrong = {key: value for key, value in figures.items() if key.endswith("_wrong") and value != 0}
assert not wrong, wrong
assert not re.search("not measured", done.stderr), done.stderr
# Signals, fork() and exec() lose nothing and count nothing twice, but for one loss that the limitations name: a marker in
# a handler that interrupted its thread's recorder.
for name in sample.effect_keys():
    made, counted, ended = (figures[f"study_effect_{name}_{what}"] for what in ("made", "counted", "signal"))
    # Linux 6.18 makes a call of the 5-byte nop, to a page that a forked child lacks: why region_end has a second place.
    if name.startswith("fork") and name.endswith("nop5") and ended != 0:
        assert ended == signal.SIGSEGV and counted == 0, (name, counted, ended)
        continue
    lost_in_handler = figures["study_effect_signal_marker_handled"] if name == "signal_marker" else 0
    assert ended == 0 and made - lost_in_handler <= counted <= made, (name, counted, made, ended)
    assert figures.get(f"study_effect_{name}_after", 1000) == 1000, (name, figures)
# The semaphore counts sites, not observers.
assert [figures[f"study_semaphore_{when}"] for when in ("before", "1_observer", "2_observers", "after")] == [0, 1, 1, 0], figures
