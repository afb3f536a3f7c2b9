#!/usr/bin/env python3
"""Small traces as first inputs of trace_file and event_log: make_trace_seeds.py DIRECTORY, which gets a folder for each"""
import os
import pathlib
import sqlite3
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "traces"))
from nsys_export import Export  # noqa: E402
from rocpd_file import RocpdFile  # noqa: E402


def shrink(file):
    """In the smallest pages."""
    db = sqlite3.connect(file)
    db.execute("PRAGMA page_size=512")
    db.execute("VACUUM")
    db.close()


def main():
    folder = pathlib.Path(sys.argv[1]) / "trace_file"
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
    for schema in ("3.0.0", "4.0.0", "4.1.0"):
        rocpd = RocpdFile(folder / f"rocpd {schema}", schema)
        process = rocpd.process(100, init=5, gpus=1, environment={"PMIX_RANK": "2"})
        process.marker(10, 90, "step", stack=1)
        process.marker(20, 20, "here", "roctxMarkA")
        process.region(12, 18, "hipLaunchKernel", stack=2)
        process.region(13, 17, "hsa_signal_wait", "HSA_CORE_API", stack=3, parent=2)
        process.kernel(30, 60, "k", stack=2, counters=[("SQ_WAVES", 1.5)])
        process.kernel(70, 65, b"\xff\x00")
        process.copy(40, 50, 0, 2)
        shrink(rocpd.finish(views=False))
    header = (pathlib.Path(__file__).resolve().parent.parent.parent / "lib/trace/store_schema.hpp").read_text(encoding="utf-8")
    file = folder / "store"
    if file.exists():
        os.unlink(file)
    db = sqlite3.connect(file)
    db.execute("PRAGMA page_size=512")
    db.executescript(header.split('R"(')[1].split(')"')[0])
    db.executescript("""
        INSERT INTO meta VALUES('format', 'adaptyst trace'), ('schema', '1'), ('complete', '1');
        INSERT INTO process VALUES(7, 'solver', 7, 'node', 0); INSERT INTO thread VALUES(7, 7, 'main');
        INSERT INTO device VALUES(7, 1, 0, NULL, 'gpu0');
        INSERT INTO path VALUES(1, NULL, 'step', 'region', 0, '#76b900', 2), (2, 1, 'stencil', 'kernel', 1, NULL, NULL), (3, 1, 'copy', 'copy_to', 1, '#', 9);
        INSERT INTO span VALUES(0, 90, 1, 7, 7, NULL, NULL, NULL, NULL, NULL, 1), (10, 50, 2, 7, 7, 1, 5, 9, NULL, NULL, 0),
                               (40, 60, 3, 7, 7, 2, 6, 10, 4096, NULL, 0);
        INSERT INTO sample VALUES(5, 1, 7, 7, 0.5); INSERT INTO instant VALUES(6, 1, 7, 7); INSERT INTO loss VALUES(7, 'ring_full', 3);
    """)
    db.commit()
    db.close()
    (folder / "kineto").write_text("""{"schemaVersion":1,"baseTimeNanoseconds":5,"deviceProperties":[{"id":0,"name":"A"}],"distributedInfo":{"rank":1},"traceEvents":[
{"ph":"M","name":"process_name","pid":9,"tid":0,"args":{"name":"p"}},{"ph":"X","cat":"cpu_op","name":"op","pid":9,"tid":9,"ts":1.5,"dur":9},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":2,"dur":1,"args":{"correlation":3}},
{"ph":"X","cat":"kernel","name":"k\\ud83d","pid":0,"tid":7,"ts":4,"dur":2e0,"args":{"device":0,"stream":7,"correlation":3,"grid":[1]}}]}""", encoding="utf-8")
    (folder / "chrome").write_text("".join(["[", ",".join('{"ph":"%s","cat":"c","name":"n","id":1,"pid":"p","tid":2,"ts":%d,"args":{"value":1}}' % time
                                                          for time in zip("BEbesfCi", range(8)))]), encoding="utf-8")
    logs = pathlib.Path(sys.argv[1]) / "event_log"
    logs.mkdir(parents=True, exist_ok=True)
    records = (b"\x01\x80\x80\x80\x80\x10" b"\x02\x07\x07\x06solver\x04node\x01" b"\x03\x07\x07\x04main" b"\x04\x07\x01\x00\x00\x04gpu0"
               b"\x05\x00\x00\x00\x04step" b"\x05\x01\x03\x01\x07stencil" b"\x05\x01\x04\x01\x04copy" b"\x05\x01\x0a\x00\x08residual"
               b"\x05\x01\x08\x00\x04mark" b"\x06\x07\x07" b"\x33\x02\x14\x28\x01\x09\x09" b"\x37\x03\x3c\x14\x02\x0b\x0a\x80\x20"
               b"\xff" b"\x06\x07\x07" b"\x10\x01\x00\x5a" b"\x20\x01\x02\x5a" b"\x40\x04\x0a\x00\x00\x00\x00\x00\x00\xe0\x3f" b"\x50\x05\x0c"
               b"\xff" b"\x07\x07\x09ring_full\x03" b"\x08")
    (logs / "records").write_bytes(records)
    (logs / "file").write_bytes(b"adaptyst event log 3\n" + b"".join(block(word) for word in records.split(b"\xff")))


def block(records):
    checked = struct.pack("<I", len(records) | 1 << 31) + records
    return struct.pack("<I", zlib.adler32(checked)) + checked


main()
