"""For tests that run compilers: finding them, running them, and telling what went wrong."""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

# What a careful consumer compiles with; headers of others are included as system headers.
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]

# scripts/test --long: every combination of a matrix, not only those in which each value occurs.
LONG = os.environ.get("ADAPTYST_LONG") == "1"

PACKAGES = {
    "g++": "g++", "clang++": "clang", "ld.lld": "lld", "mold": "mold", "ld.gold": "binutils", "readelf": "binutils", "objdump": "binutils", "ar": "binutils",
    "strip": "binutils", "nm": "binutils", "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "aarch64-linux-gnu-readelf": "binutils-aarch64-linux-gnu", "aarch64-linux-gnu-objdump": "binutils-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user", "gcc": "gcc", "gfortran": "gfortran", "flang-new-19": "flang-19",
}


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def tool(*names):
    """The first of these programs that is there; without any, the test is skipped."""
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    skip(f"no {names[0]} (Debian: {PACKAGES.get(names[0], names[0])})")


def run(command, **options):
    """Runs a command and returns it when done, with its output as text, and both outputs together as "printed"."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False, **options)
    done.printed = done.stdout + done.stderr
    done.line = shlex.join(str(word) for word in command)
    return done


def output(command, **options):
    """What a command that must succeed prints."""
    done = run(command, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{done.line}\n{done.printed}")
    return done.stdout


class Failures:
    """Collects what went wrong, so that one run shows all of it."""

    def __init__(self):
        self.what = []
        self.checks = 0

    @property
    def count(self):
        return len(self.what)

    def add(self, label, details=""):
        self.what.append(label)
        print(f"FAILED: {label}")
        for line in str(details).splitlines()[:40]:
            print("    " + line)

    def check(self, holds, label, details=""):
        self.checks += 1
        if not holds:
            self.add(label, details)
        return holds

    def equal(self, found, expected, label):
        return self.check(found == expected, label, f"found    {found}\nexpected {expected}")

    def exit(self, min_checks=1):
        """Ends the test; too few checks are a failure, lest an empty list pass."""
        if self.checks < min_checks:
            self.add(f"only {self.checks} checks were made")
        print(f"{self.checks} checks, {self.count} failed")
        for label in self.what[:20]:  # again, for who sees the end only
            print("failed: " + label)
        sys.exit(1 if self.count else 0)


class Includes:
    """Where the headers are: ours, and the directories that count as the system's."""

    def __init__(self, root, pfr=None):
        self.root = pathlib.Path(root)
        self.flags = ["-I", str(self.root / "include")]
        if pfr is not None:
            if pfr.endswith("NOTFOUND"):
                skip("no Boost.PFR (Debian: libboost1.81-dev)")
            if pfr != "/usr/include":  # named again, it would hide the compiler's own wrappers of the C headers
                self.flags += ["-isystem", pfr]

    def headers(self, *patterns):
        folder = self.root / "include" / "adaptyst"
        return sorted(str(path.relative_to(self.root / "include")) for pattern in patterns for path in folder.glob(pattern))


class LinkedMarkers:
    """The flags for units with linked markers, and the archive that they link, made here."""

    unit_flags = ["-DADAPTYST_LINK_MARKERS"]

    def __init__(self, compiler, includes, work):
        self.archive = work / "libadaptyst_markers.a"
        made = work / "markers.o"
        done = run([compiler, *STRICT, "-std=c++17", "-O2", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden",
                    *includes.flags, "-c", includes.root / "lib/markers/markers.cpp", "-o", made])
        if done.returncode != 0 or done.printed:
            raise RuntimeError(f"{done.line}\n{done.printed}")
        output([tool("ar"), "rcs", self.archive, made])


def scratch(mode=0o700):
    """A directory that is gone when the test ends."""
    directory = tempfile.TemporaryDirectory(prefix="adaptyst-test-")
    scratch.kept.append(directory)
    made = pathlib.Path(directory.name)
    made.chmod(mode)
    return made


scratch.kept = []
# Before a command that root runs as another user; with AS_NOBODY, which others may use too, it cannot get capabilities.
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
AS_NOBODY = [*NOBODY, "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []
os.environ["LC_ALL"] = "C"
# The environment of a program that begins without options for adaptyst.
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("ADAPTYST")}
