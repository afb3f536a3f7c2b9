"""The page in a browser without a network: what it shows is what the JSON has, and everything that can be done with it."""
import json
import pathlib
import random
import re
import tempfile

from making import make_page, planted, run, write
import chromium
import simulated_run
from compiling import Failures, skip

failures = Failures()
if chromium.find() is None:
    skip("no chromium")

# Of the canvas, without which its boxes cannot be pointed at.
AREA = "(() => { const c = document.getElementById('icicle'), a = c.getBoundingClientRect(), g = c.icicle.gutter; return [a.left + g, a.top, a.width - g] })()"
TEXT = "document.getElementById('{}').textContent"
# The number of colours that operations of a kind have in the bars, in both legends and in the icicle.
COLOURS = """(() => {{
  const probe = document.createElement('i');
  document.body.append(probe);
  probe.style.color = document.getElementById('icicle').icicle.palette.get('box-{box}');
  const found = [getComputedStyle(probe).color];
  probe.remove();
  for (const element of document.querySelectorAll('.part.{part}, .swatch.{part}, .swatch.box-{box}')) found.push(getComputedStyle(element).backgroundColor);
  return found.length > 3 ? new Set(found).size : found;
}})()"""
CELLS = "[...document.querySelectorAll('#table tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"


def markdown_rows(file):
    """The table as the terminal has it: names without their indent, then the figures."""
    rows = []
    for line in run("report", file, "--format", "markdown", "--top", "0", "--depth", "0").splitlines():
        if line.startswith("| ") and not line.startswith("| REGION"):
            cells = [re.sub(r"\\(.)", r"\1", cell.strip()) for cell in line.strip("| ").split(" | ")]
            rows.append([cells[0].replace("&nbsp;", "")] + cells[1:])
    return sorted(rows)


def check_quiet(browser, label):
    failures.equal(browser.messages, [], f"{label}: no message on the console")
    failures.equal([url for url in browser.requests if not url.startswith(("file:", "about:"))], [], f"{label}: no request goes to the network")
    browser.messages.clear()


def check_figures(browser, profile):
    shown = [[re.sub("^[▾▸]", "", row[0])] + row[1:] for row in browser.value(CELLS)]
    failures.equal(sorted(shown), markdown_rows(profile), "the table has the terminal's rows and figures")
    failures.check(shown[-1][0] == "(unmarked)" and shown[-1][4] != "—", "the last row is the time outside all regions", shown[-1])
    browser.value("[...document.querySelectorAll('#table tbody tr')].pop().click()")
    failures.check("outside all regions" in browser.value(TEXT.format("details")), "its details explain it", browser.value(TEXT.format("details")))
    browser.press("Escape")
    browser.value("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }, 0")
    browser.value("document.getElementById('copy-csv').click()")
    browser.wait_for("window.copied !== undefined")
    lines = browser.value("window.copied").split("\r\n")
    failures.equal(lines[0], "path,device,threads,count,total_ns,self_ns,share,mean_ns,p99_ns,running,no_core,blocked", "the CSV has a heading")
    rows = json.loads(profile.read_text(encoding="utf-8"))["regions"]
    copied = sorted(tuple(map(int, line.split(",")[3:6])) for line in lines[1:-1])
    failures.equal(copied, sorted((row["count"], row["total_ns"], row["self_ns"]) for row in rows), "the CSV has the JSON's numbers")


def check_first_screen(browser):
    """Rank 11, gpu2 and the region output are wrong: the page shows it without scrolling."""
    visible = browser.value("""[...document.querySelectorAll('.findings li, .line.odd .name')].filter(element => {
        const area = element.getBoundingClientRect(); return area.top >= 0 && area.bottom <= innerHeight && area.height > 0
    }).map(element => element.textContent)""")
    for words in (["gpu2", "idle 80.0%"], ["rank 11 on simulated2", "step > advect"], ["step > output", "some events took"]):
        failures.check(any(all(word in text for word in words) for text in visible), f"a finding on {words[0]} is on the first screen", visible)
    marked = [text for text in visible if not text.startswith("step") and len(text) < 60]
    failures.check(any("gpu2" in text for text in marked) and any("rank 11" in text for text in marked), "their bars are marked", marked)
    failures.equal(sum("gpu" in text for text in marked if "idle" not in text), 1, "no other device is")
    bottom = browser.value("document.getElementById('icicle').getBoundingClientRect().bottom")
    failures.check(bottom <= 800, "so is the icicle", bottom)
    facts = browser.value(TEXT.format("facts"))
    for word in ("solver --mesh wing.h5", "2026-11-02T09:30:00Z", "simulated0", "simulated: numbers drawn by chance", "why threads wait: context=cpu"):
        failures.check(word in facts, f"the facts have {word}", facts)
    failures.equal((facts.count("not recorded"), facts.count("not seen")), (1, 0), "what is missing has one heading")


def check_bars(browser, profile):
    device = json.loads(profile.read_text(encoding="utf-8"))["devices"][1]
    parts = browser.value("Object.fromEntries([...document.querySelectorAll('#bars .line')[1].querySelectorAll('.part')].map(element => [element.dataset.part, Number(element.dataset.ns)]))")
    failures.equal(sum(parts.values()), device["observed_ns"], "a device's parts are the time for which it was looked at")
    failures.equal((parts["starved"], parts["launch"], parts["exposed"]), (device["starved_ns"], device["launch_idle_ns"], device["exposed_copy_ns"]), "and as in the JSON")
    check_shares(browser)
    failures.equal(browser.value(COLOURS.format(box="kernel", part="kernel")), 1, "kernels have one colour in bars, legends and boxes")
    failures.equal(browser.value(COLOURS.format(box="copy", part="exposed")), 1, "and so have copies")
    failures.equal(browser.value(COLOURS.format(box="wait", part="wait")), 1, "and waits")


