"""rocpd files as AMD's rocprofv3 writes them: from the published description of the schemas, not by what reads them. All are
simulated, and named so."""
import json
import os
import sqlite3
import uuid

INFO = {
    "metadata": "tag:TEXT value:TEXT",
    "string": "guid:TEXT string:TEXT",
    "info_node": "guid:TEXT hash machine_id:TEXT system_name:TEXT hostname:TEXT release:TEXT version:TEXT hardware_name:TEXT domain_name:TEXT",
    "info_process": "guid:TEXT nid ppid pid init fini start end command:TEXT environment:JSONB extdata:JSONB",
    "info_thread": "guid:TEXT nid ppid pid tid name:TEXT start end extdata:JSONB",
    "info_agent": "guid:TEXT nid pid type:TEXT absolute_index logical_index type_index uuid name:TEXT model_name:TEXT vendor_name:TEXT "
                  "product_name:TEXT user_name:TEXT extdata:JSONB",
    "info_queue": "guid:TEXT nid pid name:TEXT extdata:JSONB",
    "info_stream": "guid:TEXT nid pid name:TEXT extdata:JSONB",
    "info_pmc": "guid:TEXT nid pid agent_id target_arch:TEXT event_code instance_id name:TEXT symbol:TEXT description:TEXT units:TEXT "
                "value_type:TEXT extdata:JSONB",
    "info_kernel_symbol": "guid:TEXT nid pid code_object_id kernel_name:TEXT display_name:TEXT kernel_object extdata:JSONB",
    "event": "guid:TEXT category_id stack_id parent_stack_id correlation_id call_stack:JSONB line_info:JSONB extdata:JSONB",
    "pmc_event": "guid:TEXT event_id pmc_id value:REAL extdata:JSONB",
}
WORK = "private_segment_size group_segment_size workgroup_size_x workgroup_size_y workgroup_size_z grid_size_x grid_size_y grid_size_z"
SCHEMA_3 = {
    **INFO,
    "track": "guid:TEXT nid pid tid name_id extdata:JSONB",
    "region": "guid:TEXT nid pid tid start end name_id event_id extdata:JSONB",
    "sample": "guid:TEXT track_id timestamp event_id extdata:JSONB",
    "kernel_dispatch": f"guid:TEXT nid pid tid agent_id kernel_id dispatch_id queue_id stream_id start end {WORK} region_name_id event_id extdata:JSONB",
    "memory_copy": "guid:TEXT nid pid tid start end name_id dst_agent_id dst_address src_agent_id src_address size queue_id stream_id "
                   "region_name_id event_id extdata:JSONB",
    "memory_allocate": "guid:TEXT nid pid tid agent_id type:TEXT level:TEXT start end address size queue_id stream_id event_id extdata:JSONB",
}
SCHEMA_4 = {
    **INFO,
    "info_process": INFO["info_process"].replace(" pid ", " pid name:TEXT "),
    "info_agent": INFO["info_agent"].replace("name:TEXT model", "name:TEXT generic_name:TEXT model").replace(" user_name:TEXT", ""),
    "info_category": "guid:TEXT name:TEXT extdata:JSONB",
    "event": "guid:TEXT category_id stack_id parent_stack_id correlation_id extdata:JSONB",
    "track": "guid:TEXT nid ppid pid tid agent_id queue_id stream_id name_id extdata:JSONB",
    "region": "guid:TEXT track_id name_id start end event_id extdata:JSONB",
    "sample": "guid:TEXT track_id name_id timestamp event_id extdata:JSONB",
    "kernel_dispatch": f"guid:TEXT track_id kernel_id dispatch_id start end {WORK} region_name_id event_id extdata:JSONB",
    "memory_copy": "guid:TEXT track_id start end name_id dst_agent_id dst_address src_agent_id src_address size region_name_id event_id extdata:JSONB",
    "memory_allocate": "guid:TEXT track_id type:TEXT level:TEXT start end name_id address size region_name_id event_id extdata:JSONB",
}
# 4.0 keeps all times in a table of their own.
SCHEMA_4_0 = {**{name: columns.replace(" start end ", " start_id end_id ") if not name.startswith("info_") else columns for name, columns in SCHEMA_4.items()},
              "sample": SCHEMA_4["sample"].replace("timestamp", "timestamp_id"), "timestamp": "guid:TEXT value phase track_id"}
