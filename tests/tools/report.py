"""adaptyst report: reads, adds up, prints, writes; a bad file is named and does not hide the good ones."""
import json
import os

from command import adaptyst, hand_made, real, region, require, require_equal, run_all, written


def test_a_real_profile_is_printed():
    done = adaptyst("report", real("one.json"))
    require_equal((done.status, done.err), (0, ""))
    for row in ["fill", "sum", "acc0", "events begun"]:
        require(row in done.out, f"no {row} in", done.out)


def test_one_profile_is_written_as_it_was():
    file = real("one.json")
    done = adaptyst("report", file, "--output", "copy.json", "--format", "json")
    require_equal((done.status, done.err), (0, ""))
    require_equal(done.out, file.read_text(encoding="utf-8"))
    require_equal((file.parent / "copy.json").read_text(encoding="utf-8"), done.out)


def test_several_are_added_up():
    files = [real("one.json"), real("two.json"), real("three.json")]
    parts = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    done = adaptyst("report", *files, "--output", "all.json")
    require_equal((done.status, done.err), (0, ""))
    require("3 processes" in done.out, done.out)
    whole = json.loads((files[0].parent / "all.json").read_text(encoding="utf-8"))
    for key in ["begun", "ended"]:
        require_equal(whole["accounting"][key], sum(part["accounting"][key] for part in parts))
    require_equal(len(whole["processes"]), 3)
    require_equal(len(whole["regions"]), len(parts[0]["regions"]))
    for row in whole["regions"]:
        same = [other for part in parts for other in part["regions"] if other["id"] == row["id"]]
        require_equal(len(same), 3)
        require_equal(row["total_ns"], sum(other["total_ns"] for other in same))
        require_equal(row["max_ns"], max(other["max_ns"] for other in same))


def test_what_was_merged_can_be_read_again():
    adaptyst("report", real("one.json"), real("two.json"), "--output", "both.json")
    once = adaptyst("report", "both.json", "--format", "json")
    require_equal(once.status, 0)
    require_equal(len(json.loads(once.out)["processes"]), 2)


def test_bad_files_are_named_and_the_good_one_is_reported():
    good = written("good.json", hand_made(region(["work"], 10, 20, 30)))
    written("other schema.json", {**hand_made(), "schema": 2})
    (good.parent / "torn.json").write_text(good.read_text(encoding="utf-8")[:100], encoding="utf-8")
    done = adaptyst("report", "missing.json", "torn.json", good, "other schema.json")
    require_equal(done.status, 2)
    require("work" in done.out, done.out)
    for message in ["adaptyst: cannot read missing.json: No such file or directory (ENOENT)",
                    "adaptyst: torn.json: not a profile: byte 101: ",
                    "adaptyst: other schema.json: not a profile: /schema: expected 1"]:
        require(message in done.err, done.err)
    strict = adaptyst("report", "torn.json", good, "--strict", "--output", "all.json")
    require_equal((strict.status, strict.out), (2, ""))
    require("torn.json" in strict.err, strict.err)
    require(not (good.parent / "all.json").exists(), "a file was written")


def test_nothing_good_nothing_reported():
    done = adaptyst("report", "missing.json", "--output", "all.json")
    require_equal((done.status, done.out), (2, ""))


def test_what_cannot_be_written_is_said():
    file = written("good.json", hand_made(region(["work"], 10)))
    done = adaptyst("report", file, "--output", "no/such/place.json")
    require_equal(done.status, 2)
    require("cannot write the profile to no/such/place.json: No such file" in done.err, done.err)
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = adaptyst("report", file, stdout=full)
        require_equal(done.status, 2)
        require("cannot write to standard output: No space left" in done.err, done.err)


run_all(dict(globals()))
