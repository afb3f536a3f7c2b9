"""The functions of _markers without the extension: they do nothing, and check devices, kinds and reasons as the extension does."""
from __future__ import annotations

from typing import Any, Iterator, Sequence

_DEVICE_KINDS = ("cpu", "gpu", "fpga", "accelerator", "other")
_OPERATION_KINDS = ("kernel", "copy_to", "copy_from", "fill", "other")
_LOSSES = ("no_times", "unknown_clock", "device_lost")


def _check_word(words: Sequence[str], word: str, what: str) -> None:
    if not isinstance(word, str):
        raise TypeError(f"a {what} is a text, not {word!r}")
    if word not in words:
        raise ValueError(f"'{word}' is no {what}; expected: {', '.join(words)}")


class _Done:
    """An awaitable with the result None at once: code that is no coroutine may drop it."""

    __slots__ = ()

    def __await__(self) -> Iterator[None]:
        return iter(())


_done = _Done()


class _Device:
    """A device that is not observed."""

    __slots__ = ()


class _Scope:
    """A region that is not measured, and that coroutines cannot enter."""

    __slots__ = ()

    def __enter__(self) -> "_Scope":
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def __aenter__(self) -> _Done:
        raise TypeError("adaptyst.wait() and adaptyst.offload() need `with`: use `async with adaptyst.region()` in coroutines")

    def __aexit__(self, *_: Any) -> _Done:
        return _done


class _Region(_Scope):
    """A region that is not measured."""

    __slots__ = ()

    def __aenter__(self) -> _Done:
        return _done


class _Phases(_Scope):
    """Phases that are not measured."""

    __slots__ = ()

    def next(self, name: str, /, **_: Any) -> None:
        """Does nothing."""


class _Operation:
    """An operation that is not measured."""

    __slots__ = ()

    def complete(self, started_ns: int, ended_ns: int, /) -> None:
        """Does nothing."""

    def abandon(self, reason: str = "no_times", /) -> None:
        """Does nothing."""
        _check_word(_LOSSES, reason, "reason")


_region, _scope, _phases, _operation, _device = _Region(), _Scope(), _Phases(), _Operation(), _Device()


def region(name: str, /, **_: Any) -> _Region:
    """A region that is not measured."""
    return _region


def wait(name: str, /) -> _Scope:
    """A region that is not measured."""
    return _scope


def offload(name: str, device: Any, /) -> _Scope:
    """A region that is not measured."""
    if not isinstance(device, _Device):
        raise TypeError("adaptyst.offload() needs a name and an adaptyst.device")
    return _scope


def phases() -> _Phases:
    """Phases that are not measured."""
    return _phases


def metric(name: str, value: float, /) -> None:
    """Does nothing."""


def mark(name: str, /) -> None:
    """Does nothing."""


def metadata(name: str, value: str, /) -> None:
    """Does nothing."""


def is_enabled() -> bool:
    """False: nothing can observe."""
    return False


def device(kind: str, index: int = 0, name: str = "") -> _Device:
    """A device that is not observed."""
    _check_word(_DEVICE_KINDS, kind, "kind of device")
    return _device


def submit(name: str, device: Any, queue: int = 0, kind: str = "kernel", bytes: Any = None, flops: Any = None) -> _Operation:  # pylint: disable=redefined-builtin
    """An operation that is not measured."""
    _check_word(_OPERATION_KINDS, kind, "kind of operation")
    if not isinstance(device, _Device):
        raise TypeError("adaptyst.submit() needs an adaptyst.device")
    return _operation


def site(name: str, file: str, function: str, line: int) -> None:
    """For decorators."""


def region_of(_: Any) -> _Region:
    """For decorators."""
    return _region
