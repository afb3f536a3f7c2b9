#!/usr/bin/env python3
"""The question of `adaptyst variability`, by pandas and numpy with no loop over rows: with_pandas.py FILE.sqlite

Windows of 10 ms by device: count, mean, deviation, least, greatest, p50, p95, how much slower than their kernels' own mean;
time covered by kernels, and by copies alone; fences; kernels by name and device; correlations."""
import sqlite3
import sys

import numpy
import pandas

WIDTH = 10_000_000


def unite(starts, ends):
    """Sorted by start: as disjoint stretches."""
    highest = numpy.maximum.accumulate(ends)
    begins = numpy.concatenate([[True], starts[1:] > highest[:-1]])
    return starts[begins], highest[numpy.concatenate([begins[1:], [True]])]


def by_windows(starts, ends):
    """How much of disjoint stretches is in each window."""
    if len(starts) == 0:
        return pandas.Series(dtype="int64")
    first, last = starts // WIDTH, (ends - 1) // WIDTH
    counts = last - first + 1
    source = numpy.repeat(numpy.arange(len(starts)), counts)
    window = first[source] + numpy.arange(len(source)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
    part = numpy.minimum(ends[source], (window + 1) * WIDTH) - numpy.maximum(starts[source], window * WIDTH)
    return pandas.Series(part).groupby(window).sum()


def covered(starts, ends):
    starts, ends = unite(starts, ends)
    return by_windows(starts, ends)


def main():
    db = sqlite3.connect(sys.argv[1])
    gpus = pandas.read_sql("SELECT processId AS pid, contextId, gpuId FROM TARGET_INFO_CUDA_CONTEXT_INFO", db)
    names = pandas.read_sql("SELECT id, value FROM StringIds", db).set_index("id")["value"]

    def read(table, columns):
        rows = pandas.read_sql(f'SELECT start, "end", contextId, globalPid / 0x1000000 % 0x1000000 AS pid{columns} FROM {table}', db)
        return rows.merge(gpus, on=["pid", "contextId"])

    kernels = read("CUPTI_ACTIVITY_KIND_KERNEL", ", demangledName AS name")
    copies = read("CUPTI_ACTIVITY_KIND_MEMCPY", "")
    kernels["duration"] = kernels["end"] - kernels["start"]
    kernels["window"] = kernels["start"] // WIDTH
    kernels["log"] = numpy.log2(kernels["duration"].clip(lower=1))
    kernels["slower"] = kernels["log"] - kernels.groupby(["gpuId", "name"])["log"].transform("mean")
    in_windows = kernels.groupby(["window", "gpuId"])
    windows = in_windows["duration"].agg(["count", "mean", "std", "min", "max"])
    quantiles = in_windows["duration"].quantile([0.5, 0.95]).unstack()
    windows["p50"], windows["p95"] = quantiles[0.5], quantiles[0.95]
    windows["value"] = in_windows["slower"].mean()
    for gpu, own in kernels.groupby("gpuId"):
        own = own.sort_values("start")
        moved = copies[copies["gpuId"] == gpu].sort_values("start")
        busy = covered(own["start"].to_numpy(), own["end"].to_numpy())
        starts = numpy.concatenate([own["start"].to_numpy(), moved["start"].to_numpy()])
        ends = numpy.concatenate([own["end"].to_numpy(), moved["end"].to_numpy()])
        order = numpy.argsort(starts, kind="stable")
        active = covered(starts[order], ends[order])
        both = pandas.DataFrame({"busy": busy, "active": active}).fillna(0)
        both.index = pandas.MultiIndex.from_product([both.index, [gpu]], names=["window", "gpuId"])
        windows.loc[windows.index.intersection(both.index), "busy"] = both["busy"]
        windows.loc[windows.index.intersection(both.index), "stall"] = both["active"] - both["busy"]
    fences = windows.groupby("gpuId")["value"].quantile([0.25, 0.75]).unstack()
    upper = fences[0.75] + 1.5 * (fences[0.75] - fences[0.25])
    windows["flag"] = windows["value"] > windows.index.get_level_values("gpuId").map(upper)
    by_name = kernels.groupby(["gpuId", "name"])["duration"]
    listed = by_name.agg(["count", "sum", "mean", "std"])
    listed[["p50", "p95", "p99"]] = by_name.quantile([0.5, 0.95, 0.99]).unstack()
    listed.index = listed.index.set_levels(names.reindex(listed.index.levels[1]), level=1)
    pearson = windows["stall"].corr(windows["p95"])
    spearman = windows["stall"].rank().corr(windows["p95"].rank())
    print(len(kernels) + len(copies), int(windows["count"].sum()), int(windows["flag"].sum()), int(windows["stall"].sum()), f"{pearson:.6f} {spearman:.6f}")


main()
