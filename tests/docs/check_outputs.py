"""Commands of pages are run, and print what the pages show: check_outputs.py GROUP ROOT BUILD CMAKE [EDITED]

GROUP: one of PAGES. The commands of a block run in one shell, in a scratch folder that is arranged like a checkout whose build folder
is build/release. The output is compared with the shown one by these rules, so that a slower, larger or busier machine passes:

- A value (a number with its unit and sign, or a dash) becomes #. VARYING has what else is replaced, and the reason.
- Several spaces count as one, except at the beginning of a line.
- A line ... or … in the page replaces any lines; … within a line replaces any text. Without such a line, all lines must be shown.
- Each shown line must be in the output. Lines without a value (headings, titles) must come in the shown order; the others, which are
  sorted by time, in any order.

STAND_INS replace what takes long or needs a network, and the basin has fewer cells. Blocks with "into FILE …" (check_contributing.py) edit
the copies of the examples. EDITED is main.F90 of heat_fortran with these edits, and the program that CMake has built of this file:
`check_outputs.py --edit ROOT EDITED` writes the file.

NOT_RUN lists all other pages that show the output of a command, with the reason. A page in no list is a failure.
"""
import difflib
import os
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from check_contributing import put_in
from compiling import Failures, run, scratch, skip
from pages import Page, all_pages

# Pages, and the sections with commands to run; "": those above the first section; none: all.
PAGES = {
    "threads": {"docs/tutorial.md": ("Preparation", "C++ with OpenMP"), "docs/adding-a-device.md": (), "docs/administrators.md": ("",),
                "docs/c.md": (), "docs/containers.md": ("",), "docs/devices.md": (), "docs/event-log.md": (), "docs/gpu.md": (),
                "docs/installing.md": ("",), "docs/limitations.md": (), "docs/opencl.md": (), "docs/report.md": ("",), "docs/security.md": (),
                "docs/support.md": (), "docs/timeline.md": (), "docs/trace-schema.md": (), "docs/troubleshooting.md": (), "docs/versions.md": ()},
    "ranks": {"docs/tutorial.md": ("Preparation", "Fortran with MPI"), "docs/fortran.md": (), "docs/python.md": ()},
}
NOT_RUN = {
    "docs/advice.md": "measurements of many inputs; tests/tools/advise.py has the table",
    "docs/batch.md": "needs Slurm; tests/mpi/slurm.py runs this job",
    "docs/ceilings.md": "measures the machine on all cores; tests/tools/ceilings.py has the table",
    "docs/ci.md": "needs a slower program; tests/tools/diff.py has the message",
    "docs/cluster.md": "needs Slurm, and a user without privileges; other pages have the output of doctor",
    "docs/comparing.md": "simulated profiles; the tutorial compares measured ones",
    "docs/context.md": "needs a program whose threads wait for cores; tests/live/context.cpp has the columns",
    "docs/findings.md": "its second finding needs other programs on the same cores; the tutorial has the first",
    "docs/function-probes.md": "needs minutes of LAMMPS",
    "docs/hanging-job.md": "needs a running program; tests/outside attaches to programs",
    "docs/killed.md": "a job that is killed after seconds; tests/outside kills programs",
    "docs/memory.md": "needs a program that allocates in its steps; tests/adapters/heap has the figures",
    "docs/levels.md": "needs 20 runs; tests/tools/levels.py has the table",
    "docs/long-runs.md": "needs a running program; the tutorial has a profile of ranks",
    "docs/mpi.md": "simulated ranks; the tutorial has measured ones",
    "docs/openmp.md": "needs a program of Clang; tests/adapters/ompt has the regions",
    "docs/overhead-budget.md": "a program with millions of regions",
    "docs/overhead.md": "needs minutes of HPCC",
    "docs/permissions.md": "a user without privileges; tests/outside has the case",
    "docs/probe-abi.md": "needs bpftrace and perf; tests/live/other_tools runs them",
    "docs/production-codes.md": "needs minutes of HPCC",
    "docs/profiles.md": "needs jq; tests/unit has the keys",
    "docs/torch.md": "needs minutes of ResNet; tests/adapters/torch runs the program",
    "docs/variability.md": "a simulated trace of a day; tests/traces has the table",
}
# What differs between machines or runs, in addition to values: pattern, replacement, reason.
VARYING = (
    (r"^(ocl\d) .*?(?= +[\d.]+ [mun]?s\b)", r"\1 CPU", "PoCL names the device after the CPU"),
    (r"\b(nop10 optimised|nop5 optimised|breakpoint)$", "MECHANISM", "by the version of Linux"),
    (r"\b(slower|faster|unclear)$", "VERDICT", "a verdict depends on the machine, and on other programs"),
)
VALUE = re.compile(r"(?<![\w.])[-+]?[~<>±]*[-+]?\d[\d,]*(?:\.\d+)?(?: ?(?:%|[num]?s|[kMGT]i?B?|B)(?!\w))?|(?<!\S)—(?!\S)")
LEFT_OUT = ("...", "…")

