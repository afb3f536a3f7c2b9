"""Tests wait for a state, and not for a time. The states of other processes come from /proc."""
import os
import pathlib
import subprocess
import time


def until(holds, label, seconds=30):
    """Waits for it, and returns what it was."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > deadline:
            raise AssertionError(f"still not so: {label}")
        time.sleep(0.01)
    return found


def pauses(pid):
    """How often the threads of a process have left their cores by themselves: marked_program does so in each of its regions."""
    sum_of_all = 0
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        sum_of_all += int(status.read_text().split("voluntary_ctxt_switches:")[1].split()[0])
    return sum_of_all


def more_pauses(pid, number):
    enough = pauses(pid) + number
    until(lambda: pauses(pid) >= enough, f"{number} more pauses of process {pid}")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def computes(pid, seconds=0.1):
    until(lambda: cpu_seconds(pid) >= seconds, f"process {pid} has computed for {seconds} s")


def is_stopped(pid):
    """All of its threads; one that has no core yet goes on until it gets one."""
    def holds():
        states = [status.read_text().split("State:")[1].split()[0] for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status")]
        return all(state == "T" for state in states)
    until(holds, f"process {pid} has stopped")


def find_child(pid, program=None):
    """The process that another one has started, when it is there, and has become the program."""
    def found():
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            try:
                # exec() sets the program before its arguments and environment.
                if program is None or (os.readlink(f"/proc/{child}/exe").endswith(os.path.basename(program)) and
                                       pathlib.Path(f"/proc/{child}/cmdline").read_bytes()):
                    return int(child)
            except OSError:  # it is gone
                pass
        return None
    return until(found, f"process {pid} has started {program or 'another'}")


def watched(pid, program):
    """Whether something listens: the first words of the program's control block count that."""
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.split("\n")
    place = next(int(line.split()[0], 16) for line in symbols if line.endswith(" adaptyst_object_v5"))
    lines = [line.split() for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()]
    first = next((line for line in lines if line[-1] == os.path.realpath(program)), None)
    if first is None:  # it has not become the program yet
        return False
    with open(program, "rb") as file:
        is_moved = file.read(18)[16] == 3  # ET_DYN
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(place + (int(first[0].split("-")[0], 16) if is_moved else 0))
        return any(memory.read(8))


def is_watched(pid, program):
    until(lambda: watched(pid, program), f"something listens to process {pid}")
