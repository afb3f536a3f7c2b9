#!/usr/bin/env python3
"""Small SQLite files as first inputs of trace_file: make_trace_seeds.py DIRECTORY"""
import os
import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "traces"))
from nsys_export import Export  # noqa: E402


def shrink(file):
    """In the smallest pages."""
    db = sqlite3.connect(file)
    db.execute("PRAGMA page_size=512")
    db.execute("VACUUM")
    db.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    export = Export(str(folder / "nsys"))
    export.gpu(0)
    export.context(100, 1, 0, 0)
    export.kernels([(10, 50, "a"), (30, 20, "b"), (60, 90, b"\xff\x00")])
    export.copies([(40, 70)])
    export.rows("NVTX_EVENTS", [{"start": 1, "end": 99, "eventType": 59, "text": "range", "globalTid": 100 << 24},
                                {"start": 5, "end": None, "eventType": 34, "textId": 1, "globalTid": 100 << 24}])
    export.rows("CUPTI_ACTIVITY_KIND_RUNTIME", [{"start": 5, "end": 9, "correlationId": 1, "nameId": 1, "globalTid": 100 << 24}])
    shrink(export.finish())
    header = (pathlib.Path(__file__).resolve().parent.parent.parent / "lib/trace/store_schema.hpp").read_text(encoding="utf-8")
    file = folder / "store"
    if file.exists():
        os.unlink(file)
    db = sqlite3.connect(file)
    db.execute("PRAGMA page_size=512")
    db.executescript(header.split('R"(')[1].split(')"')[0])
    db.executescript("""
        INSERT INTO meta VALUES('format', 'adaptyst trace'), ('schema', '1'), ('complete', '1');
        INSERT INTO process(id, name) VALUES(7, 'solver'); INSERT INTO thread VALUES(7, 7, 'main');
        INSERT INTO device VALUES(7, 1, 0, NULL, 'gpu0');
        INSERT INTO path VALUES(1, NULL, 'step', 'region', 0), (2, 1, 'stencil', 'kernel', 1), (3, 1, 'copy', 'copy_to', 1);
        INSERT INTO span VALUES(0, 90, 1, 7, 7, NULL, NULL, NULL, NULL, NULL, 1), (10, 50, 2, 7, 7, 1, 5, 9, NULL, NULL, 0),
                               (40, 60, 3, 7, 7, 2, 6, 10, 4096, NULL, 0);
        INSERT INTO sample VALUES(5, 1, 7, 7, 0.5); INSERT INTO instant VALUES(6, 1, 7, 7); INSERT INTO loss VALUES(7, 'ring_full', 3);
    """)
    db.commit()
    db.close()


main()
