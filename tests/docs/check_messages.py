"""Messages that pages quote are still those of the sources: check_messages.py ROOT

A message is what stands in backquotes in the first column of a table that is headed "message". Words in capitals, such as
FILE or PID, and … stand for what differs.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import Failures
from pages import all_pages

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
FEWEST_LETTERS = 7  # of a literal's own: "{}: {}" fits everything
ENOUGH_ANYWHERE = 15  # to be looked for in the middle of a message


def literals(root):
    """Texts of the sources; those that the compiler joins are one."""
    for folder in ("lib", "tools", "adapters", "include"):
        for source in (root / folder).rglob("*.?pp"):
            text = source.read_text(encoding="utf-8")
            for found in re.findall(rf"{LITERAL}(?:\s+{LITERAL})*", text):
                yield "".join(literal[1:-1] for literal in re.findall(LITERAL, found)).replace('\\"', '"').replace("\\n", "\n")


class Literal:
    def __init__(self, text):
        self.parts = re.split(r"\{[^{}]*\}", text)
        self.letters = sum(character.isalpha() for part in self.parts for character in part)
        self.plain = "\0".join(self.parts)
        self.makes = re.compile(".*?".join(map(re.escape, self.parts)) + ("" if text[-1:] in ": " else r"(?:$|[:,;.] | ')"), re.DOTALL)

    def fits(self, message):
        """Whether a message begins with what the literal makes, or is the beginning of that."""
        if self.letters < FEWEST_LETTERS:
            return False
        found = self.makes.search(message) if self.letters >= ENOUGH_ANYWHERE else self.makes.match(message)
        own = re.split(r"\b[A-Z]{3,}\b|…", message)
        return bool(found) or re.match(".*?".join(map(re.escape, own)), self.plain, re.DOTALL) is not None


def quoted(page):
    """Messages in tables with this heading of the first column."""
    within = False
    for number, line in enumerate(page.prose, 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")] if line.startswith("|") else []
        if not cells:
            within = False
        elif cells[0] == "message":
            within = True
        elif within:
            for message in re.findall(r"`([^`]+)`", cells[0]):
                yield number, message


def main(root):
    root = pathlib.Path(root)
    source_literals = [Literal(literal) for literal in set(literals(root))]
    failures = Failures()
    for page in all_pages(root):
        for number, message in quoted(page):
            failures.check(any(literal.fits(message) for literal in source_literals), f"{page.name}:{number}: no source has \"{message}\"")
    failures.exit(min_checks=40)


if __name__ == "__main__":
    main(*sys.argv[1:])
