"""A dialog that is high enough for its texts, which wrap."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QDialog

FRAME = 60  # of the system around the dialog


class FittingDialog(QDialog):
    """Grows with what it shows, up to the height of the screen.

    Qt gives a dialog no minimum height where that depends on the width: its fields would be cut off.
    """

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show) and self.isVisible():
            self._fit()
        return handled

    def _fit(self) -> None:
        layout = self.layout()
        if layout is None or not layout.hasHeightForWidth():
            return
        room = self.screen().availableGeometry().height() - FRAME
        least = min(layout.minimumHeightForWidth(self.width()), room)
        if self.height() < least:
            self.resize(self.width(), least)
