"""adaptyst diff: which regions changed, and when that is a failure."""
import csv
import io
import json

from command import adaptyst, hand_made, real, region, require, require_equal, run_all, sources, written

try:
    import jsonschema
except ImportError:
    jsonschema = None


def profiles(before, after):
    return written("before.json", hand_made(*before)), written("after.json", hand_made(*after))


def slow_and_fast():
    return profiles([region(["step"], *[40] * 100), region(["step", "flux"], *[20] * 100)],
                    [region(["step"], *[48] * 100), region(["step", "flux"], *[20] * 100)])


def find_line(table, start):
    return next(line for line in table.splitlines() if line.startswith(start)).split()


def test_changes_are_shown_greatest_first():
    done = adaptyst("diff", *slow_and_fast())
    require_equal((done.status, done.err), (0, ""))
    rows = done.out.strip().splitlines()
    require_equal(rows[1].split(), "step host 1+1 4.00 us 4.80 us 40 ns +20.0% +9.1…+32.0% slower".split())
    require_equal(rows[2].split(), "step > flux host 1+1 2.00 us 2.00 us 20 ns 0% -9.1…+10.0% unclear".split())


def test_verbose_shows_calls_and_the_legend():
    done = adaptyst("diff", *slow_and_fast(), "-v")
    require_equal((done.status, done.err), (0, ""))
    require_equal(len([line for line in done.out.splitlines() if line.startswith("    100 calls, now 100; p ")]), 2)
    require("TOTAL, NOW: time of the region in a run" in done.out, done.out)
    require("calls, now" not in adaptyst("diff", *slow_and_fast()).out, "only with --verbose")
    for words in (["-v", "--"], ["--verbose", "--"]):  # flags are no files
        require_equal(adaptyst("diff", *words, *slow_and_fast()).out, done.out)


def test_a_run_named_twice_is_reported():
    run = hand_made(region(["step"], *[40] * 100))
    run["process"]["started"] = "2026-11-23T12:00:00Z"
    first, same = written("one.json", run), written("same.json", run)
    for done in (adaptyst("diff", first, same), adaptyst("report", first, same)):
        require_equal(done.status, 0)
        require(f"{first} and {same} are of the same run, which counts twice: both have process 1" in " ".join(done.err.split()), done.err)


def test_fail_above_fails_for_what_got_slower_and_only_then():
    files = slow_and_fast()
    done = adaptyst("diff", *files, "--fail-above", "5%")
    require_equal(done.status, 1)
    require_equal(done.err, "adaptyst: slower by more than 5%:\n          step on host: mean 40 ns, now 48 ns (+20.0%)\n")
    require("step > flux" in done.out, done.out)
    require_equal(adaptyst("diff", *files, "--fail-above", "19.9%").status, 1)
    require("slower by more than 19.9%:" in adaptyst("diff", *files, "--fail-above", "19.9").err, "a percentage without a sign")
    for limit in ["20.1%", "1000%"]:
        require_equal(adaptyst("diff", *files, "--fail-above", limit)[::2], (0, ""))
    require_equal(adaptyst("diff", *reversed(files), "--fail-above", "5%")[::2], (0, ""))


def test_equal_profiles_print_one_line():
    slow, _ = slow_and_fast()
    done = adaptyst("diff", slow, written("same.json", json.loads(slow.read_text())))
    require_equal((done.status, done.out, done.err), (0, "the profiles are equal: 2 regions with the same calls and times\n", ""))


