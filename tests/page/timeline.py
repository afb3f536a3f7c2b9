"""The page of a trace: every interval of the database is in it, and in a browser all that can be done with it."""
import base64
import hashlib
import pathlib
import re
import sqlite3
import tempfile
import zlib

from making import read_data, run
import chromium
import simulated_trace
import nsys_export
from compiling import Failures, skip

failures = Failures()
if "convert" not in run("help"):
    skip("a command without SQLite")
TABLES = {"CUPTI_ACTIVITY_KIND_KERNEL": ("deviceId", "streamId"), "CUPTI_ACTIVITY_KIND_MEMCPY": ("deviceId", "streamId"),
          "CUPTI_ACTIVITY_KIND_RUNTIME": ("globalTid",), "NVTX_EVENTS": ("globalTid",)}
MARKUP = "</script><script>alert(1)</script><!--"
TEXT = "document.getElementById('{}').textContent"
PLACE = "(() => {{ const t = document.getElementById('timeline').timeline; const p = t.place({}); const a = t.canvas.getBoundingClientRect(); return [a.left + (p.left + p.right) / 2, a.top + p.top + p.height / 2] }})()"
# Of a copy: a canvas that is read becomes another kind of canvas.
PIXELS = "(() => {{ const k = document.createElement('canvas'); k.width = c.width; k.height = c.height; const x = k.getContext('2d', {{ willReadFrequently: true }}); x.drawImage(c, 0, 0); return x.getImageData({}).data }})()"
STATE = "(() => { const t = document.getElementById('timeline').timeline; return [Math.round(t.from), Math.round(t.to), t.selected] })()"


def make_timeline(trace, folder, name):
    page = folder / f"{name}.html"
    run("convert", trace, "-o", page)
    return page


def read_intervals(page, timeline):
    """As lib/report/page/intervals.js reads them, written anew: begin, end, site, track, correlation, call of each."""
    text = re.search(r'<script id="intervals" type="text/plain" data-form="deflate">(.*?)</script', page, re.DOTALL).group(1)
    data = iter(zlib.decompress(base64.b64decode(text)))

    def number():
        value, shift = 0, 0
        for byte in data:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
        raise EOFError

    def signed(code):
        return code // 2 if code % 2 == 0 else -(code + 1) // 2

    made = []
    for row in timeline["rows"]:
        count, columns = row["count"], row["columns"]
        read = [[number() for _ in range(count)] for _ in range(3)]
        correlations = [number() for _ in range(count)] if columns & 1 else [0] * count
        if columns & 2:
            for _ in range(count):
                number()
        calls = [number() for _ in range(count)] if columns & 4 else [0] * count
        if columns & 8:
            for _ in range(count):
                if number():
                    number()
        time = correlation = call = 0
        for at in range(count):
            begin = time + read[0][at]
            time = begin + read[1][at]
            correlation += signed(correlations[at])
            if calls[at]:
                call += signed(calls[at] - 1)
            made.append((begin, time, read[2][at], row["track"], correlation, call if calls[at] else None))
    failures.equal(list(data), [], "nothing is behind the last interval")
    return made


def check_against_database(trace, page):
    text = page.read_text(encoding="utf-8")
    timeline = read_data(text)["timeline"]
    intervals = read_intervals(text, timeline)
    db = sqlite3.connect(trace)
    origin = timeline["begin_ns"]
    truth = sorted(row for table in TABLES for row in db.execute(f"SELECT start - {origin}, end - {origin} FROM {table}"))
    failures.check(sorted(interval[:2] for interval in intervals) == truth, "begins and ends are the database's", (len(intervals), len(truth)))
    names = [name for name, _ in timeline["sites"]]
    kernels = sorted(db.execute(f"SELECT start - {origin}, value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName"))
    here = sorted((interval[0], names[interval[2]]) for interval in intervals if timeline["sites"][interval[2]][1] == "kernel")
    failures.check(here == kernels, "so are the kernels' names")
    calls = {(start - origin, correlation) for start, correlation in db.execute("SELECT start, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME")}
    work = [interval for interval in intervals if timeline["tracks"][interval[3]]["is_queue"]]
    right = sum(1 for operation in work if operation[5] is not None and (intervals[operation[5]][0], operation[4]) in calls)
    failures.equal(right, len(work), "each operation names the call that has its correlation")
    failures.check(not [interval for interval in intervals if interval[5] is not None and interval not in work], "and nothing else names one")
    for row in timeline["rows"]:
        failures.check(all(sum(level["counts"]) == row["count"] for level in row["levels"]), "each level has all intervals of its row", row["track"])
    return timeline, intervals


