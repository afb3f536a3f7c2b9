"""The counts of abrupt_end itself, and those of a profile."""
import os
import pathlib
import random
import signal
import struct
import time

from profiles import with_paths
from states import until

STATUS = {"kill": -signal.SIGKILL, "_exit": 0, "quick_exit": 0, "abort": -signal.SIGABRT, "exec": 0, "exit": 0,
          "wait": -signal.SIGKILL}
ABRUPT = [how for how in STATUS if how not in ("exit", "wait")]
COUNTS = 64  # bytes of each: process, begun, completed


def make_counts(file, threads):
    file.write_bytes(bytes(COUNTS * threads))
    file.chmod(0o666)


def read_counts(file):
    """Of each thread: its process, what it has begun, what it has completed."""
    data = file.read_bytes()
    return [struct.unpack_from("QQQ", data, at) for at in range(0, len(data), COUNTS)]


def is_over(process):
    """With all of its threads: the first may be a zombie before the others."""
    try:
        of = pathlib.Path(f"/proc/{process}")
        return (of / "stat").read_text().rpartition(")")[2].split()[0] == "Z" and len(list((of / "task").iterdir())) <= 1
    except (FileNotFoundError, ProcessLookupError):
        return True


def kill_all(file, after, parent_last=False):
    """Each process by itself, when all have begun; in any order, or the parent when the others are dead."""
    until(lambda: all(process and begun for process, begun, _ in read_counts(file)), "the program begins")
    time.sleep(after)
    processes = list({process for process, _, _ in read_counts(file)})
    random.shuffle(processes)
    parent = read_counts(file)[0][0]
    if parent_last:
        processes.remove(parent)
    for process in processes:
        os.kill(process, signal.SIGKILL)
    if parent_last:
        until(lambda: all(is_over(process) for process in processes), "they are dead")
        os.kill(parent, signal.SIGKILL)


def short(profile, failures):
    """How many short regions, and with which error. What children begin is in the region in which they were forked."""
    rows = [region for region in with_paths(profile)["regions"] if region["path"][-1] == "short"]
    ways = {tuple(row["path"]) for row in rows}
    failures.check(ways <= {("short",), ("work", "short"), ("launch", "work", "short")}, "the paths of short regions", ways)
    return sum(row["count"] for row in rows), sum((row.get("count_error") or 0) ** 2 for row in rows) ** 0.5
