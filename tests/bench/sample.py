"""A run of the study, made up: what its tables and its plot are tried on."""
import json
import pathlib
import sys

source = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(source / "bench/uprobe_vs_usdt"))

from study import METHODS, RATES, SITES  # noqa: E402: its folder comes first

MACHINE = "a machine of 1 CPU, Linux 9.8, 2026-01-02"


def figures(without=()):
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
    for at, site in enumerate(SITES):
        if site not in without:
            made.update({f"{site}_ns": 300 + at, f"{site}_spread_ns": 3})
    return made


def written(directory, **options):
    file = pathlib.Path(directory) / "bench.json"
    file.write_text(json.dumps(figures(**options)), encoding="utf-8")
    file.with_suffix(".txt").write_text(MACHINE + "\n", encoding="utf-8")
    return file
