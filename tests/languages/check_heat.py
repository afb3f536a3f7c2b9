"""examples/heat_c and heat_fortran: by themselves, under the command, and on two ranks of MPI where they were built with it.

usage: check_heat.py ADAPTYST PROGRAM ENGINE
"""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import profiles  # noqa: E402
from compiling import Failures, run, scratch  # noqa: E402

ADAPTYST, PROGRAM, ENGINE = sys.argv[1:4]
STEPS = 200
ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
failures = Failures()
work = scratch()


def check(how, command, ranks=1, **variables):
    written = work / "profile.json"
    for earlier in work.glob("profile*.json"):
        earlier.unlink()
    options = f"engine={ENGINE},context=none,overhead=none,report=none,output={written}"
    done = run([*command, PROGRAM], env={**os.environ, **ROOT_MAY, "ADAPTYST": options, **variables}, cwd=work, timeout=120)
    failures.check(done.returncode == 0, f"{how}: none of the heat is lost", f"{done.returncode}\n{done.printed}")
    failures.check(done.stdout.split()[:1] == ["heat"] and abs(float(done.stdout.split()[1]) - 1) < 1e-9, f"{how}: its output", done.printed)
    # A program of MPI that runs alone is rank 0, and the name has it.
    found = list(work.glob("profile*.json"))
    if not failures.check(len(found) == 1, f"{how}: one profile is written", f"{found}\n{done.printed}"):
        return
    profile = profiles.read(found[0].read_text(encoding="utf-8"))
    counts = {"/".join(row["path"]): row["count"] for row in profile["regions"]}
    exchange = next((name for name in counts if name.startswith("step/exchange") and name.count("/") == 1), "step/exchange")
    for name in ("step", exchange, "step/spread", "step/add up"):
        failures.equal(counts.get(name), STEPS * ranks, f"{how}: {name}")
    step = next(row for row in profile["regions"] if row["path"] == ["step"])
    failures.equal(step["attributes"]["heat"]["count"], STEPS * ranks, f"{how}: the metric")
    failures.equal((profile["accounting"]["open"], profile["accounting"]["unmatched"]), (0, 0), f"{how}: the account")
    failures.check(profile["metadata"]["solver"].startswith("heat in "), f"{how}: metadata", profile["metadata"])
    if ranks > 1:
        failures.equal(profile["ranks"], ranks, f"{how}: ranks")


check("its own collector", [])
observed = [ADAPTYST, "run", "--format=none", f"--engine={ENGINE}", "--context=none", "--overhead=none", "--output=profile.json"]
check("under the command", [*observed, "--"], ADAPTYST="")
sites = run([ADAPTYST, "sites", PROGRAM])
for probe in ("region_begin", "region_end", "metric"):
    failures.check(f"\n  {probe} " in sites.stdout, f"sites shows {probe}", sites.printed)
libraries = run(["ldd", PROGRAM]).stdout
launcher = shutil.which("mpirun.openmpi")
if ENGINE == "inline" and launcher and "libmpi.so" in libraries:
    check("two ranks", [launcher, "--oversubscribe", "-n", "2", *observed, "--with=mpi", "--"], ranks=2, ADAPTYST="")
failures.exit(min_checks=14)
