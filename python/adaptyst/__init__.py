"""Adaptyst for Python: read profiles and traces, and mark programs.

    import adaptyst

    profile = adaptyst.load("profile.json")        # or "p-*.json", of several ranks
    print(profile.tree())
    profile.to_dataframe()

    with adaptyst.region("solve", bytes=n):        # measured by `adaptyst run -- python3 program.py`
        ...

    @adaptyst.function
    def assemble(): ...

Reading needs the standard library only; data frames need pandas, plots matplotlib. Several profiles are merged, and compared, by the
command `adaptyst`. Markers are those of C++ in the same tree; without the extension they do nothing, and `adaptyst.markers_missing` has
the reason. docs/python.md describes all.
"""
from ._command import Error
from ._marking import (collector, device, function, is_enabled, mark, markers_missing, metadata, metric, offload, phases, region, submit,
                       wait)

__version__ = "0.1.0"

_READING = {"Comparison": "_profile", "Histogram": "_profile", "Profile": "_profile", "Quantile": "_profile", "Region": "_profile",
            "compare": "_profile", "load": "_profile", "Span": "_trace", "Trace": "_trace", "open_trace": "_trace"}

__all__ = ["Error", "collector", "device", "function", "is_enabled", "mark", "markers_missing", "metadata", "metric", "offload", "phases",
           "region", "submit", "wait", *_READING]


def __getattr__(name):
    # Marked programs do not load what reads files.
    if name in _READING:
        import importlib
        value = getattr(importlib.import_module("." + _READING[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_READING})
