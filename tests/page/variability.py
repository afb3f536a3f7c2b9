"""The page of an analysis of variability: it has the JSON's windows and figures, also in a browser."""
import json
import pathlib
import random
import tempfile

from making import read_data, run
import chromium
import simulated_trace
import nsys_export
from compiling import Failures, skip

failures = Failures()
if "variability" not in run("help"):
    skip("a command without SQLite")
MARKUP = "</script><script>alert(1)</script><!--"
TEXT = "document.getElementById('{}').textContent"


def check_figures(shown, wanted):
    for device, strip in enumerate(shown["strips"]):
        windows = [window for window in wanted["windows"] if window["device"] == device and window["value"] is not None]
        failures.equal(strip["label"], f"GPU {device}", "a strip for each device")
        failures.check([(cell[1], cell[2], cell[3], cell[6]) for cell in strip["cells"]] == [(window["start"], window["value"], window["stall"], int(window["flag"])) for window in windows],
                       "its cells are the JSON's windows", device)
    names = [(box["n"], box["total"], box["p50"], box["p99"]) for box in shown["boxes"]]
    failures.equal(names, [(kernel["n"], kernel["total"], kernel["p50"], kernel["p99"]) for kernel in wanted["kernels"]], "a box for each kernel, with the JSON's figures")
    for box in shown["boxes"]:
        order = [box[key] for key in ("min", "p25", "p50", "p75", "p95", "p99", "max")]
        failures.check(order == sorted(order), "quantiles are in their order", order)


