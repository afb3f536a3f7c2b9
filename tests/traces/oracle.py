"""What an analysis must find, by numpy and by brute force."""
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
    for device in sorted({one[0] for one in kernels} | {one[0] for one in copies}):
        own = [one for one in kernels if one[0] == device]
        work, moved = union((s, e) for _, s, e, _ in own), union((s, e) for d, s, e in copies if d == device)
        stalls = without(moved, work)
        last = max([e for _, e in work] + [e for _, e in moved] + [one[1] + 1 for one in own])
        logs = {}
        for _, start, end, name in own:
            logs.setdefault(name, []).append(numpy.log2(max(1, end - start)))
        means = {name: numpy.mean(values) for name, values in logs.items()}
        for begin in range(0, last, width):
            inside = [(e - s, name) for _, s, e, name in own if begin <= s < begin + width]
            busy, stall = covered(work, begin, begin + width), covered(stalls, begin, begin + width)
            if not inside and busy + stall == 0:
                continue
            durations = numpy.array([one for one, _ in inside])
            window = {"n": len(inside), "busy": busy, "stall": stall, "copied": covered(moved, begin, begin + width)}
            if inside:
                slower = numpy.mean([numpy.log2(max(1, one)) - means[name] for one, name in inside])
                window.update(mean=durations.mean(), std=durations.std(), min=durations.min(), max=durations.max(),
                              p50=numpy.quantile(durations, 0.5), p95=numpy.quantile(durations, 0.95), value=2 ** slower)
            made[begin, device] = window
    return made


def flagged(values, k):
    """Whether each is beyond the upper fence."""
    q1, q3 = numpy.quantile(values, [0.25, 0.75])
    return numpy.array(values) > q3 + k * (q3 - q1)


def pearson(x, y):
    return numpy.corrcoef(x, y)[0, 1]


def ranks(values):
    values = numpy.asarray(values)
    order = numpy.sort(values)
    return (numpy.searchsorted(order, values, "left") + numpy.searchsorted(order, values, "right") - 1) / 2


def spearman(x, y):
    return pearson(ranks(x), ranks(y))
