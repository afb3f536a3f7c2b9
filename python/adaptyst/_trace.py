"""Trace stores: docs/trace-schema.md has the tables."""
from __future__ import annotations

import itertools
import os
import sqlite3
import tempfile
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from ._command import Error, run_command
from ._profile import _require

_APPLICATION = 0x41646170
_SCHEMA = 1
_TABLES = ("meta", "process", "thread", "device", "path", "span", "sample", "instant", "loss")
_MAX_DEPTH = 4097


class Span(NamedTuple):
    """An event with a duration. Times are in ns since the trace began; None: unknown."""

    start: int
    end: Optional[int]
    name: str
    kind: str
    path: int  # for Trace.path()
    process: int
    thread: Optional[int]
    device: int  # 0: the host
    queue: Optional[int]
    submitted: Optional[int]
    bytes: Optional[int]

    @property
    def duration(self) -> Optional[int]:
        """ns; None: unknown."""
        if self.end is None or self.start is None:
            return None
        if not isinstance(self.end, int) or not isinstance(self.start, int):
            raise Error(f"a span has the times {self.start!r} and {self.end!r}, which are no integers; the file is damaged")
        return self.end - self.start


_COLUMNS = 'span.start, span."end", path.name, path.kind, span.path, span.process, span.thread, path.device, span.queue, span.submitted, span.bytes'