def check_worst(browser, wanted):
    rows = browser.value("[...document.querySelectorAll('#worst tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    figures = [row for row in rows if len(row) == 9]
    failures.equal([(row[1], row[2]) for row in figures], [(f"GPU {window['device']}", f"{window['value']:.2f} ×") for window in wanted["topk"]], "the worst windows of the JSON")
    reasons = {(window["start"], window["device"]): window["why"]["text"] for window in wanted["windows"] if "why" in window}
    failures.equal([row[0] for row in rows if len(row) == 1], [reasons[window["start"], window["device"]] for window in wanted["topk"] if (window["start"], window["device"]) in reasons], "with their reasons")
    totals = browser.value(TEXT.format("variability-totals"))
    for word in ("Pearson", "Spearman", f"n {wanted['corr']['n']}", "parallel efficiency of 2 devices", "orchestration"):
        failures.check(word in totals, f"correlation and efficiency: {word}", totals)
    scale = browser.value(TEXT.format("strip-scale"))
    values = [window["value"] for window in wanted["windows"] if window["value"] is not None]
    for value in (min(values), max(values)):
        failures.check(f"{value:.2f} ×" in scale, "one scale for all strips", (scale, value))


def check_copies(browser, wanted):
    rows = browser.value("[...document.querySelectorAll('#copies tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    failures.equal([(row[0], row[1], row[2]) for row in rows], [(f"GPU {copies['device']}", copies.get("direction", "unknown"), f"{copies['n']:,}") for copies in wanted.get("copies", [])], "copies by direction")
    failures.equal(browser.value("document.getElementById('copies-part').hidden"), not wanted.get("copies"), "no empty table")


def check_parallel(browser, wanted):
    values = [window["value"] for window in wanted["windows"] if window["value"] is not None]
    above = sum(value >= min(values) + 0.75 * (max(values) - min(values)) for value in values)
    browser.value("document.getElementById('parallel').focus(), 0")
    browser.press("ArrowUp")
    text = browser.value(TEXT.format("parallel-text"))
    failures.check(text.startswith("duration: from ") and f"; {above} of {len(values)} shown windows" in text, "a brush by keyboard", (text, above))
    failures.equal(browser.value("document.querySelectorAll('#parallel-chosen button').length"), min(5, above), "the windows in it")
    browser.value("document.querySelector('#parallel-chosen button').click(), 0")
    failures.check("flagged" in browser.value(TEXT.format("strip-text")), "one of them leads to its cell")
    browser.value("document.getElementById('parallel').focus(), 0")
    browser.press("ArrowRight")
    failures.check(not browser.value(TEXT.format("parallel-text")).startswith("duration"), "the next axis")
    browser.press("ArrowLeft")
    browser.press("Escape")
    failures.check(f"{len(values)} of {len(values)} shown windows" in browser.value(TEXT.format("parallel-text")), "no brush", browser.value(TEXT.format("parallel-text")))
    x, top, height = browser.value("(() => { const e = document.getElementById('parallel'); e.scrollIntoView(); const a = e.getBoundingClientRect(); return [a.left + Math.min(60, a.width / 10), a.top, a.height] })()")
    for kind, y in (("mousePressed", top + 34), ("mouseMoved", top + height / 2), ("mouseReleased", top + height / 2)):
        browser.ask("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1})
    text = browser.value(TEXT.format("parallel-text"))
    failures.check(text.startswith("duration: from ") and f"to {max(values):.2f} ×" in text, "a brush by mouse", text)


def check_timeline(browser, page, worst):
    """The chosen window's link opens the timeline at the window, of which the timeline has the same events."""
    there = browser.value("location.hash")
    browser.value("document.querySelectorAll('.strip canvas')[1].focus(), 0")
    browser.press("n", text="n")
    address = browser.value("document.querySelector('#strip-timeline a').href")
    lines = read_data((page.parent / "lines" / "of trace.html").read_text(encoding="utf-8"))
    failures.check(address.startswith((page.parent / "lines" / "of%20trace.html").as_uri().replace("%2520", "%20")), "a link to the timeline", address)
    browser.open(page.parent / "lines" / "of trace.html", address[address.index("#"):])
    shown = browser.value(TEXT.format("timeline-shown"))
    failures.check(shown.startswith("1.00 ms from "), "as long as the window", (shown, worst["start"], sorted(lines)))
    browser.open(page, there)


def check_in_browser(browser, page, wanted):
    browser.open(page)
    failures.equal(browser.value("document.body.dataset.state"), "ready", "it can be shown")
    failures.check("simulated" in browser.value(TEXT.format("warnings")), "what is simulated says so")
    findings = browser.value(TEXT.format("findings"))
    for finding in wanted["findings"]:
        failures.check(finding["text"] in findings, "findings are reported", (finding, findings))
    failures.equal(browser.value("document.querySelectorAll('.strip canvas').length"), 2, "two strips")
    failures.equal(browser.value("document.querySelectorAll('#boxes tbody tr').length"), len(wanted["kernels"]), "a line for each kernel")
    failures.equal(browser.value("document.querySelectorAll('img, i, b, body > script').length"), 2, "no name becomes an element")
    browser.value("document.querySelectorAll('.strip canvas')[1].focus(), 0")
    browser.press("n", text="n")
    messages = browser.value(TEXT.format("strip-text"))
    worst = next(window for window in wanted["windows"] if window["flag"] and window["device"] == 1)
    for word in ("GPU 1", "flagged", f"{worst['start'] / 1e9:.9f} s", f"{worst['value']:.2f} ×"):
        failures.check(word in messages, f"N goes to the next flagged window: {word}", messages)
    shown = browser.value("[...document.querySelectorAll('.findings li > button')].map(element => element.textContent)")
    failures.check(any("windows are slow" in entry for entry in shown), "a finding on windows is a button", shown)
    browser.value("[...document.querySelectorAll('.findings li > button')].find(element => element.textContent.includes('windows are slow')).click()")
    failures.equal(browser.value("[document.activeElement === document.querySelectorAll('.strip canvas')[1], document.getElementById('strip-text').textContent.includes('flagged')]"), [True, True], "and leads to a flagged window of the device with most")
    failures.equal(browser.value("document.querySelectorAll('#boxes th small').length"), 2, "the axis of durations has numbers")
    ticks = browser.value("[...document.querySelectorAll('.ticks small')].map(element => element.textContent)")
    failures.check(len(ticks) >= 4 and ticks[0] == "0 ns" and "100 ms" in ticks, "the axis of time has round times", ticks)
    failures.check(worst["why"]["text"] in browser.value(TEXT.format("strip-why")), "why the window is flagged", worst["why"])
    check_worst(browser, wanted)
    check_copies(browser, wanted)
    check_parallel(browser, wanted)
    check_timeline(browser, page, worst)
    link = browser.value("location.hash")
    browser.open(page, link)
    failures.equal(browser.value(TEXT.format("strip-text")), messages, "a link restores it")
    browser.press("Tab")
    x, y = browser.value("(() => { const a = document.querySelectorAll('.strip canvas')[0].getBoundingClientRect(); return [a.left + a.width / 2, a.top + 5] })()")
    browser.move(x, y)
    failures.check(browser.value(TEXT.format("strip-text")).startswith("GPU 0, from "), "what is pointed at is reported")
    browser.set_dark(True)
    browser.set_dark(False)
    failures.check(len(browser.ask("Page.printToPDF")["data"]) > 10_000, "it can be printed")
    failures.check(browser.value("document.documentElement.scrollWidth") <= 1280, "it is no wider than the screen")
    failures.equal(browser.messages, [], "no message on the console")
    failures.equal([url for url in browser.requests if not url.startswith(("file:", "about:"))], [], "nothing is asked of the network")


def check_runs(browser, folder):
    """Three runs of three devices: GPU 1 is slow in each, and the second run is slow."""
    draw = random.Random(5)
    files = []
    for number in range(3):
        export = nsys_export.Export(folder / f"run {number}<i>.sqlite")
        for gpu in range(3):
            export.gpu(gpu)
            export.context(100, gpu + 1, gpu, gpu)
            starts = [at * 200_000 for at in range(100)]
            export.kernels([(start, start + int(50_000 * draw.lognormvariate(0, 0.1) * (1.3 if gpu == 1 else 1) * (1.2 if number == 1 else 1)), MARKUP) for start in starts], device=gpu, context=gpu + 1)
        files.append(export.finish())
    run("variability", "--compare", *files, "--output", folder / "runs.html", "--output", folder / "runs.json")
    wanted = json.loads((folder / "runs.json").read_text(encoding="utf-8"))
    text = (folder / "runs.html").read_text(encoding="utf-8")
    failures.equal(read_data(text)["comparison"], wanted, "the page has the JSON's figures")
    failures.check(text.lower().count("</script") == 2 and "<!--" not in text, "no name ends a script")
    if browser is None:
        return
    browser.open(folder / "runs.html")
    failures.equal(browser.value("document.body.dataset.state"), "ready", "a comparison has a page")
    findings = browser.value(TEXT.format("findings"))
    for finding in wanted["findings"]:
        failures.check(finding["text"] in findings, "with its findings", (finding, findings))
    rows = browser.value("[...document.querySelectorAll('#runs-groups tbody tr')].map(row => [row.cells[0].textContent, row.cells[1].textContent])")
    failures.equal(rows, [["! GPU 1: slow in every run" if group["slow"] else group["label"], f"{group['slow_runs']} of 3 runs"] for group in wanted["groups"]], "the slow GPU is named")
    failures.equal([group["device"] for group in wanted["groups"] if group["slow"]], [1], "which was planted")
    dots = browser.value("[...document.querySelectorAll('#runs-names canvas')].map(canvas => canvas.title)")
    failures.equal(dots, [", ".join(f"run {run['run'] + 1}: {run['ratio']:.2f} × ({run['low']:.2f} to {run['high']:.2f})" for run in kernel["in_runs"]) for kernel in wanted["kernels"]], "a dot for each run, with its interval")
    drawn = browser.value("(() => { const c = document.querySelector('#runs-names canvas'); return [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data].some(value => value !== 0) })()")
    failures.check(drawn, "which is drawn")
    failures.equal(browser.value("document.querySelectorAll('img, i, b, body > script').length"), 2, "no name becomes an element")
    failures.equal(browser.messages, [], "no message on the console")
    for width in (1280, 400):
        found = browser.list_overflowing(folder / "runs.html", width)
        failures.check("HTML" not in found, f"the page of runs is no wider than {width} pixels", found)


def timeline(form):
    return ("--timeline-page", folder / "lines" / "of trace.html") if form == "html" else ()


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    (folder / "lines").mkdir()
    simulated_trace.make_windows(folder / "trace.sqlite")
    for form in ("html", "json"):
        run("variability", folder / "trace.sqlite", "--window", "1ms", "--output", folder / f"var.{form}", *timeline(form))
    wanted = json.loads((folder / "var.json").read_text(encoding="utf-8"))
    text = (folder / "var.html").read_text(encoding="utf-8")
    failures.check(any(window["flag"] for window in wanted["windows"]), "a slow window was planted")
    check_figures(read_data(text)["variability"], wanted)
    failures.check(text.lower().count("</script") == 2 and "<!--" not in text, "no name ends a script")
    export = nsys_export.Export(folder / "empty.sqlite")
    export.kernels([(0, 10, "one")])
    run("variability", export.finish(), "--output", folder / "one.html")
    if chromium.find() is None:
        check_runs(None, folder)
    else:
        with chromium.Chromium(seconds=200) as browser:
            check_in_browser(browser, folder / "var.html", wanted)
            check_runs(browser, folder)
            browser.open(folder / "one.html")
            failures.equal(browser.value("document.body.dataset.state"), "ready", "a trace of one kernel has a page as well")
            failures.equal(browser.list_overflowing(folder / "var.html", 800), [], "no part needs to be scrolled to the side at 800 pixels")
failures.exit(min_checks=10)