def check_shares(browser):
    """The percentages of each bar add up, and are those of its label."""
    for shares, label in browser.value("[...document.querySelectorAll('#bars .line')].map(element => [[...element.querySelectorAll('.part')].map(part => part.textContent), element.querySelector('.bar').getAttribute('aria-label')])"):
        numbers = [0 if share == "<0.1%" else round(10 * float(share.rstrip("%"))) for share in shares]
        failures.equal(sum(numbers), 1000, f"the parts of a bar add up to 100 %: {label}")
        failures.check(all(share in label for share in shares), "with the percentages of its label", (shares, label))


def check_search(browser):
    search = "(() => {{ const f = document.getElementById('search'); f.value = {}; document.getElementById('expression').checked = {}; f.dispatchEvent(new Event('input')); return {} }})()"
    names = "[...document.querySelectorAll('#table tbody tr.found')].map(row => row.node.name)"
    failures.equal(set(browser.value(search.format("'ITER'", "false", names))), {"iterate"}, "a text is found, whatever its case")
    failures.equal(set(browser.value(search.format("'^(adv|MPI_W)'", "true", names))), {"advect", "MPI_Waitall"}, "a regular expression is")
    failures.check("2 found" in browser.value(TEXT.format("found")), "and how many there are is reported")
    failures.check(browser.value(search.format("'('", "true", "f.getAttribute('aria-invalid')")) == "true", "a wrong expression is reported")
    failures.check("search=" in browser.value("location.hash"), "what is searched for is in the link")
    browser.value(search.format("''", "false", "0"))


def check_icicle(browser):
    left, top, width = browser.value(AREA)
    browser.move(left + 20, top + 33)
    failures.check(browser.value(TEXT.format("pointed")).startswith("step > solve: 46"), "what is pointed at is reported", browser.value(TEXT.format("pointed")))
    browser.click(left + 20, top + 33)
    details = browser.value(TEXT.format("details"))
    for word in ("solve", "solver/main.cpp:61", "p99", "engine inline", "calls/s", "16 threads"):
        failures.check(word in details, f"a click shows {word}", details)
    failures.check(browser.value("document.querySelector('#details canvas').getAttribute('aria-label')").startswith("durations"), "and a histogram")
    left, top, width = browser.value(AREA)
    browser.click(left + 20, top + 33, count=2)
    failures.check(re.search("region=[0-9a-f]{16}&zoom=[0-9a-f]{16}", browser.value("location.hash")), "a double click zooms, and the link has both", browser.value("location.hash"))
    failures.equal(browser.value("document.getElementById('zoom-out').disabled"), False, "one can zoom out again")
    browser.move(left + width - 3, top + 33)
    failures.check(browser.value(TEXT.format("pointed")).startswith("step > solve:"), "it is as wide as the whole")


def check_link(browser, page):
    """What was looked at is looked at again."""
    browser.value("document.querySelectorAll('#table thead button')[7].click()")
    hash_now = browser.value("location.hash")
    state = "[document.getElementById('details-title').textContent, document.getElementById('details').hidden, document.getElementById('zoom-out').disabled, [...document.querySelectorAll('#table tbody tr')].map(row => row.node.name), document.querySelector('#table thead [aria-sort=descending]').textContent]"
    before = browser.value(state)
    browser.open(page)
    failures.check(browser.value("document.getElementById('details').hidden") is True, "without a link nothing is chosen")
    browser.open(page, hash_now)
    failures.equal(browser.value(state), before, "a link restores the region, the zoom and the order")
    failures.equal(browser.value("location.hash"), hash_now, "and is the same again")
    browser.press("Escape")
    browser.press("Escape")
    failures.equal(browser.value("[document.getElementById('details').hidden, document.getElementById('zoom-out').disabled]"), [True, True], "Escape closes and zooms out")


def check_table(browser):
    names = "[...document.querySelectorAll('#table tbody tr')].map(row => row.node.name)"
    sort = "document.querySelectorAll('#table thead button')[{}].click(), " + names
    browser.value(sort.format(4))
    column = [row[4] for row in browser.value(CELLS)]
    browser.value(sort.format(0))
    order = [name for name in browser.value(names) if name in ("advect", "exchange", "output", "solve")]
    failures.equal(order, ["advect", "exchange", "output", "solve"], "sorted by name, siblings come by the alphabet")
    browser.value(sort.format(4))
    failures.equal([row[4] for row in browser.value(CELLS)], column, "and by time again")
    count = len(column)
    browser.value("document.querySelector('#table tbody .fold').click(), 0")
    failures.equal(browser.value(names), ["step", "(unmarked)"], "a fold hides nested regions")
    failures.check("folded=" in browser.value("location.hash"), "which the link has")
    browser.value("document.getElementById('unfold-all').click(), 0")
    failures.equal(browser.value(f"{names}.length"), count, "and shows it again")
    browser.value("document.querySelector('#table tbody tr').focus(), 0")
    browser.press("ArrowLeft")
    failures.equal(browser.value(f"{names}.length"), 2, "as do the keys")
    browser.press("ArrowRight")
    browser.press("ArrowDown")
    browser.press("Enter")
    failures.equal(browser.value(TEXT.format("details-title")), "solve", "Enter opens the details")
    failures.equal(browser.value("document.activeElement.id"), "details-title", "and goes there")
    browser.wait_for(TEXT.format("announcement") + ".startsWith('step > solve: 46')")
    browser.press("Escape")
    failures.equal(browser.value("document.activeElement.node && document.activeElement.node.name"), "solve", "Escape goes back to the row")
    browser.press("Enter")
    browser.value("document.querySelector('#details .close').click()")
    failures.equal(browser.value("document.activeElement.node && document.activeElement.node.name"), "solve", "as does the button that closes")
    browser.value("document.activeElement.blur()")