def with_context(path, total_ns, runnable_ns):
    context = {key: 0 for key in ("open", "sleep_ns", "lock_ns", "io_ns", "other_ns", "voluntary_switches", "involuntary_switches", "migrations")}
    context.update(wall_ns=total_ns, on_cpu_ns=total_ns - runnable_ns, runnable_ns=runnable_ns)
    context.update({key: None for key in ("minor_faults", "major_faults", "cycles", "instructions", "cache_misses")})
    return region(path, *[total_ns // 100] * 100, context=context, self_context=context)


def test_time_on_a_core_is_compared_where_runs_had_none():
    before, after = [[written(f"{side}{at}.json", hand_made(with_context(["step"], 5000 + waits + 100 * at, waits))) for at in range(5)]
                     for side, waits in (("before", 0), ("after", 1000))]
    wall = adaptyst("diff", *before, "--", *after)
    require_equal(find_line(wall.out, "step")[-1], "slower")
    running = adaptyst("diff", "--by", "running", *before, "--", *after)
    require_equal((running.status, running.err, find_line(running.out, "step")[-1]), (0, "", "unclear"))
    require("by their time on a core" in " ".join(running.out.split()), running.out)
    done = adaptyst("diff", "--by", "running", *slow_and_fast())
    require_equal(done.status, 2)
    require("cannot compare times on a core: " in done.err and "--context cpu" in done.err, done.err)


def test_few_events_new_regions_and_more_calls_do_not_fail():
    files = profiles([region(["few"], *[10] * 7), region(["more"], *[10] * 100), region(["gone"], *[10] * 50)],
                     [region(["few"], *[60] * 7), region(["more"], *[10] * 200), region(["new"], *[30] * 50)])
    done = adaptyst("diff", *files, "--fail-above", "5%")
    require_equal((done.status, done.err), (0, ""))
    require_equal(find_line(done.out, "new"), "new host 0+1 — 1.50 us — — — new".split())
    require_equal(find_line(done.out, "gone"), "gone host 1+0 500 ns — 10 ns — — gone".split())
    require_equal(find_line(done.out, "few")[-1], "untested")


def test_tiny_regions_can_be_ignored():
    files = profiles([region(["large"], *[20] * 100), region(["tiny"], *[2] * 100)],
                     [region(["large"], *[20] * 100), region(["tiny"], *[4] * 100)])  # 0.2 and 0.4 % of 100 us
    require_equal(adaptyst("diff", *files, "--fail-above", "5%").status, 1)
    done = adaptyst("diff", *files, "--fail-above", "5%", "--min-share", "1%")
    require_equal((done.status, done.err), (0, ""))
    require("tiny" not in done.out and "1 below the least share ignored" in done.out, done.out)


def test_moved_lines_are_the_same_region():
    files = profiles([region(["a"], *[10] * 9)],
                     [region(["a"], *[10] * 9, id="ffffffffffffffff",
                             site={"file": "elsewhere.cpp", "line": 99, "function": "g"})])
    done = adaptyst("diff", *files, "--format", "json")
    rows = json.loads(done.out)["regions"]
    require_equal(len(rows), 1)
    require_equal((rows[0]["change_of_total"], rows[0]["verdict"]), (0, "unclear"))


def test_csv_has_the_numbers_of_json_and_markdown_the_words_of_the_table():
    files = profiles([region(["a", "b, c"], *[10] * 9), region(["=sum()"], *[20] * 9)],
                     [region(["a", "b, c"], *[30] * 9), region(["=sum()"], *[20] * 9)])
    in_json = {" > ".join(row["path"]): row for row in json.loads(adaptyst("diff", *files, "--format", "json").out)["regions"]}
    done = adaptyst("diff", *files, "--format", "csv")
    require_equal((done.status, done.err), (0, ""))
    rows = list(csv.DictReader(io.StringIO(done.out, newline="")))
    require_equal({row["region"].lstrip("'") for row in rows}, set(in_json))
    for row in rows:
        same = in_json[row["region"].lstrip("'")]
        require_equal((float(row["mean_ns"]), float(row["change"])), (same["before"]["mean_ns"], same["change_of_mean"]))
        require_equal([float(row["interval_low"]), float(row["interval_high"])], same["interval"])
    require(any(row["region"] == "'=sum()" for row in rows), "a formula:", done.out)
    done = adaptyst("diff", *files, "--format", "markdown")
    lines = done.out.splitlines()
    require_equal((done.status, done.err, lines[1]), (0, "", "|---|---|---:|---:|---:|---:|---:|---:|---|"))
    require_equal(len(lines), 2 + len(in_json))
    require(all(line.count(" | ") == 8 for line in lines[2:]), done.out)


def test_real_profiles_are_compared():
    done = adaptyst("diff", real("one.json"), real("two.json"), "--format", "json")
    require_equal((done.status, done.err), (0, ""))
    found = json.loads(done.out)
    require_equal(sorted((row["path"][0], row["device"]["kind"]) for row in found["regions"]),
                  [("fill", "cpu"), ("sum", "accelerator"), ("sum", "cpu")])
    require(all(row["p"] is None and row["verdict"] == "untested" for row in found["regions"]), found)


def runs(side, *means):
    return [written(f"{side}-{at}.json", hand_made(region(["step"], *[mean] * 20), region(["flux"], *[30] * 20)))
            for at, mean in enumerate(means)]


def test_sets_of_runs():
    old, new = runs("old", 40, 41, 39, 40, 41), runs("new", 48, 49, 47, 48, 47)
    for mark in ["--", "--after"]:
        done = adaptyst("diff", *old, mark, *new, "--fail-above", "5%")
        require_equal((done.status, done.err), (1, "adaptyst: slower by more than 5%:\n          step on host: mean 40 ns, now 48 ns (+18.9%)\n"))
        require_equal(find_line(done.out, "step")[:3] + find_line(done.out, "step")[-1:], ["step", "host", "5+5", "slower"])
    require_equal(adaptyst("diff", *old, "--fail-above=20%", "--", *new).status, 0)
    require_equal(adaptyst("diff", "--fail-above=5%", *new, "--", *old).status, 0)
    found = json.loads(adaptyst("diff", *old, "--", *new, "--format", "json").out)
    require_equal((found["runs"], found["method"]), ({"before": 5, "after": 5}, "permutations"))
    if jsonschema is not None:
        jsonschema.validate(found, json.loads((sources / "docs/comparison-schema.json").read_text(encoding="utf-8")))


def test_a_slow_run_among_others_is_no_slower_program():
    done = adaptyst("diff", *runs("old", 40, 41, 39, 40, 41), "--", *runs("new", 40, 41, 39, 40, 60), "--fail-above", "5%")
    require_equal((done.status, done.err), (0, ""))
    require_equal(find_line(done.out, "step")[-1], "unclear")


def test_single_runs_must_differ_by_more_than_the_floor():
    for after, status in [(43, 0), (45, 1)]:
        files = profiles([region(["step"], *[40] * 100)], [region(["step"], *[after] * 100)])
        require_equal(adaptyst("diff", *files, "--fail-above", "5%").status, status)


def test_sides_without_a_difference_or_not_comparable():
    files = runs("old", 40, 41, 39)
    for words in [files, files[:1], [*files[:1], "--", *files[1:]], [*files, "--"], ["--", *files]]:
        done = adaptyst("diff", *words)
        require_equal((done.status, done.out), (2, ""))
        require(done.err, "it says why")


def test_json_follows_its_schema():
    if jsonschema is None:
        return print("without: no Python module jsonschema (Debian: python3-jsonschema)")
    schema = json.loads((sources / "docs/comparison-schema.json").read_text(encoding="utf-8"))
    mark = region(["mark"], kind="mark", count=3, device=7)
    files = profiles([region(["a"], *[10] * 9), region(["b"], 1), mark], [region(["a"], *[20] * 9), mark])
    found = json.loads(adaptyst("diff", *files, "--format", "json").out)
    require_equal(len(found["regions"]), 3)
    jsonschema.validate(found, schema)
    for key in schema["definitions"]["region"]["required"]:
        damaged = json.loads(json.dumps(found))
        del damaged["regions"][0][key]
        require(not jsonschema.Draft7Validator(schema).is_valid(damaged), f"a region may lack {key}")


def test_bad_input_and_a_failed_comparison_differ():
    good = written("good.json", hand_made(region(["a"], 1)))
    (good.parent / "bad.json").write_text("{}", encoding="utf-8")
    for files in [("bad.json", good), (good, "bad.json"), (good, "missing.json")]:
        done = adaptyst("diff", *files)
        require_equal((done.status, done.out), (2, ""))
        require(str(files[0] if files[0] != good else files[1]) in done.err, done.err)
    for percent in ["x%", "-1%", "%", "5%%", "nan%", "5 %"]:
        done = adaptyst("diff", good, good, f"--fail-above={percent}")
        require_equal((done.status, done.out), (2, ""))
        require(f"'{percent}' is not a percentage from 0% on" in done.err and "the unit is %" in done.err, done.err)


def test_a_mark_before_both_files_does_not_exchange_them():
    files = slow_and_fast()
    plain = adaptyst("diff", *files).out
    require_equal(adaptyst("diff", "--", *files).out, plain)
    require_equal(adaptyst("diff", "--min-share", "0%", "--", *files).out, adaptyst("diff", "--min-share", "0%", *files).out)
    require_equal(adaptyst("diff", files[0], "--", files[1]).out, plain)
    require_equal(adaptyst("diff", "--min-share=0%", files[0], "--", files[1]).out,
                  adaptyst("diff", "--min-share", "0%", *files).out)


run_all(dict(globals()))
