#!/usr/bin/env python3
"""Makes an input of otf2_archive from an archive: pack_otf2.py FILE.otf2 INPUT"""
import pathlib
import struct
import sys

anchor = pathlib.Path(sys.argv[1])
events = anchor.with_suffix("")
made = b""
for file in [anchor, anchor.with_suffix(".def")] + [events / f"{location}.{kind}" for location in (0, 1, 2, 3, 7) for kind in ("evt", "def")]:
    content = file.read_bytes() if file.exists() else b""
    made += struct.pack("<I", len(content)) + content
pathlib.Path(sys.argv[2]).write_bytes(made)
