"""A run of the study, made up: what its tables and its plot are tried on."""
import json
import pathlib
import sys

source = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(source / "bench/uprobe_vs_usdt"))

from study import METHODS, RATES, SITE_COUNTS, SITES, THREAD_COUNTS, effect_keys  # noqa: E402: its folder comes first

MACHINE = "a machine of 1 CPU, Linux 9.8, 2026-01-02"


def figures(without=(), **changed):
    made = {"study_rounds": 7, "study_uncounted_events": 0}
    for at, rate in enumerate(RATES):
        made[f"study_{rate}_events_per_s"] = 1000 * 10**at
    for at, method in enumerate(METHODS):
        if method in without:
            continue
        made.update({f"study_{method}_ns": 0.25 + 1234 * at, f"study_{method}_spread_ns": 10,
                     f"study_{method}_system_percent": 9 * at})
        for rate in RATES:
            made.update({f"study_{method}_{rate}_slowdown": 1.001 + at, f"study_{method}_{rate}_spread_percent": 2,
                         f"study_{method}_{rate}_system_percent": 5 * at})
    for at, site in enumerate([*SITES, "semaphore_raised", "without_multi"]):
        if site not in without:
            made.update({f"{site}_ns": 300 + at, f"{site}_spread_ns": 3})
    made.update({f"study_thread_{way}_bytes": 100 + 1000 * at for at, way in enumerate(["plain", "idle", "inline", "usdt"])})
    for count in SITE_COUNTS:
        made.update({f"study_multi_{count}_{what}": count for what in ("attach_ms", "detach_ms", "program_bytes", "kernel_bytes")})
        made[f"study_multi_{count}_wrong"] = 0
    made.update({"study_perf_1_attach_ms": 5, "study_perf_1_detach_ms": 77, "study_perf_1_wrong": 0})
    for count in THREAD_COUNTS:
        for site in ("nop1", "nop5"):
            made.update({f"study_threads_{site}_{count}_ns": 500 + count, f"study_threads_{site}_{count}_wrong": 0})
    for name in effect_keys():
        made.update({f"study_effect_{name}_made": 0 if "parent" in name else 1000,
                     f"study_effect_{name}_counted": 0 if "parent" in name else 1000,
                     f"study_effect_{name}_signal": 0})
        if not name.startswith("exec_process"):  # this program has no probe then
            made[f"study_effect_{name}_after"] = 1000
    made.update({"study_semaphore_before": 0, "study_semaphore_1_observer": 1, "study_semaphore_2_observers": 2, "study_semaphore_after": 0})
    made.update(changed)
    return made


def written(directory, **options):
    file = pathlib.Path(directory) / "bench.json"
    file.write_text(json.dumps(figures(**options)), encoding="utf-8")
    file.with_suffix(".txt").write_text(MACHINE + "\n", encoding="utf-8")
    return file
