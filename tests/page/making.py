"""Makes pages with the command, and reads what is in them."""
import base64
import json
import pathlib
import re
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import simulated_run
from profiles import completed

command = pathlib.Path(sys.argv[1]).resolve()


def run(*arguments, **options):
    return subprocess.run([command, *map(str, arguments)], check=True, capture_output=True, text=True, encoding="utf-8", **options).stdout


def write(file, profile):
    file.write_text(json.dumps(completed(profile)), encoding="utf-8")
    return file


def planted(folder):
    """A run of 16 ranks with a device for each of four, of which one rank, one device and one region are wrong."""
    files = [write(folder / f"rank{number}.json", simulated_run.rank(number, slow_rank=11, starved_device=2, long_tail=True))
             for number in range(16)]
    run("report", *files, "--output", folder / "planted.json", "--output", folder / "planted.html")
    return folder / "planted.json", folder / "planted.html"


def make_page(profile, folder, name):
    file = write(folder / f"{name}.json", profile)
    run("report", file, "--output", folder / f"{name}.html")
    return folder / f"{name}.html"


def read_data(page):
    """What the page shows, read as a browser would."""
    form, text = re.search(r'<script id="data" type="text/plain" data-form="(\w+)">(.*?)</script', page, re.DOTALL).groups()
    return json.loads(text if form == "json" else zlib.decompress(base64.b64decode(text)))
