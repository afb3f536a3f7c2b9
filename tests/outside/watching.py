#!/usr/bin/env python3
"""Drives `adaptyst top` and `adaptyst attach --all` on real programs: watching.py ADAPTYST PROGRAM ENGINE [CASE …]

What looks for processes by itself runs in a PID namespace of its own: it would find those of other tests."""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402
from states import more_pauses  # noqa: E402

ADAPTYST, PROGRAM, ENGINE = sys.argv[1:4]
NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
LIMIT = 60  # seconds that nothing here comes near to
failures = Failures()
work = scratch()
started = []


def start(*arguments, program=PROGRAM):
    started.append(subprocess.Popen([str(word) for word in (program, *arguments)], stdout=subprocess.DEVNULL))
    return started[-1]


def end(program):
    program.kill()
    program.wait()


def top(*arguments):
    return [ADAPTYST, "top", f"--engine={ENGINE}", "--overhead=none", *map(str, arguments)]


def run(words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LIMIT, check=False)


def alone(script, *arguments):
    """In a PID namespace of its own, or every process with markers of other tests would be observed."""
    namespace = NAMESPACE
    if run([*namespace, "true"]).returncode != 0:
        namespace = [*NAMESPACE[:1], "--user", "--map-root-user", *NAMESPACE[1:]]
    if run([*namespace, "true"]).returncode != 0:
        raise Missing("there are no PID namespaces to be had")
    return run([*namespace, "bash", "-c", script, "bash", *arguments])


def blocks(text):
    """What each look has shown."""
    return ["adaptyst: " + block for block in text.split("adaptyst: ")[1:]]


def rate(block, region):
    found = re.search(rf"^{re.escape(region)} +\d[\d +]* host +([\d.]+) (k?)", block, re.MULTILINE)
    return float(found[1]) * (1000 if found[2] else 1) if found else 0


def case_timeline():
    """Rings are read between the looks: with 512 entries each they fill several times in the interval."""
    program = start(100000, 0, 1000)
    more_pauses(program.pid, 20)
    done = run(top("--interval=2", "--duration=3", "--trace-events=512", "--output", f"trace:{work}/t.json", "--output", work / "t.profile.json",
                   program.pid))
    failures.equal((done.returncode, done.stderr), (0, ""), "top with a timeline ends well")
    usage = profiles.read((work / "t.profile.json").read_text())["timeline"]
    failures.check(usage["events"] > 1000 and usage["lost"] == 0, "no event is lost", usage)
    end(program)


def case_plain():
    program = start(100000, 0, 1000)
    more_pauses(program.pid, 20)
    begin = time.monotonic()
    done = run(top("--interval=0.5", "--duration=2.2", "--output", work / "profile.json", program.pid))
    took = time.monotonic() - begin
    failures.equal((done.returncode, done.stderr), (0, ""), "it ends well")
    failures.check("\033" not in done.stdout, "without a terminal there are no escape codes", done.stdout)
    shown = blocks(done.stdout)
    failures.check(3 <= len(shown) <= 5, "a block for each look", done.stdout)
    most = 1000  # a pause of 1 ms in each region
    for block in shown:
        failures.check(most / 100 < rate(block, "thread") <= most, "the rate is that of the interval", block)
        failures.check(f"marked_program {program.pid}" in block and f"engine {ENGINE}" in block, "what is observed, and how", block)
        block = block.replace("\n    ", " ")
        failures.check(re.search(r"observing costs <?[\d.]+% of a thread", block), "what it costs", block)
        failures.check(re.search(r"this observer, [\d.]+% of a processor", block), "and us", block)
        failures.check(re.search(r"^host +[\d.]+%", block, re.MULTILINE), "devices", block)
    counted = {region["path"][-1]: region["count"] for region in profiles.read((work / "profile.json").read_text())["regions"]}
    failures.check(0 < counted.get("thread", 0) <= most * took, "and at the end a profile", counted)
    few = run(top("--rows=1", "--duration=0.5", "--interval=0.4", program.pid)).stdout
    failures.check("… and 2 more" in few, "no more regions than asked for", few)
    failures.check(program.poll() is None, "the program runs on")
    end(program)


def case_end_of_the_program():
    program = start(2000, 0, 1000)
    more_pauses(program.pid, 20)
    done = run(top("--interval=0.2", program.pid))
    failures.equal(done.returncode, 0, "it ends with what is watched")
    last = blocks(done.stdout)[-1]
    failures.check(re.search(r", [1-9][\d,.]*( [kM])? so far", last), "what has ended stays in the sum", last)
    failures.check("1 process:" in last, "and is named", last)
    failures.check(all(re.search(rf"^{region} +{program.pid} +host", last, re.MULTILINE) for region in ("thread", "outer", "outer > inner")),
                   "its rows stay in sight", last)
    shares = [float(share) for share in re.findall(r"([\d.]+)%", done.stdout)]
    failures.check(max(shares) <= 250 and ">9999" not in done.stdout, "no share is beyond what its threads can do", shares)
    failures.equal(program.wait(LIMIT), 3, "the program ends as ever")


