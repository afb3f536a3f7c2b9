"""For tests of the OpenMP adapter: programs made by Clang, observed by the command.

usage of the tests: TEST.py ADAPTYST SOURCES
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "support"))
from compiling import Failures, output, run, scratch, tool
import profiles  # noqa: E402

command, sources = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
here = pathlib.Path(__file__).resolve().parent
work = scratch()
failures = Failures()


class Runtime:
    """LLVM's OpenMP of one version: how to compile for it, and where it is when programs run."""

    def __init__(self, version):
        self.version = version
        self.flags = ["-O1", "-fopenmp"]
        self.environment = dict(os.environ, OMP_NUM_THREADS="2", OMP_DYNAMIC="false")
        for name in ("OMP_TOOL", "OMP_TOOL_LIBRARIES"):
            self.environment.pop(name, None)
        unpacked = sources / "build/openmp-19/usr/lib/llvm-19"
        self.is_there = True
        if version == 19:
            self.is_there = (unpacked / "lib/libomptarget.so").exists() and (unpacked / "bin/clang-linker-wrapper").exists()
            self.flags += ["-isystem", unpacked / "lib/clang/19/include", "-L", unpacked / "lib"]
            self.environment["LD_LIBRARY_PATH"] = str(unpacked / "lib")
            # The programs that link look for clang next to themselves, then here.
            self.environment["PATH"] = f"{unpacked / 'bin'}:/usr/lib/llvm-19/bin:{os.environ['PATH']}"

    def program(self, source, *flags):
        """Made of a source next to this file, or of one elsewhere."""
        if str(source).endswith("cpp"):
            flags = ("-std=c++17", *flags)
            compiler = tool(f"clang++-{self.version}")
        else:
            compiler = tool(f"clang-{self.version}")
        made = work / f"{pathlib.Path(source).name}-{self.version}"
        output([compiler, *self.flags, *flags, "-I", sources / "include", here / source, "-o", made], env=self.environment)
        return made

    def observed(self, program, *words):
        """The program's words, the command's messages and the profile."""
        profile = work / "profile.json"
        done = run([command, "run", "--engine", "inline", "--format", "none", f"--output={profile}", "--with", "openmp", "--",
                    program, *words], env=self.environment, timeout=120)
        failures.equal(done.returncode, 0, f"{done.line} ends well: {done.stderr}")
        return done.stdout.split(), done.stderr, profiles.read(profile.read_text())


def check_account(profile, label):
    account = profile["accounting"]
    failures.equal((account["open"], account["unmatched"], sum(account["lost"].values())), (0, 0, 0),
                   f"{label}: every begin has an end: {account['lost']}")
    failures.equal(account["begun"], account["ended"], f"{label}: what began ended")


KINDS = ("parallel", "teams", "loop", "sections", "target enter data", "target exit data", "target update", "target", "kernel")


def find_kind(name):
    """The construct without its place in the source."""
    return next((kind for kind in KINDS if name.endswith(" " + kind) or name.startswith(kind + " @")), name)


def shape(path):
    return tuple(map(find_kind, path))


def regions(profile, *path):
    return [region for region in profile["regions"] if shape(region["path"]) == path]


def total(rows, key):
    return sum(row[key] for row in rows)


def attribute(rows, name):
    return sum(row["attributes"][name]["sum"] for row in rows if name in row["attributes"])
