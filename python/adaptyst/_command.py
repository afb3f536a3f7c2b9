"""Runs the command `adaptyst`, which merges, compares and converts: this package has no second method for that."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Iterable, Optional


class Error(ValueError):
    """Bad input, or a missing part: the message has the reason, the place and the remedy."""


def find_command() -> Optional[str]:
    """The path of the command: $ADAPTYST_COMMAND, else `adaptyst` in PATH or next to the interpreter; None: not found."""
    named = os.environ.get("ADAPTYST_COMMAND")
    if named:
        return named
    return shutil.which("adaptyst") or shutil.which("adaptyst", path=os.path.dirname(sys.executable))


def require_command(purpose: str) -> str:
    """The path of the command; raises Error if there is none."""
    command = find_command()
    if command is None:
        raise Error(f"cannot {purpose}: the command adaptyst was not found; install it, or set ADAPTYST_COMMAND to its path")
    return command


def run_command(purpose: str, arguments: Iterable[str], accepted=(0,)) -> str:
    """Standard output of the command; raises Error with its message if its status is another than `accepted`."""
    words = [require_command(purpose), *arguments]
    environment = {key: value for key, value in os.environ.items() if key not in ("ADAPTYST", "ADAPTYST_OBSERVER")}
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False,
                              env=environment)
    except OSError as failed:
        raise Error(f"cannot {purpose}: {words[0]}: {failed.strerror}; set ADAPTYST_COMMAND to the path of the command") from failed
    if done.returncode not in accepted:
        message = done.stderr.decode("utf-8", "replace").strip() or f"status {done.returncode}"
        raise Error(f"cannot {purpose}: {message}")
    return done.stdout.decode("utf-8", "replace")
