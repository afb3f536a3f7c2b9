"""Counts sentences against the rules of CONTRIBUTING: check_prose.py [--write] [FILE…]

With files: lists their faults. Without: reads documentation, comments and texts of the sources, and fails if a file has more faults
than prose-counts.txt permits, or if the documentation has more than MAX_WORDS words. --write: lowers the counts to those of today;
a file that is not in the list has a count of 0.

A fault is a word of the list below, a sentence of more than MAX_SENTENCE words, or a sentence that begins with a word that hides its
subject. Blocks of code, inline code, addresses and headings are not read.
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COUNTS = HERE / "prose-counts.txt"
MAX_WORDS = 45_000
MAX_SENTENCE = 30  # words
LISTED = re.compile(
    r"\b(?:tells?|told|says|said|whose|nobody|somebody|whoever|besides?|heed(?:s|ed)?|hold(?:s|ing)? against|held against|"
    r"stands? (?:for|in|at|there|before|below|above|first|behind)|that (?:is|are) to be|of it|dear|for want of|awake|asleep|"
    r"ledgers?|joint calls?)\b", re.IGNORECASE)
BEGINNING = re.compile(r"^(?:Of|What|Whose|Nor|So|Those|Who|Where|Here|Likewise)\b(?!.*\?$)")
SOURCES = {"lib", "tools", "include", "adapters", "probes"}


def listed_files():
    """Files of this project with text to check, as paths below ROOT."""
    out = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in out.splitlines():
        path = pathlib.PurePath(name)
        if path.suffix == ".md" or (path.parts[0] in SOURCES and path.suffix in {".h", ".hpp", ".cpp", ".c", ".F90", ".f90", ".js"}):
            if (ROOT / name).is_file():
                yield name


def is_documentation(name):
    """Pages in the count of words. docs/cli.md is not: it is generated from --help."""
    return name == "README.md" or (name.startswith("docs/") and name.endswith(".md") and name != "docs/cli.md")


def markdown_paragraphs(text):
    """Paragraphs, list items and cells of tables, each with the number of its first line."""
    fence, block = "", []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        found = re.match(r" *(```+)", line)
        if found and (not fence or line.strip() == fence):
            fence = "" if fence else found.group(1)
            line = ""
        elif fence or line.startswith(("<", "#")):
            line = ""
        if block and (not line.strip() or re.match(r" *([-*|>]|\d+\.) ?", line)):
            yield block[0][0], " ".join(part for _, part in block)
            block = []
        if line.startswith("|"):
            yield from ((number, cell) for cell in line.strip().strip("|").split(" | "))
        elif line.strip():
            block.append((number, re.sub(r"^ *([-*>]|\d+\.) ", "", line).strip()))


def source_paragraphs(text):
    """Comments, line by line joined, and texts between quotes that have at least four words."""
    block, first = [], 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)
        comment = re.search(r"//+<?(.*)$|^ *!(.*)$|/\*+(.*?)(?:\*/|$)|^ *\*(?!/)(.*?)(?:\*/|$)", bare)
        words = next((part for part in comment.groups() if part is not None), "").strip() if comment else ""
        if words and not (block and bare[:comment.start()].strip()):
            first = first or number
            block.append(words)
        else:
            if block:
                yield first, " ".join(block)
            block, first = ([words], number) if words else ([], 0)
        if not line.lstrip().startswith(("#include", "//")):
            for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
                if literal.count(" ") >= 3:
                    yield number, literal


def sentences(paragraph):
    """Sentences without inline code, links and marks of emphasis."""
    plain = re.sub(r"`[^`]*`", "code", paragraph)
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", plain)
    plain = re.sub(r"https?://\S+|<[^>]*>|[*_]{1,2}", "", plain)
    return [part.strip() for part in re.split(r"(?<=[.?!:;])\s+(?=[A-Z`(\"])|(?<=[;:])\s+", plain) if part.strip()]


def faults(name):
    """Line and description of each fault of a file."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for line, paragraph in (markdown_paragraphs if name.endswith(".md") else source_paragraphs)(text):
        for sentence in sentences(paragraph):
            for word in LISTED.findall(sentence):
                yield line, f"'{word}': {sentence[:90]}"
            if found := BEGINNING.match(sentence):
                yield line, f"begins with '{found.group()}': {sentence[:90]}"
            if (words := len(sentence.split())) > MAX_SENTENCE:
                yield line, f"{words} words: {sentence[:90]}"


def permitted_counts():
    if not COUNTS.is_file():
        return {}
    return {name: int(count) for count, name in (line.split(" ", 1) for line in COUNTS.read_text().splitlines())}


def main(arguments):
    if arguments and arguments[0] != "--write":
        found = [f"{name}:{line}: {label}" for name in arguments for line, label in faults(name)]
        print("\n".join([*found, f"{len(found)} faults"]))
        return bool(found)
    names = list(listed_files())
    counts = {name: sum(1 for _ in faults(name)) for name in names}
    permitted = permitted_counts()
    words = sum(len((ROOT / name).read_text(encoding="utf-8").split()) for name in names if is_documentation(name))
    if arguments:
        lowered = {name: min(count, permitted.get(name, 0) if permitted else count) for name, count in counts.items()}
        COUNTS.write_text("".join(f"{count} {name}\n" for name, count in sorted(lowered.items()) if count))
        return 0
    broken = 0
    for name, count in counts.items():
        if count > permitted.get(name, 0):
            broken += 1
            print(f"{name}: {count} faults of language, {permitted.get(name, 0)} permitted; see "
                  f"python3 tests/docs/check_prose.py {name}")
    if words > MAX_WORDS:
        broken += 1
        print(f"the documentation has {words:,} words, {MAX_WORDS:,} permitted")
    print(f"prose: {sum(counts.values()):,} faults in {len(names)} files; {words:,} words of documentation")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
