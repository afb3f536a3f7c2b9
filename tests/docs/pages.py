"""The pages of the documentation: their headings, links and blocks of code."""
import pathlib
import re

FENCE = re.compile(r"^( *)(```+)(\S*) *$")
DIRECTIVE = re.compile(r"<!-- snippet: *(.*?) *-->", re.DOTALL)


class Block:
    """The lines between two fences, their place, and the directive: the comment right above them, <!-- snippet: DIRECTIVE -->."""

    def __init__(self, page, line, language, directive, text):
        self.page, self.line, self.language, self.directive, self.text = page, line, language, directive, text
        self.output = ""  # of the last command, where the next block is that

    @property
    def place(self):
        return f"{self.page.name}:{self.line}"

    def argument(self, word):
        """What follows this word, if the directive begins with it; else None."""
        found = re.match(rf"{re.escape(word)}(?::|\s|$)\s*(.*)", self.directive, re.DOTALL)
        return found.group(1) if found else None

    def session(self):
        """The commands of a shell, which follow a prompt, with the lines that continue them; each with the lines of its output."""
        pairs, goes_on = [], False
        prompt = r"[$#] (.*)" if self.language == "console" else r"\$ (.*)"
        for line in self.text.splitlines():
            found = re.match(prompt, line)
            if found:
                pairs.append([found.group(1), []])
            elif pairs and (goes_on or line.startswith("> ")):
                pairs[-1][0] += "\n" + line.removeprefix("> ")
            elif pairs:
                pairs[-1][1].append(line)
                continue
            quote_is_open = bool(pairs) and pairs[-1][0].count("'") % 2 == 1
            goes_on = line.endswith("\\") or quote_is_open
        if pairs:
            pairs[-1][1] += self.output.splitlines()
        return pairs


class Page:
    def __init__(self, path, root):
        self.path, self.name = path, str(path.relative_to(root))
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.blocks, self.prose = [], []
        self.read()

    def read(self):
        """Sorts lines into blocks and prose; a line of a block leaves an empty one in the prose."""
        fence, begun, comment, within_comment = None, 0, "", False
        for number, line in enumerate(self.lines, 1):
            found = FENCE.match(line)
            if fence is None and found:
                fence, begun = found, number
                self.prose.append("")
            elif fence is not None and line.strip() == fence.group(2):
                messages = DIRECTIVE.search(comment)
                inner = [entry[len(fence.group(1)):] for entry in self.lines[begun:number - 1]]
                self.blocks.append(Block(self, begun, fence.group(3), messages.group(1) if messages else "", "\n".join(inner) + "\n"))
                fence, comment = None, ""
                self.prose.append("")
            elif fence is not None:
                self.prose.append("")
            else:
                within_comment = within_comment or line.lstrip().startswith("<!-- snippet")
                if within_comment:
                    comment += line + "\n"
                    within_comment = "-->" not in line
                elif line.strip():
                    comment = ""
                self.prose.append(line)
        self.unclosed = begun if fence is not None else 0
        for block, after in zip(self.blocks, self.blocks[1:]):
            end = block.line + block.text.count("\n") + 1
            if block.language == "console" and after.language == "" and not any(self.lines[end:after.line - 1]):
                block.output = after.text

    def section(self, block):
        """The heading of the second level above the block."""
        return next((line[3:] for line in reversed(self.prose[:block.line]) if line.startswith("## ")), "")

    def anchors(self):
        """Of its headings, as the usual renderers make them."""
        made = set()
        for line in self.prose:
            heading = re.match(r"#{1,6} +(.*?) *#*$", line)
            if not heading:
                continue
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            stem = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            anchor, again = stem, 0
            while anchor in made:
                again += 1
                anchor = f"{stem}-{again}"
            made.add(anchor)
        made |= set(re.findall(r'<a (?:id|name)="([^"]+)"', "\n".join(self.prose)))
        return made

    def links(self):
        """Line and target of every link and picture."""
        for number, line in enumerate(self.prose, 1):
            bare = re.sub(r"`[^`]*`", "", line)
            for target in re.findall(r"\]\(([^)\s]+)[^)]*\)", bare) + re.findall(r'(?:href|src)="([^"]+)"', bare):
                yield number, target


def all_pages(root):
    root = pathlib.Path(root)
    files = [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md")), *sorted((root / "examples").rglob("*.md"))]
    return [Page(file, root) for file in files]
