"""python3 -m adaptyst: the command `adaptyst`. `python3 -m adaptyst run [OPTIONS] SCRIPT.py …` runs a script with this interpreter."""
import os
import shutil
import sys

from ._command import Error, require_command


def complete(arguments):
    """The arguments of the command: after `run`, a script or -m MODULE gets the interpreter."""
    if not arguments or arguments[0] not in ("run", "levels"):
        return arguments
    for at, word in enumerate(arguments[1:], 1):
        if word == "--":
            program = arguments[at + 1:]
            if program and (program[0].endswith(".py") or program[0] in ("-m", "-c")):
                program = [sys.executable, *program]
            return [*arguments[:at + 1], *program]
        if word.startswith("-"):
            continue
        if word.endswith(".py") and os.path.isfile(word):
            return [*arguments[:at], "--", sys.executable, *arguments[at:]]
        # A word after an option may be its value, or a program.
        if at == 1 or not arguments[at - 1].startswith("-") or shutil.which(word) is not None:
            return arguments
    return arguments


def main():
    """Becomes the command."""
    try:
        command = require_command("run the command")
        os.execv(command, [command, *complete(sys.argv[1:])])
    except (Error, OSError) as failed:
        print(f"adaptyst: {failed}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
