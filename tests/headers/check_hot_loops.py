"""A loop that holds a marker asks in each round whether something listens, and stays among the hot code. An event of a scope
that the overhead budget leaves out calls nothing.

usage: check_hot_loops.py ROOT PFR COMPILER [linked]
"""
import pathlib
import platform
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import LONG, STRICT, Failures, Includes, LinkedMarkers, output, run, scratch, tool

# Each level of optimisation and each kind of output once; scripts/test --long: more pairs.
FLAGS = [["-O2"], ["-O3", "-flto=auto"], ["-O3", "-fPIC", "-shared"]]
LINKED_FLAGS = [["-O2", "-flto=auto"], ["-O3", "-fPIC", "-pie"]]
if LONG:
    FLAGS += [["-O3"], ["-O3", "-fPIC", "-pie"], ["-Ofast", "-march=haswell"], ["-O2", "-flto=auto"]]
    LINKED_FLAGS += [["-O2"], ["-O3", "-flto=auto"], ["-O3", "-fPIC", "-shared"]]
MAY_BE_LEFT_OUT = ["region", "function", "payload"]
KINDS = [*MAY_BE_LEFT_OUT, "offload", "wait", "metric", "mark", "pair", "handle", "callback"]
WORK = re.compile(r"v?mul[sp]d|vfn?m(add|sub)\w+[sp]d")
PACKED_WORK = re.compile(r"v?mulpd|vfn?m(add|sub)\w+pd")
TEST = re.compile(r"cmpq\s+\$0x0,|adaptyst_object_v5")


class Code:
    """The instructions of a function and of its cold part, and which may follow which."""

    def __init__(self, parts):
        body = [(address, text) for part in parts for address, text in part]
        self.text = dict(body)
        self.cold = {address for part in parts[1:] for address, _ in part}
        self.entry = body[0][0]
        self.next = {}
        self.next_while_idle = {}
        self.woken = []
        is_tested = False
        for (address, text), (after, _) in zip(body, [*body[1:], (None, "")]):
            is_tested = is_tested or bool(TEST.search(text))
            jump = re.match(r"(j\w+)\s+([0-9a-f]+) ", text)
            following = [] if re.match(r"ret|ud2|hlt|jmp", text) else [after]
            idle = following
            if jump:
                target = int(jump.group(2), 16)
                idle = [*following, target]
                if is_tested:
                    idle, awake = {"jne": ([after], target), "je": ([target], after)}[jump.group(1)]
                    self.woken.append(awake)
                following = [*following, target]
                is_tested = False
            self.next[address] = [at for at in following if at in self.text]
            self.next_while_idle[address] = [at for at in idle if at in self.text]

    @staticmethod
    def reachable(start, following):
        found = set()
        open_ones = list(start)
        while open_ones:
            at = open_ones.pop()
            if at not in found:
                found.add(at)
                open_ones += following[at]
        return found

    def works(self, addresses):
        return [at for at in addresses if WORK.match(self.text[at])]

    def deaf(self):
        """The user's work that can be done over and over without asking."""
        following = {at: [] if TEST.search(text) else self.next[at] for at, text in self.text.items()}
        return [self.text[at] for at in self.works(self.text) if at in self.reachable(following[at], following)]

    def left_out(self):
        """What can be reached when something listens, and no function is called."""
        following = {at: [] if text.startswith("call") else self.next[at] for at, text in self.text.items()}
        return self.reachable(self.woken, following)

    def idle(self):
        return self.reachable([self.entry], self.next_while_idle)


def functions(program):
    found = {}
    for line in output([tool("objdump"), "-d", "--no-show-raw-insn", program]).splitlines():
        if head := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            body = found.setdefault(head.group(1), [])
        elif instruction := re.match(r"\s+([0-9a-f]+):\s+(.+)$", line):
            body.append((int(instruction.group(1), 16), instruction.group(2)))
    return {name: Code([body, *(found[key] for key in [name + ".cold"] if key in found)]) for name, body in found.items()
            if re.fullmatch("loop_[a-z]+|one_region", name)}


def check_code(program, label, failures):
    found = functions(program)
    failures.equal(sorted(found), sorted(["one_region", *("loop_" + kind for kind in KINDS)]), f"functions, {label}")
    for name, code in found.items():
        text = "\n".join(f"{at:x} {text}" for at, text in code.text.items())
        idle = code.idle()
        failures.check(code.works(idle), f"{name}: there is work while nothing listens, {label}", text)
        failures.check(not code.works(idle & code.cold), f"{name}: it is done by hot code, {label}", text)
        if name.removeprefix("loop_") in MAY_BE_LEFT_OUT:
            failures.check(code.works(code.left_out()), f"{name}: what is left out calls nothing, {label}", text)
        if name != "one_region":
            failures.check(not code.deaf(), f"{name}: asks in each round, {label}", text)
        elif "-O2" not in label:
            failures.check(any(PACKED_WORK.match(code.text[at]) for at in idle), f"{name} is vectorised, {label}", text)


def main(root, pfr, compiler, linked=None):
    failures = Failures()
    work = scratch()
    includes = Includes(root, pfr)
    flags = [*STRICT, *includes.flags, "-I", str(HERE.parent / "support"), "-std=c++17", "-pthread"]
    archives = []
    if linked is not None:
        markers = LinkedMarkers(tool(compiler), includes, work)
        flags += markers.unit_flags
        archives = [markers.archive]
    if "clang" in compiler:
        tool("ld.lld")
    for chosen in FLAGS if linked is None else LINKED_FLAGS:
        label = " ".join(chosen)
        if "-march=haswell" in chosen and "avx2" not in pathlib.Path("/proc/cpuinfo").read_text():
            continue
        program = work / "hot_loops"
        linker = ["-fuse-ld=lld"] if "clang" in compiler and "-flto=auto" in chosen else []
        done = run([tool(compiler), *flags, *chosen, *linker, HERE / "hot_loops.cpp", *archives, "-o", program])
        if not failures.check(done.returncode == 0 and not done.printed, f"it compiles, {label}", done.printed):
            continue
        if platform.machine() == "x86_64":
            check_code(program, label, failures)
        for kind in KINDS if "-shared" not in chosen else []:
            done = run([program, kind])
            failures.check(done.returncode == 0, f"{kind}: a loop that runs wakes, {label}", done.printed)
    failures.exit(min_checks=30)


if __name__ == "__main__":
    main(*sys.argv[1:])
