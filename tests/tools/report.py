"""adaptyst report: reads, adds up, prints, writes; a bad file is named and does not hide the good ones."""
import csv
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import command
from command import adaptyst, hand_made, hello_region, real, region, require, require_equal, run_all, written


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


def simulated_rank(rank, *regions, host=None, command="made_by_hand"):
    """A profile made by hand, as a rank would write it; two ranks a host."""
    made = hand_made(*regions, duration_ns=1_000_000_000)
    made["process"] |= {"pid": 100 + rank, "command": command, "host": host or f"simulated{rank // 2}", "rank": rank}
    return written(f"p-{rank}.json", made)


def one_event(name, ns):
    """Its bucket is wrong, and its time exact."""
    return region([name], 50) | {"total_ns": ns, "self_ns": ns, "min_ns": ns, "max_ns": ns}


def test_ranks_become_one_report():
    files = [simulated_rank(rank, one_event("dt", (rank + 1) * 1_000_000)) for rank in range(4)]
    done = adaptyst("report", *files, "--output", "all.json")
    require_equal((done.status, done.err), (0, ""))
    require("4 ranks on 2 hosts" in done.out, done.out)
    for part in ["imbalance 60.0%", "slowest: rank 3 on simulated1 (4.00 ms)", "fastest: rank 0 on simulated0 (1.00 ms)"]:
        require(part in " ".join(done.out.split()), part, done.out)
    text = (files[0].parent / "all.json").read_text(encoding="utf-8")
    whole = json.loads(text)
    require_equal(whole["ranks"], 4)
    across = whole["regions"][0]["across_ranks"]
    require_equal(across["ranks"], 4)
    require_equal(across["imbalance"], 4 / 2.5 - 1)
    total = across["total_ns"]
    require_equal([total[key] for key in ["min", "min_rank", "min_host", "mean", "max", "max_rank", "max_host"]],
                  [1_000_000, 0, "simulated0", 2_500_000, 4_000_000, 3, "simulated1"])
    require(abs(total["stddev"] - 1_118_033.988749895) < 1e-3, total)
    require(abs(total["p50"] - 2_000_000) <= 60_000 and abs(total["p95"] - 4_000_000) <= 120_000, total)
    require_equal([(process["rank"], process["host"]) for process in whole["processes"]],
                  [(rank, f"simulated{rank // 2}") for rank in range(4)])
    require_equal(whole["heat_map"]["rows"][0]["mean_ns"][3], 4_000_000)
    # Neither the order of files nor how they are grouped leaves a trace in the figures; a second merge has no heat map.
    again = adaptyst("report", *reversed(files), "--format", "json")
    require_equal(again.out, text)
    adaptyst("report", *files[:2], "--output", "a.json")
    adaptyst("report", *files[2:], "--output", "b.json")
    grouped = json.loads(adaptyst("report", "b.json", "a.json", "--format", "json").out)
    del whole["heat_map"]
    require_equal(grouped, whole)


def test_ranks_that_are_different_are_named():
    files = [simulated_rank(rank, one_event("dt", 5_000_000)) for rank in range(6)]
    files.append(simulated_rank(6))
    files.append(simulated_rank(7, one_event("io", 5_000_000), command="/bin/writer"))
    done = adaptyst("report", *files, "--output", "all.json")
    require_equal((done.status, done.err), (0, ""))
    messages = " ".join(done.out.split())
    for part in ["8 ranks on 4 hosts", "without regions: 1 rank (6 on simulated3)", "writer: 1 rank (7 on simulated3)",
                 "in 6 of 8 ranks", "in 1 of 8 ranks"]:
        require(part in messages, part, done.out)
    whole = json.loads((files[0].parent / "all.json").read_text(encoding="utf-8"))
    require_equal({row["name"]: row["across_ranks"]["ranks"] for row in whole["regions"]}, {"dt": 6, "io": 1})


def test_a_process_shows_its_rank():
    file = command.directory / "one-%r.json"
    for variable, rank in [("OMPI_COMM_WORLD_RANK", 3), ("PMI_RANK", 5)]:
        subprocess.run([hello_region], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, variable: str(rank), "ADAPTYST": f"engine=inline,report=none,output={file}"})
        made = json.loads((file.parent / f"one-{rank}.json").read_text(encoding="utf-8"))
        require_equal(made["process"]["rank"], rank)
        # From outside: its environment is read.
        done = adaptyst("run", "--engine", "inline", "--format", "none", "--output", f"outside-{rank}.json", "--", hello_region,
                        env={**os.environ, variable: str(rank)})
        require_equal(done.status, 0)
        outside = [path.name for path in file.parent.iterdir() if path.name.startswith(f"outside-{rank}")]
        require_equal(json.loads((file.parent / outside[0]).read_text(encoding="utf-8"))["process"]["rank"], rank)
    require("rank" not in json.loads(real("none.json").read_text(encoding="utf-8"))["process"])


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


