"""What the tables and the plot of docs/uprobes-and-usdt.md know of the study: the methods, and where its figures are."""
import json
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RATES = ["1k", "10k", "100k", "1000k"]
TABLE_RATES = RATES[1:]  # at 1,000/s, nothing differs by more than its spread
RATE_TITLES = {"1k": "1,000/s", "10k": "10,000/s", "100k": "100,000/s", "1000k": "1,000,000/s"}

METHODS = {
    "idle": "marker, idle",
    "inline": "marker, recorder",
    "usdt_optimised": "marker, USDT, 5-byte nop",
    "usdt_classic": "marker, USDT, 1-byte nop",
    "uprobe_emulated": "uprobe on `push`",
    "uprobe_session": "uprobe session",
    "uprobe_pair": "uprobe and return probe",
    "uprobe_single_step": "uprobe on `xor`",
}

# A bare hit; the default program is the one that sums regions.
SITES = {
    "usdt_optimised": "5-byte nop: becomes a call",
    "usdt_classic": "1-byte nop: breakpoint",
    "uprobe_emulated": "`push`: breakpoint, emulated",
    "entry_empty": "the same, empty program",
    "uprobe_single_step": "`xor`: breakpoint, single-stepped",
}

# Another machine (Intel Xeon, 2 virtual CPUs, Linux 6.18), in short: ns a hit by site, ns an event by method.
EARLIER = "Xeon, 2026-11-22"
EARLIER_SITES = {"usdt_optimised": 335, "usdt_classic": 589, "uprobe_emulated": 592, "entry_empty": 596, "uprobe_single_step": 5919}
EARLIER_EVENTS = {"idle": 0, "inline": 43.6, "usdt_optimised": 378, "usdt_classic": 587, "uprobe_emulated": 592, "uprobe_session": 1222,
                  "uprobe_pair": 1159, "uprobe_single_step": 5919}

SITE_COUNTS = [1, 100, 1000]
THREAD_COUNTS = [1, 2, 4]
# As in run_experiments() of methods.cpp, with the sites on which each runs.
EFFECT_SITES = {"nop1": "1-byte nop", "nop5": "5-byte nop", "push": "`push`", "xor": "`xor`"}
EFFECTS = {
    "signal": ("signal handler hits the site", list(EFFECT_SITES)),
    "fork_all": ("forked child, all processes observed", ["nop1", "nop5"]),
    "fork_parent": ("forked child, only the parent observed", ["nop1", "nop5"]),
    "exec_all": ("child after `exec()`, all observed", ["nop1", "nop5"]),
    "exec_process": ("observed process calls `exec()`", ["nop1", "nop5"]),
}


def effect_keys():
    """Every effect and site that run_experiments() measures."""
    return [f"{effect}_{site}" for effect, (_, sites) in EFFECTS.items() for site in sites] + ["signal_marker"]


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
