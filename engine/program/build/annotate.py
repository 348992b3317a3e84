"""Marks on appended operators: name scope, device, role in training."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from engine.core.context import Setting
from engine.core.errors import ArgumentError
from engine.core.operators.operator import Operator
from engine.program.graph import delegates

_NO_MARKS: dict[str, Any] = {}
_marks = Setting("operator_marks", _NO_MARKS)
_segment = Setting("segment", 0)
_segments = itertools.count(1)  # of all Programs, since one may become a part of another


class _NameScope:
    """A scope in the tree of name scopes; a prefix that is used again in it is numbered."""

    def __init__(self, path: str = "/") -> None:
        self.path = path
        self._used: dict[str, int] = {}  # how often, by prefix

    def child(self, prefix: str) -> _NameScope:
        number = self._used.get(prefix, 0)
        self._used[prefix] = number + 1
        return _NameScope(f"{self.path}{f'{prefix}_{number}' if number else prefix}/")


# None: no name scope is open in this context.
_scope: Setting[_NameScope | None] = Setting("name_scope", None)
# Each thread numbers its outermost scopes itself: code of other threads does not change its Program.
_roots: ContextVar[_NameScope | None] = ContextVar("name_scope_root", default=None)


def _innermost() -> _NameScope:
    scope = _scope.get() or _roots.get()
    if scope is None:
        scope = _NameScope()
        _roots.set(scope)
    return scope


def segment() -> int:
    """The number of the ``recompute`` call that operators appended now belong to; 0 for none."""
    return _segment.get()


def new_segment() -> int:
    """The number of another group of operators that backward computes again."""
    return next(_segments)


@contextmanager
def recomputed() -> Iterator[None]:
    """Backward recomputes the results of operators appended within the block; one within another is a part of
    it."""
    with _segment.guard(_segment.get() or new_segment()):
        yield


def marks() -> dict[str, Any]:
    """The attributes that an operator appended now has, beyond its own."""
    return _marks.get()


@contextmanager
def marked(**attrs: Any) -> Iterator[None]:
    """Give operators that are appended within the block, in this context only, these attributes."""
    with _marks.guard({**_marks.get(), **attrs}):
        yield


@delegates.of_role.define
def of_role(role: int) -> AbstractContextManager[None]:
    """Give operators that are appended within the block this role in training: Paddle's op_role."""
    return marked(op_role=role)


@contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Mark operators that are appended within the block as belonging to ``prefix``; scopes nest.

    In eager mode it does nothing. Raises ArgumentError for a prefix that is not a string.
    """
    if prefix is None or not isinstance(prefix, str) or not prefix:
        raise ArgumentError(f"name_scope: prefix must be a string: got {prefix!r}; pass e.g. 'encoder'")
    scope = _innermost().child(prefix)
    with _scope.guard(scope), marked(op_namescope=scope.path):
        yield


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Mark operators that are appended within the block with a device: 'cpu', 'gpu', 'gpu:0', or None.

    An Executor runs a whole Program on its own place; the mark is stored and printed. Raises ArgumentError
    for another device.
    """
    name, _, index = (device or "").partition(":")
    if device is not None and (name not in ("cpu", "gpu") or (index and not index.isdigit())):
        raise ArgumentError(f"device_guard: device {device!r} is unknown; use 'cpu', 'gpu', 'gpu:N' or None")
    with marked(op_device=device or ""):
        yield


def note_attrs(operator: Operator, **attrs: Any) -> None:
    """Let the operator's text show these attributes."""
    operator.note("attrs", {**(operator.notes or {}).get("attrs", {}), **attrs})
