"""ViewControls: the buttons over a diagram that zoom and fit it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QToolButton, QWidget

from widgets import theme
from widgets.icons import set_icon
from widgets.layouts import vertical
from widgets.retranslated import Retranslated


class ViewControls(Retranslated, QFrame):
    """``zoomed`` carries 1 to zoom in and -1 to zoom out; ``fitted`` asks for all to be shown."""

    zoomed = Signal(int)
    fitted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        layout = vertical(self, 2, spacing=2)
        self._in, self._out, self._fit = (QToolButton() for _ in range(3))
        for button, name in ((self._in, "plus"), (self._out, "minus"), (self._fit, "fit")):
            set_icon(button, name)
            button.setIconSize(QSize(theme.ICON_SIZE, theme.ICON_SIZE))
            layout.addWidget(button)
        self._in.clicked.connect(lambda: self.zoomed.emit(1))
        self._out.clicked.connect(lambda: self.zoomed.emit(-1))
        self._fit.clicked.connect(self.fitted)
        self.retranslate()
        self.adjustSize()

    def retranslate(self) -> None:
        for button, words, keys in (
            (self._in, self.tr("Zoom in"), "+"),
            (self._out, self.tr("Zoom out"), "−"),
            (self._fit, self.tr("Show all"), "0"),
        ):
            button.setAccessibleName(words)
            button.setToolTip(f"{words} ({keys})")
