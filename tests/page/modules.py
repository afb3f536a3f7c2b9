"""The modules of the page by themselves: unit tests that Debian's nodejs runs."""
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
node = shutil.which("nodejs") or shutil.which("node")
if node is None:
    print("skipped: no nodejs")
    sys.exit(77)
# In one process: a process for each file, as with --test, takes most of the time.
program = "for (const file of process.argv.slice(1)) await import(file)"
done = subprocess.run([node, "--input-type=module", "-e", program, *sorted(map(str, HERE.glob("*.mjs")))], capture_output=True, text=True, check=False)
passed = [line for line in done.stdout.splitlines() if line.startswith(("# pass", "ℹ pass"))]
if done.returncode != 0 or not passed or int(passed[0].split()[-1]) < 20:
    print(done.stdout + done.stderr)
    sys.exit(1)
print(passed[0])
