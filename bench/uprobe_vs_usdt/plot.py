#!/usr/bin/env python3
"""Draws the study's figures. Usage: plot.py BENCH.json PLOT.svg

Left, what an event costs; right, what that makes of a program, by its rate of events: measured (points), and as the left
side lets expect (lines). What is less than its spread is not drawn. Text and axes follow the reader's light or dark page.
"""
import io
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402: the backend comes first

from study import METHODS, RATES, Study

# Of the palette by Okabe and Ito, which colour-blind readers distinguish; each visible on white and on black.
COLOURS = dict(zip(METHODS, ["#999999", "#009e73", "#0072b2", "#56b4e9", "#e69f00", "#cc79a7", "#aa4499", "#d55e00"]))
MARKERS = dict(zip(METHODS, "ovsD^<>P"))
FOREGROUND = "#010203"  # a placeholder that nothing else has
STYLE = "<style>svg { color: #24292f } @media (prefers-color-scheme: dark) { svg { color: #d0d7de } }</style>"


def title(method):
    return METHODS[method].replace("`", "")


def draw_costs(axes, study):
    shown = [method for method in METHODS if study.of(method, "ns") is not None]
    for at, method in enumerate(reversed(shown)):
        cost, spread = study.of(method, "ns"), study.of(method, "spread_ns")
        if cost <= spread:
            axes.annotate("less than its spread", (1.15, at), va="center", color=FOREGROUND)
            continue
        axes.barh(at, cost, xerr=spread / 2, color=COLOURS[method], ecolor=FOREGROUND, capsize=2, error_kw={"lw": 0.8})
        axes.annotate(f"{cost:,.0f}", (1.15 * (cost + spread / 2), at), va="center", color=FOREGROUND)
    axes.set_yticks(range(len(shown)), [title(method) for method in reversed(shown)])
    axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.set_xscale("log")
    axes.set_xlim(1, 10 * max(study.of(method, "ns") for method in shown))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.set_xlabel("nanoseconds an event")


def draw_slowdown(axes, study):
    for method in METHODS:
        cost = study.of(method, "ns")
        if cost is None:
            continue
        rates = [study.figures[f"study_{rate}_events_per_s"] for rate in RATES]
        if cost > study.of(method, "spread_ns"):
            axes.plot(rates, [rate * cost / 1e7 for rate in rates], color=COLOURS[method], lw=0.8)
        for rate, per_s in zip(RATES, rates):
            extra = 100 * (study.of(method, f"{rate}_slowdown") - 1)
            spread = study.of(method, f"{rate}_spread_percent")
            if extra > spread:
                axes.errorbar(per_s, extra, yerr=spread / 2, color=COLOURS[method], marker=MARKERS[method], ms=4,
                              capsize=2, lw=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(0.01, 5000)
    for scale in (axes.xaxis, axes.yaxis):
        scale.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.set_xlabel("events per second of the program alone")
    axes.set_ylabel("longer run time, %")
    axes.grid(True, color="#888888", alpha=0.3, lw=0.5)


def main(bench, output):
    study = Study(bench)
    colours = dict.fromkeys(["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"],
                            FOREGROUND)
    # Reproducible: the same figures make the same file.
    settings = {**colours, "svg.fonttype": "none", "svg.hashsalt": "adaptyst", "font.size": 9}
    with matplotlib.rc_context(settings):
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(10.5, 4.4), gridspec_kw={"width_ratios": [1, 1.1]})
        draw_costs(left, study)
        draw_slowdown(right, study)
        figure.text(0.01, 0.01, f"{study.machine}; medians of {study.rounds} rounds, whiskers: quartiles; "
                    "right: colours as left", fontsize=7)
        figure.tight_layout(rect=(0, 0.03, 1, 1))
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", transparent=True,
                       metadata={"Date": None, "Title": "Uprobes and USDT probes"})
    text = drawn.getvalue().replace(FOREGROUND, "currentColor").replace("<defs>", STYLE + "\n <defs>", 1)
    pathlib.Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
