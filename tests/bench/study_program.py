"""The study's program, with so little time that its figures mean nothing: each method is attached and counts every
event."""
import math
import os
import re
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