def check_policy(page):
    text = page.read_text(encoding="utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL).group(1)
    failures.check(policy.startswith("default-src 'none';"), "nothing is loaded from anywhere", policy)
    failures.check("sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy, "the policy names the script")
    failures.equal(text.lower().count("</script"), 3, "the script and what it reads are all")


def check_quiet(browser, label):
    failures.equal(browser.messages, [], f"{label}: no message on the console")
    failures.equal([url for url in browser.requests if not url.startswith(("file:", "about:"))], [], f"{label}: no request goes to the network")
    browser.messages.clear()


def open_whole(browser, page, end=""):
    browser.open(page, end)
    failures.equal(browser.value("document.body.dataset.state"), "ready", "it can be shown")


def check_first_picture(browser, timeline):
    failures.check("simulated: made by a generator" in browser.value(TEXT.format("warnings")), "what is simulated says so")
    failures.check("all 1996 intervals, to the nanosecond" in browser.value(TEXT.format("facts")), "what is kept is reported", browser.value(TEXT.format("facts")))
    lines = browser.value("document.getElementById('timeline').timeline.lines.map(line => line.group || line.label).filter(label => label)")
    for text in ("process 4321", "thread 11", "gpu0", "queue 7", "gpu1", "queue 10"):
        failures.check(text in lines, f"there is a line for {text}", lines)
    rows = browser.value("[...document.querySelectorAll('#tracks tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    failures.equal([[row[0], row[1], row[2]] for row in rows], [[track["group"], track["name"], str(track["count"])] for track in timeline["tracks"]], "the table has the tracks")
    failures.equal(browser.value("['icicle-part', 'table-part', 'findings'].filter(id => document.getElementById(id).offsetHeight > 0)"), [], "what is of a profile is not there")
    pixels = f"(() => {{ const c = document.getElementById('timeline'); const d = {PIXELS.format('200, 24, c.width - 200, 60')}; const s = new Set(); for (let at = 0; at < d.length; at += 4) s.add(d[at] * 65536 + d[at + 1] * 256 + d[at + 2]); return s.size }})()"
    failures.check(browser.value(pixels) > 4, "something is drawn")


def check_choosing(browser, timeline, intervals):
    number = next(at for at, interval in enumerate(intervals) if interval[5] is not None and interval[1] - interval[0] > 2000)
    begin, end, site, track, correlation, call = intervals[number]
    browser.value(f"document.getElementById('timeline').timeline.zoomTo({number})")
    x, y = browser.value(PLACE.format(number))
    browser.move(x, y)
    messages = browser.value(TEXT.format("timeline-pointed"))
    name = timeline["sites"][site][0]
    for word in (name, f"from {begin / 1e9:.9f} s", f"correlation {correlation}", timeline["tracks"][track]["name"]):
        failures.check(word in messages, f"what is pointed at is reported: {word}", messages)
    browser.click(x, y)
    details = browser.value(TEXT.format("details"))
    for word in (name, f"{begin / 1e9:.9f} s", f"({end - begin:,} ns)", str(correlation), "launched by", timeline["sites"][intervals[call][2]][0]):
        failures.check(word in details, f"a click tells {word}", details)
    failures.equal(browser.value(STATE)[2], number, "it is chosen")
    failures.check(browser.value("Number(document.getElementById('timeline').dataset.arrows)") >= 1, "an arrow comes to it")
    browser.value("[...document.querySelectorAll('#details button.link')][0].click()")
    failures.equal(browser.value(STATE)[2], call, "and leads to its call")
    failures.check("launched" in browser.value(TEXT.format("details")), "which has what it launched")
    return number


def check_link(browser, page):
    before, link = browser.value(STATE), browser.value("location.hash")
    failures.check(re.search(r"from=\d+&to=\d+&interval=\d+\.\d+", link), "the link has the stretch and the interval", link)
    open_whole(browser, page)
    failures.equal(browser.value(STATE)[2], None, "without a link nothing is chosen")
    open_whole(browser, page, link)
    failures.equal((browser.value(STATE), browser.value("location.hash")), (before, link), "a link restores both")
    failures.equal(browser.value("document.getElementById('details').hidden"), False, "and the details")


def check_keys(browser, timeline, intervals):
    browser.press("Escape")
    failures.equal(browser.value(STATE)[2], None, "Escape closes")
    browser.press("Escape")
    failures.equal(browser.value(STATE)[:2], [0, timeline["range_ns"]], "and then shows all")
    browser.value("document.getElementById('timeline').focus(), 0")
    browser.press("+", text="+")
    failures.check(abs(browser.value(STATE)[1] - browser.value(STATE)[0] - timeline["range_ns"] / 2) < 2, "plus zooms in")
    before = browser.value(STATE)[0]
    browser.press("ArrowRight")
    failures.check(browser.value(STATE)[0] > before, "an arrow pans")
    browser.press("n", text="n")
    first = browser.value(STATE)[2]
    browser.press("n", text="n")
    failures.equal(browser.value(STATE)[2], first + 1, "n goes to the next interval")
    browser.press("j", text="j")
    failures.check(intervals[browser.value(STATE)[2]][2] != intervals[first][2], "j to the next row")
    browser.wait_for(TEXT.format("announcement") + ".length > 0")
    browser.press("Enter")
    chosen = browser.value(STATE)
    failures.check(chosen[0] <= intervals[chosen[2]][0] and chosen[1] >= intervals[chosen[2]][1], "Enter zooms to it", chosen)
    browser.press("Escape")
    browser.press("Escape")


def check_mouse(browser, timeline):
    left, top, width = browser.value("(() => { const a = document.getElementById('timeline').getBoundingClientRect(); return [a.left, a.top, a.width] })()")
    ask = lambda kind, x, **more: browser.ask("Input.dispatchMouseEvent", dict({"type": kind, "x": x, "y": top + 60}, **more))
    ask("mousePressed", left + 400, button="left", clickCount=1)
    ask("mouseMoved", left + 600, button="left", buttons=1)
    ask("mouseReleased", left + 600, button="left", clickCount=1)
    span = browser.value(STATE)[1] - browser.value(STATE)[0]
    failures.check(abs(span / timeline["range_ns"] - 200 / (width - 190)) < 0.01, "a drag zooms to a stretch", span)
    ask("mouseWheel", left + 500, deltaX=0, deltaY=-100, modifiers=2)
    browser.wait_for(f"(() => {{ const t = document.getElementById('timeline').timeline; return t.to - t.from < {span} }})()")
    browser.value("document.getElementById('zoom-whole').click()")
    failures.equal(browser.value(STATE)[:2], [0, timeline["range_ns"]], "a button shows all again")


def check_search(browser, timeline, intervals):
    search = "(() => {{ const f = document.getElementById('timeline-search'); f.value = {}; document.getElementById('timeline-expression').checked = {}; f.dispatchEvent(new Event('input')); return document.getElementById('timeline-found').textContent }})()"
    wanted = [interval for interval in intervals if "halo" in timeline["sites"][interval[2]][0]]
    found = browser.value(search.format("'HALO'", "false"))
    failures.check(found.startswith(f"{len(wanted)} found, "), "a search says how many there are", (found, len(wanted)))
    failures.check("search=HALO" in browser.value("location.hash"), "and is in the link")
    failures.check(browser.value(search.format("'^(advect|reduce)$'", "true")).split()[0] == str(sum(timeline["sites"][interval[2]][0] in ("advect", "reduce") for interval in intervals)), "a regular expression is one")
    browser.value(search.format("'('", "true"))
    failures.equal(browser.value("document.getElementById('timeline-search').getAttribute('aria-invalid')"), "true", "a wrong one is reported")
    browser.value(search.format("''", "false"))


def check_looks(browser, folder):
    for dark, wanted in ((True, "15,19,24,255"), (False, "255,255,255,255")):
        browser.set_dark(dark)
        browser.wait_for(f"(() => {{ const c = document.getElementById('timeline'); return [...{PIXELS.format('2, 2, 1, 1')}].join() === '{wanted}' }})()")
    failures.check(len(browser.ask("Page.printToPDF")["data"]) > 10_000, "it can be printed")


def check_hostile(browser, folder):
    names = [MARKUP, "javascript:alert(1)", "\u202egnp.exe", "\u2066x\u2069", "A" * 10_000, "\x1b[31m", b"\xff\xfe broken \xc3", "<img src=x onerror=alert(1)>"]
    export = nsys_export.Export(folder / "hostile.sqlite")
    export.kernels([(1000 * (at + 1), 1000 * (at + 1) + 900, name) for at, name in enumerate(names)])
    export.gpu(0, name=MARKUP)
    page = make_timeline(export.finish(), folder, "hostile")
    check_policy(page)
    open_whole(browser, page)
    failures.equal(browser.value("document.querySelectorAll('img, i, b, body > script').length"), 2, "no name becomes an element")
    shown = []
    for number in range(len(names)):
        browser.value(f"document.getElementById('timeline').timeline.options.select({number})")
        shown.append(browser.value(TEXT.format("details-title")))
    failures.equal(shown[:4] + shown[5:6] + shown[7:], [MARKUP, "javascript:alert(1)", "?gnp.exe", "?x?", "?[31m", names[7]], "names are shown as text")
    failures.check(len(shown[4]) <= 300, "a name of 10 kB loses its middle", len(shown[4]))
    failures.check("broken" in shown[6], "one that is no text is shown as far as it is", shown[6])
    failures.check(browser.value("document.documentElement.scrollWidth") <= 1280, "and makes the page no wider")
    check_quiet(browser, "hostile")


def check_arrows(browser, folder):
    """What is chosen has its arrow also where there are too many others; a range of no length is reached."""
    export = nsys_export.Export(folder / "arrows.sqlite")
    export.kernels([(1000 + 2000 * at, 2900 + 2000 * at, "k") for at in range(210)])
    thread, launch = nsys_export.global_tid(100, 11), export.string("cudaLaunchKernel_v7000")
    export.rows("CUPTI_ACTIVITY_KIND_RUNTIME", [{"start": 10 + 2000 * at, "end": 900 + 2000 * at, "globalTid": thread, "correlationId": at + 1, "nameId": launch} for at in range(210)])
    text = export.string("moment")
    export.rows("NVTX_EVENTS", [{"start": 1, "end": 1, "eventType": 59, "globalTid": nsys_export.global_tid(100, 12), "textId": text, "text": None},
                                {"start": 5, "end": 90_000, "eventType": 59, "globalTid": nsys_export.global_tid(100, 13), "text": "green", "color": 0xFF76B900}])
    page = make_timeline(export.finish(), folder, "arrows")
    open_whole(browser, page)
    browser.value("document.getElementById('timeline').style.width = '4000px', window.dispatchEvent(new Event('resize'))")
    state = "[Number(document.getElementById('timeline').dataset.arrows), document.getElementById('timeline-shown').textContent.includes('too many arrows')]"
    failures.equal(browser.value(state), [0, True], "too many arrows are left out, which is reported")
    kernel = browser.value("(() => { const t = document.getElementById('timeline').timeline; return t.names.length && [...t.intervals.sites].findIndex(site => t.names[site] === 'k') })()")
    browser.value(f"document.getElementById('timeline').timeline.options.select({kernel})")
    failures.equal(browser.value(state)[0], 1, "but for that of what is chosen")
    paint = "(() => { const t = document.getElementById('timeline').timeline; return ['green', 'k'].map(name => t.paintOf(t.names.indexOf(name))) })()"
    green, other = browser.value(paint)
    failures.check(green == "rgb(118,185,0)" and other != green, "a range has the colour that the program gives it", (green, other))
    moment = browser.value("(() => { const t = document.getElementById('timeline').timeline; return [...t.intervals.sites].findIndex(site => t.names[site] === 'moment') })()")
    browser.value(f"document.getElementById('timeline').timeline.options.select({moment})")
    link = browser.value("location.hash")
    open_whole(browser, page, link)
    failures.equal(browser.value(STATE)[2], moment, "an interval of no length is restored by its link")


def check_many(browser, folder):
    """More operations at once than rows, marks, and an empty trace."""
    export = nsys_export.Export(folder / "deep.sqlite")
    export.kernels([(1000 + at, 100_000 + at, "k") for at in range(40)])
    page = make_timeline(export.finish(), folder, "deep")
    open_whole(browser, page)
    failures.check("16 of 40 intervals" in browser.value(TEXT.format("facts")), "what is not kept one by one is reported", browser.value(TEXT.format("facts")))
    failures.check("summed up" in browser.value("document.getElementById('timeline').timeline.lines.map(line => line.label)"), "and has a row")
    failures.check(browser.value("Number(document.getElementById('timeline').dataset.named)") >= 16, "bars have names where these fit, also in the whole run", browser.value("document.getElementById('timeline').dataset.named"))
    x, y = browser.value("(() => { const t = document.getElementById('timeline').timeline; const a = t.canvas.getBoundingClientRect(); return [a.left + 600, a.top + t.yOf(t.lines.length - 1) + 5] })()")
    browser.move(x, y)
    failures.check("most of it k" in browser.value(TEXT.format("timeline-pointed")), "which tells what it has", browser.value(TEXT.format("timeline-pointed")))
    failures.check(re.search(r"busy [<>]?\d+%, ", browser.value(TEXT.format("timeline-pointed"))), "its share of 8 bits has no decimals", browser.value(TEXT.format("timeline-pointed")))
    found = browser.value("(() => { const f = document.getElementById('timeline-search'); f.value = 'k'; f.dispatchEvent(new Event('input')); return document.getElementById('timeline-found').textContent })()")
    failures.check(found.startswith("16 found") and "of the kept intervals" in found, "and is not in what is found, which is reported", found)
    browser.value("document.getElementById('timeline').timeline.show(1000, 2000), document.getElementById('timeline-search').focus()")
    before = browser.value(STATE)
    browser.press("Escape")
    failures.equal((browser.value(STATE), browser.value("document.getElementById('timeline-search').value")), (before, ""), "Escape in the search clears it, and no more")
    check_arrows(browser, folder)
    export = nsys_export.Export(folder / "empty.sqlite")
    open_whole(browser, make_timeline(export.finish(), folder, "empty"))
    check_quiet(browser, "others")


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    simulated_trace.make_trace(folder / "trace.sqlite", 2000)
    page = make_timeline(folder / "trace.sqlite", folder, "trace")
    timeline, intervals = check_against_database(folder / "trace.sqlite", page)
    check_policy(page)
    run("convert", folder / "trace.sqlite", "-o", folder / "store.sqlite")
    store = read_data(make_timeline(folder / "store.sqlite", folder, "store").read_text(encoding="utf-8"))
    failures.equal([(track["name"], track["count"]) for track in store["timeline"]["tracks"]], [(track["name"], track["count"]) for track in timeline["tracks"]], "our own store of it has the same tracks")
    if chromium.find() is not None:
        with chromium.Chromium(seconds=280) as browser:
            open_whole(browser, page)
            check_first_picture(browser, timeline)
            check_choosing(browser, timeline, intervals)
            check_link(browser, page)
            check_keys(browser, timeline, intervals)
            check_mouse(browser, timeline)
            check_search(browser, timeline, intervals)
            check_looks(browser, folder)
            check_quiet(browser, "timeline")
            check_hostile(browser, folder)
            check_many(browser, folder)
            for name in ("trace", "deep"):
                failures.equal(browser.list_overflowing(folder / f"{name}.html", 800), [], f"{name}: no part needs to be scrolled to the side at 800 pixels")
failures.exit(min_checks=12)
