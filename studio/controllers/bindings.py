"""The two joints between view models and widgets: a field is shown, a widget's change is stored."""

from __future__ import annotations

from collections.abc import Callable
from inspect import CO_VARARGS
from typing import Any


class Bindings:
    """Keeps the joints of one controller, so that all of them can be taken apart at its end."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], Any]] = []

    def show(self, model: Any, field: str, show: Callable[[Any], Any]) -> None:
        """View-model field -> widget: ``show`` is called with the value now, and after each real change."""
        self.follow(getattr(model.events, field), show)
        show(getattr(model, field))

    def follow(self, signal: Any, slot: Callable[..., Any]) -> None:
        """Call ``slot`` whenever a signal of the session or of a view model is emitted."""
        signal.connect(slot, max_args=_most_arguments(slot))
        self._undo.append(lambda: signal.disconnect(slot, missing_ok=True))

    def store(
        self, changed: Any, model: Any, field: str, convert: Callable[[Any], Any] = lambda value: value
    ) -> None:
        """Widget -> view-model field: what the Qt signal ``changed`` carries is set as the field."""

        def take(value: Any) -> None:
            setattr(model, field, convert(value))

        changed.connect(take)
        self._undo.append(lambda: changed.disconnect(take))

    def release(self) -> None:
        """Take all joints apart."""
        while self._undo:
            self._undo.pop()()


def _most_arguments(slot: Callable[..., Any]) -> int | None:
    """How many positional arguments a Python function or method takes; None for others and for ``*args``.

    psygnal would find it out by ``inspect.signature``, which takes longer than all else about a connection.
    """
    code = getattr(getattr(slot, "__func__", slot), "__code__", None)
    if code is None or code.co_flags & CO_VARARGS:
        return None
    return int(code.co_argcount) - hasattr(slot, "__self__")
