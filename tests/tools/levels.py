"""adaptyst levels: the figures of a level do not hold what it costs to look deeper."""
import json
import pathlib
import sys

levelled = pathlib.Path(sys.argv.pop()).resolve()

from command import adaptyst, require, require_equal, run_all  # noqa: E402, as it reads the other arguments

rules = ["--level", "layer=layer"]  # the step's marker has its own level


def levels(*arguments, repeat=3):
    done = adaptyst("levels", "--engine", "inline", "--repeat", repeat, *rules, "--format", "json", "--", levelled, *arguments)
    require_equal((done.status, done.err), (0, ""))
    found = json.loads(done.out)
    return found, {region["path"][-1]: region for region in found["regions"]}, {level["level"]: level for level in found["levels"]}


def test_a_delay_in_the_hook_of_a_deeper_level_is_its_overhead_and_no_others():
    steps, hook_us = 20, 5000
    found, regions, of_level = levels(steps, hook_us)
    require_equal(list(of_level), ["application", "model", "layer"])
    require_equal([region["path"] for region in found["regions"]], [["work"], ["work", "step"], ["work", "step", "layer"]])
    require_equal([region["calls"] for region in found["regions"]], [1, steps, steps])
    require_equal(found["remarks"], [])
    planted_ns = steps * hook_us * 1e3
    # Their own figures: 50 us a step, and more on a machine that others use. With the delay it would be 5050.
    require(regions["step"]["per_call_ns"]["mean"] < 2500e3, regions["step"])
    require(regions["work"]["total_ns"]["mean"] < 0.5 * planted_ns, regions["work"])
    # The cost of the deeper level is in the row of the observed level.
    # On a machine that others use, a busy wait lasts several times as long.
    require(0.6 * planted_ns < regions["step"]["overhead_ns"]["mean"] < 10 * planted_ns, regions["step"])
    # Of the whole run, which holds what the loader does, within what runs differ by.
    of_run = of_level["layer"]["overhead_ns"]
    require(of_run["mean"] + 3 * of_run["error"] > 0.3 * planted_ns, of_level["layer"])
    # One level up nothing was planted.
    require(regions["work"]["overhead_ns"]["mean"] < 0.5 * planted_ns, regions["work"])


def test_the_first_event_of_a_deeper_marker_costs_nothing_either():
    hook_us = 50_000
    for steps in (1, 2):
        found, regions, of_level = levels(steps, hook_us)
        planted_ns = steps * hook_us * 1e3
        require(regions["step"]["per_call_ns"]["mean"] < 0.5 * hook_us * 1e3, (steps, regions["step"]))
        require(regions["work"]["total_ns"]["mean"] < 0.5 * planted_ns, (steps, regions["work"]))
        require(0.6 * planted_ns < regions["step"]["overhead_ns"]["mean"] < 10 * planted_ns, (steps, regions["step"]))


def test_without_a_delay_no_overhead_is_found():
    found, regions, of_level = levels(20, 0)
    for overhead in (regions["work"]["overhead_ns"], regions["step"]["overhead_ns"]):
        require(abs(overhead["mean"]) < 50e6, overhead)  # half of what is planted above


def test_the_table_shows_how_it_was_measured():
    done = adaptyst("levels", "--engine", "inline", "--repeat", 1, *rules, "--output", "levels.json", "--", levelled, 5, 1)
    require_equal((done.status, done.err), (0, ""))
    text = " ".join(done.out.split())
    for part in ("LEVEL RUNS REGIONS", "application 1 1", "step model host 5", "means of one run a level, engine inline; ±: standard error",
                 "one run of a level: too few to distinguish overhead from chance"):
        require(part in text, done.out)
    require("output of the program" not in done.out, done.out)
    verbose = adaptyst("levels", "--engine", "inline", "--repeat", 1, *rules, "-v", "--", levelled, 5, 1)
    require("engine inline, overhead=none; ±: standard error. OVERHEAD and DEEPER" in " ".join(verbose.out.split()), verbose.out)
    shown = adaptyst("levels", "--engine", "inline", "--repeat", 1, "--show-output", "--", levelled, 5, 1)
    require_equal(shown.err.count("output of the program\n"), 3)  # the first run is not counted, and a step's marker has its own level
    require_equal([len(region["path"]) for region in json.loads(adaptyst(
        "levels", "--engine", "inline", "--repeat", 1, "--level", "1", *rules, "--format", "json", "--", levelled, 5, 1).out)["regions"]], [1])


def test_a_trace_of_a_run_has_the_order_of_layers():
    for trace in ("order.sqlite", "order.events"):
        done = adaptyst("run", "--engine", "inline", "--format", "none", "--output", trace, "--", levelled, 4, 1000)
        require_equal(done.status, 0)
        found = json.loads(adaptyst("levels", "--stack", *rules, "--trace", trace, "--format", "json").out)
        # The file has the level of the step's marker.
        require_equal([(model["name"], model["executed"]) for model in found["stack"]["models"]], [("step", 1)])
        one, = found["stack"]["passes"]
        require_equal((one["model"], one["passes"], one["other_passes"], len(one["layers"])), (0, 4, 0, 1))
        total_ns = sum(layer["work"]["total_ns"] for layer in found["stack"]["layers"])
        require(abs(one["layers"][0]["latency_ns"]["mean"] - total_ns) < 1e-6 * total_ns, found["stack"])
    of_run = adaptyst("levels", "--engine", "inline", "--repeat", 1, "--stack", *rules, "--", levelled, 4, 1)
    require("LAYERS AS EXECUTED" not in of_run.out and "\nREGION " not in of_run.out, of_run.out)
    require_equal(" ".join(of_run.out.split()).count("the order of layers is not recorded"), 1)
    page = adaptyst("levels", "--engine", "inline", "--repeat", 1, *rules, "-o", "none.html", "--", levelled, 4, 1)
    require_equal((page.status, page.out), (2, ""))
    require("add --stack" in page.err, page.err)


def test_a_run_that_fails_ends_it():
    done = adaptyst("levels", "--engine", "inline", "--", levelled, 1, 1, 3)
    require_equal((done.status, done.out), (2, ""))
    require("ended with status 3 in a run down to level hardware" in done.err, done.err)
    done = adaptyst("levels", "--engine", "inline", "--", "true")
    require_equal((done.status, done.out), (2, ""))
    require("has run no marker down to level hardware" in done.err, done.err)
    for wrong, hint in ((["--level", "modle"], "model"), (["--level", "x=deep"], "unknown level 'deep'"), (["--trim", "46%"], "from 0% to 45%")):
        done = adaptyst("levels", *wrong, "--", levelled, 1, 1)
        require_equal(done.status, 2)
        require(hint in done.err, done.err)


run_all(globals())
