"""Retranslated: a widget whose texts follow the application's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget as _Base
else:
    # Qt allows one of its classes among the bases, and this stands before it.
    _Base = object


class Retranslated(_Base):
    """Mixin, the first base of a widget: Qt's event for a new language calls ``retranslate``.

    The widget calls ``retranslate`` itself at the end of ``__init__``, so that each text is set in one place.
    """

    def retranslate(self) -> None:
        """Set all texts, in the current language."""
        raise NotImplementedError

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)
