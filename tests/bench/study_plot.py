"""The plot of docs/uprobes-and-usdt.md: well-formed, small, with words for its axes, visible on any background."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import sample

def draw(bench, plot):
    subprocess.run([sys.executable, "-B", sample.source / "bench/uprobe_vs_usdt/plot.py", bench, plot], check=True)
    return plot.read_text(encoding="utf-8")


def check(drawn):
    assert len(drawn) < 100_000, len(drawn)
    root = xml.etree.ElementTree.fromstring(drawn)
    words = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    for expected in ["nanoseconds an event", "events per second of the program alone", "longer run time, %", "100,000",
                     "marker, USDT, 1-byte nop"]:
        assert expected in words, f"not in the plot: {expected}\n{words}"
    return words


check((sample.source / "docs/uprobes-and-usdt.svg").read_text(encoding="utf-8"))

if importlib.util.find_spec("matplotlib") is None:
    print("skipped: no matplotlib; scripts/install-dependencies plot")
    sys.exit(77)

with tempfile.TemporaryDirectory() as directory:
    plot = pathlib.Path(directory) / "plot.svg"
    drawn = draw(sample.written(directory), plot)
    words = check(drawn)
    assert any(sample.MACHINE in word and "7 rounds" in word for word in words), words
    assert "2,468" in words, words
    assert "prefers-color-scheme: dark" in drawn and "fill: currentColor" in drawn
    assert "#000000" not in drawn and "white" not in drawn, "a colour that some background hides"
    assert draw(sample.written(directory), plot) == drawn, "the same figures make another file"

    check(draw(sample.written(directory, without=["usdt_optimised"]), plot))