def test_a_gib_of_zeros_is_refused_at_once():
    """Such as a kept file with a damaged head: sparse, and no text."""
    file = command.directory / "zeros.json"
    file.write_bytes(b"\1")
    os.truncate(file, 1 << 29)
    done = adaptyst("report", file)
    require_equal((done.status, done.out), (2, ""))
    require("it is no text" in done.err, done.err)


def test_nothing_good_nothing_reported():
    done = adaptyst("report", "missing.json", "--output", "all.json")
    require_equal((done.status, done.out), (2, ""))


def test_a_failed_write_is_reported():
    file = written("good.json", hand_made(region(["work"], 10)))
    done = adaptyst("report", file, "--output", "no/such/place.json")
    require_equal(done.status, 2)
    require("cannot write the profile to no/such/place.json: No such file" in done.err, done.err)
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = adaptyst("report", file, stdout=full)
        require_equal(done.status, 2)
        require("cannot write to standard output: No space left" in done.err, done.err)


def test_rows_add_up_to_the_run():
    profile = json.loads(real("one.json").read_text(encoding="utf-8"))
    require_equal(profile["process"]["threads"], 1)
    done = adaptyst("report", "one.json", "--format", "csv")
    rows = list(csv.DictReader(done.out.splitlines()))
    require_equal([row["name"] for row in rows][-1], "(unmarked)")
    require_equal(sum(int(row["time_ns"]) for row in rows if row["level"] == "1"), profile["process"]["duration_ns"])


def recursive(levels):
    rows = [region(["fib"] * level, *[10] * 20, id=f"{level:016x}", self_ns=100) for level in range(1, levels + 1)]
    return written("deep.json", hand_made(*rows))


def test_a_table_is_cut_with_a_note_and_json_is_not():
    file = recursive(1000)
    table = adaptyst("report", file).out
    require(len(table.splitlines()) < 60, f"{len(table.splitlines())} lines")
    require("… 980 more rows, 98.0% of the run" in table, table)
    require_equal(len(json.loads(adaptyst("report", file, "--format", "json").out)["regions"]), 1000)
    require_equal(len(adaptyst("report", file, "--format", "csv").out.splitlines()), 1001)
    require_equal(len(adaptyst("report", file, "--format", "csv", "--depth", "3").out.splitlines()), 4)
    require("999> fib" in adaptyst("report", file, "--top", "0", "--depth=0").out, "not all levels")


def test_rows_are_chosen_and_sorted():
    file = written("flat.json", hand_made(region(["long"], *[60] * 10), region(["often"], *[5] * 60), region(["rare"], 1)))

    def shown(*options):
        out = adaptyst("report", file, "--format", "csv", *options).out
        return [row["name"] for row in csv.DictReader(out.splitlines())]
    require_equal(shown(), ["long", "often", "rare"])
    require_equal(shown("--sort", "calls"), ["often", "long", "rare"])
    require_equal(shown("--sort", "name", "--top", "2"), ["long", "often"])
    require_equal(shown("--min-share", "0.5%"), ["long"])
    require_equal(shown("--min-share", "0.5"), ["long"])
    for wrong in ["--sort=size", "--format=xml", "--min-share=1x", "--top=-1", "--depth=x"]:
        require_equal((wrong, adaptyst("report", file, wrong).status), (wrong, 2))


def test_a_running_program_is_reported_in_the_same_forms():
    done = adaptyst("run", "--engine=inline", "--format=csv", "--sort=name", "--", command.hello_region)
    require_equal(done.status, 0)
    rows = list(csv.DictReader(line for line in done.err.splitlines() if "," in line and "adaptyst:" not in line))
    require_equal([row["name"] for row in rows], ["fill", "sum", "sum", "(unmarked)"])
    done = adaptyst("run", "--engine=inline", "--top=1", "--", command.hello_region)
    require("more row" in done.err, done.err)
    for quiet in ["--format=none", "-q"]:
        require_equal(adaptyst("run", "--engine=inline", quiet, "-o", "run.json", "--", "true"), (0, "", ""))
        require((command.directory / "run.json").is_file(), "the file is written")


def test_quiet_leaves_the_files_and_the_status():
    file = written("few.json", hand_made(region(["a"], 1)))
    for words in (["report", file], ["diff", file, file], ["sites", command.hello_region]):
        done = adaptyst(*words, "--quiet", "-o", "out.json")
        require_equal((words, done), (words, (0, "", "")))
        json.loads((command.directory / "out.json").read_text(encoding="utf-8"))
    require_equal(adaptyst("report", "missing.json", "-q").status, 2)
    require("missing.json" in adaptyst("report", "missing.json", "-q").err, "errors are printed")


def test_verbose_shows_all_rows():
    file = written("many.json", hand_made(*(region([f"r{at}"], 10) for at in range(300))))
    require("more row" in adaptyst("report", file).out, "200 rows")
    for all_rows in (["-v"], ["--verbose"], ["--top", "0", "--depth", "0"]):
        shown = adaptyst("report", file, *all_rows).out
        require("r299" in shown and "more row" not in shown, all_rows, shown)
    require("more row" in adaptyst("report", file, "-v", "--top", "3").out, "a number that is given holds")


