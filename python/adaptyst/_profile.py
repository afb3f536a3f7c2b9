"""Profiles: docs/profiles.md describes the file, docs/profile-schema.json each key with its unit."""
from __future__ import annotations

import functools
import glob
import html
import json
import math
import os
import tempfile
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union

from ._command import Error, find_command, run_command

_SCHEMA = 1
_SEPARATOR = " > "

# Buckets of histograms, as in docs/profiles.md.
_CUTS = (0, 3, 7, 11, 15, 19, 24, 29, 34, 40, 46, 52, 59)
_LAST_BUCKET = 583

# Files may be hostile. No profile has deeper paths, and the command reads no larger files.
_MAX_DEPTH = 4097
_MAX_FILE_BYTES = 1 << 30
# Of tree().
_MAX_INDENT = 32
_MAX_NAME = 200
_MAX_LINES = 10_000

# Keys that a row may lack: they are then unknown.
_OPTIONAL = frozenset((
    "level", "threads", "total_ns", "self_ns", "per_thread", "min_ns", "max_ns", "p50_ns", "p90_ns", "p99_ns", "heap", "overhead_ns",
    "context", "self_context", "samples", "sampled", "count_error", "total_error_ns", "measured_on", "across_ranks", "joint", "roofline"))

_File = Union[str, "os.PathLike[str]"]


class Quantile(NamedTuple):
    """A quantile of durations in ns. `low_ns` and `high_ns` bound the exact value; `value_ns` is within 3 % of both."""

    value_ns: int
    low_ns: int
    high_ns: Optional[int]  # None: a duration may exceed the range of the histogram


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _reads_file(method: _Method) -> _Method:
    """For methods that use values of a file, which may have any type."""
    @functools.wraps(method)
    def checked(self: Any, *arguments: Any, **by_name: Any) -> Any:
        try:
            return method(self, *arguments, **by_name)
        except Error:
            raise
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError) as wrong:
            raise Error(f"{method.__name__}: {getattr(self, 'source', 'a region')} has a value of another type than "
                        f"docs/profile-schema.json describes: {wrong!r}") from wrong
    return checked  # type: ignore[return-value]


