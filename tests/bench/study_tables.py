"""The tables of docs/uprobes-and-usdt.md: written where the page has a place for them, again and again."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import sample
import complexity
from study import lines_of_code


def write(bench, page):
    return subprocess.run([sys.executable, "-B", sample.source / "bench/uprobe_vs_usdt/tables.py", bench, page],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


with tempfile.TemporaryDirectory() as directory:
    page = pathlib.Path(directory) / "page.md"
    shutil.copy(sample.source / "docs/uprobes-and-usdt.md", page)
    words = page.read_text(encoding="utf-8").split("<!-- study: ")[0]

    done = write(sample.written(directory), page)
    assert done.returncode == 0, done.stderr
    once = page.read_text(encoding="utf-8")
    for expected in [words, f"{sample.MACHINE}; 7 rounds; 0 events not counted.",
                     "| marker, idle | ≈ 0 | 10.0 | ≈ 0 |",
                     "| marker, semaphore raised, not probed | 305 | 3.00 | — |",
                     "| marker, USDT, 5-byte nop | 2,468 | 10.0 | 378 |",
                     "| 5-byte nop: becomes a call | 300 | 3.00 | 335 |",
                     "| marker, recorder | 2.00 ± 0.04 |",
                     "Without stepping, the run time grows by at most ",
                     "| method | 10,000/s | 100,000/s | 1,000,000/s |",
                     "| 1 | 1.00 | 1.00 | 5.00 | 77.0 |",
                     "| 1,000 | 1,000 | 1,000 | — | — |",
                     "| 5-byte nop, ns each | 501 | 502 | 504 |",
                     "| site, kernel | 1.00 |",
                     "| thread, USDT | 3,000 |",
                     "| signal handler hits the site | 1,000/1,000 | 1,000/1,000 |",
                     "| signal handler … on `push`; on `xor` | 1,000/1,000 | 1,000/1,000 |",
                     "| forked child, only the parent observed | 0/0 | 0/0 |",
                     "Afterwards, each site still counts every event",
                     "| 5.12 | `uprobe_multi` | perf event | 306 |",
                     "Markers with their own recorder (1,234 ns an event; Xeon: 43.6)"]:
        assert expected in once, f"not in the page: {expected}\n{once}"
    assert write(sample.written(directory), page).returncode == 0
    assert page.read_text(encoding="utf-8") == once, "writing the same figures again changes the page"

    # A child that a signal ends, a site that is lost, and a machine with aarch64's tools.
    assert write(sample.written(directory, study_effect_fork_all_nop5_counted=0, study_effect_fork_all_nop5_signal=11,
                                study_effect_exec_all_nop1_after=999, study_aarch64_passed=1), page).returncode == 0
    changed = page.read_text(encoding="utf-8")
    for expected in ["| 0/1,000, SIGSEGV |", "every event of this program: exec_all_nop1.", "On aarch64, under qemu"]:
        assert expected in changed, f"not in the page: {expected}\n{changed}"

    # A kernel that makes no calls of nops.
    assert write(sample.written(directory, without=["usdt_optimised"]), page).returncode == 0
    assert "| marker, USDT, 5-byte nop | — | — | 378 |" in page.read_text(encoding="utf-8")

    page.write_text("no place\n", encoding="utf-8")
    done = write(sample.written(directory), page)
    assert done.returncode == 1 and "no place for the table" in done.stderr, done
    assert page.read_text(encoding="utf-8") == "no place\n"

    # Lines of code change with each commit, and not by much.
    def lines(table):
        return [[int(cell) for cell in re.findall(r"(?<=\| )\d+(?= \|)", line)] for line in table]
    written = (sample.source / "docs/uprobes-and-usdt.md").read_text(encoding="utf-8").split("<!-- study: complexity -->\n")[1].split("<!-- study: end")[0]
    now = lines(complexity.table())
    assert [len(row) for row in now] == [len(row) for row in lines(written.splitlines())], written
    for counted, printed in zip(sum(now, []), sum(lines(written.splitlines()), [])):
        assert 0.75 * counted < printed < 1.33 * counted, f"the page has {printed} lines where there are {counted}: run scripts/bench study"

    code = pathlib.Path(directory) / "code.c"
    code.write_text("/* one\n two */\n\nint a; // why\n// only\nint b; /* and\n on */ int c;\n", encoding="utf-8")
    assert lines_of_code(code) == 3, lines_of_code(code)
