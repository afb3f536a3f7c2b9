"""The forms of other tools, read back by readers that share no code with the writers: the sums are those of the profile.

usage: foreign_forms.py ADAPTYST HELLO_REGION SOURCES JSON_SAMPLES
"""
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import command
from command import Skipped, adaptyst, hand_made, real, region, require, require_equal, run_all, written
from profiles import with_paths

HERE = pathlib.Path(__file__).resolve().parent
JSON_SAMPLES = pathlib.Path(sys.argv[4]).resolve()
GREATEST = 2**63 - 1  # of pprof's numbers


def need(tool, package):
    found = shutil.which(tool)
    if found is None:
        raise Skipped(f"no {tool} (Debian: {package})")
    return found


def samples():
    """Random profiles, their sum, an empty one, and one with names and numbers of all kinds."""
    subprocess.run([JSON_SAMPLES, command.directory], check=True)
    made = sorted(command.directory.glob("*.json"))
    require(len(made) > 30, "too few profiles", made)
    return made


def converted(profile, *names):
    done = adaptyst("report", profile, "--format", "none", *[word for name in names for word in ("-o", name)])
    require_equal((done.status, done.err), (0, ""))
    return [command.directory / name for name in names]


def load(file):
    return with_paths(json.loads(file.read_text(encoding="utf-8")))


def moved_bytes(row):
    found = row["attributes"].get("bytes")
    return found["sum"] if found and not found.get("metrics") and found["sum"] is not None and found["sum"] >= 0 else None


def blocked(row):
    context = row["self_context"]
    if not context or context["on_cpu_ns"] is None:
        return None
    return sum(context[part] for part in ("sleep_ns", "lock_ns", "io_ns", "other_ns"))


FIGURES = {"calls": lambda row: row["count"], "time": lambda row: row["total_ns"], "self": lambda row: row["self_ns"],
           "on-core": lambda row: (row["self_context"] or {}).get("on_cpu_ns"), "blocked": blocked, "bytes": moved_bytes}


# ---- pprof ----

def parse_text_format(text):
    """The output of `protoc --decode`, as dictionaries of lists."""
    root = {}
    open_messages = [root]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            open_messages.pop()
        elif line.endswith(" {"):
            message = {}
            open_messages[-1].setdefault(line[:-2], []).append(message)
            open_messages.append(message)
        else:
            key, value = line.split(": ", 1)
            if value.startswith('"'):
                value = value[1:-1].encode("ascii").decode("unicode_escape").encode("latin-1").decode("utf-8")
            else:
                value = int(value)
            open_messages[-1].setdefault(key, []).append(value)
    return root


def read_pprof(file):
    text = subprocess.run([need("protoc", "protobuf-compiler"), f"--proto_path={HERE}", "--decode=pprof_in_tests.Profile", "pprof.proto"],
                          input=gzip.decompress(file.read_bytes()), capture_output=True, check=True)
    require_equal(text.stderr, b"")  # a string that is no UTF-8 is reported there
    made = parse_text_format(text.stdout.decode("ascii"))
    strings = made["string_table"]
    require_equal(strings[0], "")
    require_equal(len(set(strings)), len(strings))
    functions = {entry["id"][0]: (strings[entry["name"][0]] if "name" in entry else "", strings[entry.get("filename", [0])[0]])
                 for entry in made.get("function", [])}
    locations = {entry["id"][0]: (*functions[entry["line"][0]["function_id"][0]], entry["line"][0].get("line", [0])[0])
                 for entry in made.get("location", [])}
    require(0 not in functions and 0 not in locations, "a number is 0")
    types = [(strings[entry["type"][0]], strings[entry["unit"][0]]) for entry in made.get("sample_type", [])]
    rows = []
    for sample in made.get("sample", []):
        labels = {strings[label["key"][0]]: strings[label["str"][0]] if "str" in label else label.get("num", [0])[0]
                  for label in sample.get("label", [])}
        stack = [locations[at] for at in reversed(sample["location_id"])]
        require_equal(len(sample["value"]), len(types))
        rows.append((stack, dict(zip([name for name, _ in types], sample["value"])), labels))
    return types, rows, strings[made.get("default_sample_type", [0])[0]], [strings[at] for at in made["comment"]]


