#!/usr/bin/env python3
"""Reads `adaptyst top --listen` as Prometheus does, and as hostile clients do: scraping.py ADAPTYST PROGRAM [CASE …]"""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
from states import find_child, more_pauses  # noqa: E402

ADAPTYST, PROGRAM = sys.argv[1:3]
LIMIT = 60  # seconds that nothing here comes near to
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
failures = Failures()
work = scratch()
started = []


def start(words, **options):
    started.append(subprocess.Popen([str(word) for word in words], text=True, **options))
    return started[-1]


class Watched:
    """A program, and `adaptyst top --listen 0` on it."""

    def __init__(self, *options):
        self.program = start([PROGRAM, 10_000_000, 0, 1000], stdout=subprocess.DEVNULL)
        more_pauses(self.program.pid, 20)
        self.shown = work / f"shown-{self.program.pid}"
        with self.shown.open("w") as out:
            self.top = start([ADAPTYST, "top", "--engine=inline", "--listen", "0", "--interval=200ms", *options, self.program.pid],
                             stdout=out, stderr=subprocess.PIPE)
        line = self.top.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/metrics", line)
        if not found:
            raise Missing(f"no server: {line}")
        self.port = int(found[1])

    def get(self, path="/metrics", method="GET", **headers):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        client.request(method, path, headers={key.replace("_", "-"): value for key, value in headers.items()})
        answer = client.getresponse()
        text = answer.read().decode()
        client.close()
        return answer.status, answer.getheader("Content-Type"), text

    def refreshes(self):
        return self.shown.read_text().count("adaptyst: ")

    def end(self):
        self.top.terminate()
        _, errors = self.top.communicate(timeout=LIMIT)
        self.program.kill()
        return self.top.returncode, errors


def calls(text):
    return sum(float(value) for value in re.findall(r"^adaptyst_region_calls_total\{.*\} (\S+)$", text, re.MULTILINE))


def case_forms():
    watched = Watched()
    time.sleep(0.5)
    status, kind, plain = watched.get()
    failures.equal((status, kind), (200, "text/plain; version=0.0.4; charset=utf-8"), "the text format is the default")
    failures.check("# TYPE adaptyst_region_calls_total counter" in plain and "# EOF" not in plain, "its counters have the suffix in the type", plain[:500])
    status, kind, openly = watched.get(Accept=f"{OPEN_METRICS},text/plain;q=0.5")
    failures.equal((status, kind), (200, f"{OPEN_METRICS}; charset=utf-8"), "OpenMetrics is given to who accepts it")
    failures.check("# TYPE adaptyst_region_calls counter" in openly and openly.endswith("\n# EOF\n"), "its counters have no suffix in the type", openly[-300:])
    failures.check('region="thread' in plain, "the program's regions are there", plain[:2000])
    time.sleep(1)
    later = watched.get()[2]
    failures.check(calls(later) > calls(plain) > 0, "the sums grow", f"{calls(plain)} {calls(later)}")
    failures.equal(watched.get(method="POST")[0], 405, "only GET is answered")
    failures.equal(watched.get("/")[0], 404, "only /metrics is answered")
    failures.equal(watched.get(Host="attacker.example")[0], 403, "another name for the loopback interface is refused")
    failures.equal(watched.get(Host="localhost:1")[0], 200, "localhost is accepted")
    failures.equal(watched.end(), (0, ""), "top ends well")


def connect(port):
    made = socket.create_connection(("127.0.0.1", port), timeout=LIMIT)
    made.settimeout(LIMIT)
    return made


def is_closed(client):
    try:
        while client.recv(65536):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    return True


