"""The two joints between view models and widgets: a field is shown, a widget's change is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import CO_VARARGS
from typing import Any
from weakref import WeakKeyDictionary


class Bindings:
    """Keeps the joints of one controller, so that all of them can be taken apart at its end.

    When the language changes, each joint of ``show`` shows its value again, in the order in which they were
    made. A controller with texts that no such joint shows names what sets them by ``again``.
    """

    def __init__(self) -> None:
        self._undo: list[Callable[[], Any]] = []
        self._again: list[Callable[[], Any]] = []
        _all[self] = None

    def show(self, model: Any, field: str, show: Callable[[Any], Any]) -> None:
        """View-model field -> widget: ``show`` is called with the value now, and after each real change."""
        self.follow(getattr(model.events, field), show)
        self.again(lambda: show(getattr(model, field)), now=True)

    def show_any(self, model: Any, fields: Iterable[str], show: Callable[[], Any]) -> None:
        """As ``show`` for what shows several fields: ``show`` is called now, and after a change of each."""
        for field in fields:
            self.follow(getattr(model.events, field), lambda _: show())
        self.again(show, now=True)

    def again(self, function: Callable[[], Any], now: bool = False) -> None:
        """Call ``function`` after each change of the language; ``now`` too, if that is asked for."""
        self._again.append(function)
        if now:
            function()

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
        self.forget()
        while self._undo:
            self._undo.pop()()

    def forget(self) -> None:
        """Show nothing again when the language changes."""
        self._again.clear()

    def show_again(self) -> None:
        """Show all that has texts, in the language that holds now."""
        for function in self._again:
            function()


_all: WeakKeyDictionary[Bindings, None] = WeakKeyDictionary()
_at_end: dict[Callable[[], object], None] | None = None  # None where nothing is shown again


def show_all_again() -> None:
    """Let each controller show its texts in another language; the widgets have set those of theirs."""
    global _at_end
    _at_end = {}
    try:
        for bindings in list(_all):
            if not _calls(bindings.show_again):
                bindings.forget()  # its window has gone without closing its controllers
    finally:
        last, _at_end = _at_end, None
    for function in last:
        _calls(function)


def _calls(function: Callable[[], object]) -> bool:
    """Call ``function``; False where its window is deleted."""
    try:
        function()
    except RuntimeError as error:
        if "already deleted" not in str(error):
            raise
        return False
    return True


def once(function: Callable[[], object]) -> None:
    """Call ``function`` now, or once at the end while all is shown again, however many ask for it."""
    if _at_end is None:
        function()
    else:
        _at_end[function] = None


def _most_arguments(slot: Callable[..., Any]) -> int | None:
    """How many positional arguments a Python function or method takes; None for others and for ``*args``.

    psygnal would find it out by ``inspect.signature``, which takes longer than all else about a connection.
    """
    code = getattr(getattr(slot, "__func__", slot), "__code__", None)
    if code is None or code.co_flags & CO_VARARGS:
        return None
    return int(code.co_argcount) - hasattr(slot, "__self__")