def require_pprof(profile_file, made):
    profile = load(profile_file)
    types, rows, default, comments = read_pprof(made)
    named = [row for row in profile["regions"] if row["path"]]
    require_equal(len(rows), len(named))
    have = [name for name, find in FIGURES.items() if any(find(row) is not None for row in profile["regions"])]
    require_equal([name for name, _ in types], have)
    require_equal(default, "self" if "self" in have else "calls")
    for row, (stack, values, labels) in zip(named, rows):
        require_equal([name for name, _, _ in stack], row["path"])
        if row["site"]:
            require_equal(stack[-1][2], row["site"]["line"] or 0)
        unknown = [name for name in have if FIGURES[name](row) is None]
        require_equal(labels.get("unknown", ""), ",".join(unknown))
        require_equal(labels["kind"], row["kind"])
        for name in have:
            expected = min(round(FIGURES[name](row) or 0), GREATEST)
            require_equal(values[name], expected)
    return comments


def test_pprof_has_the_figures_of_each_row():
    for file in samples():
        require_pprof(file, *converted(file, file.stem + ".pb.gz"))


def test_pprof_of_a_real_program_has_lines_and_no_second_form():
    file = real("one.json")
    first, second = converted(file, "a.pb.gz", "b.pb.gz")
    require_equal(first.read_bytes(), second.read_bytes())
    comments = require_pprof(file, first)
    require(comments[0].startswith("adaptyst "), comments)
    stacks = [stack for stack, _, _ in read_pprof(first)[1]]
    require(any(name == "fill" and place.endswith(".cpp") and line > 0 for stack in stacks for name, place, line in stack), stacks)


def test_a_program_writes_pprof_itself():
    subprocess.run([command.hello_region], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "ADAPTYST": f"engine=inline,report=none,output={command.directory}/p.json;{command.directory}/p.pb.gz"})
    require_pprof(command.directory / "p.json", command.directory / "p.pb.gz")


# ---- Prometheus ----

