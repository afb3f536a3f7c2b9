#!/usr/bin/env python3
"""How ranks of one machine find their observer, without MPI: meeting.py ADAPTYST PROGRAM [CASE …]

PROGRAM has a region `add`, 1000 times. This script is the launcher: it sets what launchers set."""
import os
import pathlib
import re
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, PROGRAM = sys.argv[1:3]
LIMIT = 100  # seconds that nothing here comes near to
failures = Failures()
work = scratch()
started = []


def clean_environment():
    return {name: value for name, value in os.environ.items() if not re.match("OMPI_|PMI|MPI_|SLURM_", name)}


def launch(rank, *words, of=2, here=None, options=("--output=all.json",), before=()):
    ranks = {"PMI_RANK": str(rank), "PMI_SIZE": str(of), "MPI_LOCALNRANKS": str(here or of)}
    started.append(subprocess.Popen([*before, ADAPTYST, "run", "--node", "--engine=inline", *options, "--", *map(str, words)], cwd=work,
                                    text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    env={**clean_environment(), "ADAPTYST": "", **ranks}))
    return started[-1]


def finish(*all_of_them):
    done = [process.communicate(timeout=LIMIT) for process in all_of_them]
    return [process.returncode for process in all_of_them], "".join(out for out, _ in done), "".join(messages for _, messages in done)


def take(name="all.json"):
    file = work / name
    profile = profiles.read(file.read_text())
    file.unlink()
    return profile


def adds(profile):
    return next(region["count"] for region in profile["regions"] if region["path"] == ["add"])


def case_two_ranks():
    status, _, messages = finish(*[launch(rank, PROGRAM) for rank in range(2)])
    failures.equal((status, messages.count("events begun")), ([0, 0], 1), "status, and one report")
    profile = take()
    failures.equal((profile["ranks"], adds(profile)), (2, 2000), "of both ranks")
    row = next(region for region in profile["regions"] if region["path"] == ["add"])
    failures.equal((row["across_ranks"]["ranks"], int(row["across_ranks"]["total_ns"]["sum"], 16)), (2, row["total_ns"]), "each counts once")


def case_a_rank_that_ends_first():
    for first in (0, 1):
        other = launch(1 - first, "sh", "-c", "sleep 4")
        time.sleep(0.3)
        ended = launch(first, "sh", "-c", "exit 3")
        begin = time.monotonic()
        failures.equal(ended.wait(LIMIT), 3, "its status")
        failures.check(time.monotonic() - begin < 3 and other.poll() is None, "neither waits for the other")
        failures.equal(finish(ended, other)[0], [3, 0], "nor is the other one ended")


def case_the_first_one_ends_first():
    other = launch(0, "sh", "-c", "exit 3")  # it has made the observer
    time.sleep(0.5)
    status, _, messages = finish(launch(1, PROGRAM), other)
    failures.equal((status, messages.count("events begun")), ([0, 3], 1), "the other is observed all the same")
    failures.equal(adds(take()), 1000, "and its regions are there")


def case_a_rank_that_does_not_come():
    status, _, messages = finish(launch(0, PROGRAM, of=3))
    failures.equal((status, messages.count("events begun")), ([0], 1), "no rank waits for ever")
    take()


def case_no_launcher():
    done = subprocess.run([ADAPTYST, "run", "--node", "--engine=inline", "--output=all.json", "--", PROGRAM], cwd=work, capture_output=True,
                          text=True, env=clean_environment(), timeout=LIMIT, check=False)
    failures.equal(done.returncode, 0, "status")
    failures.check("cannot observe the ranks of this machine together: no launcher has started several" in done.stderr, "it is reported", done.stderr)
    failures.equal(adds(take()), 1000, "it is observed by itself")


def case_not_found():
    status, _, messages = finish(*[launch(rank, work / "nothing") for rank in range(2)])
    failures.equal(status, [127, 127], "status")
    failures.equal((messages.count("cannot start"), messages.count("events begun")), (2, 0), "it is reported, and there is nothing to report")


def case_refused():
    status, out, messages = finish(*[launch(rank, "echo", "begun", options=("--output=/proc/none/all.json",)) for rank in range(2)])
    failures.equal(status, [2, 2], "status")
    failures.equal((messages.count("cannot write to"), out), (1, ""), "it is reported once, and no program has begun")


def case_signals():
    ranks = [launch(rank, "sh", "-c", "trap 'echo told; exit 9' TERM; echo here; while :; do sleep 0.05; done") for rank in range(2)]
    for rank in ranks:
        rank.stdout.readline()
    ranks[0].terminate()
    failures.equal(ranks[0].wait(LIMIT), 9, "a rank passes signals on to its program")
    failures.check(ranks[1].poll() is None, "and to no other")
    ranks[1].terminate()
    failures.equal(finish(*ranks)[0], [9, 9], "until it gets its own")


