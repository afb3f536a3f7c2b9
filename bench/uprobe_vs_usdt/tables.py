#!/usr/bin/env python3
"""Writes the study's figures into the page about it. Usage: tables.py BENCH.json PAGE.md

Each table stands between a line `<!-- study: NAME -->` and a line `<!-- study: end -->`; what is there is replaced."""
import pathlib
import re
import sys

import complexity
from study import METHODS, RATES, RATE_TITLES, SITES, Study


def number(value):
    """To three digits, but not to less than a hundredth."""
    if value is None:
        return "—"
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 99.5 else f"{value:.1f}" if abs(value) >= 9.95 else f"{value:.2f}"


def format_with_spread(value, spread):
    """A figure and its spread; what cannot be told from nothing is not a figure."""
    return f"{'≈ 0' if value is not None and value <= spread else number(value)} | {number(spread)}"


def run(study):
    yield f"{study.machine}; {study.rounds} rounds; {number(study.figures['study_uncounted_events'])} events not counted."


def sites(study):
    yield "| probe on | ns a hit | ± |"
    yield "|---|---|---|"
    for site, title in SITES.items():
        yield f"| {title} | {format_with_spread(study.figures.get(f'{site}_ns'), study.figures.get(f'{site}_spread_ns'))} |"


def events(study):
    yield "| method | ns an event | ± | system time, % |"
    yield "|---|---|---|---|"
    for method, title in METHODS.items():
        yield (f"| {title} | {format_with_spread(study.of(method, 'ns'), study.of(method, 'spread_ns'))} | "
               f"{number(study.of(method, 'system_percent'))} |")


def slowdown(study):
    yield "| method | " + " | ".join(f"{RATE_TITLES[rate]}" for rate in RATES) + " |"
    yield "|---|" + "---|" * len(RATES)
    for method, title in METHODS.items():
        cells = []
        for rate in RATES:
            value = study.of(method, f"{rate}_slowdown")
            if value is None:
                cells.append("—")
                continue
            spread = study.of(method, f"{rate}_spread_percent") / 100 * value
            cells.append(f"{value:.3f} ± {spread:.3f}; {study.of(method, f'{rate}_system_percent') or 0:.0f} %")
        yield f"| {title} | " + " | ".join(cells) + " |"
    yield ("| events per second of the program alone | "
           + " | ".join(f"{study.figures[f'study_{rate}_events_per_s']:,.0f}" for rate in RATES) + " |")


def main(bench, page):
    study = Study(bench)
    page = pathlib.Path(page)
    text = page.read_text(encoding="utf-8")
    tables = {"run": run(study), "sites": sites(study), "events": events(study), "slowdown": slowdown(study),
              "complexity": complexity.table()}
    for name, lines in tables.items():
        place = re.compile(rf"(<!-- study: {name} -->\n).*?(<!-- study: end -->)", re.S)
        if not place.search(text):
            sys.exit(f"{page} has no place for the table '{name}': a line <!-- study: {name} -->")
        content = "\n".join(lines)
        text = place.sub(lambda found: f"{found.group(1)}{content}\n{found.group(2)}", text)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
