"""What operators are marked with as they are appended: name scope, device, role in training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.core.errors import ArgumentError

_marks: list[dict[str, Any]] = [{}]


class _NameScope:
    """A scope in the tree of name scopes; a prefix that is used again in it is numbered."""

    def __init__(self, path: str = "/") -> None:
        self.path = path
        self._children: dict[str, list[_NameScope]] = {}

    def child(self, prefix: str) -> _NameScope:
        known = self._children.setdefault(prefix, [])
        name = prefix if not known else f"{prefix}_{len(known)}"
        made = _NameScope(f"{self.path}{name}/")
        known.append(made)
        return made


_scopes = [_NameScope()]


def marks() -> dict[str, Any]:
    """The attributes that an operator appended now has, beyond its own."""
    return _marks[-1]


@contextmanager
def marked(**attrs: Any) -> Iterator[None]:
    """Within the block appended operators have these attributes."""
    _marks.append({**_marks[-1], **attrs})
    try:
        yield
    finally:
        _marks.pop()


@contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Within the block appended operators say that they belong to ``prefix``; scopes nest.

    In eager mode it does nothing. Raises ArgumentError for a prefix that is no text.
    """
    if prefix is None or not isinstance(prefix, str) or not prefix:
        raise ArgumentError(f"name_scope: prefix must be a text: got {prefix!r}; pass e.g. 'encoder'")
    _scopes.append(_scopes[-1].child(prefix))
    try:
        with marked(op_namescope=_scopes[-1].path):
            yield
    finally:
        _scopes.pop()


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Within the block appended operators say which device they are for: 'cpu', 'gpu', 'gpu:0', or None.

    An Executor runs a whole Program on its own place; the mark is kept and printed. Raises ArgumentError for
    another device.
    """
    name, _, index = (device or "").partition(":")
    if device is not None and (name not in ("cpu", "gpu") or (index and not index.isdigit())):
        raise ArgumentError(f"device_guard: device {device!r} is none of 'cpu', 'gpu', 'gpu:N', None")
    with marked(op_device=device or ""):
        yield
