"""The page across the stack: it has the JSON's figures, in the order of execution, also in a browser and on a small screen."""
import json
import pathlib
import sys
import tempfile

from making import command, read_data, run
import chromium
import simulated_layers
from compiling import Failures, skip

failures = Failures()
if "variability" not in run("help"):
    skip("a command without SQLite")
TEXT = "document.getElementById('{}').textContent"
MARKUP = "</script><script>alert(1)</script><!--"
CELLS = "[...document.querySelectorAll('#{} tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"


def check_in_browser(browser, page, wanted):
    stack = wanted["stack"]
    browser.open(page)
    failures.equal(browser.value("document.body.dataset.state"), "ready", "it can be shown")
    failures.check("simulated" in browser.value(TEXT.format("warnings")), "simulated input is named")
    models = browser.value(CELLS.format("stack-models"))
    failures.equal([row[1] for row in models], [f"{model['batch']:g}" for model in stack["models"]], "a line for each model")
    failures.equal([row[0] for row in models[:2]], [model["name"] for model in stack["models"][:2]], "with its name")
    types = browser.value(CELLS.format("stack-types"))
    failures.equal([row[:2] for row in types], [[kind["type"], f"{kind['executed']:.3g}"] for kind in stack["types"]], "types by executed layers")
    layers = stack["passes"][0]["layers"]
    rows = browser.value(CELLS.format("stack-executed"))
    failures.equal([row[1] for row in rows], [str(at + 1) for at in range(len(layers))], "layers in order of execution")
    for row, layer in zip(rows, layers):
        kind = stack["layers"][layer["layer"]]
        failures.check(kind["type"] in row[0], "with their types", (row, kind))
    kinds = [layer["layer"] for layer in layers]
    failures.equal(len({row[0].lstrip("▸▾") for row in rows}), len(set(kinds)), "different layers have different names")
    top = "['stack-models', 'stack-types', 'stack-strip', 'stack-executed', 'stack-roofline-text', 'stack-names'].map(id => document.getElementById(id).getBoundingClientRect().top)"
    tops = browser.value(top)
    failures.equal(tops, sorted(tops), "tables of models and types first")
    browser.value("document.getElementById('stack-strip').focus(), 0")
    for _ in range(3):
        browser.press("ArrowRight")
    shown = browser.value(TEXT.format("stack-strip-text"))
    failures.check(shown.startswith("3 of 70: aten::relu_") and "on devices" in shown, "arrows move between layers", shown)
    failures.equal(browser.value("[...document.querySelectorAll('#stack-executed tr[aria-selected=true]')].map(row => row.cells[1].textContent)"), ["3"], "and choose the line of the table")
    browser.press("End")
    failures.check(browser.value(TEXT.format("stack-strip-text")).startswith("70 of 70: aten::addmm"), "to the last layer")
    x, y = browser.value("(() => { const a = document.getElementById('stack-strip').getBoundingClientRect(); return [a.left + 1, a.top + 60] })()")
    browser.move(x, y)
    failures.check(browser.value(TEXT.format("stack-strip-text")).startswith("1 of 70: aten::conv2d"), "the layer below the pointer is described")
    browser.value("(() => { const choice = document.getElementById('stack-model'); choice.value = '1'; choice.dispatchEvent(new Event('change')); return 0 })()")
    failures.check("[batch=8]" in browser.value("document.getElementById('stack-model').selectedOptions[0].textContent"), "another model")
    failures.check("8x3x224" in browser.value(CELLS.format("stack-executed"))[0][0], "has its own layers")
    failures.equal(browser.value("document.querySelectorAll('img, i, b, body > script').length"), 2, "no name becomes an element")
    browser.set_dark(True)
    browser.set_dark(False)
    failures.check(len(browser.ask("Page.printToPDF")["data"]) > 10_000, "it can be printed")
    failures.equal(browser.messages, [], "no message on the console")
    failures.equal([url for url in browser.requests if not url.startswith(("file:", "about:"))], [], "nothing is loaded from the network")
    for width in (1280, 400):
        found = browser.list_overflowing(page, width)
        failures.check("HTML" not in found, f"the page is no wider than {width} pixels", found)


def make_work(file):
    """A page from figures of layers with flops and bytes: the data of a page, replaced."""
    page = file.read_text(encoding="utf-8")
    data = read_data(page)
    for at, layer in enumerate(data["levels"]["stack"]["layers"]):
        layer["work"].update(bytes=1e6 * (at + 1), flops=1e7 * (at + 1) ** 2, bytes_share=1, flops_share=1, intensity=10.0 * (at + 1), gflops_per_s=5.0 + at)
    for at, owner in enumerate([*data["levels"]["stack"]["kernels"], *data["levels"]["stack"]["models"]]):
        owner["work" if "work" in owner else "kernels"].update(intensity=2.0 * (at + 1), gflops_per_s=1.0 + at)
    data["levels"]["ceilings"] = {"cpus": 4, "one_gflops": 50, "one_gbytes_per_s": 10, "all_gflops": 160, "all_gbytes_per_s": 20}
    start = page.index('<script id="data"')
    start = page.index(">", start) + 1
    head = page[:start].replace('data-form="deflate"', 'data-form="json"')
    made = file.with_name("work.html")
    made.write_text(head + json.dumps(data).replace("<", "\\u003c") + page[page.index("</script", start):], encoding="utf-8")
    return made


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch) if len(sys.argv) < 3 else pathlib.Path(sys.argv[2])
    trace = simulated_layers.inference()
    trace.call(f"{MARKUP} [batch=64]", [(MARKUP, [])])
    trace.write(folder / "trace.json")
    run("levels", "--stack", "--trace", folder / "trace.json", *(f"--output={folder / 'stack'}.{form}" for form in ("html", "json")))
    wanted = json.loads((folder / "stack.json").read_text(encoding="utf-8"))
    text = (folder / "stack.html").read_text(encoding="utf-8")
    shown = read_data(text)["levels"]
    failures.equal(shown["stack"], wanted["stack"], "the page has the JSON's figures")
    failures.equal(shown["regions"], [], "and not its list of regions")
    failures.check(text.lower().count("</script") == 2 and "<!--" not in text, "no name ends a script")
    try:
        run("levels", "--trace", folder / "trace.json", "--output", folder / "none.html")
        failures.check(False, "a page needs --stack")
    except Exception as refused:
        failures.check("--stack" in refused.stderr and not (folder / "none.html").exists(), "a page needs --stack", refused.stderr)
    if chromium.find() is not None:
        with chromium.Chromium(seconds=200) as browser:
            check_in_browser(browser, folder / "stack.html", wanted)
            browser.open(make_work(folder / "stack.html"))
            failures.equal(browser.value("document.body.dataset.state"), "ready", "a page with flops and bytes")
            failures.equal(browser.value("document.getElementById('stack-roofline').hidden"), False, "has a roofline")
            failures.equal(browser.value("['kernels', 'models'].map(of => document.getElementById('stack-roofline-' + of).parentElement.hidden)"), [False, False], "and those of kernels and models")
            x, y = browser.value("(() => { const e = document.getElementById('stack-roofline-models'); e.scrollIntoView(); const a = e.getBoundingClientRect(); return [a.left, a.top] })()")
            for across in range(50, 1200, 15):
                browser.move(x + across, y + 150)
            failures.check("ceilings of the machine" in browser.value(TEXT.format("stack-roofline-text")), "with ceilings")
            failures.equal(browser.messages, [], "no message on the console")
failures.exit(min_checks=10)
