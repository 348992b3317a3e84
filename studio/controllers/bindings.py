"""The two joints between view models and widgets: a field is shown, a widget's change is stored."""

from __future__ import annotations

from collections.abc import Callable
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
        signal.connect(slot)
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