def case_without_reader():
    program = start(100000, 0, 1000)
    more_pauses(program.pid, 20)
    done = run(["bash", "-c", '"$@" | head -n 3; echo ${PIPESTATUS[0]}', "bash",
                *top("--interval=0.1", "--duration=20", program.pid)])
    failures.equal(done.stdout.splitlines()[3:], ["2"], "it notices, and ends by itself")
    again = run(top("--interval=0.2", "--duration=0.5", program.pid))
    failures.equal((again.returncode, again.stderr), (0, ""), "the one that was not read has let go of the program")
    end(program)


def case_wrong():
    gone = start(1)
    gone.wait()
    done = run(top("--duration=1", gone.pid))
    failures.check(done.returncode == 2 and str(gone.pid) in done.stderr, "a process that is not there", done.stderr)
    done = run(top("--duration=1", "--name=no_such_name"))
    failures.check(done.returncode == 2 and "no_such_name" in done.stderr, "a name that no process has", done.stderr)


class Screen:
    """A command on a terminal of its own."""

    def __init__(self, words, lines, columns):
        pid, self.side = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
            os.execve(words[0], words, {**kept, "TERM": "xterm"})
        self.pid, self.output = pid, b""
        self.before = termios.tcgetattr(self.side)

    def read(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if select.select([self.side], [], [], 0.05)[0]:
                try:
                    self.output += os.read(self.side, 65536)
                except OSError:
                    return  # it has ended

    def frames(self):
        """What has been drawn, but for the last, which may be half there."""
        return self.output.decode(errors="replace").split("\033[H")[1:-1]

    def shows(self, holds):
        """Whether it comes to that."""
        deadline = time.monotonic() + LIMIT
        while not holds(self.frames()) and time.monotonic() < deadline:
            self.read(0.05)
        return holds(self.frames())

    def wait(self):
        self.read(3)
        for _ in range(100):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
            time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None


def text_lines(frame):
    return re.sub(r"\033\[[?0-9]*[A-Za-z]", "", frame).split("\r\n")


def case_terminal():
    program = start(100000, 0, 1000)
    more_pauses(program.pid, 20)
    for finish in (lambda screen: os.write(screen.side, b"xq"), lambda screen: os.write(screen.side, b"\x03"),
                   lambda screen: os.kill(screen.pid, signal.SIGTERM)):
        screen = Screen(top("--interval=0.2", program.pid), 14, 72)
        failures.check(screen.shows(lambda frames: len(frames) >= 3 and rate("\n".join(text_lines(frames[-1])), "thread") > 0),
                       "it is drawn again and again, with regions", screen.frames()[-1:])
        during = termios.tcgetattr(screen.side)
        failures.check(not during[3] & (termios.ICANON | termios.ECHO), "keys come as they are pressed")
        for frame in screen.frames():
            lines = text_lines(frame)
            failures.check(len(lines) <= 14 and all(len(line) <= 72 for line in lines), "it fits the window", lines)
        failures.check(str(program.pid) in next(line for line in text_lines(screen.frames()[-1]) if line.startswith("thread")),
                       "whose each row is", screen.frames()[-1])
        for order in ("TOTAL", "PER S", "SO FAR", "SELF"):
            os.write(screen.side, b"s")
            failures.check(screen.shows(lambda frames, by=order: f"q quit   s sort (now by {by})" in frames[-1]), f"s sorts by {order}",
                           screen.frames()[-1])
        fcntl.ioctl(screen.side, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 110, 0, 0))
        failures.check(screen.shows(lambda frames: max(len(line) for line in text_lines(frames[-1])) > 72), "and another one",
                       screen.frames()[-1])
        finish(screen)
        failures.equal(screen.wait(), 0, "it ends")
        failures.check(b"\033[?1049h" in screen.output, "it was on the other screen")
        after = re.sub(r"\033\[\d+m", "", screen.output.rpartition(b"\033[?1049l")[2].decode())
        failures.check(re.search(r"\033\[1mREGION +PROCESS +ON +PER S ", frame), "headings are in upper case, and bold", frame)
        failures.check("\033" not in after and "thread" in after, "has left it, and what was seen last stays in sight", after)
        failures.equal(termios.tcgetattr(screen.side)[:4], screen.before[:4], "the terminal is as it was")
        os.close(screen.side)
    failures.check(program.poll() is None, "the program runs on")
    end(program)


