"""Each result as JSON follows its schema in docs/, and the schema refuses what is damaged."""
import json
import pathlib
import sys

levelled = pathlib.Path(sys.argv.pop()).resolve()

import command  # noqa: E402, as it reads the other arguments
from command import adaptyst, real, require, require_equal, run_all, sources, written  # noqa: E402

sys.path.insert(0, str(sources / "tests/traces"))
import nsys_export  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None


def follows(name, *words):
    done = adaptyst(*words, "--format", "json") if "--" not in words else adaptyst(words[0], "--format", "json", *words[1:])
    require_equal((done.status, done.err), (0, ""))
    found = json.loads(done.out)
    if jsonschema is None:
        return print("without: no Python module jsonschema (Debian: python3-jsonschema)")
    schema = jsonschema.Draft7Validator(json.loads((sources / f"docs/{name}-schema.json").read_text(encoding="utf-8")))
    schema.validate(found)
    first = found[0] if isinstance(found, list) else found
    for key in list(first):
        kept = first.pop(key)
        require(not schema.is_valid(found) or key in ("stack", "ceilings", "efficiency", "copies", "waits"), f"{name} may lack {key}")
        first[key] = kept
    first["unknown"] = 1
    require(not schema.is_valid(found), f"{name} may have any key")


def test_sites():
    follows("sites", "sites", levelled, "/bin/true")


def test_doctor():
    follows("doctor", "doctor")


def test_levels():
    follows("levels", "levels", "--engine", "inline", "--repeat", 2, "--stack", "--", levelled, 2, 10)


def test_advice():
    files = []
    for rows in (8, 16):
        run = json.loads(real("chain.json").read_text(encoding="utf-8"))
        run["metadata"] = {"chain": run["regions"][0]["name"], "rows": str(rows)}
        files.append(written(f"rows-{rows}.json", run))
    follows("advice", "advise", *files, "--objective", "balanced", "--watts", "host=100:10", "--watts", "a thread, for want of a GPU=50:5")


def test_variability():
    trace = nsys_export.Export(command.directory / "simulated.sqlite")
    for device in (0, 1):
        trace.kernels([(1000 * at, 1000 * at + 500 + 10 * device, "k") for at in range(40)], device=device)
        trace.copies([(1000 * at + 600, 1000 * at + 800) for at in range(40)], device=device)
    file = trace.finish()
    for by in ("device", "kernel"):
        follows("variability", "variability", file, "--by", by, "--window", "5us")


run_all(globals())
