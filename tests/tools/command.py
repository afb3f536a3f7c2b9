"""Runs the command `adaptyst`, and makes profiles for it.

usage of the tests: TEST.py ADAPTYST HELLO_REGION SOURCES
"""
import collections
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from profiles import completed  # noqa: E402

command, hello_region, sources = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
directory = pathlib.Path(".")  # of the test that is running

ended = collections.namedtuple("ended", "status out err")


def adaptyst(*arguments, **options):
    done = subprocess.run([command, *map(str, arguments)], cwd=directory, text=True, encoding="utf-8",
                          **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})
    return ended(done.returncode, done.stdout, done.stderr)


def subcommands():
    return re.findall(r"^## adaptyst (\w+)$", adaptyst("help", "--markdown").out, re.MULTILINE)


def real(name):
    """A profile of examples/hello_region, observed by its own recorder."""
    file = directory / name
    subprocess.run([hello_region], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "ADAPTYST": f"engine=inline,report=none,output={file}"})
    return file


def region(path, *durations, **other):
    """Made by hand. Durations below 64 ns have a bucket each."""
    counts = sorted(collections.Counter(durations).items())
    ordered = sorted(durations)
    quantile = ordered[len(ordered) // 2] if ordered else None
    return {"name": path[-1], "path": path, "id": "00000000000000%02x" % len(path), "parent": None,
            "site": {"file": "made_by_hand.cpp", "line": 1, "function": "f"}, "kind": "region", "device": 0, "threads": 1,
            "count": len(durations), "total_ns": sum(durations) if durations else None,
            "self_ns": sum(durations) if durations else None, "min_ns": min(durations, default=None),
            "max_ns": max(durations, default=None), "p50_ns": quantile, "p90_ns": quantile, "p99_ns": quantile,
            "histogram": [list(pair) for pair in counts], "attributes": {}, "overhead_ns": None, **other}


def hand_made(*regions, duration_ns=100000):
    count = sum(row["count"] for row in regions)
    made = {"schema": 1, "engine": "inline", "mechanism": "made by hand", "reason": "a test",
            "devices": [{"id": 0, "kind": "cpu", "index": 0, "name": "host", "observed_ns": duration_ns, "busy_ns": None,
                         "kernel_ns": None, "copy_ns": None, "exposed_copy_ns": None, "idle_ns": None,
                         "queue_wait_ns": None, "utilisation": None, "late": 0, "skipped": 0}],
            "regions": copy.deepcopy(list(regions)),
            "accounting": {"begun": count, "ended": count, "open": 0, "lost": {}, "unmatched": 0, "unnamed": 0,
                           "overhead_ns": None},
            "process": {"pid": 1, "command": "made_by_hand", "host": "host", "duration_ns": duration_ns}}
    return completed(made)


def written(name, profile):
    file = directory / name
    file.write_text(json.dumps(profile), encoding="utf-8")
    return file


def require(condition, *label):
    if not condition:
        raise AssertionError("\n".join(map(str, label)))


def require_equal(found, expected):
    require(found == expected, "expected:", expected, "found:", found)


class Skipped(Exception):
    """What a test needs is not here."""


def run_all(tests):
    """Runs the functions named test_…, each in an empty directory. The status is 77 if a test was skipped and none failed."""
    global directory
    failed = skipped = 0
    for name, test in tests.items():
        if not name.startswith("test_"):
            continue
        with tempfile.TemporaryDirectory() as directory_name:
            directory = pathlib.Path(directory_name)
            try:
                test()
                print("ok    ", name)
            except Skipped as reason:
                skipped += 1
                print(f"skipped: {name}: {reason}")
            except Exception:
                failed += 1
                print("FAILED", name)
                traceback.print_exc(limit=-2, file=sys.stdout)
    sys.exit(1 if failed else 77 if skipped else 0)
