#!/usr/bin/env python3
"""Writes the study's figures into the page about it. Usage: tables.py BENCH.json PAGE.md

Each table is between a line `<!-- study: NAME -->` and a line `<!-- study: end -->`; what is there is replaced."""
import pathlib
import re
import signal
import sys

import complexity
from study import (EARLIER, EARLIER_EVENTS, EARLIER_SITES, EFFECTS, EFFECT_SITES, METHODS, RATE_TITLES, SITE_COUNTS, SITES, TABLE_RATES,
                   THREAD_COUNTS, Study, effect_keys)


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


def earlier(value):
    return "≈ 0" if value == 0 else number(value)


def sites(study):
    yield f"| probe on | ns a hit | ± | {EARLIER} |"
    yield "|---|---|---|---|"
    for site, title in SITES.items():
        yield (f"| {title} | {format_with_spread(study.figures.get(f'{site}_ns'), study.figures.get(f'{site}_spread_ns'))} | "
               f"{earlier(EARLIER_SITES[site])} |")


def events(study):
    yield f"| method | ns an event | ± | {EARLIER} |"
    yield "|---|---|---|---|"
    for method, title in METHODS.items():
        yield (f"| {title} | {format_with_spread(study.of(method, 'ns'), study.of(method, 'spread_ns'))} | "
               f"{earlier(EARLIER_EVENTS[method])} |")
        if method == "idle":
            raised = format_with_spread(study.figures.get("semaphore_raised_ns"), study.figures.get("semaphore_raised_spread_ns"))
            yield f"| marker, semaphore raised, not probed | {raised} | — |"


def slowdown(study):
    yield "| method | " + " | ".join(f"{RATE_TITLES[rate]}" for rate in TABLE_RATES) + " |"
    yield "|---|" + "---|" * len(TABLE_RATES)
    for method, title in METHODS.items():
        cells = []
        for rate in TABLE_RATES:
            value = study.of(method, f"{rate}_slowdown")
            spread = None if value is None else study.of(method, f"{rate}_spread_percent") / 100 * value
            cells.append("—" if value is None else f"{value:.2f} ± {spread:.2f}")
        yield f"| {title} | " + " | ".join(cells) + " |"


def attaching(study):
    yield "| sites | attach, ms | detach, ms | perf events: attach, ms | detach, ms |"
    yield "|---|---|---|---|---|"
    for count in SITE_COUNTS:
        cells = (number(study.figures.get(f"study_{way}_{count}_{what}_ms")) for way in ("multi", "perf") for what in ("attach", "detach"))
        yield f"| {count:,} | " + " | ".join(cells) + " |"


def threads(study):
    yield "| threads on a site | " + " | ".join(map(str, THREAD_COUNTS)) + " |"
    yield "|---|" + "---|" * len(THREAD_COUNTS)
    for site in ("nop5", "nop1"):
        cells = (number(study.figures.get(f"study_threads_{site}_{count}_ns")) for count in THREAD_COUNTS)
        yield f"| {EFFECT_SITES[site]}, ns each | " + " | ".join(cells) + " |"


def memory(study):
    yield "| resident memory | bytes |"
    yield "|---|---|"
    for side, title in {"program": "program, 16 bytes apart", "kernel": "kernel"}.items():
        value = study.figures.get(f"study_multi_{SITE_COUNTS[-1]}_{side}_bytes")
        # Others use the kernel's memory too: a change that is not an increase is no figure.
        yield f"| site, {title} | {number(value / SITE_COUNTS[-1]) if value is not None and value > 0 else '—'} |"
    plain = study.figures.get("study_thread_plain_bytes")
    for way, title in {"idle": "idle marker", "inline": "recorder", "usdt": "USDT"}.items():
        value = study.figures.get(f"study_thread_{way}_bytes")
        added = None if value is None or plain is None else max(0, value - plain)
        yield f"| thread, {title} | {number(added)} |"


def effect(study, name):
    """Events counted of those made, and the signal that ended the child."""
    made, counted, ended = (study.figures.get(f"study_effect_{name}_{what}") for what in ("made", "counted", "signal"))
    if made is None:
        return "—"
    return f"{counted:,.0f}/{made:,.0f}" + (f", {signal.Signals(round(ended)).name}" if ended else "")


def effects(study):
    sites = ("nop1", "nop5")
    yield "| events counted/made | " + " | ".join(EFFECT_SITES[site] for site in sites) + " |"
    yield "|---|" + "---|" * len(sites)
    for name, (title, _) in EFFECTS.items():
        yield f"| {title} | " + " | ".join(effect(study, f"{name}_{site}") for site in sites) + " |"
    for title, names in [("… on `push`; on `xor`", ("signal_push", "signal_xor")), ("… hits a marker", ("signal_marker", ""))]:
        yield f"| signal handler {title} | " + " | ".join(effect(study, name) for name in names) + " |"


