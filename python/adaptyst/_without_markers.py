"""The functions of _markers without the extension: they do nothing, and check as little as the extension does."""
from __future__ import annotations

from typing import Any


class _Nothing:
    """A region, phases or an operation that is not measured."""

    __slots__ = ()

    def __enter__(self) -> "_Nothing":
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    async def __aenter__(self) -> "_Nothing":
        return self

    async def __aexit__(self, *_: Any) -> None:
        return None

    def next(self, name: str, /, **_: Any) -> None:
        """Does nothing."""

    def complete(self, started_ns: int, ended_ns: int, /) -> None:
        """Does nothing."""

    def abandon(self, reason: str = "no_times", /) -> None:
        """Does nothing."""


_nothing = _Nothing()


def region(name: str, /, **_: Any) -> _Nothing:
    """A region that is not measured."""
    return _nothing


def wait(name: str, /) -> _Nothing:
    """A region that is not measured."""
    return _nothing


def offload(name: str, device: Any, /) -> _Nothing:
    """A region that is not measured."""
    return _nothing


def phases() -> _Nothing:
    """Phases that are not measured."""
    return _nothing


def metric(name: str, value: float, /) -> None:
    """Does nothing."""


def mark(name: str, /) -> None:
    """Does nothing."""


def metadata(name: str, value: str, /) -> None:
    """Does nothing."""


def is_enabled() -> bool:
    """False: nothing can observe."""
    return False


def device(kind: str, index: int = 0, name: str = "") -> _Nothing:
    """A device that is not observed."""
    return _nothing


def submit(name: str, device: Any, queue: int = 0, kind: str = "kernel", bytes: Any = None, flops: Any = None) -> _Nothing:  # pylint: disable=redefined-builtin
    """An operation that is not measured."""
    return _nothing


def site(name: str, file: str, function: str, line: int) -> None:
    """For decorators."""


def region_of(_: Any) -> _Nothing:
    """For decorators."""
    return _nothing
