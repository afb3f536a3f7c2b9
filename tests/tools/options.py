"""Options in every way that they are given: a wrong one is reported with the nearest right one, and the rest holds."""
import csv
import io
import json
import os
import subprocess

import command
from command import adaptyst, hand_made, hello_region, region, require, require_equal, run_all, sources, written


def collected(options):
    done = subprocess.run([hello_region], cwd=command.directory, text=True, capture_output=True, check=True,
                          env={**os.environ, "ADAPTYST": options})
    return done.stderr


def test_an_unknown_option_is_reported_and_the_program_collected():
    messages = collected("engine=inline,overhaed=5%,output=profile.json")
    require("unknown option 'overhaed' in $ADAPTYST: ignored" in messages and "did you mean 'overhead'?" in messages, messages)
    require("fill" in messages, "no table:", messages)
    require(json.loads((command.directory / "profile.json").read_text(encoding="utf-8"))["regions"], "an empty profile")


def test_a_bad_value_is_reported_with_the_possible_values():
    for wrong, words in {"engine=inlin": ["'inlin'", "did you mean 'inline'?", "auto, ebpf, inline, off"],
                         "overhead=200%": ["'200%'", "0.1% to 100%"], "report=tabel": ["did you mean 'table'?"],
                         "context=cpu,falts": ["'falts'", "did you mean 'faults'?"], "functions=mpl": ["'mpl'", "did you mean 'mpi'?"],
                         "output=jsn:x.json": ["'jsn'", "did you mean 'json'?"], "output=x.svg": ["'x.svg'", ".folded"]}.items():
        messages = collected(wrong + ",report=table") if "report" not in wrong else collected(wrong)
        require(all(word in messages for word in words) and "ignored" in messages, wrong, messages)
        require("fill" in messages, f"{wrong}: no table", messages)


def test_outputs_have_the_named_form_or_that_of_the_suffix():
    collected("engine=inline,report=none,output=json:odd:name;table:report.dat;t.trace.json")
    json.loads((command.directory / "odd:name").read_text(encoding="utf-8"))
    require("fill" in (command.directory / "report.dat").read_text(encoding="utf-8"), "no table in report.dat")
    require(isinstance(json.loads((command.directory / "t.trace.json").read_text(encoding="utf-8")), list), "no timeline")


def test_an_output_that_cannot_be_written_keeps_no_other_from_it():
    messages = collected("engine=inline,report=none,output=/nowhere/profile.json;kept.txt")
    require("/nowhere/profile.json" in messages, "not reported:", messages)
    require("fill" in (command.directory / "kept.txt").read_text(encoding="utf-8"), "no table in kept.txt")


def test_reports_and_comparisons_are_written_in_the_same_way():
    file = written("good.json", hand_made(region(["work"], 10, 20)))
    done = adaptyst("report", file, "--output", "copy.txt", "--output", "json:copy.dat")
    require_equal((done.status, done.err), (0, ""))
    require_equal((command.directory / "copy.txt").read_text(encoding="utf-8"), done.out)
    json.loads((command.directory / "copy.dat").read_text(encoding="utf-8"))
    done = adaptyst("diff", file, file, "--output", "diff.json", "--output", "diff.txt")
    require_equal((done.status, done.err), (0, ""))
    require_equal((command.directory / "diff.txt").read_text(encoding="utf-8"), done.out)
    require_equal((command.directory / "diff.json").read_text(encoding="utf-8"), adaptyst("diff", file, file, "--format", "json").out)
    for subcommand in (["report", file], ["diff", file, file]):
        for wrong in ["copy.svg", "tabel:copy", "stacks.folded", "a.trace.json"]:
            done = adaptyst(*subcommand, "--output", wrong)
            require_equal((wrong, done.status, done.out), (wrong, 2, ""))
            require("json" in done.err and ("table" in done.err or ".txt" in done.err), wrong, done.err)