# What the tutorial's commands would build. A target that CMake does not have is an error.
CMAKE = """#!/bin/bash
[[ $* == *--target* ]] || exit 0
while [[ $1 != --target ]]; do shift; done
targets=$("$REAL_CMAKE" --build "$REAL_BUILD" --target help)
for target in "${@:2}"; do
  grep -qE "(^|[ /])$target(:| |$)" <<<"$targets" || { echo "there is no target $target"; exit 1; }
  if [[ $target == heat_fortran && -n $EDITED ]]; then
    program=$REAL_BUILD/examples/heat_fortran
    cmp -s examples/heat_fortran/main.F90 "$EDITED" && program=${EDITED%.F90}
    cp "$program" build/release/examples/
  fi
done
"""
STAND_INS = {"scripts/install-dependencies": "#!/bin/sh\n", "bin/cmake": CMAKE,
             "bin/mpirun": '#!/bin/sh\nexec mpirun.openmpi --oversubscribe "$@"\n'}
CELLS = "64 64"  # of the basin: its run then takes a fiftieth of the time
# A third of the rows on the device: it is idle for far more than the 20 % of a finding, also while other tests run.
ENVIRONMENT = {"OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def arrange_checkout(root, build):
    """The scratch folder: the examples, the stand-ins, and the programs as build/release."""
    folder = scratch()
    for name in ("examples", "scripts", "bin", "build/release/examples"):
        (folder / name).mkdir(parents=True)
    for example in ("heat_fortran", "shallow_water"):
        shutil.copytree(root / "examples" / example, folder / "examples" / example)
    basin = folder / "examples/shallow_water/dam_break.txt"
    basin.write_text(re.sub(r"^cells +=.*?(?= +#)", f"cells = {CELLS}", basin.read_text(encoding="utf-8"), flags=re.MULTILINE))
    shutil.copy(root / "scripts/demo", folder / "scripts")
    for name, text in STAND_INS.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    for name in ("tools", "adapters"):
        (folder / "build/release" / name).symlink_to(build / name)
    for program in ("shallow_water", "heat_kernel.so"):
        (folder / "build/release/examples" / program).symlink_to(build / "examples" / program)
    (folder / "bin/python3").symlink_to("/usr/bin/python3")  # Debian's, with Debian's modules
    shutil.copytree(root / "examples/heat_python", folder / "examples/heat_python", dirs_exist_ok=True)
    for program in ("hello_region", "fake_device", "heat_c", "heat_fortran", "opencl_saxpy"):
        (folder / program).symlink_to(build / "examples" / program)
    (folder / "bin/adaptyst").symlink_to(build / "tools/adaptyst")
    return folder


def run_commands(commands, folder, environment):
    """Status and output of each command, in one shell."""
    lines = [f"{{ {command}\n}} >{at}.out 2>&1 </dev/null\necho $? >{at}.status" for at, command in enumerate(commands)]
    (folder / "commands").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run(["timeout", "100", "bash", "commands"], cwd=folder, env=environment)  # it also ends what the commands have started
    for at, _ in enumerate(commands):
        status, output = folder / f"{at}.status", folder / f"{at}.out"
        yield (status.read_text().strip() if status.exists() else "not run", output.read_text(errors="replace") if output.exists() else "")


def plain(line):
    """The line with # for values."""
    for pattern, replacement, _ in VARYING:
        line = re.sub(pattern, replacement, line.rstrip())
    line = re.sub(r"#(?:[…+]#)+", "#", VALUE.sub("#", line))
    return re.sub(r"(?<=\S) +", " ", line)


def matches(shown, line):
    return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), line) is not None


