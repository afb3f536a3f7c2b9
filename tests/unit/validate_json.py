"""Whether what the collector writes follows docs/profile-schema.json, and whether the schema refuses what does not.

usage: validate_json.py SCHEMA PROGRAM    PROGRAM DIRECTORY writes profiles into it
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: no Python module jsonschema (Debian: python3-jsonschema)")
    sys.exit(77)


def profiles(program):
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([program, directory], check=True)
        files = sorted(pathlib.Path(directory).iterdir())
        return {file.name: json.loads(file.read_text(encoding="utf-8")) for file in files}


# A change to a valid profile that makes it invalid, by name.
def removal(*path):
    def change(profile):
        for key in path[:-1]:
            profile = profile[key]
        del profile[path[-1]]
    return change


def setting(value, *path):
    def change(profile):
        for key in path[:-1]:
            profile = profile[key]
        profile[path[-1]] = value
    return change


def damages():
    yield "another schema", setting(2, "schema")
    yield "no schema", removal("schema")
    yield "unknown key", setting(1, "extra")
    yield "unknown engine", setting("magic", "engine")
    for key in ["engine", "mechanism", "devices", "regions", "accounting", "process"]:
        yield "no " + key, removal(key)
    for key in ["id", "kind", "index", "name", "busy_ns", "kernel_ns", "copy_ns", "exposed_copy_ns", "idle_ns",
                "queue_wait_ns", "utilisation"]:
        yield "device without " + key, removal("devices", 0, key)
    yield "device of unknown kind", setting("tpu", "devices", 0, "kind")
    yield "negative busy time", setting(-1, "devices", 0, "busy_ns")
    yield "busy time as text", setting("5", "devices", 0, "busy_ns")
    yield "fraction of a nanosecond", setting(1.5, "devices", 0, "busy_ns")
    yield "utilisation above 1", setting(1.1, "devices", 0, "utilisation")
    for key in ["site", "kind", "device", "threads", "count", "total_ns", "self_ns", "min_ns", "max_ns", "p50_ns",
                "p90_ns", "p99_ns", "attributes", "overhead_ns"]:
        yield "region without " + key, removal("regions", 0, key)
    yield "region without name", removal("regions", 0, "name")
    yield "empty path", setting([], "regions", 0, "path")
    yield "path of numbers", setting([1], "regions", 0, "path")
    yield "region of unknown kind", setting("metric", "regions", 0, "kind")
    yield "no count", setting(None, "regions", 0, "count")
    yield "site without line", removal("regions", 0, "site", "line")
    yield "attribute without sum", setting({"count": 1, "min": 0, "max": 0}, "regions", 0, "attributes", "x")
    yield "histogram of single numbers", setting([5], "regions", 0, "histogram")
    for key in ["begun", "ended", "open", "lost", "unmatched", "overhead_ns"]:
        yield "account without " + key, removal("accounting", key)
    yield "loss without a number", setting(None, "accounting", "lost", "too_deep")
    for key in ["pid", "command", "host", "duration_ns"]:
        yield "process without " + key, removal("process", key)


def main(schema_file, program):
    schema = json.loads(pathlib.Path(schema_file).read_text(encoding="utf-8"))
    validator_class = jsonschema.validators.validator_for(schema)
    validator_class.check_schema(schema)
    validator = validator_class(schema)
    failures = []

    written = profiles(program)
    if len(written) < 10:
        failures.append(f"only {len(written)} profiles were written")
    for name, profile in written.items():
        for error in validator.iter_errors(profile):
            failures.append(f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")

    # One with everything in it.
    whole = next(profile for profile in written.values() if profile["regions"] and profile["devices"] and profile["process"])
    tried = 0
    for name, damage in damages():
        damaged = copy.deepcopy(whole)
        damage(damaged)
        tried += 1
        if validator.is_valid(damaged):
            failures.append(f"the schema accepts: {name}")
    for not_ours in [None, [], {}, "text", 5, {"schema": 1}]:
        tried += 1
        if validator.is_valid(not_ours):
            failures.append(f"the schema accepts {not_ours!r}")

    print("\n".join(failures) or f"{len(written)} profiles are valid, {tried} damaged ones are refused")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