def _printable(text: str) -> str:
    """The text without control characters: names of a hostile file must not change a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def _lower(bucket: int) -> int:
    if bucket < 64:
        return bucket
    octave, part = divmod(bucket - 64, 13)
    return (64 + _CUTS[part]) << octave


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


class Histogram:
    """Counts of durations: `pairs` of a bucket and a count, as in the file."""

    def __init__(self, pairs: Iterable[Sequence[int]]):
        self.pairs: List[Tuple[int, int]] = []
        for pair in pairs:
            if len(pair) != 2 or not all(map(_is_count, pair)) or pair[0] > _LAST_BUCKET:
                raise Error(f"a histogram has the bucket {pair!r}; expected: [0 to {_LAST_BUCKET}, count]")
            self.pairs.append((pair[0], pair[1]))
        self.pairs.sort()
        self.count = sum(count for _, count in self.pairs)

    def edges(self) -> List[Tuple[int, int, int]]:
        """Lowest duration, lowest duration of the next bucket, and count, for each bucket that is not empty."""
        return [(_lower(bucket), _lower(bucket + 1), count) for bucket, count in self.pairs]

    def quantile(self, q: float, min_ns: Optional[int] = None, max_ns: Optional[int] = None) -> Optional[Quantile]:
        """The smallest duration with at least a fraction `q` of all durations at or below it; None without durations."""
        if not 0 <= q <= 1:
            raise Error(f"a quantile of {q} was requested; expected: 0 to 1")
        if self.count == 0:
            return None
        rank = max(1, math.ceil(q * self.count))
        if rank >= self.count and max_ns is not None:
            return Quantile(max_ns, max_ns, max_ns)
        below = 0
        bucket = self.pairs[-1][0]
        for bucket, count in self.pairs:
            below += count
            if below >= rank:
                break
        low, high = _lower(bucket), _lower(bucket + 1) - 1
        value = low if low == high else math.floor(2.0 * low * high / (float(low) + high) + 0.5)
        bound: Optional[int] = high if bucket != _LAST_BUCKET else None
        if min_ns is not None:
            low, value = max(low, min_ns), max(value, min_ns)
        if max_ns is not None:
            bound, value = max_ns if bound is None else min(bound, max_ns), min(value, max_ns)
        return Quantile(value, low, bound)


class Region:
    """A call path on a device: a row of the profile.

    Keys of the file are attributes, such as `region.total_ns`, and items, such as `region["total_ns"]`; unknown values are None.
    """

    __slots__ = ("data", "parent", "children", "_names")

    def __init__(self, data: Dict[str, Any], parent: Optional["Region"]):
        self.data = data
        self.parent = parent
        self.children: List[Region] = []
        # Without the row of its parent, a region has its path; with it, only its name.
        self._names = tuple(data["path"]) if parent is None and data.get("path") else (data["name"],)

    def __reduce__(self) -> Tuple[Any, ...]:
        root = self
        while root.parent is not None:
            root = root.parent
        rows: List[Tuple[Optional[int], Dict[str, Any]]] = []
        numbers: Dict[int, int] = {}
        stack = [root]
        while stack:  # without recursion: a path may have 4,097 names
            region = stack.pop()
            numbers[id(region)] = len(rows)
            rows.append((numbers[id(region.parent)] if region.parent is not None else None, region.data))
            stack.extend(reversed(region.children))
        return _restore_region, (rows, numbers[id(self)])

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__") or key in Region.__slots__:  # copy and pickle ask objects that have no values yet
            raise AttributeError(key)
        try:
            return self.data[key]
        except KeyError:
            if key in _OPTIONAL:
                return None
            raise AttributeError(f"a region has no {key!r}; docs/profile-schema.json lists the keys") from None

    def __getitem__(self, key: str) -> Any:
        return self.data.get(key)

    @property
    @_reads_file
    def path(self) -> Tuple[str, ...]:
        """The names from the root of the thread to this region."""
        parts: List[Tuple[str, ...]] = []
        at: Optional[Region] = self
        while at is not None:
            parts.append(at._names)
            at = at.parent
        return tuple(name for names in reversed(parts) for name in names)

    @property
    @_reads_file
    def mean_ns(self) -> Optional[float]:
        """Mean duration; None: not timed."""
        return self.total_ns / self.count if self.total_ns is not None and self.count else None

    @property
    @_reads_file
    def durations(self) -> Histogram:
        """The histogram of the durations."""
        return Histogram(self.data.get("histogram") or ())

    @_reads_file
    def quantile(self, q: float) -> Optional[Quantile]:
        """A quantile of the durations with its bounds; None: not timed."""
        return self.durations.quantile(q, self.min_ns, self.max_ns)

    def __repr__(self) -> str:
        return f"<adaptyst region {_SEPARATOR.join(self.path)!r}: {self.count} calls>"


def _restore_region(rows: List[Tuple[Optional[int], Dict[str, Any]]], number: int) -> Region:
    """A copy of a region, in a copy of the tree of its root."""
    made: List[Region] = []
    for above, data in rows:
        parent = made[above] if above is not None else None
        made.append(Region(data, parent))
        if parent is not None:
            parent.children.append(made[-1])
    return made[number]


def format_ns(value: Optional[float]) -> str:
    """A duration with its unit; `—`: unknown."""
    if value is None:
        return "—"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}" if value < 1000 * size else f"{value / size:,.0f} {unit}"
    return f"{value:.0f} ns"


def _flatten(value: Any, key: str, into: Dict[str, Any]) -> None:
    """Members of objects become keys with a point; lists are left out."""
    if isinstance(value, dict):
        for name, inner in value.items():
            _flatten(inner, f"{key}.{name}" if key else name, into)
    elif not isinstance(value, list):
        into[key] = value


class Profile:
    """The result of a run, or the sum of several.

    `data` is the file, with all keys, also those that this version does not know.
    """

    def __init__(self, data: Dict[str, Any], source: str = "a profile"):
        self.data = data
        self.source = source
        self.regions: List[Region] = []
        self._by_id: Dict[str, Region] = {}
        try:
            self._link()
        except (TypeError, KeyError, AttributeError) as wrong:
            raise Error(f"cannot read {source}: a region lacks a key, or has one of another type ({wrong!r}); "
                        "expected: a profile as docs/profile-schema.json describes it") from wrong

    def _link(self) -> None:
        schema = self.data.get("schema")
        if schema != _SCHEMA:
            raise Error(f"cannot read {self.source}: it has schema {schema!r}, and this version of adaptyst reads {_SCHEMA}; "
                        "update adaptyst, or write the profile again")
        depths: Dict[int, int] = {}
        for row in self.data["regions"]:
            # Only earlier rows can be parents: a file cannot contain a cycle.
            parent = self._by_id.get(row["parent"]) if row["parent"] is not None else None  # not hashable: a TypeError
            made = Region(row, parent)
            if not isinstance(row["name"], str) or not isinstance(row["id"], str) or not _is_count(row["count"]):
                raise TypeError(f"name, id or count of row {len(self.regions)}")
            if not isinstance(row["kind"], str) or not all(isinstance(name, str) for name in row.get("path") or ()):
                raise TypeError(f"kind or path of row {len(self.regions)}")
            depths[id(made)] = len(made._names) + (depths[id(parent)] if parent is not None else 0)
            if depths[id(made)] > _MAX_DEPTH:
                raise Error(f"cannot read {self.source}: the path of row {len(self.regions)} has more than {_MAX_DEPTH:,} names; the file is damaged")
            self.regions.append(made)
            self._by_id.setdefault(row["id"], made)
            if parent is not None:
                parent.children.append(made)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Profile, (self.data, self.source)

    # ---- the run ----------------------------------------------------------------------------------------------------

    @property
    def metadata(self) -> Dict[str, str]:
        """Names and values that the program gave."""
        return self.data.get("metadata") or {}

    @property
    def devices(self) -> List[Dict[str, Any]]:
        """Processors; the first is the host's CPU."""
        return self.data.get("devices") or []

    @property
    def findings(self) -> List[Dict[str, Any]]:
        """Findings, by share of the run: docs/findings.md."""
        return self.data.get("findings") or []

    @property
    @_reads_file
    def losses(self) -> Dict[str, Dict[str, int]]:
        """Lost events, context and samples, each by reason. An absent part was not observed."""
        made = {}
        for part in ("accounting", "context", "samples"):
            account = self.data.get(part)
            if isinstance(account, dict) and "lost" in account:
                made["events" if part == "accounting" else part] = dict(account["lost"])
        return made

    @property
    def ranks(self) -> Optional[int]:
        """Number of merged ranks; None: no merged ranks."""
        return self.data.get("ranks")

    # ---- regions ----------------------------------------------------------------------------------------------------

    @property
    def roots(self) -> List[Region]:
        """Regions without a parent in the file."""
        return [region for region in self.regions if region.parent is None]

    @_reads_file
    def find(self, name: Union[str, Sequence[str]]) -> List[Region]:
        """Regions with this name, or, for a sequence of names, with this path."""
        if isinstance(name, str):
            return [region for region in self.regions if region.name == name]
        path = tuple(name)
        return [region for region in self.regions if path and region.name == path[-1] and region.path == path]

    def walk(self) -> Iterator[Tuple[int, Region]]:
        """Depth and region, parents before children, the longest first."""
        def order(regions: List[Region]) -> List[Tuple[int, Region]]:
            return sorted(regions, key=lambda region: region.total_ns or 0)

        stack = [(0, region) for region in order(self.roots)]
        while stack:  # without recursion: a path may have 4,097 names
            depth, region = stack.pop()
            yield depth, region
            stack.extend((depth + 1, child) for child in order(region.children))

    @_reads_file
    def tree(self, max_depth: Optional[int] = None, min_share: float = 0.0) -> str:
        """The regions as text, at most 10,000. `min_share`: omits regions below this share of the longest root."""
        longest = max((region.total_ns or 0 for region in self.roots), default=0)
        lines, left_out = [("region", "calls", "total", "mean", "p99")], 0
        for depth, region in self.walk():
            if (max_depth is not None and depth >= max_depth) or (region.total_ns or 0) < min_share * longest or len(lines) > _MAX_LINES:
                left_out += 1
                continue
            name = _SEPARATOR.join(region._names) if depth == 0 else region.name
            name = name if len(name) <= _MAX_NAME else name[:_MAX_NAME - 1] + "…"
            if region.device:
                name += f"  [{self._device_name(region.device)}]"
            p99 = region.quantile(0.99)
            indent = "  " * depth if depth <= _MAX_INDENT else "  " * _MAX_INDENT + f"({depth:,}) "
            lines.append((indent + _printable(name), f"{region.count:,}", format_ns(region.total_ns), format_ns(region.mean_ns),
                          format_ns(p99.value_ns if p99 else None)))
        widths = [max(len(line[column]) for line in lines) for column in range(5)]
        text = "\n".join("  ".join(cell.ljust(width) if at == 0 else cell.rjust(width)
                                   for at, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines)
        return text + (f"\n({left_out} more regions)" if left_out else "")

    def _device_name(self, number: int) -> str:
        return next((str(device.get("name")) for device in self.devices if device.get("id") == number), f"device {number}")

    @_reads_file
    def rows(self) -> List[Dict[str, Any]]:
        """One dictionary per region. Members of objects have keys such as `attributes.bytes.sum`; lists are left out."""
        made = []
        for region in self.regions:
            row: Dict[str, Any] = {"path": _SEPARATOR.join(region.path)}
            _flatten({key: value for key, value in region.data.items() if key != "path"}, "", row)
            made.append(row)
        return made

    @_reads_file
    def to_dataframe(self):
        """The rows as a pandas.DataFrame; unknown values are None or NaN. `mean_ns` is total_ns over count."""
        pandas = _require("pandas", "to_dataframe()")
        rows = self.rows()
        for row, region in zip(rows, self.regions):
            row["mean_ns"] = region.mean_ns
        return pandas.DataFrame(rows)

    # ---- ranks ------------------------------------------------------------------------------------------------------

    @_reads_file
    def rank_spread(self, with_mpi: bool = False) -> List[Dict[str, Any]]:
        """Regions over ranks, the greatest excess first: that of the slowest rank over the mean, in ns.

        Calls of MPI are left out, unless `with_mpi`: a long wait in MPI shows that another rank is slow. Keys: path, ranks, imbalance, mean_ns, slowest_rank, slowest_host, slowest_ns, excess_ns.
        """
        return [row for _, row in self._spread(with_mpi)]

    def _spread(self, with_mpi: bool) -> List[Tuple[Region, Dict[str, Any]]]:
        made = []
        for region in self.regions:
            across = region.across_ranks
            if across is None or (region.name.startswith("MPI_") and not with_mpi):
                continue
            total = across["total_ns"]
            excess = total["max"] - total["mean"] if total.get("mean") is not None else None
            made.append((region, {"path": _SEPARATOR.join(region.path), "ranks": across["ranks"], "imbalance": across.get("imbalance"),
                                  "mean_ns": total.get("mean"), "slowest_rank": total["max_rank"], "slowest_host": total.get("max_host"),
                                  "slowest_ns": total["max"], "excess_ns": excess}))
        return sorted(made, key=lambda pair: pair[1]["excess_ns"] or 0, reverse=True)

    @_reads_file
    def rank_times(self, region: Region) -> Optional[Dict[int, Optional[int]]]:
        """Time of each rank in the region, ns; None as a value: the rank does not have it.

        None: unknown, because the profile has one rank, more ranks than a heat map has elements, or 64 larger regions.
        """
        heat = self.data.get("heat_map")
        if not heat or heat.get("ranks_per_bin") != 1:
            return None
        for row in heat["rows"]:
            if row["region"] == region.id and row["device"] == region.device:
                return dict(enumerate(row["mean_ns"]))
        return None

    # ---- other forms ------------------------------------------------------------------------------------------------

    def save(self, file: _File) -> None:
        """Writes the profile, with all keys, as JSON."""
        with open(file, "w", encoding="utf-8") as out:
            json.dump(self.data, out)

    @_reads_file
    def to_hatchet_literal(self) -> List[Dict[str, Any]]:
        """For hatchet.GraphFrame.from_literal(). Times are in seconds; unknown times are NaN."""
        def seconds(value: Optional[int]) -> float:
            return math.nan if value is None else value / 1e9

        nodes: Dict[int, Dict[str, Any]] = {}
        roots: List[Dict[str, Any]] = []
        for region in self.regions:
            names = _SEPARATOR.join(region._names) if region.parent is None else region.name
            node = {"frame": {"name": names, "type": region.kind},
                    "metrics": {"time (inc)": seconds(region.total_ns), "time": seconds(region.self_ns), "count": region.count},
                    "children": []}
            nodes[id(region)] = node
            (roots if region.parent is None else nodes[id(region.parent)]["children"]).append(node)
        return roots

    @_reads_file
    def plot(self, what: str = "icicle", axes=None, max_depth: int = 12):
        """Draws with matplotlib; returns the axes.

        what="icicle": the tree, widths are total times; what="ranks": the time of each rank in the region of the greatest excess.
        """
        pyplot = _require("matplotlib.pyplot", "plot()")
        axes = axes if axes is not None else pyplot.subplots(figsize=(10, 4))[1]
        if what == "icicle":
            self._plot_icicle(axes, max_depth)
        elif what == "ranks":
            self._plot_ranks(axes)
        else:
            raise Error(f"plot({what!r}) is unknown; expected: icicle or ranks")
        return axes

    def _plot_icicle(self, axes, max_depth: int) -> None:
        starts: Dict[Optional[int], float] = {None: 0.0}
        total = sum(region.total_ns or 0 for region in self.roots) or 1
        for depth, region in self.walk():
            width = region.total_ns or 0
            above = id(region.parent) if region.parent is not None else None
            left = starts[above]
            starts[above] = left + width
            starts[id(region)] = left
            if depth >= max_depth or width * 1000 < total:
                continue
            axes.barh(-depth, width / 1e9, left=left / 1e9, height=0.95, edgecolor="white")
            if width * 20 > total:
                axes.text((left + width / 2) / 1e9, -depth, region.name, ha="center", va="center", clip_on=True, fontsize="small")
        axes.set_xlabel("time over all threads, s")
        axes.set_yticks([])

    def _plot_ranks(self, axes) -> None:
        for region, row in self._spread(with_mpi=False):  # names may contain the separator of the text
            times = self.rank_times(region)
            if times is None:
                continue
            measured = {rank: time for rank, time in times.items() if time is not None}
            axes.bar(list(measured), [time / 1e9 for time in measured.values()])
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.set_xlabel("rank")
            axes.set_ylabel("s")
            axes.set_title(row["path"])
            return
        raise Error(f"plot(\"ranks\"): {self.source} has no time of each rank; load the profiles of several ranks")

    def _repr_html_(self) -> str:
        """The report of `adaptyst report -o FILE.html` in a frame; without the command, the tree."""
        if find_command() is not None:
            try:
                with tempfile.TemporaryDirectory(prefix="adaptyst-") as folder:
                    file, page = os.path.join(folder, "profile.json"), os.path.join(folder, "page.html")
                    self.save(file)
                    run_command("make a page", ["report", "--format", "none", "-o", page, file])
                    with open(page, encoding="utf-8") as made:
                        text = html.escape(made.read(), quote=True)
                return f'<iframe sandbox="allow-scripts" style="width:100%;height:640px;border:0" srcdoc="{text}"></iframe>'
            except (Error, OSError):
                pass
        return f"<pre>{html.escape(self.tree())}</pre>"

    def __repr__(self) -> str:
        ranks = f", {self.ranks} ranks" if self.ranks else ""
        return f"<adaptyst profile {self.source}: {len(self.regions)} regions{ranks}>"


def _require(module: str, purpose: str):
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as missing:
        name = module.partition(".")[0]
        raise Error(f"{purpose} needs {name}, which is not installed (Debian: python3-{name})") from missing


def _expand(names: Iterable[_File]) -> List[str]:
    files: List[str] = []
    for name in names:
        text = os.fspath(name)
        found = [text] if os.path.exists(text) else sorted(glob.glob(text))
        if not found:
            raise Error(f"cannot read {text}: there is no such file; give the path of a profile, such as p-*.json")
        files.extend(found)
    return files


def _parse(text: str, source: str) -> Profile:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise Error(f"cannot read {source}: no JSON: {wrong}; expected: a profile of `adaptyst run -o FILE.json`") from wrong
    if not isinstance(data, dict) or "regions" not in data:
        raise Error(f"cannot read {source}: it has no regions; expected: a profile of `adaptyst run -o FILE.json`")
    return Profile(data, source)


def load(*files: Union[_File, Iterable[_File]]) -> Profile:
    """Reads profiles: load("profile.json"), load("p-*.json"), load(["a.json", "b.json"]).

    Several files, such as those of MPI ranks, and files of killed programs, are read by `adaptyst report`.
    """
    names: List[_File] = []
    for file in files:
        if isinstance(file, (str, os.PathLike)):
            names.append(file)
        else:
            names.extend(file)
    found = _expand(names)
    if not found:
        raise Error("load() needs the name of a profile, such as load(\"profile.json\")")
    if len(found) == 1:
        try:
            with open(found[0], "rb") as opened:
                if os.fstat(opened.fileno()).st_size > _MAX_FILE_BYTES:
                    raise Error(f"cannot read {found[0]}: it has more than {_MAX_FILE_BYTES:,} bytes; expected: a profile of `adaptyst run -o FILE.json`")
                head = opened.read(1)
                text = (head + opened.read(_MAX_FILE_BYTES)).decode("utf-8", "replace") if head == b"{" else None
        except OSError as failed:
            raise Error(f"cannot read {found[0]}: {failed.strerror}") from failed
        if text is not None:
            return _parse(text, found[0])
    source = found[0] if len(found) == 1 else f"{len(found)} files"
    report = ["report", "--strict", "--format", "json", *map(os.path.abspath, found)]
    return _parse(run_command(f"read {source}", report), source)


class Comparison:
    """The result of `adaptyst diff`: docs/comparing.md. `data` is the JSON, docs/comparison-schema.json."""

    def __init__(self, data: Dict[str, Any]):
        self.data = data

    @property
    def regions(self) -> List[Dict[str, Any]]:
        """Compared regions, by the change of a run's total."""
        return self.data["regions"]

    @property
    def slower(self) -> List[Dict[str, Any]]:
        """Regions with the verdict slower."""
        return [region for region in self.regions if region["verdict"] == "slower"]

    def to_dataframe(self):
        """One row per region; `path` is text."""
        pandas = _require("pandas", "to_dataframe()")
        rows = []
        for region in self.regions:
            row: Dict[str, Any] = {}
            _flatten({key: value for key, value in region.items() if key not in ("path", "interval")}, "", row)
            interval = region.get("interval") or (None, None)
            rows.append({"path": _SEPARATOR.join(region["path"]), **row, "interval_low": interval[0], "interval_high": interval[1]})
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        return f"<adaptyst comparison: {len(self.regions)} regions, {len(self.slower)} slower>"


_Side = Union[Profile, _File, Iterable[Union[Profile, _File]]]


def compare(old: _Side, new: _Side, by: str = "wall", min_share: Optional[float] = None) -> Comparison:
    """Compares runs before and after a change, by `adaptyst diff`.

    `old`, `new`: a Profile, a file, a pattern, or a list of these, one per run. `by`: wall or running. `min_share`: omits regions
    below this share of the run, 0 to 1.
    """
    with tempfile.TemporaryDirectory(prefix="adaptyst-") as folder:
        written = 0

        def to_files(side: _Side) -> List[str]:
            nonlocal written
            files: List[str] = []
            for run in [side] if isinstance(side, (Profile, str, os.PathLike)) else side:
                if isinstance(run, Profile):
                    files.append(os.path.join(folder, f"{written}.json"))
                    written += 1
                    run.save(files[-1])
                else:
                    files.extend(map(os.path.abspath, _expand([run])))
            return files

        arguments = ["diff", "--format", "json", "--by", by]
        if min_share is not None:
            arguments += ["--min-share", f"{100 * min_share:g}%"]
        text = run_command("compare profiles", [*arguments, *to_files(old), "--after", *to_files(new)], accepted=(0, 1))
    return Comparison(json.loads(text))
