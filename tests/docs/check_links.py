"""Links within the documentation lead to files and headings that are there: check_links.py ROOT

So do the names of pages that messages and comments of the sources give, as in "See docs/permissions.md".
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import Failures
from pages import all_pages


def main(root):
    root = pathlib.Path(root)
    pages = all_pages(root)
    anchors = {page.path.resolve(): page.anchors() for page in pages}
    failures = Failures()
    for page in pages:
        failures.check(page.unclosed == 0, f"{page.name}:{page.unclosed}: the block ends")
        for number, target in page.links():
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            there = (page.path.parent / file).resolve() if file else page.path.resolve()
            if failures.check(there.exists(), f"{page.name}:{number}: {target}: there is no {file}") and anchor:
                failures.check(anchor in anchors.get(there, ()), f"{page.name}:{number}: {target}: no such heading")
    sources = [entry for folder in ("include", "lib", "tools", "adapters", "examples", "docs") for entry in (root / folder).rglob("*")
               if entry.suffix in (".hpp", ".h", ".cpp", ".md")]
    for source in [*sources, *root.glob("*.md")]:
        for name in set(re.findall(r"\bdocs/[\w./-]+\.(?:md|json|svg)\b", source.read_text(encoding="utf-8"))):
            failures.check((root / name).exists(), f"{source.relative_to(root)}: there is no {name}")
    failures.exit(min_checks=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
