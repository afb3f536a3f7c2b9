"""For tests that are scripts of several cases, each a function called case_…"""
import resource
import time

from compiling import skip


class Missing(Exception):
    """What a case needs, and is not here."""


def cpu_s():
    """CPU time of this script and of its ended children."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def run_cases(names, chosen, failures, started=()):
    """Runs the cases among `names`, those that are chosen or all but "-NAME", and ends the test. After each case, the processes in `started` are killed."""
    left_out = {name[1:] for name in chosen if name.startswith("-")}
    chosen = [name for name in chosen if not name.startswith("-")]
    cases = {name[len("case_"):]: case for name, case in names.items() if name.startswith("case_") and name[len("case_"):] not in left_out}
    made = 0
    for name in chosen or cases:
        before, start, cpu_before = failures.count, time.monotonic(), cpu_s()
        try:
            cases[name]()
        except Missing as missing:
            print(f"{name}: skipped: {missing}", flush=True)
            continue
        finally:
            for process in started:
                process.kill()
                process.wait()
        made += 1
        print(f"{name}: {'ok' if failures.count == before else 'FAILED'} {time.monotonic() - start:.1f} s, {cpu_s() - cpu_before:.1f} s of CPU time", flush=True)
    if made == 0:
        skip("nothing of what is tried is here")
    failures.exit(min_checks=1 if chosen else 3)