def read_metrics(text):
    """The text format: name, labels and value of each sample, and the type of each family. Fails at what is no such line."""
    types, made, finished = {}, [], []
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            require(name not in types, "a family twice", line)
            types[name] = kind
        elif not line.startswith("# "):
            found = re.fullmatch(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\["\\n])*",?)*)\})? (\S+)', line)
            require(found, "no sample:", line)
            labels = {key: re.sub(r"\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), value)
                      for key, value in re.findall(r'([a-z]+)="((?:[^"\\]|\\.)*)"', found[2] or "")}
            if not finished or finished[-1] != found[1]:
                finished.append(found[1])
            made.append((found[1], labels, float(found[3])))
    keys = [(name, tuple(sorted(labels.items()))) for name, labels, _ in made]
    require_equal(len(set(keys)), len(keys))
    return types, made


def require_near(found, expected):
    require(abs(found - expected) <= 1e-9 * max(abs(found), abs(expected), 1e-300), "expected:", expected, "found:", found)


def require_metrics(profile_file, text):
    profile = load(profile_file)
    _, made = read_metrics(text)

    def total(name):
        return sum(value for found, _, value in made if found == name)

    def expected(find, scale=1.0):
        return sum((find(row) or 0) * scale for row in profile["regions"])
    require_near(total("adaptyst_region_calls_total"), expected(FIGURES["calls"]))
    require_near(total("adaptyst_region_self_seconds_total"), expected(FIGURES["self"], 1e-9))
    require_near(total("adaptyst_region_duration_seconds_sum"), expected(FIGURES["time"], 1e-9))
    require_near(total("adaptyst_region_on_core_seconds_total"), expected(FIGURES["on-core"], 1e-9))
    require_near(total("adaptyst_region_blocked_seconds_total"), expected(blocked, 1e-9))
    require_near(total("adaptyst_events_lost_total"), sum(profile["accounting"]["lost"].values()))
    require_equal(total("adaptyst_regions"), len(profile["regions"]))
    buckets = {}
    for name, labels, value in made:
        if name == "adaptyst_region_duration_seconds_bucket":
            buckets.setdefault((labels["id"], labels["device"]), []).append((labels["le"], value))
    for found in buckets.values():
        require_equal([float(limit.replace("+Inf", "inf")) for limit, _ in found], [1e-6, 1e-5, 1e-4, 1e-3, .01, .1, 1, 10, 100, float("inf")])
        require([value for _, value in found] == sorted(value for _, value in found), "buckets that fall", found)
    return made


def check_with_promtool(text):
    done = subprocess.run([need("promtool", "prometheus"), "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    require_equal((done.returncode, done.stdout + done.stderr), (0, ""))


def test_metrics_have_the_sums_of_the_profile():
    for file in samples():
        made, = converted(file, file.stem + ".prom")
        require_metrics(file, made.read_text(encoding="utf-8"))


def test_promtool_accepts_all_metrics():
    for file in [real("one.json"), *samples()]:
        check_with_promtool(converted(file, file.stem + ".prom")[0].read_text(encoding="utf-8"))


def test_labels_cannot_break_a_line():
    names = ['a"b', "a\nb", "a\\", 'x"} 1\nadaptyst_events_total 99', "\x1b[31m", "é"]
    rows = [region([name], 5) | {"id": f"{at + 1:016x}"} for at, name in enumerate(names)]
    made = require_metrics(written("p.json", hand_made(*rows)), converted("p.json", "p.prom")[0].read_text(encoding="utf-8"))
    found = [labels["region"] for name, labels, _ in made if name == "adaptyst_region_calls_total"]
    require_equal(sorted(found), sorted(re.sub(r"[\n\x1b]", "?", name) for name in names))
    require_equal([value for name, _, value in made if name == "adaptyst_events_total"], [len(names)])


def test_of_many_regions_the_greatest_have_series():
    rows = [region([f"r{at}"], 50) | {"id": f"{at + 1:016x}", "total_ns": 1000 + at, "self_ns": 1000 + at} for at in range(1000)]
    file = written("p.json", hand_made(*rows))
    made = require_metrics(file, converted("p.json", "p.prom")[0].read_text(encoding="utf-8"))
    calls = {labels["region"]: value for name, labels, value in made if name == "adaptyst_region_calls_total"}
    require_equal(calls.pop("(others)"), 800)
    require_equal(set(calls), {f"r{at}" for at in range(800, 1000)})
    require_equal([value for name, _, value in made if name == "adaptyst_regions_summed"], [800])


# ---- Caliper ----

def split_escaped(text, mark):
    """Parts between marks without a backslash before them; the backslashes stay."""
    parts, at = [""], 0
    while at < len(text):
        if text[at] == "\\":
            parts[-1] += text[at:at + 2]
            at += 2
            continue
        if text[at] == mark:
            parts.append("")
        else:
            parts[-1] += text[at]
        at += 1
    return parts


def unescape(text):
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text, flags=re.DOTALL)


TYPES = {1: "int", 2: "uint", 3: "string", 5: "double"}


def read_caliper(text):
    """Paths with their figures, and the globals."""
    nodes, attributes, rows, run = {}, {}, [], {}

    def convert(attribute, data):
        return data if attributes[attribute][1] == "string" else float(data) if attributes[attribute][1] == "double" else int(data)
    for line in text.split("\n")[:-1]:
        record = {}
        for part in split_escaped(line, ","):
            key, *values = split_escaped(part, "=")
            record[key] = [unescape(value) for value in values]
        kind = record["__rec"][0]
        if kind == "node":
            number, attribute = int(record["id"][0]), int(record["attr"][0])
            parent = int(record["parent"][0]) if "parent" in record else None
            require(number not in nodes and number > 11, "number of a node", line)
            require(parent is None or parent in nodes or parent in TYPES, "a parent that is not there", line)
            require(attribute in (8, 10) or attribute in attributes, "an attribute that is not there", line)
            nodes[number] = (attribute, record["data"][0], parent)
            if attribute == 8:
                _, properties, kind_of = nodes[parent]
                attributes[number] = (record["data"][0], TYPES[kind_of], int(properties))
        else:
            require(len(record["attr"]) == len(record["data"]), line)
            figures = {attributes[int(at)][0]: convert(int(at), data) for at, data in zip(record["attr"], record["data"])}
            if kind == "globals":
                run = figures
                continue
            path, at = [], int(record["ref"][0])
            while at is not None:
                attribute, data, at = nodes[at]
                require_equal(attributes[attribute][0], "region")
                require(attributes[attribute][2] & 256, "the attribute of regions is not nested")
                path.append(data)
            rows.append((path[::-1], figures))
    return rows, run


def test_caliper_has_the_figures_of_each_row():
    for file in samples():
        profile = load(file)
        made, = converted(file, file.stem + ".cali")
        rows, run = read_caliper(made.read_text(encoding="utf-8"))
        named = [row for row in profile["regions"] if row["path"]]
        require_equal(len(rows), len(named))
        require_equal(run["adaptyst.engine"], profile["engine"])
        for row, (path, figures) in zip(named, rows):
            require_equal(len(path), len(row["path"]))
            require(path[-1].startswith(re.sub(r"[\x00-\x09\x0b-\x1f]", "?", row["path"][-1]) or "(no name)"), path, row["path"])
            require_equal(figures["count"], min(row["count"], GREATEST))
            require_equal("sum#time.duration" in figures, row["self_ns"] is not None)
            if row["self_ns"] is not None:
                require_near(figures["sum#time.duration"], row["self_ns"] / 1e9)
                require_near(figures["inclusive#sum#time.duration"], row["total_ns"] / 1e9)


def test_caliper_keeps_regions_of_one_name_apart():
    rows = [region(["a"], 5) | {"id": f"{at + 1:016x}", "site": {"file": "m.cpp", "line": at + 1, "function": "f"}} for at in range(3)]
    written("p.json", hand_made(*rows))
    found, _ = read_caliper(converted("p.json", "p.cali")[0].read_text(encoding="utf-8"))
    require_equal([path for path, _ in found], [["a m.cpp:1"], ["a m.cpp:2"], ["a m.cpp:3"]])


def test_metadata_of_the_program_cannot_be_taken_for_figures():
    names = ["count", "mpi.rank", "sum#time.duration", "region", "executable", "cmdline", "adaptyst.engine"]
    file = written("p.json", hand_made(region(["a"], 5)) | {"metadata": {name: "of the program" for name in names}})
    rows, run = read_caliper(converted("p.json", "p.cali")[0].read_text(encoding="utf-8"))
    figures = rows[0][1]
    require_equal(figures["count"], load(file)["regions"][0]["count"])
    require_equal([run["program." + name] for name in names], ["of the program"] * len(names))
    require_equal((run["executable"], run["adaptyst.engine"]), ("made_by_hand", "inline"))


def rank_profile(rank, host, ns, mpi_ns):
    made = hand_made(region(["step"], 50) | {"total_ns": ns, "self_ns": ns - mpi_ns, "id": "1".zfill(16)},
                     region(["step", "MPI_Allreduce"], 50) | {"total_ns": mpi_ns, "self_ns": mpi_ns, "id": "2".zfill(16), "parent": "1".zfill(16)},
                     duration_ns=1000)
    made["process"] |= {"pid": 100 + rank, "rank": rank, "host": host}
    return written(f"rank-{rank}.json", made)


def test_pprof_has_the_rank_as_a_text():
    _, rows, _, _ = read_pprof(converted(rank_profile(0, "n0", 800, 100), "zero.pb.gz")[0])
    require_equal([labels["rank"] for _, _, labels in rows], ["0", "0"])


def test_caliper_of_ranks_has_their_spread():
    files = [rank_profile(0, "n0", 800, 100), rank_profile(1, "n1", 600, 300)]
    rows, _ = read_caliper(converted(files[1], "one.cali")[0].read_text(encoding="utf-8"))
    require_equal([figures["mpi.rank"] for _, figures in rows], [1, 1])
    adaptyst("report", *files, "-o", "all.json")
    rows, run = read_caliper(converted("all.json", "all.cali")[0].read_text(encoding="utf-8"))
    step = dict((tuple(path), figures) for path, figures in rows)[("step",)]
    require_near(step["min#inclusive#sum#time.duration"], 600e-9)
    require_near(step["max#inclusive#sum#time.duration"], 800e-9)
    require_near(step["avg#inclusive#sum#time.duration"], 700e-9)
    require("mpi.rank" not in step, step)
    require_equal((run["jobsize"], run["numhosts"]), ("2", "2"))


# ---- TALP ----

def test_talp_has_the_efficiencies_of_the_profile():
    files = [rank_profile(0, "n0", 800, 100), rank_profile(1, "n1", 600, 300)]
    adaptyst("report", *files, "-o", "all.json")
    profile = load(command.directory / "all.json")
    made = json.loads(converted("all.json", "all.talp.json")[0].read_text(encoding="utf-8"))
    require_equal(made["resources"]["numMpiRanks"], 2)
    require_equal(made["resources"]["numNodes"], 2)
    require("numGpus" not in made["resources"], made["resources"])
    run = made["Application"]["Global"]
    require_equal(run["elapsedTime"], 1000)
    require_equal(run["usefulTime"], 900 + 700)
    require_equal(run["mpiTime"], 400)
    require_equal(run["numMpiCalls"], 2)
    require_near(run["mpiParallelEfficiency"], 0.8)
    require_near(run["mpiParallelEfficiency"], run["mpiLoadBalance"] * run["mpiCommunicationEfficiency"])
    require_near(run["mpiLoadBalance"], profile["mpi"]["load_balance"])
    step = made["Application"]["step"]
    require_equal((step["elapsedTime"], step["mpiTime"], step["usefulTime"], step["numMeasurements"]), (800, 400, 1000, 2))


def test_talp_has_no_figure_that_is_unknown():
    for file in samples():
        made = json.loads(converted(file, file.stem + ".talp.json")[0].read_text(encoding="utf-8"))
        profile = load(file)
        require("Global" in made["Application"], made)
        if not profile.get("mpi"):
            require(not any(key.startswith("mpi") for part in made["Application"].values() for key in part), made)
        device = (profile["efficiency"] or {}).get("device_parallel")
        require_equal(made["Application"]["Global"].get("gpuParallelEfficiency"), device)


# ---- all of them ----

def test_a_full_disk_leaves_nothing():
    file = real("one.json")
    for form in ("pprof", "prometheus", "caliper", "talp"):
        done = adaptyst("report", file, "--format", "none", "-o", f"{form}:/dev/full")
        require_equal(done.status, 2)
        require("No space left" in done.err, done.err)
        done = adaptyst("report", file, "--format", "none", "-o", f"{form}:/nowhere/file")
        require_equal(done.status, 2)
        require("/nowhere/file" in done.err, done.err)
    require_equal([name for name in os.listdir(command.directory) if "partial" in name], [])


def test_forms_are_listed():
    done = adaptyst("report", "--format", "list")
    require_equal((done.status, done.err), (0, ""))
    for form in ("json", "html", "pprof", "prometheus", "caliper", "talp", "speedscope", "folded", "trace"):
        require(re.search(rf"^{form} ", done.out, re.MULTILINE), form, done.out)


run_all(globals())
