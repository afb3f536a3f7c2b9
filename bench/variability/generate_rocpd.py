#!/usr/bin/env python3
"""Makes a file as rocprofv3 would, simulated, the same for the same numbers: generate_rocpd.py FILE.db KERNELS COPIES [SCHEMA]"""
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "traces"))
from rocpd_file import RocpdFile  # noqa: E402

DEVICES, NAMES, PID, AT_ONCE, BOOT = 4, 24, 4711, 200_000, 40 * 86_400 * 10**9


def insert(process, table, count, make):
    """Rows of a table with the events that belong to them."""
    for first in range(0, count, AT_ONCE):
        number = numpy.arange(first, min(first + AT_ONCE, count))
        event = process.db.execute(f"SELECT ifnull(max(id), 0) FROM {process.table('event')}").fetchone()[0] + 1 + number - first
        process.db.executemany(f"INSERT INTO {process.table('event')}(id, guid, stack_id, parent_stack_id, correlation_id, extdata) VALUES(?, ?, ?, ?, 0, '{{}}')",
                               ((entry, process.guid, entry, entry) for entry in event.tolist()))
        given = {"id": number + 1, "guid": process.guid, "event_id": event, **make(number)}
        columns = [word.split(":")[0] for word in process.columns[table].split()]
        columns = ["id"] + [column for column in columns if column != "region_name_id"]
        rows = [given[column].tolist() if isinstance(given.get(column), numpy.ndarray) else [given.get(column, "{}" if column == "extdata" else 64)] * len(number) for column in columns]
        process.db.executemany("INSERT INTO %s(%s) VALUES(%s)" % (process.table(table), ", ".join('"%s"' % column for column in columns), ", ".join("?" * len(columns))), zip(*rows))


def main():
    kernels, copies, schema = int(sys.argv[2]), int(sys.argv[3]), (sys.argv[4:] or ["3.0.0"])[0]
    draw = numpy.random.default_rng(1)
    file = RocpdFile(sys.argv[1], schema)
    process = file.process(PID, init=BOOT, gpus=DEVICES)
    symbols = numpy.array([process.kernel_symbol("void simulated_kernel_%d<double>(double*, int)" % number) for number in range(NAMES)])
    lengths = draw.lognormal(8, 1, NAMES)
    tracks = numpy.array([process.place(1, device + 2, 1, device + 1).get("track_id", 0) for device in range(DEVICES)])
    text = process.string("MEMORY_COPY_HOST_TO_DEVICE")

    def place(number):
        return {"nid": 71, "pid": PID, "tid": 1, "queue_id": 1, "stream_id": number % DEVICES + 1, "track_id": tracks[number % DEVICES]}

    def times(number, gap, length):
        start = BOOT + number * gap + draw.integers(0, gap, len(number))
        return {"start": start, "end": start + length.astype(numpy.int64)}

    def make_kernels(number):
        name = draw.integers(0, NAMES, len(number))
        return {**place(number), **times(number, 3000, lengths[name] * draw.lognormal(0, 0.2, len(number))), "agent_id": number % DEVICES + 2, "kernel_id": symbols[name],
                "dispatch_id": number + 1, "grid_size_x": draw.integers(1, 4096, len(number))}

    def make_copies(number):
        return {**place(number), **times(number, 3000 * kernels // max(1, copies), draw.lognormal(9, 1, len(number))), "name_id": text, "size": draw.integers(1, 1 << 24, len(number)),
                "src_agent_id": 0, "dst_agent_id": number % DEVICES + 2, "dst_address": 1 << 46, "src_address": 1 << 46}

    insert(process, "kernel_dispatch", kernels, make_kernels)
    insert(process, "memory_copy", copies, make_copies)
    file.finish()


main()
