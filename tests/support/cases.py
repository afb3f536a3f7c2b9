"""For tests that are scripts of several cases, each a function called case_…"""
import time

from compiling import skip


class Missing(Exception):
    """What a case needs, and is not here."""


def run_cases(names, chosen, failures, started=()):
    """Runs the cases among `names`, those that are chosen or all but "-NAME", and ends the test; what was started does not outlive it."""
    left_out = {name[1:] for name in chosen if name.startswith("-")}
    chosen = [name for name in chosen if not name.startswith("-")]
    cases = {name[len("case_"):]: case for name, case in names.items() if name.startswith("case_") and name[len("case_"):] not in left_out}
    made = 0
    try:
        for name in chosen or cases:
            before, start = failures.count, time.monotonic()
            try:
                cases[name]()
            except Missing as missing:
                print(f"{name}: skipped: {missing}", flush=True)
                continue
            made += 1
            print(f"{name}: {'ok' if failures.count == before else 'FAILED'} {time.monotonic() - start:.1f} s", flush=True)
    finally:
        for process in started:
            process.kill()
            process.wait()
    if made == 0:
        skip("nothing of what is tried is here")
    failures.exit(min_checks=1 if chosen else 3)
