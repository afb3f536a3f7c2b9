"""What an analysis must find, by numpy and by brute force."""
import statistics

import numpy


def union(spans):
    """Spans as disjoint ones in their order."""
    made = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if made and start <= made[-1][1]:
            made[-1][1] = max(made[-1][1], end)
        else:
            made.append([start, end])
    return made


def covered(spans, begin, end):
    return sum(max(0, min(stop, end) - max(start, begin)) for start, stop in spans)


def without(spans, less):
    made = []
    for start, end in spans:
        for low, high in less:
            if high <= start or low >= end:
                continue
            if low > start:
                made.append([start, low])
            start = max(start, high)
        if start < end:
            made.append([start, end])
    return made


def windows(kernels, copies, width):
    """(start, device) → what a window has. `kernels`: (device, start, end, name); `copies`: (device, start, end)."""
    made = {}
    for device in sorted({kernel[0] for kernel in kernels} | {copy[0] for copy in copies}):
        own = [kernel for kernel in kernels if kernel[0] == device]
        work, moved = union((s, e) for _, s, e, _ in own), union((s, e) for d, s, e in copies if d == device)
        stalls = without(moved, work)
        last = max([e for _, e in work] + [e for _, e in moved] + [interval[1] + 1 for interval in own])
        logs = {}
        for _, start, end, name in own:
            logs.setdefault(name, []).append(numpy.log2(max(1, end - start)))
        means = {name: numpy.mean(values) for name, values in logs.items()}
        moments = {name: [numpy.mean((numpy.array(values) - means[name]) ** power) for power in (2, 3)] for name, values in logs.items()}
        for begin in range(0, last, width):
            inside = [(e - s, name) for _, s, e, name in own if begin <= s < begin + width]
            busy, stall = covered(work, begin, begin + width), covered(stalls, begin, begin + width)
            if not inside and busy + stall == 0:
                continue
            durations = numpy.array([length for length, _ in inside])
            window = {"n": len(inside), "busy": busy, "stall": stall, "copied": covered(moved, begin, begin + width)}
            if inside:
                slower = numpy.mean([numpy.log2(max(1, length)) - means[name] for length, name in inside])
                window.update(mean=durations.mean(), std=durations.std(), min=durations.min(), max=durations.max(),
                              p50=numpy.quantile(durations, 0.5), p95=numpy.quantile(durations, 0.95), value=2 ** slower)
                variance, third = (sum(moments[name][which] for _, name in inside) for which in (0, 1))
                window["error"] = variance ** 0.5 / len(inside)
                window["skewness"] = third / variance ** 1.5 if variance > 0 else 0
            made[begin, device] = window
    return made


def slowness_beyond(windows, k, compared):
    """By how much the logarithm of each window's value is above what it takes to be flagged: the fence, 5 %, and chance in 1 % of traces."""
    logs = numpy.log2([window["value"] for window in windows])
    q1, middle, q3 = numpy.quantile(logs, [0.25, 0.5, 0.75])
    z = statistics.NormalDist().inv_cdf(1 - 0.01 / compared)
    made = []
    for log, window in zip(logs, windows):
        skewness = window["skewness"]
        factor = z if skewness < 1e-6 else max(z, 2 / skewness * ((1 + skewness * z / 6 - skewness ** 2 / 36) ** 3 - 1))
        limits = q3 + k * (q3 - q1), middle + numpy.log2(1.05), middle + factor * max((q3 - q1) / 1.349, window["error"])
        made.append(log - max(limits))
    return made


def pearson(x, y):
    return numpy.corrcoef(x, y)[0, 1]


def ranks(values):
    values = numpy.asarray(values)
    order = numpy.sort(values)
    return (numpy.searchsorted(order, values, "left") + numpy.searchsorted(order, values, "right") - 1) / 2


def spearman(x, y):
    return pearson(ranks(x), ranks(y))