def check_keys(browser):
    browser.value("document.getElementById('icicle').focus(), 0")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        browser.press(key)
    failures.equal(browser.value(TEXT.format("details-title")), "advect", "arrows move through the icicle")
    browser.press("Enter")
    failures.check("zoom=" in browser.value("location.hash"), "Enter zooms")
    browser.wait_for(TEXT.format("announcement") + ".includes('advect')")
    browser.press("Escape")
    browser.press("Escape")
    browser.press("/", text="/")
    failures.equal(browser.value("document.activeElement.id"), "search", "a slash leads to the search")
    browser.value("document.activeElement.blur()")


def check_choices(browser):
    """Every measure of every lane draws something, and its total is reported."""
    lanes = browser.value("[...document.getElementById('lane').options].map(element => element.textContent)")
    failures.equal(lanes, ["host and devices", "host", "gpu0", "gpu1", "gpu2", "gpu3"], "the host and each device have an icicle")
    choose = "(() => {{ const s = document.getElementById('{}'); s.value = '{}'; s.dispatchEvent(new Event('change')); return [document.getElementById('icicle').dataset.painted, document.getElementById('total').textContent] }})()"
    for measure, total in (("self", "129 s"), ("bytes", "41"), ("flops", "461"), ("time", "129 s")):
        painted, messages = browser.value(choose.format("measure", measure))
        failures.check("box-region" in painted and messages.startswith(total), f"by {measure}", (painted, messages))
    painted, messages = browser.value(choose.format("lane", "1"))
    failures.check("box-kernel" in painted and "box-copy" in painted and messages.startswith("4.49 s"), "the device's operations", (painted, messages))
    browser.value(choose.format("lane", "host"))


LANES = """(() => { const shown = document.getElementById('icicle').icicle;
    const all = [shown.root]; for (const node of all) all.push(...node.children);
    const place = (name) => shown.place(all.find(node => node.name === name));
    return [document.getElementById('icicle').dataset.lanes, shown.canvas.clientWidth - shown.gutter, place('step'), place('iterate'), shown.place(shown.rows[0][0].node), shown.rows[0][0].node.rows[0].total_ns] })()"""


def check_lanes(browser, profile, page):
    """The operations of devices have lanes below the host's regions, of the same scale, and make none of these wider."""
    browser.open(page)
    rows = json.loads(profile.read_text(encoding="utf-8"))["regions"]
    time = lambda name: next(row["total_ns"] for row in rows if row["name"] == name)
    lanes, width, step, iterate, smooth, ns = browser.value(LANES)
    failures.equal(lanes, "gpu0 gpu1 gpu2 gpu3", "each device has a lane")
    failures.check(abs(iterate["width"] / step["width"] - time("iterate") / time("step")) < 1e-6, "a region is as wide as its time", (iterate, step))
    failures.check(abs(smooth["width"] / width - ns / time("step")) < 1e-6, "and so is an operation", (smooth, width))
    failures.check(smooth["top"] > iterate["top"] + 22, "which is below all regions", (smooth, iterate))
    left, top = browser.value("(() => { const a = document.getElementById('icicle').getBoundingClientRect(); return [a.left, a.top] })()")
    browser.move(left + smooth["left"] + 3, top + smooth["top"] + 11)
    messages = browser.value(TEXT.format("pointed"))
    failures.check("smooth: " in messages and " on gpu0" in messages and "asynchronously" in messages, "it is described", messages)
    browser.click(left + smooth["left"] + 3, top + smooth["top"] + 11)
    failures.equal(browser.value(TEXT.format("details-title")), "smooth", "a click shows its details")
    failures.check("kernel on gpu0" in browser.value(TEXT.format("details")), "with its device", browser.value(TEXT.format("details")))
    browser.value("document.getElementById('icicle').focus(), 0")
    browser.press("ArrowUp")
    failures.equal(browser.value(TEXT.format("details-title")), "iterate", "a key leads to the region around it")
    browser.press("ArrowDown")
    failures.equal(browser.value(TEXT.format("details-title")), "smooth", "and back")
    browser.press("Enter")
    failures.equal(browser.value("document.getElementById('icicle').icicle.zoomed.name"), "iterate", "Enter zooms to the region around it")
    browser.press("Escape")
    browser.press("Escape")


def check_findings(browser, page):
    """A finding leads to its device, its rank and its region, by the mouse and by keys."""
    browser.open(page)
    failures.equal(browser.value("document.querySelectorAll('.findings li').length"), browser.value("document.querySelectorAll('.findings li > button').length"), "each finding is a button")
    chosen = "[...document.querySelectorAll('#bars .chosen')].map(element => element.dataset.of)"
    browser.value("document.querySelectorAll('.findings button')[0].click()")
    failures.equal(browser.value(chosen), ["device 3"], "a finding on a device leads to its bar")
    failures.equal(browser.value("[document.activeElement.dataset.of, document.getElementById('lane').value, document.getElementById('icicle').dataset.painted.includes('box-kernel')]"), ["device 3", "3", True], "and to its operations")
    browser.value("document.querySelectorAll('.findings button')[1].focus(), 0")
    browser.press("Enter", text="\r")
    failures.equal((browser.value(chosen), browser.value(TEXT.format("details-title"))), (["rank 11"], "advect"), "one on a rank, to its bar and its region")
    failures.equal(browser.value("document.activeElement.id"), "details-title", "by keys with the focus")
    browser.press("Escape")
    failures.equal(browser.value("document.activeElement === document.querySelectorAll('.findings button')[1]"), True, "which comes back")
    browser.value("document.activeElement.blur()")


