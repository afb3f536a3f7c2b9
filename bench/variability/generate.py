#!/usr/bin/env python3
"""Makes an export as Nsight Systems would, simulated, the same for the same numbers.

generate.py FILE.sqlite KERNELS COPIES [SEED] [--shuffled]

Since version 2025.6 the rows of an export have no order. With --shuffled the same rows are in a random order: the worst case."""
import os
import sqlite3
import sys

import numpy

KERNEL = ("start end deviceId contextId greenContextId streamId correlationId globalPid demangledName shortName mangledName "
          "launchType cacheConfig registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory "
          "dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted graphNodeId "
          "sharedMemoryLimitConfig").split()
MEMCPY = ("start end deviceId contextId greenContextId streamId correlationId globalPid bytes copyKind deprecatedSrcId "
          "srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId migrationCause graphNodeId virtualAddress").split()
DEVICES, NAMES, PID, AT_ONCE = 4, 24, 4711, 200_000


def make_parts(count, make, order):
    """The rows of a table, AT_ONCE at a time, as columns; with an order, all of them are in memory."""
    parts = ((first, make(numpy.arange(first, min(first + AT_ONCE, count)))) for first in range(0, count, AT_ONCE))
    if order is None:
        return (part for _, part in parts)
    whole = {}
    for first, part in parts:
        for name, values in part.items():
            whole.setdefault(name, numpy.empty(count, numpy.int64))[first:first + len(values)] = values
    return ({name: values[order[first:first + AT_ONCE]] for name, values in whole.items()} for first in range(0, count, AT_ONCE))


def insert(db, table, columns, count, make, order=None):
    db.execute("CREATE TABLE %s(%s)" % (table, ", ".join('"%s" INTEGER' % column for column in columns)))
    question = "INSERT INTO %s VALUES(%s)" % (table, ", ".join("?" * len(columns)))
    for given in make_parts(count, make, order):
        size = len(given["start"])
        rows = [given[column].tolist() if column in given else [None if column.endswith("NodeId") or column == "greenContextId" else 1] * size
                for column in columns]
        db.executemany(question, zip(*rows))
    db.commit()


def main():
    words = [argument for argument in sys.argv[1:] if argument != "--shuffled"]
    file, kernels, copies, seed = words[0], int(words[1]), int(words[2]), int(words[3]) if len(words) > 3 else 1
    draw = numpy.random.default_rng(seed)
    # A source of its own, so that the rows are those of the export in order.
    shuffle = numpy.random.default_rng(seed + 1).permutation if "--shuffled" in sys.argv else lambda _: None
    if os.path.exists(file):
        os.unlink(file)
    db = sqlite3.connect(file)
    db.executescript("""
        PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
        CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
        INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_VERSION', '2024.6.2'), ('EXPORT_SCHEMA_VERSION', '3.16.1'), ('SIMULATED', '1');
        CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE TARGET_INFO_GPU(vmId INTEGER, id INTEGER, name TEXT, uuid TEXT);
        CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO(processId INTEGER, contextId INTEGER, deviceId INTEGER, gpuId INTEGER);
    """)
    db.executemany("INSERT INTO StringIds VALUES(?, ?)", [(n + 1, "void simulated_kernel_%d<double>(double*, int)" % n) for n in range(NAMES)])
    db.executemany("INSERT INTO TARGET_INFO_GPU VALUES(0, ?, 'Simulated GPU', ?)", [(n, "simulated-%d" % n) for n in range(DEVICES)])
    db.executemany("INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES(?, ?, ?, ?)", [(PID, n + 1, n, n) for n in range(DEVICES)])
    lengths = draw.lognormal(8, 1, NAMES)

    def times(number, gap, length):
        start = number * gap + draw.integers(0, gap, len(number))
        return start, start + length.astype(numpy.int64)

    def make_kernels(number):
        name = draw.integers(0, NAMES, len(number))
        start, end = times(number, 3000, lengths[name] * draw.lognormal(0, 0.2, len(number)))
        device = number % DEVICES
        return {"start": start, "end": end, "deviceId": device, "contextId": device + 1, "streamId": device + 7, "correlationId": number,
                "globalPid": numpy.full(len(number), PID << 24), "demangledName": name + 1, "shortName": name + 1,
                "gridX": draw.integers(1, 4096, len(number)), "blockX": numpy.full(len(number), 256)}

    def make_copies(number):
        start, end = times(number, 3000 * kernels // max(1, copies), draw.lognormal(9, 1, len(number)))
        device = number % DEVICES
        return {"start": start, "end": end, "deviceId": device, "contextId": device + 1, "streamId": device + 20,
                "correlationId": number + kernels, "globalPid": numpy.full(len(number), PID << 24),
                "bytes": draw.integers(1, 1 << 24, len(number)), "copyKind": draw.integers(1, 3, len(number))}

    insert(db, "CUPTI_ACTIVITY_KIND_KERNEL", KERNEL, kernels, make_kernels, shuffle(kernels))
    insert(db, "CUPTI_ACTIVITY_KIND_MEMCPY", MEMCPY, copies, make_copies, shuffle(copies))
    db.close()


main()