SCHEMAS = {"3.0.0": SCHEMA_3, "4.0.0": SCHEMA_4_0, "4.1.0": SCHEMA_4,
           "3.0.3": {**SCHEMA_3, "kernel_dispatch": SCHEMA_3["kernel_dispatch"].replace("region_name_id", "graph_exec_id graph_node_id region_name_id"),
                     "pmc_event": "guid:TEXT event_id sample_id pmc_id value:REAL xcc shader_engine instance extdata:JSONB"}}


class RocpdFile:
    def __init__(self, file, schema="3.0.0"):
        if os.path.exists(file):
            os.unlink(file)
        self.file, self.schema, self.processes = str(file), schema, []
        self.db = sqlite3.connect(file)
        self.db.execute("PRAGMA journal_mode=OFF")

    def process(self, pid, **about):
        self.processes.append(Process(self, pid, **about))
        return self.processes[-1]

    def finish(self, views=True):
        for name in SCHEMAS[self.schema] if views else ():
            self.db.execute("CREATE VIEW rocpd_%s AS %s" % (name, " UNION ALL ".join(f"SELECT * FROM {entry.table(name)}" for entry in self.processes)))
        self.db.commit()
        self.db.close()
        return self.file


class Process:
    """One process with one node. CPUs are agents 0 and 1, so that the first GPU is agent 2."""

    def __init__(self, of, pid, host="node0", machine="machine-0", command="/opt/bin/solver --steps 10", environment=None, init=1, gpus=2):
        self.of, self.db, self.pid, self.columns = of, of.db, pid, SCHEMAS[of.schema]
        self.guid = str(uuid.UUID(int=pid + 1000 * len(of.processes)))
        self.suffix, self.strings, self.kernels, self.tracks, self.categories, self.counters, self.threads = "_" + self.guid.replace("-", "_"), {}, {}, {}, {}, {}, set()
        self.has_tracks = of.schema.startswith("4")
        for name, columns in self.columns.items():
            words = ", ".join('"%s" %s' % tuple((word if ":" in word else word + ":INTEGER").split(":")) for word in columns.split())
            self.db.execute(f"CREATE TABLE {self.table(name)}(id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, {words})")
        for tag, value in (("schema_version", of.schema), ("uuid", self.suffix), ("guid", self.guid), ("SIMULATED", "1")):
            self.add("metadata", tag=tag, value=value)
        self.node = self.add("info_node", id=71, hash=5, machine_id=machine, hostname=host, system_name="Linux")
        self.add("info_process", id=pid, nid=71, pid=pid, ppid=1, command=command, init=init, start=init, fini=init, environment=json.dumps(environment or {}), extdata="{}")
        for number in range(2 + gpus):
            is_gpu = number > 1
            self.add("info_agent", id=number, nid=71, pid=pid, type="GPU" if is_gpu else "CPU", absolute_index=number, logical_index=number,
                     type_index=number - 2 if is_gpu else number, uuid=29857, name="gfx942" if is_gpu else "EPYC",
                     product_name="Simulated MI300X" if is_gpu else "Simulated EPYC")

    def table(self, name):
        return f"rocpd_{name}{self.suffix}"

    def add(self, to, **values):
        """Columns that this schema lacks are left out."""
        column_names = {word.split(":")[0] for word in self.columns[to].split()} | {"id"}
        values = {column: value for column, value in {"guid": self.guid, "extdata": "{}", **values}.items() if column in column_names}
        words = ", ".join('"%s"' % column for column in values)
        return self.db.execute(f"INSERT INTO {self.table(to)}({words}) VALUES({', '.join('?' * len(values))})", list(values.values())).lastrowid

    def string(self, text):
        if text not in self.strings:
            number = self.add("string", string="")
            self.db.execute(f"UPDATE {self.table('string')} SET string = {'CAST(? AS TEXT)' if isinstance(text, bytes) else '?'} WHERE id = ?", (text, number))
            self.strings[text] = number
        return self.strings[text]

    def kernel_symbol(self, name):
        """Bytes: a name that is no UTF-8."""
        if name not in self.kernels:
            number = self.add("info_kernel_symbol", nid=71, pid=self.pid, code_object_id=1, kernel_name=f"_Z{len(self.kernels)}v.kd", display_name=name)
            if isinstance(name, bytes):
                self.db.execute(f"UPDATE {self.table('info_kernel_symbol')} SET display_name = CAST(display_name AS TEXT) WHERE id = ?", (number,))
            self.kernels[name] = number
        return self.kernels[name]

    def thread(self, tid, name=None):
        if tid not in self.threads:
            self.threads.add(tid)
            self.add("info_thread", id=tid, nid=71, ppid=1, pid=self.pid, tid=tid, name=name)
        return tid

    def event(self, category, stack=0, parent=0, extdata="{}"):
        if self.has_tracks and category not in self.categories:
            self.categories[category] = self.add("info_category", name=category)
        return self.add("event", category_id=self.categories[category] if self.has_tracks else self.string(category), stack_id=stack, parent_stack_id=parent,
                        correlation_id=0, extdata=extdata)

    def place(self, tid, agent=None, queue=None, stream=None, name=None):
        """Columns of an event, or since schema 4 its track."""
        place = {"nid": 71, "pid": self.pid, "tid": self.thread(tid) if tid is not None else None, "agent_id": agent, "queue_id": queue, "stream_id": stream}
        if not self.has_tracks and name is None:
            return place
        key = tuple(place.values()) + (name,)
        if key not in self.tracks:
            self.tracks[key] = self.add("track", ppid=1, name_id=name, **place)
        return {"track_id": self.tracks[key]}

    def times(self, start, end):
        if self.of.schema != "4.0.0":
            return {"start": start, "end": end}
        return {name: None if value is None else self.add("timestamp", value=value, phase=1) for name, value in (("start_id", start), ("end_id", end))}

    def kernel(self, start, end, name, gpu=0, tid=1, stack=0, queue=1, stream=1, counters=(), **more):
        event = self.event("KERNEL_DISPATCH", stack, stack)
        for counter, value in counters:
            if counter not in self.counters:
                self.counters[counter] = self.add("info_pmc", nid=71, pid=self.pid, name=counter, symbol=counter)
            self.add("pmc_event", event_id=event, pmc_id=self.counters[counter], value=value)
        return self.add("kernel_dispatch", **{**self.place(tid, gpu + 2, queue, stream), **self.times(start, end), "kernel_id": self.kernel_symbol(name), "dispatch_id": 1,
                                              "grid_size_x": 64, "workgroup_size_x": 64, "event_id": event, "graph_exec_id": 0, "graph_node_id": 0, **more})

    def copy(self, start, end, source, target, size=4096, tid=1, stack=0, stream=1, **more):
        """Agents by their numbers."""
        return self.add("memory_copy", **{**self.place(tid, target, None, stream), **self.times(start, end), "name_id": self.string("MEMORY_COPY"), "src_agent_id": source,
                                          "dst_agent_id": target, "size": size, "event_id": self.event("MEMORY_COPY", stack, stack), **more})

    def region(self, start, end, name, category="HIP_RUNTIME_API_EXT", tid=1, stack=0, parent=0, extdata="{}", **more):
        return self.add("region", **{**self.place(tid), **self.times(start, end), "name_id": self.string(name), "event_id": self.event(category, stack, parent, extdata), **more})

    def marker(self, start, end, message, function="roctxRangePushA", tid=1, stack=0):
        """Schema 3 has the function as the name, and marks as samples; schema 4 has it in the details."""
        inner = json.dumps({"message": function if self.has_tracks else message})
        name = message if self.has_tracks else function
        category = "MARKER_CORE_RANGE_API" if function != "roctxMarkA" else "MARKER_CORE_API"
        if start != end or self.has_tracks:
            return self.region(start, end, name, category, tid, stack, 0, inner)
        return self.add("sample", **self.place(tid, name=self.string(category)), timestamp=start, event_id=self.event(category, stack, 0, inner))

    def allocation(self, start, end, size):
        self.add("memory_allocate", **{**self.place(1, 2, 1, 1), **self.times(start, end), "type": "ALLOC", "level": "REAL", "size": size, "name_id": self.string("ALLOC"),
                                       "event_id": self.event("MEMORY_ALLOCATION")})