def check_bins(browser, folder, profile):
    """A bar of several ranks shows that it is their mean, and a finding on one of them leads to it."""
    binned = json.loads(profile.read_text(encoding="utf-8"))
    heat = binned["heat_map"]
    for row in heat["rows"]:
        bins = [[ns for ns in row["mean_ns"][at:at + 4] if ns is not None] for at in range(0, 16, 4)]
        row.update({f"{name}_ns": [of(bin_) if bin_ else None for bin_ in bins] for name, of in (("mean", lambda all_of: sum(all_of) // len(all_of)), ("min", min), ("max", max))})
    heat["ranks_per_bin"] = 4
    browser.open(make_page(binned, folder, "binned"))
    bars = "[...document.querySelectorAll('#bars [data-last]')].map(element => [element.classList.contains('odd'), element.querySelector('.name').textContent])"
    bars = dict(reversed(pair) for pair in browser.value(bars))
    failures.equal([name.split(" mean")[0] for name in sorted(bars)], ["ranks 0–3", "ranks 12–15", "ranks 4–7", "ranks 8–11"], "each bin has a bar")
    failures.equal([name for name, is_odd in bars.items() if is_odd], ["ranks 8–11 mean of 4; finding on 11; simulated2"], f"the one of rank 11 has its sign: {bars}")
    browser.value("document.querySelectorAll('.findings button')[1].click()")
    failures.equal(browser.value("[...document.querySelectorAll('#bars .chosen')].map(element => element.dataset.of)"), ["rank 8"], "and the finding leads to it")
    check_quiet(browser, "bins")


def with_context(row, on, no_core, lock):
    """A region of which the kernel knows when its threads were on a core; fractions of its time."""
    part = lambda ns: {"wall_ns": ns, "on_cpu_ns": ns - int(ns * no_core) - int(ns * lock), "runnable_ns": int(ns * no_core), "sleep_ns": 0, "lock_ns": int(ns * lock), "io_ns": 0, "other_ns": 0,
                       "voluntary_switches": 1, "involuntary_switches": 1, "migrations": 0, "minor_faults": None, "major_faults": None, "open": 0}
    return {**row, "context": part(row["total_ns"]), "self_context": part(row["self_ns"])}


def check_context(browser, folder):
    """Waiting is no compute time; a row's parts add up and are the same everywhere; nothing of it is zero; a path is short."""
    rows = [with_context(simulated_run.region(["solve"], [30_000_000] * 100, line=7), 0.667, 0.1665, 0.1665)]
    rows[0]["site"] = {"file": "/home/ann/solver/src/main.cpp", "line": 7, "function": "run(grid&)"}
    rows.append(simulated_run.region(["limit"], [1_000_000], line=9))
    rows[1]["site"] = {"file": "/home/ann/solver/src/flux/limit.cpp", "line": 9, "function": "limit(double)"}
    made = simulated_run.profile(rows, [simulated_run.host(4 * 10**9)], 4 * 10**9)
    made["context"] = {"threads": 1, "lost": {"no_wakeup": 3}}
    browser.open(make_page(made, folder, "context"), f"#region={rows[0]['id']}")
    parts = browser.value("Object.fromEntries([...document.querySelectorAll('#bars .line')[0].querySelectorAll('.part')].map(element => [element.dataset.part, Number(element.dataset.ns)]))")
    context = rows[0]["self_context"]
    failures.equal((parts["compute"], parts["nocore"], parts["blocked"]), (context["on_cpu_ns"], context["runnable_ns"], context["lock_ns"]), "the host's bar has time without a core and blocked time")
    failures.equal(parts["marked"], rows[1]["self_ns"], "a region without context is no compute time")
    check_shares(browser)
    cells = [row for row in browser.value(CELLS) if row[0] == "solve"][0][-3:]
    failures.equal(sum(int(cell.rstrip("%")) for cell in cells), 100, f"the parts of a row add up: {cells}")
    details = " ".join(browser.value("document.getElementById('details').innerText").split())
    for cell in cells:
        failures.check(f" {cell} of the time" in details, f"the details have {cell} as well", details)
    for absent in ("/home/ann", "a timer", "files and sockets", " 0 ns", "samples", "level"):
        failures.check(absent not in details, f"the details do not have '{absent}'", details)
    failures.equal(browser.value("[...document.querySelectorAll('#details h3')].map(element => element.textContent)"), ["Place", "Time", "Threads on and off cores", "Measurement"], "the details have headings")
    source = browser.value("(() => { const field = document.querySelector('#details dd span'); return [field.textContent, field.title] })()")
    failures.equal(source, ["main.cpp:7", "/home/ann/solver/src/main.cpp:7"], "a source is named below the folder of all")
    ticks = browser.value("document.querySelector('#details canvas').dataset.ticks")
    failures.check(len(re.findall(r"\d ms", ticks)) >= 2, "the axis of durations has numbers", ticks)
    banner = browser.value("document.querySelector('.banner').textContent")
    failures.check("no_wakeup: the kernel did not report when a thread could run again" in banner, "a reason of missing data has a sentence", banner)
    check_quiet(browser, "context")


def check_hosts(browser):
    """What ranks ran on is kept when their profiles are merged."""
    places = browser.value("[...document.querySelectorAll('.place.host')].map(element => element.querySelector('b').textContent)")
    failures.equal(places, [f"simulated{number}" for number in range(4)] + ["devices"], "each host is there once")
    failures.equal(browser.value("[...document.querySelectorAll('.place.used b')].map(element => element.textContent)"), ["gpu0", "gpu1", "gpu2", "gpu3"], "and the devices of all")
    failures.equal(browser.value("document.querySelectorAll('#processes tbody tr').length"), 16, "threads of many processes are folded")
    browser.value("document.querySelector('#processes .fold').click()")
    failures.equal(browser.value("document.querySelectorAll('#processes tbody tr').length"), 18, "and shown when asked for")


def check_ranks(browser):
    text = browser.value(TEXT.format("ranks"))
    for word in ("11 on simulated2", "63.4%", "4.09 s"):
        failures.check(word in text, f"the table of imbalances has {word}", text)
    browser.value("document.querySelector('#heat canvas').scrollIntoView(), 0")
    failures.equal(browser.value("document.querySelector('#heat canvas').dataset.ticks"), " ".join(map(str, range(16))), "the axis of the heat map has the ranks")
    label = browser.value("document.querySelector('#heat canvas').getAttribute('aria-label')")
    failures.check("advect of rank 11" in label, "the heat map's label has what is framed", label)
    left, top, width = browser.value("(() => { const a = document.querySelector('#heat canvas').getBoundingClientRect(); return [a.left, a.top, a.width] })()")
    row = browser.value("[...document.querySelectorAll('.heat-names button')].findIndex(element => element.textContent === 'advect')")
    browser.move(left + width * 11.5 / 16, top + 18 * row + 9)
    messages = browser.value(TEXT.format("heat-text"))
    failures.check(messages.startswith("rank 11, advect: 4.09 s, +"), "a cell of the heat map is reported", messages)
    browser.value("scrollTo(0, 0)")


def check_roofline(browser, folder):
    """In the details of a region that has one, and of no other."""
    rows = [simulated_run.region([name], [50], line=at) for at, name in enumerate(("stencil", "sort"))]
    rows[0]["roofline"] = {"ai": 0.5, "gflops": 2, "gbytes_per_s": 4, "attainable_gflops": 8, "share": 0.25, "bound": "memory", "threads": 1}
    page = make_page(simulated_run.profile(rows, [simulated_run.host(2000)], 2000), folder, "roofline")
    browser.open(page, f"#region={rows[0]['id']}")
    details = browser.value(TEXT.format("details"))
    failures.check("25.0% of the 8 GFLOP/s that one thread can attain, bound by memory" in " ".join(details.split()), "a region's roofline is reported", details)
    browser.open(page, f"#region={rows[1]['id']}")
    details = browser.value(TEXT.format("details"))
    failures.check("sort" in details and "can attain" not in details, "without one nothing is", details)


STATE = "[document.getElementById('stacks').checked, document.getElementById('total').textContent, document.getElementById('icicle').dataset.painted]"
PLACE = """(() => {{ const i = {name}; const shown = document.getElementById('icicle').icicle, all = [shown.root];
    for (const node of all) all.push(...node.children);
    const place = shown.place(all.find(node => node.name === i)), area = document.getElementById('icicle').getBoundingClientRect();
    return [area.left + place.left + Math.min(place.width, 6) / 2, area.top + place.top + place.height / 2, place.width / (area.width - shown.gutter)] }})()"""


def check_stacks(browser, folder):
    """Frames below their region, as wide as their time; by a choice, by a search, in a link; and names as text."""
    profile = simulated_run.with_stacks(simulated_run.rank(3))
    page = make_page(profile, folder, "stacks")
    browser.open(page)
    rows = {row["name"]: row for row in profile["regions"]}
    frames = [frame for stack in profile["stacks"] for frame in stack["frames"]]
    time = lambda frame: frame["on_cpu_ns"] + frame["blocked_ns"] + frame["waiting_ns"]
    outside = sum(map(time, profile["stacks"][0]["frames"]))
    shown, total, painted = browser.value(STATE)
    failures.check(shown and "box-frame" in painted and "box-kernel-frame" in painted, "frames are in the icicle, with colours of their own", painted)
    width = lambda name: browser.value(PLACE.format(name=json.dumps(name)))[2]
    whole = rows["step"]["total_ns"] + outside
    failures.check(abs(width("advect") - rows["advect"]["total_ns"] / whole) < 1e-6, "a region keeps its time")
    for name, parts in (("flux(cell const&)", range(3, 6)), ("std::mutex::lock()", range(7, 9))):
        expected = sum(time(frames[at]) for at in parts) / whole
        failures.check(abs(width(name) - expected) < 1e-6, f"{name} is as wide as its time with what it calls", (width(name), expected))
    left, top, _ = browser.value(PLACE.format(name='"flux(cell const&)"'))
    browser.move(left, top)
    failures.check(browser.value(TEXT.format("pointed")).startswith("step > advect > advect(grid&) > flux(cell const&): 1.58 s"), "what is pointed at is reported", browser.value(TEXT.format("pointed")))
    browser.click(left, top)
    details = browser.value(TEXT.format("details"))
    for word in ("flux(cell const&)", "step › advect", "1.58 s", "900 ms", "~1.55 s, from about 1,545 samples", "30.0 ms"):
        failures.check(word in details, f"a click on a frame shows {word}", details)
    failures.equal(browser.value("document.querySelector('#table [aria-selected=true]').node.name"), "advect", "and its region in the table")
    left, top, _ = browser.value(PLACE.format(name='"flux(cell const&)"'))  # the panel has made the page narrower
    browser.click(left, top, count=2)
    link = browser.value("location.hash")
    failures.check(re.search("region=[0-9a-f]{16}&zoom=[0-9a-f]{16}", link), "it can be zoomed to", link)
    browser.open(page, link)
    failures.equal(browser.value(TEXT.format("details-title")), "flux(cell const&)", "and restored by its link")
    failures.check(width("flux(cell const&)") > 0.99, "with the zoom")
    browser.press("Escape")
    browser.press("Escape")
    browser.value("(() => { const f = document.getElementById('search'); f.value = 'minmod'; f.dispatchEvent(new Event('input')) })()")
    failures.check(browser.value(TEXT.format("found")).endswith("and 1 frame"), "frames are searched", browser.value(TEXT.format("found")))
    browser.value("(() => { const f = document.getElementById('search'); f.value = ''; f.dispatchEvent(new Event('input')) })()")
    choose = "(() => {{ const s = document.getElementById('measure'); s.value = '{}'; s.dispatchEvent(new Event('change')); return [document.getElementById('stacks-choice').hidden, document.getElementById('icicle').dataset.painted] }})()"
    hidden, painted = browser.value(choose.format("bytes"))
    failures.check(hidden and "frame" not in painted, "where stacks say nothing they are not offered", painted)
    browser.value(choose.format("time"))
    browser.value("document.getElementById('stacks').click()")
    shown, without, painted = browser.value(STATE)
    failures.check(not shown and "frame" not in painted and without != total, "without stacks the icicle has regions only", (painted, without))
    failures.check("stacks=0" in browser.value("location.hash"), "which the link has")
    failures.equal(browser.value("document.querySelectorAll('b').length"), browser.value("document.querySelectorAll('.place b').length"), "a function's name becomes no element")
    check_quiet(browser, "stacks")


def check_processes_and_machines(browser, folder):
    profile = simulated_run.rank(3)
    other = {**profile["process"], "pid": 77, "parent": profile["process"]["pid"], "command": "/bin/<i>helper</i>", "thread_list": []}
    profile["processes"] = [profile["process"], other]
    browser.open(make_page(profile, folder, "processes"))
    cells = browser.value("[...document.querySelectorAll('#processes tbody tr')].map(row => [row.getAttribute('aria-level'), ...[...row.cells].map(cell => cell.textContent.replace(/^[▾▸]/, ''))])")
    threads = profile["process"]["thread_list"]
    failures.equal([row[:4] for row in cells], [["1", "solver", "4003", "3999"], ["2", "i>", "77", "4003"], ["2", "thread solver", "40030", "—"], ["2", "thread worker", "40031", "—"]], "who started whom, and threads below their process")
    blocked = [thread["alive_ns"] - thread["on_cpu_ns"] - thread["runnable_ns"] for thread in threads]
    raw = browser.value("[...document.querySelectorAll('#processes tbody tr')].map(row => row.node.rows[0]).filter(row => row.isThread).map(row => [row.time, row.on, row.runnable, row.blocked])")
    failures.equal(raw, [[thread["alive_ns"], thread["on_cpu_ns"], thread["runnable_ns"], rest] for thread, rest in zip(threads, blocked)], "what each spent is as in the JSON")
    failures.equal(cells[0][7:9], ["6.88 s", "0.90"], "a process's time on cores, and how many that is")
    browser.value("document.querySelector('#processes .fold').click()")
    failures.equal(browser.value("document.querySelectorAll('#processes tbody tr').length"), 1, "processes fold")
    places = browser.value("[...document.querySelectorAll('.place')].map(element => [element.className, element.querySelector('b').textContent, element.querySelectorAll('.chip').length])")
    failures.equal([place[1] for place in places], ["simulated0", "socket 0", "NUMA node 0", "NUMA node 1", "socket 1", "NUMA node 2", "NUMA node 3", "gpu3"], "hosts hold sockets, these NUMA nodes, and these devices")
    failures.equal(places[6][2], 1, "a device stands at its node")
    share = browser.value("Number(document.querySelector('.place.used .part').dataset.share)")
    failures.equal(share, profile["devices"][4]["utilisation"], "a device's bar is its utilisation")
    here = browser.value("Number(document.querySelectorAll('.place.node')[3].querySelector('.part').dataset.share)")
    failures.check(abs(here - sum(thread["on_cpu_ns"] for thread in threads) / threads[0]["alive_ns"] / 8) < 1e-9, "a node's is that of the threads that were last there", here)
    old = simulated_run.profile([simulated_run.region(["a"], [5])], [simulated_run.host(10)], 10)
    browser.open(make_page(old, folder, "old"))
    failures.equal(browser.value("[document.getElementById('machines-part').hidden, document.getElementById('stacks-choice').hidden, document.querySelectorAll('#processes tbody tr').length]"), [True, True, 1], "a profile without machines and stacks shows none")
    check_quiet(browser, "processes and machines")


CONTRAST = """(() => {
  const style = getComputedStyle(document.documentElement);
  const light = (name) => {
    const text = style.getPropertyValue('--' + name).trim();
    const [r, g, b] = [1, 3, 5].map(at => parseInt(text.slice(at, at + 2), 16) / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = ([a, b]) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05) };
  const boxes = ['region', 'function', 'wait', 'kernel', 'copy', 'frame', 'kernel-frame', 'same', 'slower', 'faster', 'new', 'gone'].map(kind => ['box-text', 'box-' + kind]);
  const parts = ['compute', 'other', 'nocore', 'blocked', 'launch'].map(kind => ['on-part', kind]);
  const pairs = [['text', 'back'], ['text', 'panel'], ['muted', 'back'], ['muted', 'panel'], ['accent', 'back'], ['accent', 'panel'], ['text', 'starved'], ['text', 'unmarked'], ['text', 'warn-back'], ...['problem', 'faster-text'].flatMap(element => [[element, 'back'], [element, 'panel']]), ...boxes, ...parts];
  return pairs.map(pair => [pair.join(' on '), ratio(pair)]).filter(([, value]) => value < 4.5);
})()"""


REDS = """(() => {
  const sheet = [...document.styleSheets[0].cssRules].flatMap(rule => [rule, ...(rule.cssRules || [])]).filter(rule => rule.selectorText === ':root');
  const names = [...new Set(sheet.flatMap(rule => [...rule.style]))].filter(name => name.startsWith('--'));
  const style = getComputedStyle(document.documentElement);
  return names.filter(name => {
    const [r, g, b] = [1, 3, 5].map(at => parseInt(style.getPropertyValue(name).trim().slice(at, at + 2), 16));
    const most = Math.max(r, g, b), least = Math.min(r, g, b);
    if (most - least < 0.25 * most || most !== r) return false;
    const hue = 60 * (g - b) / (most - least);
    return hue > -25 && hue < 20;
  }).sort();
})()"""


def check_colours(browser):
    for dark in (False, True):
        browser.set_dark(dark)
        failures.equal(browser.value(REDS), ["--box-slower", "--problem"], "red is a problem, and nothing else is red")
        failures.equal(browser.value(CONTRAST), [], f"text can be read ({'dark' if dark else 'light'}): 4.5 to 1")
        failures.equal(browser.value("getComputedStyle(document.body).backgroundColor"), "rgb(15, 19, 24)" if dark else "rgb(255, 255, 255)", "the page follows the system")
    browser.ask("Emulation.setEmulatedMedia", {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    browser.wait_for("document.getElementById('icicle').icicle.palette.get('box-text') === '#14181d'")
    failures.equal(browser.value("[document.documentElement, ...document.querySelectorAll('.wide')].filter(element => element.scrollWidth > element.clientWidth).length"), 0, "on paper, which is light, no table is cut")
    browser.set_dark(False)
    failures.check(len(browser.ask("Page.printToPDF")["data"]) > 10_000, "it can be printed")


def check_hostile(browser, folder):
    names = ["</script><img src=x onerror=alert(1)>", "javascript:alert(1)", "\u202egnp.exe", "A" * 10_000, "\x00\x1b[31m", "<b>bold</b>"]
    rows = [simulated_run.region([name], [100, 200, 300], line=at) for at, name in enumerate(names)]
    browser.open(make_page(simulated_run.profile(rows, [simulated_run.host(2000)], 2000, command="/x/</title><script>alert(2)</script>",
                                               host="<i>host</i>", arguments=["<i>"]), folder, "hostile"))
    failures.equal(browser.value("document.querySelectorAll('img, i, b, a[href^=javascript], body > script').length"), 2, "no name becomes an element")
    shown = browser.value("[...document.querySelectorAll('#table tbody tr')].map(row => row.cells[0].textContent)")
    for name in ("</script><img src=x onerror=alert(1)>", "javascript:alert(1)", "?gnp.exe", "??[31m", "<b>bold</b>"):
        failures.check(name in shown, f"{name} is shown as text", shown)
    failures.check(all(len(text) <= 160 for text in shown), "a name of 10 kB loses its middle")
    failures.check(browser.value("document.documentElement.scrollWidth") <= 1280, "and makes the page no wider")
    browser.value("document.querySelectorAll('#table tbody tr').forEach(row => row.click())")
    failures.check(browser.value("document.title").startswith("script>: adaptyst"), "the title is text", browser.value("document.title"))
    check_quiet(browser, "hostile names")


def check_comparison(browser, folder):
    def side(name, factor):
        profile = simulated_run.rank(3)
        if factor != 1:
            slower = [int(ns * factor) for ns in simulated_run.draw(random.Random(1), 12e6, 200, 0.03)]
            profile["regions"][1].update({key: value for key, value in simulated_run.region(["step", "advect"], slower, line=52).items() if key != "attributes"})
        return write(folder / name, profile)

    old, same, new = side("old.json", 1), side("same.json", 1), side("new.json", 1.5)
    run("diff", old, same, "--output", folder / "same.html")
    browser.open(folder / "same.html")
    failures.equal(browser.value("document.getElementById('icicle').dataset.painted"), "box-same", "two identical profiles colour nothing")
    failures.check(browser.value("document.getElementById('no-change') !== null"), "which is reported as well")
    coloured = """(() => { const c = document.getElementById('icicle'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let count = 0; for (let at = 0; at < d.length; at += 4) if (Math.abs(d[at] - d[at + 1]) > 30) ++count; return count })()"""
    failures.equal(browser.value(coloured), 0, "no pixel is red or green")
    run("diff", old, new, "--output", folder / "diff.html")
    browser.open(folder / "diff.html")
    failures.equal(browser.value("document.getElementById('icicle').dataset.painted"), "box-same box-slower", "only what is slower is coloured")
    failures.check(browser.value(coloured) > 1000, "in the picture, too")
    messages = browser.value("[...document.querySelectorAll('.findings li')].map(element => element.textContent)")
    failures.check(len(messages) == 1 and messages[0].startswith("step > advect is slower: +"), "and reported", messages)
    rows = {row[0].lstrip("▾▸"): row for row in browser.value(CELLS)}
    failures.equal(rows["advect"][-1], "slower", "the table has the verdict")
    table = run("diff", old, new)
    failures.check(rows["advect"][2] in table and rows["advect"][3] in table, "and the terminal's times", (rows["advect"], table))
    browser.value("document.querySelector('.findings button').click()")
    failures.check("region=" in browser.value("location.hash"), "a click on it leads to the region")
    def on_devices(name, factor):
        """A region on two devices, of which one takes longer."""
        chance = random.Random(2)
        again = lambda ns: [int(time * ns) for time in simulated_run.draw(chance, 2e6, 200, 0.03)]
        rows = [simulated_run.region(["smooth"], again(more), kind="kernel", device=number + 1) for number, more in enumerate((factor, 1))]
        devices = [simulated_run.host(10**9), simulated_run.gpu(0, 10**9, 0.4), simulated_run.gpu(1, 10**9, 0.4)]
        return write(folder / name, simulated_run.profile(rows, devices, 10**9))

    run("diff", on_devices("old-device.json", 1), on_devices("new-device.json", 1.5), "--output", folder / "device.html")
    browser.open(folder / "device.html")
    of_lane = """((at) => { const lane = document.getElementById('lane'); lane.selectedIndex = at; lane.dispatchEvent(new Event('change', { bubbles: true }));
        return document.getElementById('icicle').dataset.painted })(%d)"""
    painted = [browser.value(of_lane % lane) for lane in (1, 2)]
    failures.check("box-slower" in painted[0], "a device that takes longer is coloured", painted)
    failures.equal(painted[1], "box-same", "and not another one with the same region")
    check_quiet(browser, "comparison")


def check_link_within(browser, folder):
    """The one to the table, which comes first for who goes by keys, is no view."""
    browser.open(make_page(simulated_run.rank(0), folder, "link"))
    browser.value("(() => { const field = document.getElementById('search'); field.value = 'advect'; field.dispatchEvent(new Event('input')) })()")
    before = browser.value("location.hash")
    browser.value("document.querySelector('.skip').click()")
    browser.value("new Promise((resolve) => setTimeout(resolve, 200))")
    failures.equal((browser.value("location.hash"), browser.value("document.getElementById('search').value")), (before, "advect"), "the link to the table keeps the view")


def check_warnings(browser, folder):
    lossy = simulated_run.rank(0)
    lossy["accounting"].update(begun=lossy["accounting"]["begun"] + 7, lost={"rows_full": 7})
    browser.open(make_page(lossy, folder, "lossy"))
    failures.check("7 of" in browser.value("document.querySelector('.banner').textContent"), "losses have a banner")
    browser.open(make_page(simulated_run.rank(0), folder, "whole"))
    failures.equal(browser.value("document.querySelectorAll('.banner').length"), 0, "where nothing was lost there is none")
    browser.value("document.querySelectorAll('.banner details').forEach(element => element.open = false)")
    browser.value("window.dispatchEvent(new Event('beforeprint'))")
    failures.equal(browser.value("document.querySelectorAll('.banner details:not([open])').length"), 0, "on paper all of it is there")
    browser.open(make_page(simulated_run.profile([], [simulated_run.host(1000)], 1000), folder, "empty"))
    failures.equal(browser.value("document.body.dataset.state"), "ready", "a profile without regions has a page as well")
    failures.check("no region has ended" in browser.value(TEXT.format("total")), "which says why nothing is drawn", browser.value(TEXT.format("total")))
    stacked = simulated_run.with_stacks(simulated_run.rank(3))
    stacked.update(regions=[], stacks=stacked["stacks"][:1])
    browser.open(make_page(stacked, folder, "unmarked"))
    failures.check("box-frame" in browser.value("document.getElementById('icicle').dataset.painted"), "stacks are drawn where no region was timed", browser.value(TEXT.format("total")))
    counted = simulated_run.rank(0)
    counted["regions"][1]["count"] = 0
    counted["regions"][1]["attributes"] = {"bytes": {"count": 1, "sum": 5, "min": 5, "max": 5}}
    browser.open(make_page(counted, folder, "counted"), f"#region={counted['regions'][1]['id']}")
    failures.check(counted["regions"][1]["name"] in browser.value(TEXT.format("details")) and "still open" not in browser.value(TEXT.format("details")), "what has attributes only is not open", browser.value(TEXT.format("details")))
    twice = [simulated_run.region(path, [ns]) for path, ns in ((["a"], 10), (["a", "reduce"], 10), (["b"], 90), (["b", "reduce"], 90))]
    browser.open(make_page(simulated_run.profile(twice, [simulated_run.host(1000)], 1000), folder, "twice"), "#measure=self")
    x, y, _ = browser.value(PLACE.format(name="'reduce'"))
    browser.click(x, y)
    details = browser.value(TEXT.format("details"))
    failures.check("The largest of 2 places." in details and "90 ns" in details, "of several places the largest is reported", details)
    browser.open(make_page(simulated_run.many_rows(events=100), folder, "many"))
    failures.equal(browser.value("document.body.dataset.state"), "ready", "compressed data are read")
    failures.check(browser.value("document.querySelectorAll('#table tbody tr').length") == 1001, "of many rows a thousand are shown at first, and the last")
    browser.value("document.querySelector('#table + button').click()")
    failures.check(browser.value("document.querySelectorAll('#table tbody tr').length") > 1600, "and the others when asked for")
    check_quiet(browser, "others")


with tempfile.TemporaryDirectory() as scratch, chromium.Chromium(seconds=280) as browser:
    folder = pathlib.Path(scratch)
    profile, page = planted(folder)
    browser.open(page)
    check_first_screen(browser)
    check_figures(browser, profile)
    check_bars(browser, profile)
    check_search(browser)
    check_icicle(browser)
    check_link(browser, page)
    check_table(browser)
    check_keys(browser)
    check_choices(browser)
    check_ranks(browser)
    check_hosts(browser)
    check_lanes(browser, profile, page)
    check_findings(browser, page)
    check_bins(browser, folder, profile)
    check_colours(browser)
    check_quiet(browser, "profile")
    check_hostile(browser, folder)
    check_comparison(browser, folder)
    check_warnings(browser, folder)
    check_link_within(browser, folder)
    check_stacks(browser, folder)
    check_roofline(browser, folder)
    check_processes_and_machines(browser, folder)
    check_context(browser, folder)
    for name in ("planted", "stacks", "processes", "diff", "context"):
        failures.equal(browser.list_overflowing(folder / f"{name}.html", 800), [], f"{name}: no part needs to be scrolled to the side at 800 pixels")
failures.exit(min_checks=60)