def test_results_are_rows_in_csv_and_in_markdown():
    for words, column, status in ((["doctor"], "verdict", (0, 1)), (["sites", hello_region], "probe", (0,)),
                                  (["levels", "--engine", "inline", "--repeat", 1, "--", hello_region], "region", (0,))):
        subcommand, *others = words
        done = adaptyst(subcommand, "--format", "csv", *others)
        require(done.status in status, words, done)
        rows = list(csv.DictReader(io.StringIO(done.out, newline="")))
        require(rows and all(row[column] for row in rows), words, done.out)
        done = adaptyst(subcommand, "--format", "markdown", *others)
        lines = done.out.splitlines()
        require(done.status in status and lines[1].startswith("|---"), words, done)
        require(all(line.startswith("| ") and line.endswith(" |") for line in lines[:1] + lines[2:]), words, done.out)
        require_equal(len(lines), 2 + len(rows))


def test_csv_is_written_by_its_suffix_wherever_it_is_printed():
    file = written("one.json", hand_made(region(["work"], 10, 20)))
    for words, status in ((["doctor"], (0, 1)), (["sites", hello_region], (0,)), (["report", file], (0,)), (["diff", file, file], (0,)),
                          (["levels", "--engine", "inline", "--repeat", 1, "--", hello_region], (0,))):
        subcommand, *others = words
        for name in ("rows.csv", "csv:rows"):
            done = adaptyst(subcommand, "-q", "-o", name, *others)
            require(done.status in status and done.out == "", words, done)
            text = (command.directory / name.split(":")[-1]).read_bytes().decode()
            rows = list(csv.DictReader(io.StringIO(text, newline="")))
            require(rows and "\r\n" in text, words, text)
            if subcommand != "levels":  # its runs differ
                require_equal(text, subprocess.run([command.command, subcommand, "--format", "csv", *map(str, others)], cwd=command.directory,
                                                   capture_output=True, check=False).stdout.decode())
    collected("engine=inline,report=none,output=of_program.csv")
    require_equal((command.directory / "of_program.csv").read_text(encoding="utf-8").splitlines()[0].split(",")[:2], ["name", "path"])


def test_the_command_line_names_the_nearest():
    for words, meant in [(["report", "--ouptut", "x", "y"], "--output"), (["diff", "--fail-abvoe=5%", "a", "b"], "--fail-above"),
                         (["repotr", "x"], "report"), (["--versoin"], "--version")]:
        done = adaptyst(*words)
        require_equal((words, done.status, done.out), (words, 2, ""))
        require(f"did you mean '{meant}'?" in done.err, words, done.err)
    for words, meant in [(["--egnine=inline"], "--engine"), (["--engine=inlin"], "inline"), (["--contxt", "cpu"], "--context"),
                         (["--functions=mpl"], "mpi"), (["--output=jsn:x"], "json"), (["--format=tble"], "table")]:
        done = adaptyst("run", *words, "--", "true")
        require_equal((words, done.status, done.out), (words, 2, ""))
        require(f"did you mean '{meant}'?" in done.err, words, done.err)


def test_the_page_is_the_output_of_the_command():
    done = adaptyst("help", "options", "--markdown")
    require_equal((done.status, done.err), (0, ""))
    require(done.out == (sources / "docs/options.md").read_text(encoding="utf-8"),
            "docs/options.md differs; write it anew: adaptyst help options --markdown >docs/options.md")
    require("sample_frequency" in adaptyst("help", "options").out, "nothing for a terminal")


def test_the_profile_has_the_given_options():
    collected("engine=inline,report=none,overhead=5%,trace_events=1000,output=profile.json")
    options = json.loads((command.directory / "profile.json").read_text(encoding="utf-8"))["options"]
    require_equal(options, {"engine": "inline", "report": "none", "overhead": "5%", "trace_events": "1024", "output": "profile.json"})
    collected("engine=inline,report=none,overhead=7%,output=other.json")
    done = adaptyst("report", "profile.json", "other.json", "--format", "json")
    require_equal(json.loads(done.out)["options"]["overhead"], "5% | 7%")


run_all(dict(globals()))