def case_several_machines():
    if os.geteuid() != 0 or subprocess.run(["unshare", "--uts", "true"], capture_output=True, check=False).returncode != 0:
        raise Missing("a host name of one's own, which only root can have")
    for left in work.glob("all*"):
        left.unlink()
    for node in range(2):
        named = ["unshare", "--uts", "sh", "-c", f'hostname node{node}; exec "$@"', "sh"]
        status, _, _ = finish(*[launch(2 * node + rank, PROGRAM, of=4, here=2, before=named) for rank in range(2)])
        failures.equal(status, [0, 0], "status")
    files = ["all-node0.json", "all-node1.json"]
    failures.equal(sorted(file.name for file in work.glob("all*")), files, "each machine writes its own")
    done = subprocess.run([ADAPTYST, "report", *files, "--output", "whole.json"], cwd=work, capture_output=True, text=True, check=False)
    failures.check("4 ranks on 2 hosts" in done.stdout, "together they are the whole", done.stdout + done.stderr)
    whole = take("whole.json")
    across = next(region for region in whole["regions"] if region["path"] == ["add"])["across_ranks"]
    failures.equal((whole["ranks"], adds(whole), across["ranks"]), (4, 4000, 4), "all ranks")
    failures.equal(sorted((process["rank"], process["host"]) for process in whole["processes"]),
                   [(0, "node0"), (1, "node0"), (2, "node1"), (3, "node1")], "on their hosts")
    for file in files:
        take(file)


def list_meetings():
    return set(re.findall(r"@(adaptyst-node-\S+)", pathlib.Path("/proc/net/unix").read_text()))


def case_another_user_has_the_name():
    if os.geteuid() != 0:
        raise Missing("another user, whom only root can be")
    found = set()
    for _ in range(5):  # another test may have a meeting now
        before = list_meetings()
        process = launch(0, "sh", "-c", "echo here; sleep 0.5")
        process.stdout.readline()
        added = list_meetings() - before
        finish(process)
        found = found & added or found or added
        if len(found) == 1:
            break
    failures.equal(len(found), 1, "the name")
    name = found.pop()
    for how, why in (("listens", "another user has taken the place where they meet"), ("is deaf", "another process has taken the name")):
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.setuid(65534)
            taken = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            taken.bind("\0" + name)
            if how == "listens":
                taken.listen(8)
            os.write(write_end, b".")
            time.sleep(LIMIT)
            os._exit(0)
        os.read(read_end, 1)
        begin = time.monotonic()
        try:
            (work / "all.json").unlink(missing_ok=True)
            status, _, messages = finish(launch(0, PROGRAM))
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)
        failures.equal(status, [0], f"{how}: status")
        failures.check(why in messages, f"{how}: it is reported", messages)
        failures.check(time.monotonic() - begin < 10, f"{how}: the program does not wait for long", time.monotonic() - begin)
        written = list(work.glob("all*.json"))
        failures.equal([adds(take(file.name)) for file in written], [1000], f"{how}: the rank is observed by itself")


def case_strangers_at_the_socket():
    """Connections of another user, silent or with garbage, take no rank's place."""
    if os.geteuid() != 0:
        raise Missing("another user, whom only root can be")
    before = list_meetings()
    first = launch(0, "sh", "-c", f"echo here; sleep 1; {PROGRAM}")
    first.stdout.readline()
    name = (list_meetings() - before).pop()
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        held = []
        while len(held) < 900:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            connection.setblocking(False)
            try:
                connection.connect("\0" + name)
                if len(held) % 2 == 0:
                    connection.send(os.urandom(50_000))
            except OSError:
                pass  # it is turned away
            held.append(connection)
        time.sleep(LIMIT)
        os._exit(0)
    try:
        time.sleep(0.2)
        status, _, messages = finish(launch(1, PROGRAM), first)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    failures.equal((status, messages.count("events begun")), ([0, 0], 1), f"status, and one report: {messages}")
    failures.equal(adds(take()), 2000, "of both ranks")


def case_hidden_launcher():
    """Where /proc hides processes of others (hidepid=2), and the launcher is one: its number and the job's name are enough."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "--pid", "true"], capture_output=True, check=False).returncode != 0:
        raise Missing("namespaces, which only root can make")
    place = work / "hidden"
    place.mkdir()
    for reached in (work, place):
        reached.chmod(0o777)
    nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups"
    for names, one_report in (("PMIX_NAMESPACE=job1", True), ("", False)):
        ranks = " ".join(f"PMI_RANK={rank} PMI_SIZE=2 MPI_LOCALNRANKS=2 {names} {nobody} {ADAPTYST} run --node --engine=inline "
                         f"--format=none --output=all.json -- {PROGRAM} &" for rank in range(2))
        script = f"mount -t proc -o hidepid=2 proc /proc && cd {place} && {{ {ranks} wait; }}"
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-c", script], capture_output=True, text=True, timeout=LIMIT,
                              env={**clean_environment(), "ADAPTYST": ""}, check=False)
        written = sorted(file.name for file in place.iterdir())
        failures.equal(len(written), 1 if one_report else 2, f"{names}: reports: {written} {done.stderr}")
        failures.equal("hidepid" in done.stderr, not one_report, f"{names}: a message")
        failures.equal(sum(adds(profiles.read((place / name).read_text())) for name in written), 2000, f"{names}: both ranks")
        for name in written:
            (place / name).unlink()


run_cases(globals(), sys.argv[3:], failures, started)