class Trace:
    """An open trace store; a context manager. Rows are read as they are used, not all at once."""

    def __init__(self, file: str, made: Optional["tempfile.TemporaryDirectory[str]"] = None, source: Optional[str] = None):
        self._made = made
        self.source = source or file
        # Names of hostile files may contain ? and %.
        address = "file:" + "".join(c if c.isalnum() or c in "/._-" else "".join(f"%{byte:02x}" for byte in c.encode("utf-8", "surrogateescape"))
                                    for c in os.path.abspath(file))
        try:
            self._in = sqlite3.connect(address + "?mode=ro", uri=True)
        except sqlite3.Error as wrong:
            raise Error(f"cannot read {self.source}: {wrong}; give the path of a store that this user may read") from wrong
        self._in.text_factory = lambda text: text.decode("utf-8", "replace")
        self._paths: Optional[Dict[int, Tuple[Optional[int], str]]] = None
        try:
            self._check()
        except sqlite3.Error as wrong:
            self.close()
            raise Error(f"cannot read {self.source}: {wrong}; expected: a store of `adaptyst run -o FILE.sqlite`") from wrong
        except Error:
            self.close()
            raise

    def _check(self) -> None:
        self._in.execute("PRAGMA trusted_schema=OFF")
        application = self._in.execute("PRAGMA application_id").fetchone()[0]
        if application != _APPLICATION:
            raise Error(f"cannot read {self.source}: it is no store of adaptyst; convert it: adaptyst convert FILE -o store.sqlite")
        schema = self._in.execute("PRAGMA user_version").fetchone()[0]
        if schema > _SCHEMA:
            raise Error(f"cannot read {self.source}: it has schema {schema}, and this version of adaptyst reads {_SCHEMA}; update adaptyst")
        # A view could be a query without an end.
        tables = {name for name, in self._in.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for name in _TABLES:
            if name not in tables:
                raise Error(f"cannot read {self.source}: there is no table {name}; the file is damaged")

    def _query(self, text: str, values: Tuple[Any, ...] = ()) -> Iterator[Tuple[Any, ...]]:
        try:
            yield from self._in.execute(text, values)
        except sqlite3.Error as wrong:
            raise Error(f"cannot read {self.source}: {wrong}") from wrong

    def _records(self, table: str) -> List[Dict[str, Any]]:
        names = [row[1] for row in self._query(f"PRAGMA table_info({table})")]
        return [dict(zip(names, row)) for row in self._query(f"SELECT * FROM {table}")]

    @property
    def meta(self) -> Dict[str, str]:
        """Properties, such as `complete`."""
        return dict(self._query("SELECT name, value FROM meta"))  # type: ignore[arg-type]

    @property
    def processes(self) -> List[Dict[str, Any]]:
        """Observed processes."""
        return self._records("process")

    @property
    def threads(self) -> List[Dict[str, Any]]:
        """Threads with events."""
        return self._records("thread")

    @property
    def devices(self) -> List[Dict[str, Any]]:
        """Devices of the processes."""
        return self._records("device")

    @property
    def losses(self) -> Dict[str, int]:
        """Lost events by reason."""
        return {reason: events for reason, events in self._query("SELECT reason, sum(events) FROM loss GROUP BY reason")}

    @property
    def kinds(self) -> List[str]:
        """Kinds of spans in the trace."""
        return [kind for kind, in self._query("SELECT DISTINCT kind FROM path WHERE id IN (SELECT path FROM span) ORDER BY kind")]

    def path(self, number: int) -> Tuple[str, ...]:
        """Names from the root of the thread, for the path of a span."""
        if self._paths is None:
            self._paths = {row: (parent, name) for row, parent, name in self._query("SELECT id, parent, name FROM path")}
        names: List[str] = []
        at: Optional[int] = number
        while at is not None and at in self._paths and len(names) < _MAX_DEPTH:  # a damaged file may have a cycle
            at, name = self._paths[at]
            names.append(name)
        return tuple(reversed(names))

    def _select(self, kind: Optional[str], in_order: bool) -> Tuple[str, Tuple[Any, ...]]:
        text = f"SELECT {_COLUMNS} FROM span JOIN path ON path.id = span.path"
        values: Tuple[Any, ...] = ()
        if kind is not None:
            text, values = text + " WHERE path.kind = ?", (kind,)
        return text + (" ORDER BY span.start" if in_order else ""), values

    def spans(self, kind: Optional[str] = None, in_order: bool = False) -> Iterator[Span]:
        """Spans of a kind, or all. `in_order`: by start; SQLite then sorts them, on disk if they are many."""
        for row in self._query(*self._select(kind, in_order)):
            yield Span(*row)

    def samples(self) -> Iterator[Tuple[int, str, float, int, Optional[int]]]:
        """Values of metrics: time, name, value, process, thread."""
        return self._query("SELECT time, name, value, process, thread FROM sample JOIN path ON path.id = sample.path")  # type: ignore[return-value]

    def frames(self, kind: Optional[str] = None, rows: int = 100_000):
        """Spans as pandas.DataFrames of at most `rows` rows, with the column `duration`."""
        pandas = _require("pandas", "frames()")
        spans = self._query(*self._select(kind, False))
        while True:
            block = list(itertools.islice(spans, rows))
            if not block:
                return
            frame = pandas.DataFrame(block, columns=list(Span._fields))
            for column in ("start", "end"):
                if frame[column].dtype == object and frame[column].notna().any():
                    raise Error(f"cannot read {self.source}: column {column} has a value that is no integer; the file is damaged")
            frame["duration"] = frame["end"] - frame["start"]
            yield frame

    def to_dataframe(self, kind: Optional[str] = None):
        """All spans of a kind, or all, as one pandas.DataFrame."""
        pandas = _require("pandas", "to_dataframe()")
        frames = list(self.frames(kind))
        if not frames:
            return pandas.DataFrame(columns=[*Span._fields, "duration"])
        return pandas.concat(frames, ignore_index=True)

    def to_dataframes(self) -> Dict[str, Any]:
        """A pandas.DataFrame for each kind."""
        return {kind: self.to_dataframe(kind) for kind in self.kinds}

    def close(self) -> None:
        """Closes the file."""
        self._in.close()
        if self._made is not None:
            self._made.cleanup()
            self._made = None

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<adaptyst trace {self.source}>"


def open_trace(file: Union[str, "os.PathLike[str]"]) -> Trace:
    """Opens a trace: a store FILE.sqlite; other forms are first converted by `adaptyst convert`, into a temporary file."""
    name = os.fspath(file)
    try:
        with open(name, "rb") as opened:
            head = opened.read(72)
    except OSError as failed:
        raise Error(f"cannot read {name}: {failed.strerror}; give the path of a trace, such as run.sqlite") from failed
    # Bytes 68 to 71 of an SQLite file are the application id.
    if head[:15] == b"SQLite format 3" and int.from_bytes(head[68:72], "big") == _APPLICATION:
        return Trace(name)
    folder = tempfile.TemporaryDirectory(prefix="adaptyst-")
    try:
        store = os.path.join(folder.name, "store.sqlite")
        run_command(f"read {name}", ["convert", os.path.abspath(name), "-o", store])
        return Trace(store, folder, name)
    except BaseException:
        folder.cleanup()
        raise
