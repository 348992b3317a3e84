"""What stands next to curves: smoothing, and the actions fit, table, and save as CSV, PNG or SVG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QSlider, QToolButton, QWidget

from widgets import theme
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import horizontal
from widgets.plot.smoothing import FORMULA, SHARES
from widgets.retranslated import Retranslated

SLIDER_PX = 88


class SmoothingControl(Retranslated, QWidget):
    """A slider over the shares of a run that an average can reach over; its first place is off."""

    changed = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label, self.slider = mute(), QSlider(Qt.Orientation.Horizontal)
        self.label.setFont(theme.font())
        self.label.setBuddy(self.slider)
        self.slider.setRange(0, len(SHARES) - 1)
        self.slider.setPageStep(2)
        self.slider.setFixedWidth(SLIDER_PX)
        self.slider.valueChanged.connect(self._moved)
        layout = horizontal(self, 0)
        layout.addWidget(self.label)
        layout.addWidget(self.slider)
        self.retranslate()

    def set_share(self, share: float) -> None:
        """Show a share; the nearest choice if it is not one of them. Emits no signal."""
        self.slider.blockSignals(True)
        self.slider.setValue(min(range(len(SHARES)), key=lambda place: abs(SHARES[place] - share)))
        self.slider.blockSignals(False)
        self._name()

    def share(self) -> float:
        """The share that is shown; 0 is off."""
        return SHARES[self.slider.value()]

    def _moved(self) -> None:
        self._name()
        self.changed.emit(self.share())

    def _words(self, share: float) -> str:
        value = theme.format_number(share * 100, "%") if share else self.tr("off")
        return self.tr("smoothing {0}").format(value)

    def _name(self) -> None:
        self.label.setText(self._words(self.share()))
        self.slider.setAccessibleDescription(self.label.text())

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tip = self.tr(
            "Moving average over this share of the run's points, corrected for its start; at 0 it is off. "
            "The raw curve stays behind it: where points are dense, a band from the least to the greatest."
        )
        for widget in (self.slider, self.label):
            widget.setToolTip(f"{tip}\n{self.tr(FORMULA)}")
        self.slider.setAccessibleName(self.tr("Smoothing"))
        metrics = self.label.fontMetrics()
        self.label.setMinimumWidth(max(metrics.horizontalAdvance(self._words(share)) for share in SHARES) + 2)
        self._name()


CarryOut: TypeAlias = Callable[[Callable[[], None], Callable[[OSError | None], None]], None]


def at_once(work: Callable[[], None], done: Callable[[OSError | None], None]) -> None:
    """Carry out ``work`` now."""
    try:
        work()
    except OSError as error:
        done(error)
    else:
        done(None)


class PlotActions(Retranslated, QWidget):
    """Small buttons: fit, table, and a menu that saves; ``saved`` and ``failed`` say what came of that.

    Args:
        writer: gives what writes a file of the kind csv, png or svg; that raises OSError.
        copy: copies the image.

    ``carry_out`` gets the work that writes, and what to call with its error or None: an application may give
    it to a thread.
    """

    fit_requested = Signal()
    table_toggled = Signal(bool)
    saved = Signal(str)
    failed = Signal(str)

    def __init__(
        self,
        writer: Callable[[str], Callable[[Path], None]],
        copy: Callable[[], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._writer, self._title = writer, ""
        self.carry_out: CarryOut = at_once
        self.fit, self.table, self.export = QToolButton(), QToolButton(), QToolButton()
        layout = horizontal(self, 0, 0)
        for button, name in ((self.fit, "fit"), (self.table, "table"), (self.export, "export")):
            set_icon(button, name, "mute")
            layout.addWidget(button)
        self.table.setCheckable(True)
        self.menu = QMenu(self)
        self.copying = self.menu.addAction("", copy)
        self.kinds: dict[str, QAction] = {kind: self.menu.addAction("") for kind in ("csv", "png", "svg")}
        for kind, action in self.kinds.items():
            action.triggered.connect(lambda _=False, kind=kind: self._choose(kind))
        self.export.setProperty("role", "menu")
        self.export.setMenu(self.menu)
        self.export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.fit.clicked.connect(self.fit_requested)
        self.table.toggled.connect(self.table_toggled)
        self.retranslate()

    def set_title(self, title: str) -> None:
        """What the files are called after."""
        self._title = title
        self.retranslate()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        words = {
            self.fit: (self.tr("Show the whole run"), self.tr("Show the whole run (Home, or double click)")),
            self.table: (self.tr("Show the points as a table"), ""),
            self.export: (
                self.tr("Save points or image"),
                self.tr("Save all points as CSV, or the image as PNG or SVG"),
            ),
        }
        for button, (name, tip) in words.items():
            button.setAccessibleName(f"{self._title}: {name}" if self._title else name)
            button.setToolTip(tip or name)
        self.copying.setText(self.tr("Copy image"))
        self.kinds["csv"].setText(self.tr("All points (CSV)…"))
        self.kinds["png"].setText(self.tr("Image (PNG)…"))
        self.kinds["svg"].setText(self.tr("Image (SVG)…"))

    def _choose(self, kind: str) -> None:
        title = self.tr("Save all points") if kind == "csv" else self.tr("Save the image")
        name = f"{(self._title or 'curves').lower().replace(' ', '-')}.{kind}"
        kinds = self.tr("{0} files (*.{1})").format(kind.upper(), kind)
        path, _ = QFileDialog.getSaveFileName(self, title, name, kinds)
        if not path:
            return
        write = self._writer(kind)
        self.carry_out(lambda: write(Path(path)), lambda error: self._done(path, error))

    def _done(self, path: str, error: OSError | None) -> None:
        if error is None:
            self.saved.emit(path)
            return
        words = self.tr("{0}: nothing was saved: {1}; choose another place")
        self.failed.emit(words.format(path, error.strerror or error))
