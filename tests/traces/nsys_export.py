"""Exports of Nsight Systems as its `nsys export --type sqlite` would make them: written from their description, not by
what reads them. All are simulated, and named so."""
import os
import pathlib
import sqlite3
import struct

KERNEL = ("start end deviceId contextId greenContextId streamId correlationId globalPid demangledName shortName mangledName "
          "launchType cacheConfig registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory "
          "dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted graphNodeId "
          "sharedMemoryLimitConfig").split()
MEMCPY = ("start end deviceId contextId greenContextId streamId correlationId globalPid bytes copyKind deprecatedSrcId "
          "srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId migrationCause graphNodeId virtualAddress").split()
RUNTIME = "start end eventClass globalTid correlationId nameId returnValue callchainId".split()
NVTX = ("start end eventType rangeId category color text globalTid endGlobalTid textId domainId uint64Value int64Value "
        "doubleValue uint32Value int32Value floatValue jsonTextId jsonText binaryData").split()

GRAPH = "start end deviceId graphId contextId greenContextId streamId correlationId globalPid graphExecId".split()

TABLES = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE": GRAPH, "CUPTI_ACTIVITY_KIND_KERNEL": KERNEL, "CUPTI_ACTIVITY_KIND_MEMCPY": MEMCPY, "CUPTI_ACTIVITY_KIND_RUNTIME": RUNTIME,
          "NVTX_EVENTS": NVTX}


def repeat_rows(file, table, levels=6, cells=400):
    """Damages the tree of a table: pages above its first page; their cells all lead to the same page below them. Reading
    all rows takes years."""
    db = sqlite3.connect(file)
    root, = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone() if table != "sqlite_master" else (1,)
    page_bytes, = db.execute("PRAGMA page_size").fetchone()
    db.close()
    data = bytearray(pathlib.Path(file).read_bytes())
    place = (root - 1) * page_bytes
    data += data[place:place + page_bytes]
    for level in range(levels):
        below = struct.pack(">I", len(data) // page_bytes)
        end = page_bytes - 5 * cells
        page = b"\x05\0\0" + struct.pack(">HHB", cells, end, 0) + below + b"".join(struct.pack(">H", end + 5 * cell) for cell in range(cells))
        page = page.ljust(end, b"\0") + (below + b"\x01") * cells
        if level + 1 == levels:
            data[place:place + page_bytes] = page
        else:
            data += page
    data[28:32] = struct.pack(">I", len(data) // page_bytes)
    pathlib.Path(file).write_bytes(data)
    return file


def global_pid(pid):
    return pid << 24


def global_tid(pid, tid):
    return (pid << 24) | tid


class Export:
    """`without` names columns that an older version lacks; a table is there once it has a row."""

    def __init__(self, file, without=(), extra_columns=(), simulated=True):
        if os.path.exists(file):
            os.unlink(file)
        self.file = file
        self.db = sqlite3.connect(file)
        self.columns = {table: [column for column in columns if column not in without] + list(extra_columns)
                        for table, columns in TABLES.items()}
        self.made, self.strings = set(), {}
        self.db.execute("PRAGMA journal_mode=OFF")
        self.db.execute("CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
        self.db.execute("CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT)")
        about = [("EXPORT_PRODUCT_VERSION", "2024.6.2"), ("EXPORT_SCHEMA_VERSION", "3.16.1")]
        self.db.executemany("INSERT INTO META_DATA_EXPORT VALUES(?, ?)", about + [("SIMULATED", "1")] * simulated)

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            value = text if isinstance(text, str) else None
            if value is None:  # any bytes, as text
                self.db.execute("INSERT INTO StringIds VALUES(?, CAST(? AS TEXT))", (self.strings[text], text))
            else:
                self.db.execute("INSERT INTO StringIds VALUES(?, ?)", (self.strings[text], value))
        return self.strings[text]

    def rows(self, table, rows):
        """`rows`: dictionaries; a column that is in none of them is 0."""
        columns = self.columns[table]
        if table not in self.made:
            self.made.add(table)
            self.db.execute("CREATE TABLE %s(%s)" % (table, ", ".join('"%s" INTEGER' % column for column in columns)))
        self.db.executemany("INSERT INTO %s VALUES(%s)" % (table, ", ".join("?" * len(columns))),
                            ([row.get(column, 0) for column in columns] for row in rows))

    def kernels(self, spans, pid=100, device=0, context=1, stream=7):
        """`spans`: (start, end, name)."""
        self.rows("CUPTI_ACTIVITY_KIND_KERNEL", [
            {"start": start, "end": end, "deviceId": device, "contextId": context, "streamId": stream,
             "correlationId": number + 1, "globalPid": global_pid(pid), "demangledName": self.string(name),
             "shortName": self.string(name)} for number, (start, end, name) in enumerate(spans)])

    def copies(self, spans, pid=100, device=0, context=1, stream=8, kind=1):
        """`spans`: (start, end) or (start, end, bytes)."""
        self.rows("CUPTI_ACTIVITY_KIND_MEMCPY", [
            {"start": start, "end": end, "deviceId": device, "contextId": context, "streamId": stream,
             "correlationId": 1000000 + number, "globalPid": global_pid(pid), "bytes": size[0] if size else 4096, "copyKind": kind}
            for number, (start, end, *size) in enumerate(spans)])

    def gpu(self, number, name="Simulated GPU", uuid=None):
        self.db.execute("CREATE TABLE IF NOT EXISTS TARGET_INFO_GPU(vmId INTEGER, id INTEGER, name TEXT, uuid TEXT)")
        self.db.execute("INSERT INTO TARGET_INFO_GPU VALUES(0, ?, ?, ?)", (number, name, uuid or "uuid-%d" % number))

    def context(self, pid, context, device, gpu):
        self.db.execute("CREATE TABLE IF NOT EXISTS TARGET_INFO_CUDA_CONTEXT_INFO("
                        "nullStreamId INTEGER, hwId INTEGER, processId INTEGER, contextId INTEGER, deviceId INTEGER, gpuId INTEGER)")
        self.db.execute("INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES(7, 0, ?, ?, ?, ?)", (pid, context, device, gpu))

    def began_at(self, utc_ns):
        self.db.execute("CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, utcTime TEXT, localTime TEXT)")
        self.db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(?, '', '')", (utc_ns,))

    def host(self, name):
        self.db.execute("CREATE TABLE TARGET_INFO_SYSTEM_ENV(globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT)")
        self.db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES(0, '', 'Hostname', 1, ?)", (name,))

    def rank(self, pid, rank):
        self.db.execute("CREATE TABLE IF NOT EXISTS MPI_RANKS(globalTid INTEGER, rank INTEGER)")
        self.db.execute("INSERT INTO MPI_RANKS VALUES(?, ?)", (global_tid(pid, pid), rank))

    def finish(self):
        self.db.commit()
        self.db.close()
        return self.file