def on_a_terminal(columns, *arguments, **changes):
    """What is printed there."""
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")} | {"TERM": "xterm"}
    program = subprocess.Popen([command.command, *map(str, arguments)], cwd=command.directory, stdout=terminal,
                               env={**environment, **changes})
    os.close(terminal)
    text = b""
    try:
        while part := os.read(reader, 65536):
            text += part
    except OSError:  # its end
        pass
    os.close(reader)
    program.wait()
    return text.decode()


def plain(text):
    return re.sub("\033\\[[0-9;]*m", "", text).replace("\r\n", "\n")


def test_the_terminal_is_used_as_far_as_it_goes():
    file = written("good.json", hand_made(region(["a region with a name of many words " * 4], 10), duration_ns=10))

    def width(columns, *arguments, **changes):
        text = plain(on_a_terminal(columns, *arguments, **changes))
        require("█" * 4 in text, "a bar gives way after columns", text)
        return max(map(len, text.splitlines()))
    for columns in [80, 100, 160]:
        require_equal(width(columns, "report", file), columns)
    require_equal(width(160, "report", file, COLUMNS="120"), 120)
    require_equal(max(map(len, adaptyst("report", file).out.splitlines())), 100)


def test_colours_are_for_terminals_that_have_them():
    file = written("good.json", hand_made(region(["work"], 10), duration_ns=10))
    require("\033[36m████████\033[0m" in on_a_terminal(100, "report", file), "no colour")
    for no in [{"NO_COLOR": "1"}, {"TERM": "dumb"}]:
        text = on_a_terminal(100, "report", file, **no)
        require("\033" not in text and "████████" in text, no, text)
    require("\033" in on_a_terminal(100, "report", file, NO_COLOR=""), "an empty NO_COLOR counts")
    text = adaptyst("report", file, env={**os.environ, "TERM": "xterm"}).out
    require("\033" not in text and "█" not in text, "in a pipe", text)


def test_tables_of_all_subcommands_have_one_style_of_headings():
    file = written("one.json", hand_made(region(["work"], *[40] * 100)))
    two = written("two.json", hand_made(region(["work"], *[60] * 100)))
    for words, heading, other in ((["diff", file, two], "REGION ", "\033[31mslower\033[0m"), (["doctor"], "VERDICT ", None),
                                  (["sites", hello_region], "PROBE ", None), (["report", file], "REGION ", None),
                                  (["levels", "--engine", "inline", "--repeat", 1, "--", hello_region], "LEVEL ", None)):
        text = on_a_terminal(100, *words)
        line = next((line for line in text.splitlines() if heading in line), "")
        require(re.fullmatch(f"\033\\[1m *{heading}.*\033\\[0m", line) and plain(line) == plain(line).upper(), words, text)
        require(other is None or other in text, words, text)
        for without in (on_a_terminal(100, *words, NO_COLOR="1"), adaptyst(*words).out, *(adaptyst(*words[:1], "--format", form, *words[1:]).out for form in ("csv", "markdown", "json"))):
            require("\033" not in without, words, without)


def test_a_tree_that_is_longer_than_the_terminal_begins_with_its_largest_rows():
    rows = [region([f"part {number}"], 10 + number, id=f"{number + 1:016x}") for number in range(40)]
    file = written("long.json", hand_made(*rows, duration_ns=10_000))
    text = plain(on_a_terminal(100, "report", file))
    largest = text[text.index("LARGEST BY SELF"):text.index("\nREGION")].strip().splitlines()[1:]
    require_equal([line.split("  ")[0] for line in largest], [f"part {number}" for number in range(39, 29, -1)])
    for other in [on_a_terminal(100, "report", file, "--top", "9"), adaptyst("report", file).out]:
        require("LARGEST" not in other, other)
    # 15 rows fit into 24 lines; with a line of details each, they do not.
    few = [region([f"part {number}"], 10, 20, 30, id=f"{number + 1:016x}") for number in range(15)]
    for has_details in (False, True):
        details = {"attributes": {"bytes": {"count": 3, "sum": 6e9, "min": 1e9, "max": 3e9}}} if has_details else {}
        file = written("details.json", hand_made(*[{**row, **details} for row in few], duration_ns=10_000))
        require_equal(("LARGEST BY SELF" in plain(on_a_terminal(100, "report", file))), has_details)


def test_more_is_shown_on_request():
    file = written("good.json", hand_made(region(["work"], 10, 30), duration_ns=100))
    short, long = adaptyst("report", file).out, adaptyst("report", file, "--verbose").out
    for word in ["median", "TIME: of all calls", " = "]:
        require(word in long and word not in short, word, short, long)
    require_equal(short.splitlines()[-1].startswith("engine "), True)
    done = adaptyst("run", "--engine=inline", "--verbose", "--", command.hello_region)
    require("TIME: of all calls" in done.err, done.err)


run_all(dict(globals()))
