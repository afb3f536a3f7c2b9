"""What a page's file is: one, offline, small, and harmless whatever names are in it."""
import base64
import hashlib
import json
import pathlib
import re
import tempfile

from making import read_data, make_page, planted, run
import simulated_run
from compiling import Failures

failures = Failures()
MARKUP = "</script><script>alert(1)</script><!--"


def make_hash(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def check_policy(page):
    """The script and the style are those that the policy names, and there is nothing else that could run or load."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    script = page[page.rindex("<script>") + len("<script>"):page.rindex("</script>")]
    style = page[page.index("<style>") + len("<style>"):page.index("</style>")]
    failures.check(policy.startswith("default-src 'none';"), "nothing is loaded from anywhere", policy)
    failures.check(f"script-src 'sha256-{make_hash(script)}'" in policy, "the policy names the script", policy)
    failures.check(f"style-src 'sha256-{make_hash(style)}'" in policy, "the policy names the style", policy)
    for word in ("http://", "https://", "@import", "url(", "eval(", "innerHTML", "document.write"):
        failures.check(word not in script + style, f"no {word} in the page")
    failures.check(len(page) - len(page[page.index("data-form="):page.index("</script")]) < 150_000, "the shell has less than 150 KB")


def check_same_figures(page, profile):
    shown = read_data(page)["profile"]
    failures.check(len(shown["regions"]) == len(profile["regions"]), "all rows are in the page")
    for here, there in zip(shown["regions"], profile["regions"]):
        without = lambda row: {key: value for key, value in row.items() if not key.startswith("histogram") and key != "across_ranks"}
        if not failures.check(without(here) == without(there), "a row is as in the JSON", (here, there)):
            break


def check_sizes(folder):
    """200 regions on a host and 8 devices; ten times the events add next to nothing."""
    once = make_page(simulated_run.many_rows(events=50), folder, "once").stat().st_size
    longer = make_page(simulated_run.many_rows(events=500), folder, "longer").stat().st_size
    failures.check(once < 400 * 1024, "200 regions on 8 devices take less than 400 KiB", once)
    failures.check(longer < 1.05 * once, "a ten times longer run has a page of the same size", (once, longer))


def check_hostile_names(folder):
    names = [MARKUP, "javascript:alert(1)", "\u202egnp.exe", "\u2066x\u2069", "A" * 10_000, "\x00\x1b[31m", "]]>&lt;\u2028", "</SCRIPT >", "{\"a\":1}", "=1+1"]
    rows = [simulated_run.region([name], [100, 200, 300], line=at) for at, name in enumerate(names)]
    made = simulated_run.profile(rows, [simulated_run.host(10**6)], 10**6, command=f"/bin/{MARKUP}", host=MARKUP, arguments=[MARKUP])
    for name, extra in (("plain", 0), ("compressed", 200)):
        more = [simulated_run.region([f"{MARKUP} {at}"], [100], line=1) for at in range(extra)]
        page = make_page({**made, "regions": rows + more}, folder, name).read_text(encoding="utf-8")
        failures.check(page.lower().count("</script") == 2 and "<!--" not in page, f"{name}: no name ends a script")
        failures.check([row["name"] for row in read_data(page)["profile"]["regions"]][:len(names)] == names, f"{name}: names are kept")


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    profile, page = planted(folder)
    text = page.read_text(encoding="utf-8")
    check_policy(text)
    check_same_figures(text, json.loads(profile.read_text(encoding="utf-8")))
    check_sizes(folder)
    check_hostile_names(folder)
    run("diff", profile, profile, "--output", folder / "same.html")
    comparison = (folder / "same.html").read_text(encoding="utf-8")
    check_policy(comparison)
    failures.check(read_data(comparison)["comparison"] == json.loads(run("diff", profile, profile, "--format", "json")), "a comparison's page has what its JSON has")
failures.exit(min_checks=20)
