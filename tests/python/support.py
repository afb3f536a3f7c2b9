"""For the tests of the Python package: a scratch folder, and programs that the command observes."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

COMMAND = os.environ["ADAPTYST_COMMAND"]
HELLO_REGION = os.environ["ADAPTYST_TEST_HELLO_REGION"]
SOURCES = pathlib.Path(os.environ["ADAPTYST_TEST_SOURCES"])
ENGINE = os.environ.get("ADAPTYST_TEST_ENGINE", "inline")
PACKAGE = pathlib.Path(os.environ["ADAPTYST_TEST_PACKAGE"])
KERNEL = os.environ["ADAPTYST_TEST_KERNEL"]  # of examples/heat_python
sys.path.insert(0, str(SOURCES / "tests/support"))


class Case(unittest.TestCase):
    """Each test has an empty folder."""

    maxDiff = None

    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="adaptyst-python-")
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def run_command(self, *words, status=0, **options):
        done = subprocess.run([COMMAND, *map(str, words)], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def hello(self, name="hello.json"):
        """A profile of examples/hello_region by its own collector."""
        file = self.folder / name
        subprocess.run([HELLO_REGION], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "ADAPTYST": f"engine=inline,report=none,output={file}"})
        return file

    def python(self, program, *options, output="profile.json", status=0, environment=None):
        """Runs a Python program under `adaptyst run`; returns what it printed."""
        script = self.folder / "program.py"
        script.write_text(textwrap.dedent(program), encoding="utf-8")
        done = self.run_command("run", "-q", "--engine", ENGINE, "--overhead", "none", "-o", output, *options, "--", sys.executable, "-B",
                                script, status=status, env={**os.environ, **(environment or {})})
        self.assertEqual(done.stderr, "")
        return done.stdout

    def alone(self, program, environment=None, status=0):
        """Runs a Python program without a tool; returns both outputs."""
        script = self.folder / "program.py"
        script.write_text(textwrap.dedent(program), encoding="utf-8")
        done = subprocess.run([sys.executable, "-B", script], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def written(self, name, profile):
        file = self.folder / name
        file.write_text(json.dumps(profile), encoding="utf-8")
        return file


def main():
    """Runs the tests of a file. Status 77, a skip for CTest: all were skipped; 1: a failure, or skips with ADAPTYST_REQUIRE_LIVE."""
    result = unittest.main(exit=False).result
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    has_run = result.testsRun > len(result.skipped)
    if not result.wasSuccessful() or not (has_run or result.skipped) or (result.skipped and os.environ.get("ADAPTYST_REQUIRE_LIVE")):
        sys.exit(1)
    sys.exit(0 if has_run else 77)


def by_path(profile):
    """Rows of a profile by path; several rows with one path are a failure of the test."""
    made = {}
    for region in profile.regions:
        assert region.path not in made, region.path
        made[region.path] = region
    return made
