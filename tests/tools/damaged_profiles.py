"""The reader and docs/profile-schema.json agree: what the one refuses, the other does."""
import copy
import json
import sys

from command import adaptyst, hand_made, real, region, require, require_equal, run_all, sources, written

sys.path.insert(0, str(sources / "tests/unit"))
import validate_json  # which skips this where there is no validator

schema = json.loads((sources / "docs/profile-schema.json").read_text(encoding="utf-8"))
validator = validate_json.jsonschema.validators.validator_for(schema)(schema)


def whole():
    """With everything in it that the damages change."""
    made = hand_made(region(["work"], 10, 20, 30, attributes={"bytes": {"count": 3, "sum": 6, "min": 1, "max": 3}}))
    del made["regions"][0]["path"]
    made["regions"][0]["name"] = "work"
    made["accounting"]["lost"] = {"too_deep": 0}
    made["processes"] = [made["process"], {**made["process"], "pid": 2}]
    return made


def more_damages():
    """Of every value in a profile: none, and one of another type."""
    def walk(value, path):
        if path:
            yield f"no {path}", validate_json.removal(*path)
            for other in [None, -1, 0.5, "x", [], {}, True, 2**64]:
                yield f"{other!r} for {path}", validate_json.setting(other, *path)
        if isinstance(value, dict):
            yield f"another key in {path}", validate_json.setting(1, *path, "extra")
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
            yield from walk(inner, path + [key])
    yield from walk(whole(), [])


def test_valid_profiles_are_taken():
    for profile in [whole(), hand_made(), hand_made(region(["a", "b"], 1, threads=1.0)),
                    json.loads(real("real.json").read_text(encoding="utf-8"))]:
        require(validator.is_valid(profile), profile)
        done = adaptyst("report", written("one.json", profile))
        require_equal((done.status, done.err), (0, ""))


def test_what_the_schema_refuses_is_refused():
    refused = 0
    names = []
    for name, damage in [*validate_json.damages(), *more_damages()]:
        damaged = copy.deepcopy(whole())
        damage(damaged)
        if validator.is_valid(damaged):
            continue
        names.append((name, written(f"{refused}.json", damaged)))
        refused += 1
    require(refused > 300, f"only {refused} are damaged")
    # One run for all of them: each has to be named.
    done = adaptyst("report", *[file for _, file in names])
    require_equal((done.status, done.out), (2, ""))
    complaints = [line for line in done.err.splitlines() if line.startswith("adaptyst: ")]
    require_equal(len(complaints), refused)
    for (name, file), complaint in zip(names, complaints):
        require(complaint.startswith(f"adaptyst: {file}: not a profile: "), name, complaint)


def test_what_the_reader_refuses_beyond_the_schema_is_listed_here():
    """Faults beyond a schema: numbers of 64 bits, and members that contradict each other."""
    beyond = set()
    for name, damage in more_damages():
        damaged = copy.deepcopy(whole())
        damage(damaged)
        if validator.is_valid(damaged) and adaptyst("report", written("one.json", damaged)).status != 0:
            beyond.add(name)
    contradictions = {name for name in beyond if "18446744073709551616" not in name}
    require_equal(contradictions, expected_contradictions)


times = ["total_ns", "self_ns", "min_ns", "max_ns"]
expected_contradictions = {f"None for ['regions', 0, '{key}']" for key in times} | {"None for ['process']"}
run_all(dict(globals()))
