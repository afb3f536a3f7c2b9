"""Python with mpi4py under an MPI launcher: one report of all ranks, with the calls of MPI below the regions of Python."""
import os
import re
import shutil
import subprocess
import sys
import textwrap
import unittest

import adaptyst
from support import COMMAND, Case, by_path, main

try:
    import mpi4py
    LAUNCHER = shutil.which("mpirun.openmpi" if mpi4py.get_config().get("mpicc", "openmpi").find("mpich") < 0 else "mpirun.mpich")
except ImportError:
    LAUNCHER = None

PROGRAM = """
    import os, subprocess, time
    import adaptyst
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    for _ in range(5):
        with adaptyst.region("step"):
            with adaptyst.region("compute"):
                time.sleep(0.1 * world.rank)
            world.Barrier()
    child = subprocess.run(["sh", "-c", "echo $LD_PRELOAD $ADAPTYST_PRELOAD; grep -c -e libmpi -e libadaptyst /proc/$$/maps"],
                           stdout=subprocess.PIPE, text=True)
    print(f"rank {world.rank} of {world.size}: {child.stdout.split()}", flush=True)
    """


@unittest.skipIf(LAUNCHER is None, "no mpi4py with its launcher (Debian: python3-mpi4py openmpi-bin)")
class Ranks(Case):
    def launch(self, *options):
        (self.folder / "program.py").write_text(textwrap.dedent(PROGRAM))
        done = subprocess.run([LAUNCHER, "-n", "2", "--oversubscribe", COMMAND, "run", "--with", *options, "--engine", "inline", "--overhead", "none",
                               "-o", "all.json", "--", sys.executable, "-B", "program.py"], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=120,
                              env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        # A child of the interpreter has neither MPI nor an adapter.
        # The launcher may join lines of two ranks.
        self.assertEqual(sorted(re.findall(r"rank \d of \d: \[.*?\]", done.stdout)), [f"rank {rank} of 2: ['0']" for rank in range(2)])
        return done

    def test_one_report_of_all_ranks(self):
        done = self.launch("mpi")
        self.assertEqual(done.stderr.count("events begun"), 1, done.stderr)
        self.assertNotIn("after its start", done.stderr)
        self.assertEqual(sorted(file.name for file in self.folder.iterdir()), ["all.json", "program.py"])
        profile = adaptyst.load(self.folder / "all.json")
        rows = by_path(profile)
        self.assertEqual((profile.ranks, rows["step",].count, rows["step", "MPI_Barrier"].count), (2, 10, 10))
        slow = profile.rank_spread()[0]
        self.assertIn(slow["path"], ("step", "step > compute"))  # another process may disturb a rank between the two
        slow = next(row for row in profile.rank_spread() if row["path"] == "step > compute")
        self.assertEqual(slow["slowest_rank"], 1)
        # The other rank waits for it.
        waits = next(row for row in profile.rank_spread(with_mpi=True) if row["path"] == "step > MPI_Barrier")
        self.assertEqual(waits["slowest_rank"], 0)
        self.assertEqual(set(profile.rank_times(rows["step", "compute"])), {0, 1})
        self.assertEqual(profile.losses["events"], {})

    def test_with_auto_names_the_remedy(self):
        done = self.launch("auto")
        self.assertIn("--with mpi", done.stderr)


if __name__ == "__main__":
    main()