def case_hostile_clients():
    watched = Watched()
    port = watched.port
    silent = [connect(port) for _ in range(16)]
    before, begin = watched.refreshes(), time.monotonic()
    time.sleep(2)
    took = time.monotonic() - begin
    failures.check(watched.refreshes() - before >= 0.5 * took / 0.2, "clients that send nothing do not stop the observer", watched.refreshes() - before)
    begin = time.monotonic()
    status, _, text = watched.get()
    failures.check(status == 200 and time.monotonic() - begin < 30, "and another client is answered when their time is over", time.monotonic() - begin)
    for client in silent:
        failures.check(is_closed(client), "a silent client is left")
    endless = connect(port)
    try:
        for _ in range(1000):
            endless.sendall(b"GET /metrics HTTP/1.1\r\n" if _ == 0 else b"X: " + b"a" * 8000 + b"\r\n")
        failures.check(is_closed(endless), "an endless header is cut")
    except ConnectionError:
        failures.check(True, "an endless header is cut")
    for garbage in (b"\0" * 1000, b"GET", b"\xff\xfe\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"GET http://[::1 HTTP/1.1\r\nHost: [\r\n\r\n"):
        client = connect(port)
        client.sendall(garbage)
        client.shutdown(socket.SHUT_WR)
        failures.check(is_closed(client), "garbage ends the connection", garbage)
    slow = connect(port)
    begin = time.monotonic()
    try:
        while time.monotonic() - begin < 25:
            slow.sendall(b"G" if time.monotonic() - begin < 1 else b"a")
            time.sleep(0.5)
        failures.check(False, "a client that sends a byte at a time is left")
    except ConnectionError:
        failures.check(time.monotonic() - begin < 20, "a client that sends a byte at a time is left", time.monotonic() - begin)
    failures.check(watched.get()[0] == 200 and text, "the server still answers")
    failures.equal(watched.end(), (0, ""), "top ends well")


def case_addresses():
    for wrong in ("localhost:1", "1.2.3:4", "70000", "x", "127.0.0.1:", "[::1:5", ""):
        done = subprocess.run([ADAPTYST, "top", "--listen", wrong], capture_output=True, text=True, timeout=LIMIT, check=False)
        failures.equal(done.returncode, 2, f"'{wrong}' is no address")
        failures.check("127.0.0.1:PORT" in done.stderr, "the message has an example", done.stderr)
    taken = socket.create_server(("127.0.0.1", 0))
    done = subprocess.run([ADAPTYST, "top", "--listen", str(taken.getsockname()[1])], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.check(done.returncode == 2 and "EADDRINUSE" in done.stderr and "choose another port" in done.stderr, "a taken port is reported", done.stderr)


def case_promtool():
    tool = shutil.which("promtool")
    if tool is None:
        raise Missing("no promtool (Debian: prometheus)")
    watched = Watched()
    time.sleep(0.5)
    done = subprocess.run([tool, "check", "metrics"], input=watched.get()[2], capture_output=True, text=True, check=False)
    failures.equal((done.returncode, done.stdout + done.stderr), (0, ""), "promtool accepts the answer")
    watched.end()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def case_prometheus():
    tool = shutil.which("prometheus")
    if tool is None:
        raise Missing("no prometheus (Debian: prometheus)")
    watched = Watched()
    config = work / "prometheus.yml"
    config.write_text("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: adaptyst\n  static_configs:\n"
                      f"  - targets: ['127.0.0.1:{watched.port}']\n")
    port = free_port()
    start([tool, f"--config.file={config}", f"--storage.tsdb.path={work}/tsdb", f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"],
          stderr=subprocess.DEVNULL)

    def ask(query):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={query}", timeout=5) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []
    until = time.monotonic() + LIMIT
    while not (found := ask("adaptyst_region_calls_total")) and time.monotonic() < until:
        time.sleep(0.5)
    regions = {entry["metric"]["region"].split(" [")[0]: float(entry["value"][1]) for entry in found}
    failures.check(regions.get("thread", 0) > 0, "Prometheus has the calls of a region", found)
    failures.equal([entry["value"][1] for entry in ask("up")], ["1"], "Prometheus reads the target")
    quantile = ask("histogram_quantile(0.5,adaptyst_region_duration_seconds_bucket)")
    failures.check(any(0.0005 < float(entry["value"][1]) < 0.1 for entry in quantile), "and the median of the pauses of 1 ms", quantile)
    watched.end()


def case_file_while_the_program_runs():
    file = work / "live.prom"
    observed = start([ADAPTYST, "run", "--engine=inline", "--format=none", "-o", file, "--", PROGRAM, 10_000_000, 0, 1000],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + LIMIT
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.2)
    first = file.read_text()
    failures.check(calls(first) > 0, "the file is there while the program runs", first[:500])
    while calls(file.read_text()) == calls(first) and time.monotonic() < until:
        time.sleep(0.2)
    failures.check(calls(file.read_text()) > calls(first), "and is written again")
    child = find_child(observed.pid, PROGRAM)
    observed.kill()
    observed.wait(timeout=LIMIT)
    os.kill(child, signal.SIGKILL)
    failures.check(file.read_text().endswith("\n") and calls(file.read_text()) > 0, "a killed observer leaves a whole file")


run_cases(globals(), sys.argv[3:], failures, started)
