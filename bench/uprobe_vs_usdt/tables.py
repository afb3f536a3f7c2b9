#!/usr/bin/env python3
"""Writes the study's figures into the page about it. Usage: tables.py BENCH.json PAGE.md

Each table is between a line `<!-- study: NAME -->` and a line `<!-- study: end -->`; what is there is replaced."""
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
    """A figure and its spread; a value within its error is not a figure."""
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


def longer(study, method, rate):
    """By how many percent the run time is longer, and its spread."""
    value = study.of(method, f"{rate}_slowdown")
    return None if value is None else (100 * (value - 1), study.of(method, f"{rate}_spread_percent") * value)


def meaning(study):
    """The sentences of the page that name figures, so that they are those of the tables."""
    push = study.figures.get("uprobe_emulated_ns")
    names = {"usdt_classic": "a 1-byte nop", "usdt_optimised": "a 5-byte nop", "uprobe_single_step": "a stepped instruction"}
    hits = [f"{name} {study.figures[f'{site}_ns'] / push:.2g} times" for site, name in names.items() if push and study.figures.get(f"{site}_ns")]
    yield ('- **"Uprobe or USDT" is the wrong question.** Both are the same mechanism, and the instruction decides.'
           + (f" One hit of a probe on `push` is the unit: {', '.join(hits)} as much." if hits else "")
           + " A comparison that does not name the instruction can come out either way.")
    yield ("- **A duration costs a USDT marker one trap, a uprobe two.** Ours takes both timestamps in the program and traps once, at the end. "
           "A function without markers needs its entry and its return.")
    yield ("- **The rate decides whether any of this matters.** Nanoseconds an event times events a second is the longer run time, the lines of "
           "the plot. Measured points lie on them or above: probably, work in between leaves the kernel's code and data colder.")
    others = [method for method in METHODS if method not in ("idle", "uprobe_single_step")]
    for rate in RATES:
        ratios = [(value, method) for method in others if (value := longer(study, method, rate)) is not None]
        if ratios:
            (least, cheapest), (most, dearest) = min(ratios), max(ratios)
            yield (f"- **At {RATE_TITLES[rate].removesuffix('/s')} events a second**, without stepping, the longest run time is {most[0]:.1f} ± "
                   f"{most[1]:.1f} % over the plain program's ({METHODS[dearest]}), the shortest {least[0]:.1f} ± {least[1]:.1f} % "
                   f"({METHODS[cheapest]}).")


def main(bench, page):
    study = Study(bench)
    page = pathlib.Path(page)
    text = page.read_text(encoding="utf-8")
    tables = {"run": run(study), "sites": sites(study), "events": events(study), "slowdown": slowdown(study),
              "complexity": complexity.table(), "meaning": meaning(study)}
    for name, lines in tables.items():
        place = re.compile(rf"(<!-- study: {name} -->\n).*?(<!-- study: end -->)", re.S)
        if not place.search(text):
            sys.exit(f"{page} has no place for the table '{name}': a line <!-- study: {name} -->")
        content = "\n".join(lines)
        text = place.sub(lambda found: f"{found.group(1)}{content}\n{found.group(2)}", text)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
