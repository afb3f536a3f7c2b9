#!/usr/bin/env python3
"""A batch job of MPI ranks with a device, on a Slurm of one node that is started here: slurm.py ADAPTYST PROGRAM

The job script is that of docs/batch.md. PROGRAM is device_ranks. Needs root,
Debian's slurm-wlm and munge; their files and ports are the test's, so that a Slurm of the machine is not touched.
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import Failures, scratch, skip  # noqa: E402

ADAPTYST, PROGRAM = map(pathlib.Path, sys.argv[1:3])
JOB = HERE.parents[1] / "examples/batch/job.sh"
LIMIT = 120  # seconds
failures = Failures()
started = []


def free_ports(number):
    sockets = [socket.socket() for _ in range(number)]
    for socket_ in sockets:
        socket_.bind(("", 0))
    ports = [socket_.getsockname()[1] for socket_ in sockets]
    for socket_ in sockets:
        socket_.close()
    return ports


def start(work, *command):
    with open(work / f"{command[0]}.log", "w", encoding="utf-8") as messages:
        started.append(subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=messages, stderr=messages))


def wait_for(label, works):
    end = time.monotonic() + LIMIT
    while not works():
        if time.monotonic() > end:
            return failures.check(False, label)
        time.sleep(0.2)
    return True


def configure(work):
    controller, node = free_ports(2)
    host = socket.gethostname().split(".")[0]
    for folder in ("state", "spool"):
        (work / folder).mkdir()
    text = f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={work}/munge.socket
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/spool
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs={max(2, os.cpu_count())} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
    (work / "slurm.conf").write_text(text, encoding="utf-8")
    (work / "cgroup.conf").write_text("CgroupPlugin=autodetect\nIgnoreSystemd=yes\n", encoding="utf-8")
    (work / "munge.key").write_bytes(os.urandom(1024))
    (work / "munge.key").chmod(0o600)
    os.environ["SLURM_CONF"] = str(work / "slurm.conf")


def answers(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def run_job(work):
    environment = {**os.environ, "SOLVER": str(PROGRAM), "PATH": f"{ADAPTYST.parent}:{os.environ['PATH']}"}
    sent = subprocess.run(["sbatch", "--parsable", JOB], cwd=work, env=environment, capture_output=True, text=True, check=False)
    if not failures.check(sent.returncode == 0, "the job is accepted", sent.stderr):
        return
    job = sent.stdout.strip()
    if not wait_for("the job ends", lambda: not answers("squeue", "-h", "-j", job).stdout.strip()):
        return
    log = work / f"solver-{job}.log"
    messages = log.read_text(encoding="utf-8") if log.exists() else "(no log)"
    print(messages)
    failures.check("sum 524288" in messages, "the program computes", messages)
    result = work / f"run-{job}.json"
    if not failures.check(result.exists(), "one profile of all ranks", messages):
        return
    profile = json.loads(result.read_text(encoding="utf-8"))
    failures.equal(profile.get("ranks"), 2, "ranks")
    devices = [device for device in profile["devices"] if device.get("operations")]
    failures.check(devices, "a device with operations", [device["name"] for device in profile["devices"]])
    failures.check("MPI_Barrier" in json.dumps(profile["regions"]), "regions of MPI")


def observe_launcher():
    """Ranks of srun are no children of the command: the report names the command that observes them."""
    done = answers(ADAPTYST, "run", "--engine=inline", "--", "srun", "--mpi", "pmix", "--job-name", "nice", "-n", "1", PROGRAM)
    failures.equal(done.returncode, 0, f"the launcher runs: {done.stderr}")
    failures.check("no adapter for opencl, openmpi: srun starts ranks outside this command; use srun … adaptyst run -- PROGRAM"
                   in " ".join(done.stderr.split()), "the command is named", done.stderr)


def main():
    for name in ("slurmctld", "slurmd", "munged"):
        if shutil.which(name) is None:
            skip(f"no {name} (Debian: slurm-wlm, munge)")
    if os.geteuid() != 0:
        skip("slurmd starts jobs of other users as root only")
    work = scratch()
    work.chmod(0o755)
    configure(work)
    try:
        start(work, "munged", "--foreground", "--force", f"--key-file={work}/munge.key", f"--socket={work}/munge.socket",
              f"--pid-file={work}/munged.pid", f"--log-file={work}/munged.log", f"--seed-file={work}/munged.seed")
        if wait_for("munged answers", (work / "munge.socket").exists):
            start(work, "slurmctld", "-D", "-i")
            start(work, "slurmd", "-D")
            if wait_for("the node is idle", lambda: "idle" in answers("sinfo", "-h", "-o", "%t").stdout):
                run_job(work)
                observe_launcher()
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        if failures.count:
            for messages in work.glob("*.log"):
                print(f"== {messages.name}\n{messages.read_text(encoding='utf-8')[-3000:]}")
    failures.exit(min_checks=4)


main()
