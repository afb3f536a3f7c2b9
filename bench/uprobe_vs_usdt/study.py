"""What the tables and the plot of docs/uprobes-and-usdt.md know of the study: the methods, and where its figures are."""
import json
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RATES = ["1k", "10k", "100k", "1000k"]
RATE_TITLES = {"1k": "1,000/s", "10k": "10,000/s", "100k": "100,000/s", "1000k": "1,000,000/s"}

METHODS = {
    "idle": "marker, nothing listens",
    "inline": "marker, program's own recorder",
    "usdt_optimised": "marker, USDT, 5-byte nop",
    "usdt_classic": "marker, USDT, 1-byte nop",
    "uprobe_emulated": "uprobe on `push`",
    "uprobe_session": "uprobe session, entry and return",
    "uprobe_pair": "uprobe and return probe",
    "uprobe_single_step": "uprobe on `xor`, single-stepped",
}

# A bare hit; the default program is the one that sums regions.
SITES = {
    "usdt_optimised": "5-byte nop: becomes a call",
    "usdt_classic": "1-byte nop: a breakpoint, and nothing to emulate",
    "uprobe_emulated": "`push`: a breakpoint, and the instruction emulated",
    "entry_empty": "the same, with a program that returns at once",
    "uprobe_single_step": "`xor`: a breakpoint, and a second trap to step over the instruction",
}


class Study:
    """One run: the figures by key, and the machine's name, which the file next to build/bench.json has."""

    def __init__(self, file):
        self.figures = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        machine = pathlib.Path(file).with_suffix(".txt")
        self.machine = machine.read_text(encoding="utf-8").strip() if machine.exists() else "machine unknown"

    def of(self, method, figure):
        """None where the kernel cannot do it."""
        return self.figures.get(f"study_{method}_{figure}")

    @property
    def rounds(self):
        return round(self.figures["study_rounds"])


def lines_of_code(*files):
    """Lines that hold more than comments."""
    count = 0
    for name in files:
        text = (SOURCE / name).read_text(encoding="utf-8")
        text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.S)
        count += sum(1 for line in re.sub(r"//.*", "", text).splitlines() if line.strip())
    return count
