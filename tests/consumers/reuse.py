"""Compiles, unless a build that is there has made the object already, by the same command: then that is copied. Its debug
information is not: each archive, library and program that it gets into would have it.

usage: reuse.py BUILD COMPILER ARGUMENT…, in the directory of the build that it compiles for, as CMake's compiler launchers are
"""
import json
import os
import pathlib
import shlex
import sys


def essence(command, build):
    """What of a command shapes the object: not where it goes, what is written next to it, or what is warned of."""
    words = iter(command)
    kept = []
    for word in words:
        # Guests have adaptyst's build in a folder of their own.
        word = word.replace(f"{build}/adaptyst/", "BUILD/").replace(f"{build}/", "BUILD/")
        if word in ("-o", "-MT", "-MF"):
            next(words)
        elif not word.startswith(("-W", "-MD")) and word != "-Dadaptyst_collector_EXPORTS":
            kept.append(word)
    # Without BPF programs there is none of these; what includes one is left out then.
    skeletons = ["-isystem", "BUILD/lib/skeleton"]
    at = next((at for at in range(len(kept)) if kept[at : at + 2] == skeletons), None)
    return kept if at is None else kept[:at] + kept[at + 2 :]


def files_of(room, build):
    """The text that joins the files of a room: with other options, it may join others."""
    return room.read_text(encoding="utf-8").replace(f"{build}/", "BUILD/")


def made_before(build, command):
    wanted = essence(command, os.getcwd())
    source = pathlib.Path(command[-1])
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if pathlib.Path(entry["file"]).name == source.name:
            if source.parent.name == "Unity" and files_of(pathlib.Path(entry["file"]), build) != files_of(source, os.getcwd()):
                continue
            made = shlex.split(entry["command"])
            # Without a launcher of that build.
            if command[0] in made and essence(made[made.index(command[0]):], build) == wanted:
                return build / made[made.index("-o") + 1]
    return None


def main(build, *command):
    there = made_before(pathlib.Path(build), command) if "-c" in command else None
    if there is None or not there.exists():
        os.execvp(command[0], command)
    os.execvp("strip", ["strip", "--strip-debug", "-o", command[command.index("-o") + 1], str(there)])


if __name__ == "__main__":
    main(*sys.argv[1:])
