"""What operators are marked with as they are appended: name scope, device, role in training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from engine.core.context import Setting
from engine.core.errors import ArgumentError

_NO_MARKS: dict[str, Any] = {}
_marks = Setting("operator_marks", _NO_MARKS)


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


# None: no name scope is open in this context.
_scope: Setting[_NameScope | None] = Setting("name_scope", None)
# Each thread numbers its outermost scopes itself: what another one builds does not show in its Program.
_roots: ContextVar[_NameScope | None] = ContextVar("name_scope_root", default=None)


def _innermost() -> _NameScope:
    scope = _scope.get() or _roots.get()
    if scope is None:
        scope = _NameScope()
        _roots.set(scope)
    return scope


def marks() -> dict[str, Any]:
    """The attributes that an operator appended now has, beyond its own."""
    return _marks.get()


@contextmanager
def marked(**attrs: Any) -> Iterator[None]:
    """Within the block, and this context only, appended operators have these attributes."""
    with _marks.guard({**_marks.get(), **attrs}):
        yield


@contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Within the block appended operators say that they belong to ``prefix``; scopes nest.

    In eager mode it does nothing. Raises ArgumentError for a prefix that is not a text.
    """
    if prefix is None or not isinstance(prefix, str) or not prefix:
        raise ArgumentError(f"name_scope: prefix must be a text: got {prefix!r}; pass e.g. 'encoder'")
    scope = _innermost().child(prefix)
    with _scope.guard(scope), marked(op_namescope=scope.path):
        yield


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