def check_output(place, command, shown, output, failures):
    """Compares one output with the shown one."""
    lines = [plain(line) for line in output.splitlines() if line.strip()]
    wanted = [line for line in shown if line.strip() and line.strip() not in LEFT_OUT]
    last, seen = 0, set()
    for line in wanted:
        looks = plain(line)
        found = [at for at, entry in enumerate(lines) if matches(looks, entry)]
        seen.update(found)
        nearest = difflib.get_close_matches(looks, lines, n=1, cutoff=0) or ["(nothing)"]
        details = f"page      {looks}\nnearest   {nearest[0]}\nthe whole output of the command:\n{output}"
        if failures.check(found, f"{place}: `{command}` does not print the line \"{line.strip()}\"", details) and "#" not in looks:
            later = [at for at in found if at >= last]
            failures.check(later, f"{place}: `{command}` prints \"{line.strip()}\" before the heading above it", details)
            last = later[0] if later else last
    if not any(line.strip() in LEFT_OUT for line in shown):
        more = [entry for at, entry in enumerate(lines) if at not in seen]
        failures.check(not more, f"{place}: `{command}` prints lines that the page does not show, and does not mark by ...", "\n".join(more))


def shows_output(block):
    return block.language in ("console", "") and any(output for _, output in block.session())


def run_page(page, sections, folder, environment, failures):
    """Runs the commands of these sections, with the edits between them."""
    for block in page.blocks:
        if sections and page.section(block) not in sections:
            continue
        put_in(block, folder, failures)
        if block.language != "console":
            continue
        session = block.session()
        for (command, shown), (status, output) in zip(session, run_commands([command_line for command_line, _ in session], folder, environment)):
            name = command.splitlines()[0]
            failures.check(status == "0", f"{block.place}: `{name}` ends with status {status}", output)
            if shown:
                check_output(block.place, name, shown, output, failures)


def check_lists(root, failures):
    """Each page with an output is in a list, and each page in a list has an output."""
    listed = {*NOT_RUN, *(name for group in PAGES.values() for name in group)}
    found = {page.name for page in all_pages(root) if any(shows_output(block) for block in page.blocks)}
    for name in sorted(found ^ listed):
        failures.add(f"{name}: it shows the output of a command: add it to PAGES or NOT_RUN" if name in found else f"{name}: no output is shown")


def main(group, root, build, cmake="", edited=""):
    failures, root, build = Failures(), pathlib.Path(root), pathlib.Path(build)
    if group == "--edit":
        folder = scratch()
        shutil.copytree(root / "examples", folder / "examples")
        for block in Page(root / "docs/tutorial.md", root).blocks:
            put_in(block, folder, failures)
        shutil.copy(folder / "examples/heat_fortran/main.F90", build)
        failures.exit()
    if not list(pathlib.Path("/etc/OpenCL/vendors").glob("*.icd")):
        skip("no OpenCL device (Debian: pocl-opencl-icd)")
    check_lists(root, failures)
    for name, sections in PAGES[group].items():
        if name == "docs/python.md" and not (build / "python/adaptyst").is_dir():
            print(f"{name}: not run: ADAPTYST_BUILD_PYTHON=OFF")
            continue
        folder = arrange_checkout(root, build)
        environment = {**{key: value for key, value in os.environ.items() if not key.startswith("ADAPTYST")}, **ENVIRONMENT,
                       "REAL_CMAKE": shutil.which(cmake), "REAL_BUILD": str(build), "EDITED": edited, "PYTHONPATH": str(build / "python"), "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        run_page(Page(root / name, root), sections, folder, environment, failures)
    failures.exit(min_checks=12)


if __name__ == "__main__":
    main(*sys.argv[1:])
