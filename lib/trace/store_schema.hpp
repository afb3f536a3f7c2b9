// The tables of the trace store; docs/trace-schema.md describes them.
#ifndef ADAPTYST_LIB_TRACE_STORE_SCHEMA_HPP
#define ADAPTYST_LIB_TRACE_STORE_SCHEMA_HPP

namespace adaptyst::lib {

constexpr int store_schema = 1;
constexpr const char* store_format = "adaptyst trace";

// "Adap"; file(1) and others read it in bytes 68 to 71 of the file.
constexpr int store_application = 0x41646170;

constexpr const char* store_message_forms[] = {"send", "receive", "collective"};  // by traced_message::form

constexpr const char* store_tables = R"(
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE process(id INTEGER PRIMARY KEY, name TEXT NOT NULL, number INTEGER, host TEXT, rank INTEGER);
CREATE TABLE thread(process INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY(process, id)) WITHOUT ROWID;
CREATE TABLE device(process INTEGER NOT NULL, id INTEGER NOT NULL, physical INTEGER NOT NULL, uuid TEXT, name TEXT NOT NULL,
                    PRIMARY KEY(process, id)) WITHOUT ROWID;
CREATE TABLE path(id INTEGER PRIMARY KEY, parent INTEGER, name TEXT NOT NULL, kind TEXT NOT NULL, device INTEGER NOT NULL,
                  color TEXT, level INTEGER, file TEXT, line INTEGER);
CREATE TABLE span(start INTEGER NOT NULL, "end" INTEGER NOT NULL, path INTEGER NOT NULL, process INTEGER NOT NULL,
                  thread INTEGER NOT NULL, queue INTEGER, submitted INTEGER, correlation INTEGER, bytes INTEGER, flops REAL,
                  nests INTEGER NOT NULL, mpi_call INTEGER);
CREATE TABLE mpi_message(call INTEGER NOT NULL, number INTEGER NOT NULL, form TEXT NOT NULL, communicator INTEGER, peer INTEGER,
                         tag INTEGER, bytes INTEGER, received INTEGER, PRIMARY KEY(call, number)) WITHOUT ROWID;
CREATE TABLE communicator(id INTEGER PRIMARY KEY, name TEXT NOT NULL, ranks TEXT);
CREATE TABLE sample(time INTEGER NOT NULL, path INTEGER NOT NULL, process INTEGER NOT NULL, thread INTEGER NOT NULL,
                    value REAL NOT NULL);
CREATE TABLE instant(time INTEGER NOT NULL, path INTEGER NOT NULL, process INTEGER NOT NULL, thread INTEGER NOT NULL);
CREATE TABLE loss(process INTEGER NOT NULL, reason TEXT NOT NULL, events INTEGER NOT NULL, PRIMARY KEY(process, reason)) WITHOUT ROWID;
CREATE VIEW message AS
  SELECT submitted AS sent, start AS received, process, thread, queue, path, correlation, bytes FROM span WHERE submitted IS NOT NULL;
CREATE VIEW event AS
  SELECT span.start, span."end", span."end" - span.start AS duration, path.name, path.kind, path.device, process, thread, queue
  FROM span JOIN path ON path.id = span.path;
)";

}  // namespace adaptyst::lib

#endif