COMERS = """
"$1" 100000 0 1000 >/dev/null & first=$!
sleep 0.3
"${@:2}" >"$OUT" 2>"$ERR" & observer=$!
for _ in $(seq $LOOKS); do [ -s "$OUT" ] && break; sleep 0.05; done
sleep 0.8
"$1" 100000 0 1000 >/dev/null & second=$!
sleep 1.3
kill $first
sleep 0.7
kill -INT $observer; wait $observer; echo "status $?"; kill $second
"""


def observe_all(*words, looks=400):
    """`looks`: for the first output, until a second program begins."""
    os.environ["LOOKS"] = str(looks)
    os.environ["OUT"], os.environ["ERR"] = str(work / "out"), str(work / "err")
    done = alone(COMERS, PROGRAM, *map(str, words))
    failures.check("status 0" in done.stdout, "it ends well", (done.stdout, done.stderr, (work / "err").read_text()))
    return (work / "out").read_text()


def case_all():
    shown = blocks(observe_all(*top("--interval=0.4")))
    failures.check("1 process: marked_program" in shown[0], "a program that runs is found", shown[0])
    failures.check(rate(shown[0], "thread") > 50, "and observed", shown[0])
    failures.check("2 processes: marked_program" in shown[-1], "so is one that comes; one that ends stays in the sum", shown[-1])
    failures.check(rate(shown[-1], "thread") > 50, "the other goes on", shown[-1])


def case_strangers():
    """Root observes other users' programs only with --all."""
    if os.geteuid() != 0:
        return
    work.chmod(0o755)
    os.environ["OUT"] = str(work / "out")
    script = """setpriv --reuid=65534 --regid=65534 --clear-groups "$1" 100000 0 1000 >/dev/null & sleep 0.3; "${@:2}" >"$OUT" 2>&1"""
    for more, observed in (((), False), (("--all",), True)):
        alone(script, PROGRAM, *top("--interval=0.3", "--duration=1.5", *more))
        text = (work / "out").read_text()
        failures.equal(rate(blocks(text)[-1], "thread") > 0, observed, f"{more}: a program of the user nobody: {text}")
        failures.equal("other users are left alone" in text, not observed, f"{more}: it is reported")
    os.environ["SUDO_UID"] = "65534"
    alone(script, PROGRAM, *top("--interval=0.3", "--duration=1.5"))
    del os.environ["SUDO_UID"]
    failures.check(rate(blocks((work / "out").read_text())[-1], "thread") > 0, "who has called sudo is no stranger", (work / "out").read_text())


def case_attach_all():
    file = work / "all.json"
    observe_all(ADAPTYST, "attach", "--all", f"--engine={ENGINE}", "--format=none", "--overhead=none", "--interval=0.3", f"--output={file}", looks=8)
    profile = profiles.read(file.read_text())
    counts = [region["count"] for region in profile["regions"] if region["path"] == ["thread"]]
    failures.equal(len(profile.get("processes", [])), 2, "both programs are in the profile")
    failures.check(sum(counts) > 100, "with their regions", counts)


def case_become():
    """A shell that waits before it becomes a program with markers, and one that is never heard of."""
    os.environ["OUT"] = str(work / "out")
    alone("""bash -c 'sleep 0.4; exec "$1" 100000 0 1000 >/dev/null' bash "$1" & sleep 100 &
             "${@:2}" >"$OUT" """, PROGRAM, *top("--interval=0.3", "--duration=3.5"))
    last = blocks((work / "out").read_text())[-1]
    failures.check("1 process: marked_program" in last and rate(last, "thread") > 50, "it is found when it has become one", last)


def case_name():
    name = f"named_{os.getpid()}"
    copy = work / name
    copy.write_bytes(pathlib.Path(PROGRAM).read_bytes())
    copy.chmod(0o755)
    first = start(100000, 0, 1000, program=copy)
    more_pauses(first.pid, 20)
    watching = subprocess.Popen(top("--interval=0.4", "--duration=2.5", f"--name={name}"), stdout=subprocess.PIPE, text=True)
    first_line = watching.stdout.readline()
    second = start(100000, 0, 1000, program=copy)
    shown = blocks(first_line + watching.communicate(timeout=LIMIT)[0])
    failures.check("1 process:" in shown[0] and str(first.pid) in shown[0], "the one with the name", shown[0])
    failures.check("2 processes:" in shown[-1] and str(second.pid) in shown[-1], "and another that has come", shown[-1])
    end(first)
    end(second)


run_cases(globals(), sys.argv[4:], failures, started)