def attached_afterwards(study):
    """Whether each site of `effects` still counted this process's events afterwards."""
    names = [name for name in effect_keys() if f"study_effect_{name}_after" in study.figures]
    gone = [name for name in names if study.figures[f"study_effect_{name}_after"] != 1000]
    yield ("Afterwards, each site still counts every event of this program." if not gone else
           f"Afterwards, these sites do not count every event of this program: {', '.join(gone)}.")
    semaphore = [study.figures.get(f"study_semaphore_{when}") for when in ("before", "1_observer", "2_observers", "after")]
    if None not in semaphore:
        yield "A semaphore is {:.0f} before, {:.0f} with an observer of its site, {:.0f} with two, {:.0f} afterwards.".format(*semaphore)
    if "study_aarch64_passed" in study.figures:
        yield "On aarch64, under qemu, notes, instruction and a run without observer are correct."


def older(study):
    """What the study refuses to use, to show kernels that lack it."""
    yield "| Linux | refused here | used instead | ns |"
    yield "|---|---|---|---|"
    for linux, refused, instead, key in [("6.13", "5-byte nop", "breakpoint", "usdt_classic_ns"),
                                         ("6.10", "sessions", "return probe", "study_uprobe_pair_ns"),
                                         ("5.12", "`uprobe_multi`", "perf event", "without_multi_ns")]:
        yield f"| {linux} | {refused} | {instead} | {number(study.figures.get(key))} |"


def longer(study, method, rate):
    """By how many percent the run time is longer, and its spread."""
    value = study.of(method, f"{rate}_slowdown")
    return None if value is None else (100 * (value - 1), study.of(method, f"{rate}_spread_percent") * value)


def meaning(study):
    """The sentences of the page that name figures, so that they are those of the tables."""
    push = study.figures.get("uprobe_emulated_ns")
    names = {"usdt_classic": "a 1-byte nop", "usdt_optimised": "a 5-byte nop", "uprobe_single_step": "a stepped instruction"}
    hits = [f"{name} {study.figures[f'{site}_ns'] / push:.2g} times ({EARLIER_SITES[site] / EARLIER_SITES['uprobe_emulated']:.2g})"
            for site, name in names.items() if push and study.figures.get(f"{site}_ns")]
    yield ('- **"Uprobe or USDT" is the wrong question.** The instruction decides.'
           + (f" Compared with `push` (Xeon): {', '.join(hits)} as much." if hits else ""))
    yield ("- **A duration costs a USDT marker one trap, a uprobe two.** The marker takes both timestamps in the program. "
           "A function needs entry and return.")
    others = [method for method in METHODS if method not in ("idle", "uprobe_single_step")]
    longest = []
    for rate in TABLE_RATES:
        ratios = [(value, method) for method in others if (value := longer(study, method, rate)) is not None]
        if ratios:
            longest.append(f"{max(ratios)[0][0]:.0f} % at {RATE_TITLES[rate]}")
    yield f"- **Rate decides.** Without stepping, the run time grows by at most {', '.join(longest)}."


def answer(study):
    """What Adaptyst should integrate, by the figures of the tables."""
    def ns(key):
        return f"{number(study.figures.get(key))} ns"
    recorder, trap, pair = ns("study_inline_ns"), ns("study_usdt_optimised_ns"), ns("study_uprobe_pair_ns")
    yield (f"Markers with their own recorder ({recorder} an event; Xeon: {EARLIER_EVENTS['inline']}) as the default. USDT on a 5-byte nop ({trap}) for observers from outside that "
           f"may use eBPF, with a 1-byte nop ({ns('study_usdt_classic_ns')}) for older kernels and forked children. Uprobes with return probes "
           f"({pair}) only for functions without markers.")
    ways = [study.figures.get(f"study_{way}_100_detach_ms") for way in ("multi", "perf")]
    if None not in ways:
        yield (f"`uprobe_multi` always where Linux has it: it detaches 100 sites in {number(ways[0])} ms, perf events in {number(ways[1])} ms. "
               "Single-stepped entries only on request.")


def main(bench, page):
    study = Study(bench)
    page = pathlib.Path(page)
    text = page.read_text(encoding="utf-8")
    tables = {"run": run(study), "sites": sites(study), "events": events(study), "slowdown": slowdown(study), "attaching": attaching(study),
              "threads": threads(study), "memory": memory(study), "effects": effects(study), "attached": attached_afterwards(study),
              "older": older(study), "answer": answer(study),
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
