#!/usr/bin/env python3
"""Children that are forked while their parent passes regions, each counted where it belongs: forking.py ADAPTYST PROGRAM PLUGIN
ENGINE [CASE …]; $ADAPTYST_CHILDREN: how many (300)."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cases import run_cases  # noqa: E402
from compiling import Failures, scratch  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, PROGRAM, PLUGIN, ENGINE = sys.argv[1:5]
CHILDREN = int(os.environ.get("ADAPTYST_CHILDREN", "300"))
LIMIT = 200  # seconds that nothing here comes near to
failures = Failures()
profile_file = scratch() / "profile.json"


def is_built_with(sanitizer):
    return sanitizer in pathlib.Path(PROGRAM).read_bytes()


def run(children, sharing, threaded=0, *more, before=()):
    done = subprocess.run([ADAPTYST, "run", f"--engine={ENGINE}", "--format=none", "--overhead=none", f"--output={profile_file}", "--", *before,
                           PROGRAM, str(children), str(sharing), str(threaded), *more], capture_output=True, text=True, timeout=LIMIT, check=False)
    failures.equal((done.returncode, done.stderr), (0, ""), "the program ends as ever")
    profile = profiles.read(profile_file.read_text())
    account = profile["accounting"]
    failures.equal(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()), "the account adds up")
    return {"/".join(region["path"]): region["count"] for region in profile["regions"]}, account["lost"], int(done.stdout)


def case_children():
    counts, lost, passed = run(CHILDREN, 0)
    failures.equal(counts, {"begin": 1, "busy": passed, "launch": CHILDREN, "launch/child": 5 * CHILDREN}, "regions of parent and children")
    failures.equal(lost, {}, "nothing is lost")


def case_children_that_load_a_library():
    """Its markers are the first thing of ours that runs in the child."""
    counts, lost, passed = run(3, 0, 0, PLUGIN)
    failures.equal(counts, {"begin": 1, "busy": passed, "launch": 3, "launch/child": 15}, "nothing of the parent's is lost")
    failures.equal(lost, {}, "nothing at all")


def case_children_with_little_address_space():
    if is_built_with(b"__asan_init"):
        return print("(AddressSanitizer takes more than that)")
    counts, lost, passed = run(3, 0, before=["prlimit", f"--as={4 << 30}"])
    failures.equal(counts, {"begin": 1, "busy": passed, "launch": 3, "launch/child": 15}, "a child takes no more than its parent")
    failures.equal(lost, {}, "nothing is lost")


def case_children_whose_threads_come_first():
    """Each of them meets the fork at the same time, and none of them is the thread that was forked."""
    if is_built_with(b"__asan_init") or is_built_with(b"__tsan_init"):
        return print("(the sanitizers' own allocator may wait for ever in threads of such a child)")
    counts, lost, passed = run(0, 0, 40)
    failures.equal(counts, {"begin": 1, "busy": passed, "launch": 40, "launch/child": 20, "thread": 480}, "regions of parent and children")
    failures.equal(lost, {}, "nothing is lost")


def case_children_that_share_its_memory():
    """They are their parent; to the kernel they are not, and are counted as lost."""
    counts, lost, passed = run(0, 100)
    if ENGINE == "ebpf":
        failures.equal((counts, lost), ({"begin": 1, "busy": passed}, {"not_delivered": 200}), "what the kernel does not deliver is reported")
    else:
        failures.equal((counts, lost), ({"begin": 1, "busy": passed, "cloned": 100, "vforked": 100}, {}), "they count as their parent's")


run_cases(globals(), sys.argv[5:], failures)
