"""Markers for Python programs. Without the extension, they do nothing, and `markers_missing` has the reason."""
from __future__ import annotations

import functools
import inspect
import os
import sys
from typing import Any, Callable, Optional, TypeVar, Union

try:
    import adaptyst._markers as _markers
    markers_missing: Optional[str] = None
except ModuleNotFoundError:
    import adaptyst._without_markers as _markers  # type: ignore[no-redef]
    markers_missing = (f"adaptyst in {os.path.dirname(__file__)} has no extension for this interpreter ({sys.implementation.cache_tag}); "
                       "build it with -DADAPTYST_BUILD_PYTHON=ON, for an interpreter with its global lock")
except ImportError as missing:
    import adaptyst._without_markers as _markers  # type: ignore[no-redef]
    markers_missing = str(missing)

region = _markers.region
wait = _markers.wait
offload = _markers.offload
phases = _markers.phases
metric = _markers.metric
mark = _markers.mark
metadata = _markers.metadata
is_enabled = _markers.is_enabled
device = _markers.device
submit = _markers.submit

_Function = TypeVar("_Function", bound=Callable[..., Any])


def function(marked: Optional[_Function] = None, *, name: Optional[str] = None) -> Union[_Function, Callable[[_Function], _Function]]:
    """A decorator: each call is a region with the name of the function, or with `name`.

    In coroutines and generators, the region lasts from the first step to the end, and is not nested. An asynchronous generator, a class
    and an object that cannot be called, such as a property, are returned unchanged.
    """
    if marked is None:
        return lambda given: function(given, name=name)  # type: ignore[arg-type,return-value]
    if isinstance(marked, (staticmethod, classmethod)):
        return type(marked)(function(marked.__func__, name=name))  # type: ignore[return-value]
    if not callable(marked) or inspect.isclass(marked) or inspect.isasyncgenfunction(marked):
        return marked
    code = getattr(inspect.unwrap(marked), "__code__", None)
    where = _markers.site(name or getattr(marked, "__qualname__", repr(marked)), getattr(code, "co_filename", ""),
                          getattr(marked, "__qualname__", ""), getattr(code, "co_firstlineno", 0))
    region_of = _markers.region_of

    if inspect.iscoroutinefunction(marked):
        async def coroutine(*arguments: Any, **by_name: Any) -> Any:
            async with region_of(where):
                return await marked(*arguments, **by_name)
        made: Any = coroutine
    elif inspect.isgeneratorfunction(marked):
        def generator(*arguments: Any, **by_name: Any) -> Any:
            # The awaitables have their results at once: no event loop is needed.
            lifetime = region_of(where)
            lifetime.__aenter__()
            try:
                return (yield from marked(*arguments, **by_name))
            finally:
                lifetime.__aexit__(None, None, None)
        made = generator
    else:
        def call(*arguments: Any, **by_name: Any) -> Any:
            if not is_enabled():
                return marked(*arguments, **by_name)
            with region_of(where):
                return marked(*arguments, **by_name)
        made = call
    return functools.wraps(marked)(made)


class collector:  # pylint: disable=invalid-name
    """Collects the events of this process, and reports at the end: `with adaptyst.collector(output="profile.json"):`.

    Options are a text, as in docs/options.md ("output=p.json,report=none"), or keywords; the environment variable ADAPTYST overrides both.
    Under `adaptyst run`, which reports instead, the collector does nothing. No method raises: `error` is None, or the reason why no
    collector runs.
    """

    def __init__(self, options: str = "", /, **by_name: Any):
        words = [options] if options else []
        for key, value in by_name.items():
            values = value if isinstance(value, (list, tuple)) else [value]
            words.append(f"{key}={';'.join(map(str, values))}")
        self.options = ",".join(words)
        self.error: Optional[str] = None
        self._runs = False

    def start(self) -> "collector":
        """Starts the collector."""
        try:
            from . import _collector
        except ImportError as missing:
            self.error = f"this build of the Python package has no collector ({missing}); use adaptyst run"
            print(f"adaptyst: {self.error}", file=sys.stderr)
            return self
        try:
            self.error = _collector.start(self.options)
        except (TypeError, ValueError) as wrong:
            self.error = f"options {self.options!r}: {wrong}"
            print(f"adaptyst: {self.error}", file=sys.stderr)
        self._runs = self.error is None
        return self

    def stop(self) -> None:
        """Stops the collector and reports. A second call does nothing."""
        if self._runs:
            from . import _collector
            self._runs = False
            _collector.stop()

    def __enter__(self) -> "collector":
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.stop()
