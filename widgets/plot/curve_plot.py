"""CurvePlot: the curves of one quantity with their legend, smoothing, log axis, read-out and export."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QSlider,
    QStackedWidget,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from widgets import theme
from widgets.cards import Chip
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.plot.chart import Chart
from widgets.plot.export import write_csv
from widgets.plot.series import Series
from widgets.plot.smoothing import FORMULA
from widgets.plot.table import PointsModel

Floats = NDArray[np.float64]

TABLE_MS = 1000


class CurvePlot(QWidget):
    """Several series over one x axis (a training step, usually).

    Every point is kept: `series_data` and the CSV file hold all of them, only the drawing is reduced, to at
    most two points a pixel. Redraws are batched to 20 a second whatever the rate of `append`.
    """

    exported = Signal(str)
    export_failed = Signal(str)

    def __init__(self, title: str = "", x_label: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._series: dict[str, Series] = {}
        self._chips: dict[str, Chip] = {}
        self._smoothing = 0.0
        self._x_label = x_label
        self._title = QLabel(title)
        self._title.setProperty("role", "title")
        self._title.setVisible(bool(title))
        self._legend = QWidget()
        self._legend_layout = FlowLayout(self._legend, spacing=6)
        self._smoothing_label = QLabel()
        self._smoothing_label.setProperty("role", "mute")
        self._smoothing_label.setFont(theme.font())
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(0, 99)
        self._slider.setFixedWidth(96)
        self._slider.valueChanged.connect(lambda value: self.set_smoothing(value / 100))
        self._smoothing_label.setBuddy(self._slider)
        self._log = Chip(checkable=True)
        self._log.setChecked(False)
        self._log.toggled.connect(self.set_log)
        self._fit, self._table_button, self._export = QToolButton(), QToolButton(), QToolButton()
        for button, name in ((self._fit, "fit"), (self._table_button, "table"), (self._export, "export")):
            set_icon(button, name, "mute")
        self._table_button.setCheckable(True)
        self._table_button.toggled.connect(self.set_table_visible)
        self._chart = Chart(self._series.values, self._rows_at)
        self._fit.clicked.connect(self._chart.show_whole)
        self._export.clicked.connect(self._choose_export)
        self._placeholder_text = ""
        self._placeholder = QLabel(self._chart)
        self._placeholder.setProperty("role", "mute")
        self._placeholder.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._placeholder.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._placeholder.setWordWrap(True)
        self._chart.installEventFilter(self)
        self._points = PointsModel(self._series.values, self)
        self._table = QTableView()
        self._table.setModel(self._points)
        self._table.setFont(theme.font())
        self._table.setShowGrid(False)
        self._table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self._table.verticalHeader().hide()
        self._table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self._table_timer = QTimer(self)
        self._table_timer.setInterval(TABLE_MS)
        self._table_timer.timeout.connect(self._points.refresh)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._chart)
        self._pages.addWidget(self._table)
        self._controls = [
            self._smoothing_label,
            self._slider,
            self._log,
            self._fit,
            self._table_button,
            self._export,
        ]
        self._build()
        self.retranslate()

    def _build(self) -> None:
        header = QHBoxLayout()
        header.setSpacing(theme.SPACE_S)
        header.addWidget(self._title)
        header.addWidget(self._legend, 1)
        for widget in self._controls:
            header.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(header)
        layout.addWidget(self._pages, 1)

    # series

    def add_series(self, key: str, label: str, color: int | str = 0, dashed: bool = False,
                   smooth: bool | None = None) -> None:  # fmt: skip
        """Add a curve with a legend chip. `color` is the number of a run colour, or any colour name.

        A dashed curve (a validation value at each epoch, usually) is not smoothed unless `smooth` says so.

        Raises ValueError for a key that is already there.
        """
        if key in self._series:
            raise ValueError(
                f"CurvePlot.add_series: the key is already there: {key!r}; remove_series() it first"
            )
        series = Series(key, label, color, dashed, smoothable=not dashed if smooth is None else smooth)
        series.smooth(self._smoothing)
        self._series[key] = series
        chip = Chip(label, checkable=True)
        chip.set_color(color, dashed)
        chip.toggled.connect(lambda on, key=key: self.set_series_visible(key, on))
        self._chips[key] = chip
        self._legend_layout.addWidget(chip)
        self._changed()

    def append(self, key: str, xs: ArrayLike, ys: ArrayLike) -> None:
        """Append a batch of points (1-d, same length) to a curve. Raises KeyError and ValueError."""
        x, y = (np.atleast_1d(np.asarray(values, dtype=np.float64)) for values in (xs, ys))
        if x.ndim != 1 or x.shape != y.shape:
            raise ValueError(
                f"CurvePlot.append: xs and ys must be 1-d and equally long: {x.shape} and {y.shape}"
            )
        self._get(key).extend(x, y)
        self._changed()

    def remove_series(self, key: str) -> None:
        """Take a curve and its chip away."""
        del self._series[self._get(key).key]
        chip = self._chips.pop(key)
        self._legend_layout.removeWidget(chip)
        chip.deleteLater()
        self._changed()

    def clear(self) -> None:
        """Take all curves away."""
        for key in list(self._series):
            self.remove_series(key)
        self._chart.show_whole()

    def series_keys(self) -> list[str]:
        """The keys in the order in which they were added."""
        return list(self._series)

    def series_data(self, key: str) -> tuple[Floats, Floats]:
        """Copies of all x and y of a curve, as they were appended."""
        series = self._get(key)
        return series.xs.view().copy(), series.ys.view().copy()

    def smoothed_data(self, key: str) -> Floats:
        """A copy of the smoothed y, one for each point (the y themselves where smoothing is off)."""
        return self._get(key).smoothed.copy()

    def set_series_visible(self, key: str, visible: bool) -> None:
        """Show or hide a curve, as its chip does."""
        self._get(key).visible = visible
        self._chips[key].setChecked(visible)
        self._changed()

    def _get(self, key: str) -> Series:
        if key not in self._series:
            raise KeyError(f"CurvePlot: no such series: {key!r}; there are {list(self._series)}")
        return self._series[key]

    # options

    def set_smoothing(self, weight: float) -> None:
        """The weight of the moving average, 0 (off) to 0.99. Raises ValueError outside."""
        if not 0 <= weight <= 0.99:
            raise ValueError(f"CurvePlot.set_smoothing: the weight must be between 0 and 0.99: {weight}")
        if weight == self._smoothing:
            return
        self._smoothing = self._chart.smoothing = weight
        for series in self._series.values():
            series.smooth(weight)
        self._slider.blockSignals(True)
        self._slider.setValue(round(weight * 100))
        self._slider.blockSignals(False)
        self._label_smoothing()
        self._changed()

    def smoothing(self) -> float:
        """The weight of the moving average; 0 is off."""
        return self._smoothing

    def set_log(self, on: bool) -> None:
        """A logarithmic y axis; values at or below zero can't be shown on it and leave gaps."""
        self._chart.log = on
        self._log.setChecked(on)
        self._changed()

    def is_log(self) -> bool:
        """Whether the y axis is logarithmic."""
        return self._chart.log

    def set_title(self, title: str, x_label: str | None = None) -> None:
        """Change the words at the top and the name of the x axis."""
        self._title.setText(title)
        self._title.setVisible(bool(title))
        if x_label is not None:
            self._x_label = x_label
        self.retranslate()

    def set_placeholder(self, text: str) -> None:
        """What the empty chart says."""
        self._placeholder_text = text
        self._update_placeholder()

    def set_table_visible(self, visible: bool) -> None:
        """Show the points as a table in the place of the chart."""
        self._points.x_label = self._x_label
        self._points.refresh()
        self._pages.setCurrentWidget(self._table if visible else self._chart)
        self._table_button.setChecked(visible)
        if visible:
            self._table_timer.start()
        else:
            self._table_timer.stop()

    def set_controls_visible(self, visible: bool) -> None:
        """Show or hide smoothing, log, table and export (a small chart beside a large one needs none)."""
        for widget in self._controls:
            widget.setVisible(visible)

    @property
    def chart(self) -> Chart:
        """The drawing area, for zooming and reading by code."""
        return self._chart

    # text

    def summary(self) -> str:
        """The curves in words, for people who can't see them."""
        lines = []
        for series in self._series.values():
            ys = series.ys.view()
            finite = ys[np.isfinite(ys)]
            if not len(finite):
                lines.append(self.tr("{0}: no points").format(series.label))
                continue
            at = theme.format_number(float(series.xs.view()[-1]), digits=7)
            text = self.tr("{0}: {1} points, last {2} at {3}, lowest {4}, highest {5}").format(
                series.label, len(series), *[theme.format_number(v) for v in (float(ys[-1]),)], at,
                *[theme.format_number(float(v)) for v in (finite.min(), finite.max())])  # fmt: skip
            if len(finite) < len(ys):
                text += self.tr(", {0} not finite").format(len(ys) - len(finite))
            lines.append(text)
        return "\n".join(lines)

    def _rows_at(self, x: float) -> str:
        tokens = theme.current()
        head = f"{escape(self._x_label or self.tr('step'))} {theme.format_number(x, digits=7)}"
        rows = [f"<tr><td colspan=3 style='color:{tokens.mute}'>{head}</td></tr>"]
        for series in self._series.values():
            index = series.nearest(x) if series.visible else None
            if index is None:
                continue
            y, smooth = (theme.format_number(float(v[index])) for v in (series.ys.view(), series.smoothed))
            own = float(series.xs.view()[index])
            where = f" @ {theme.format_number(own, digits=7)}" if own != x else ""
            extra = (
                f"<td style='color:{tokens.mute}'>&nbsp;{smooth}</td>"
                if self._smoothing and series.smoothable
                else "<td></td>"
            )
            dot = f"<span style='color:{theme.run_color(series.color)}'>\u25cf</span>"
            rows.append(f"<tr><td>{dot}&nbsp;{escape(series.label)}{where}&nbsp;&nbsp;</td>"
                        f"<td align=right><b>{y}</b></td>{extra}</tr>")  # fmt: skip
        return f"<table cellspacing=0 cellpadding=1>{''.join(rows)}</table>"

    def _changed(self) -> None:
        self._chart.schedule()
        self._describe()

    def _describe(self) -> None:
        for key, series in self._series.items():
            chip, bad = self._chips[key], len(series.bad_xs)
            words = f"{series.label} · " + self.tr("{0} not finite").format(bad) if bad else series.label
            if chip.text() != words:
                chip.setText(words)
                chip.setToolTip(self.tr("Marked with a cross at the foot of the chart") if bad else "")
        self._update_placeholder()

    def _update_placeholder(self) -> None:
        empty = not any(len(series) for series in self._series.values())
        self._placeholder.setVisible(empty)
        self._placeholder.setText(self._placeholder_text or self.tr("No points yet"))
        self._placeholder.setGeometry(self._chart.rect().adjusted(40, 0, -10, -20))

    def _label_smoothing(self) -> None:
        value = f"{self._smoothing:.2f}" if self._smoothing else self.tr("off")
        self._smoothing_label.setText(self.tr("smoothing {0}").format(value))
        widest = max(self.tr("smoothing {0}").format(v) for v in ("0.00", self.tr("off")))
        self._smoothing_label.setMinimumWidth(
            self._smoothing_label.fontMetrics().horizontalAdvance(widest) + 2
        )

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tip = self.tr(
            "Moving average with weight a, corrected for its start; 0 is off, every point stays visible."
        )
        for widget in (self._slider, self._smoothing_label):
            widget.setToolTip(f"{tip}\n{FORMULA}")
        self._slider.setAccessibleName(self.tr("Smoothing"))
        self._log.setText(self.tr("log"))
        self._log.setToolTip(self.tr("Logarithmic y axis; values at or below zero are not shown on it"))
        self._fit.setToolTip(self.tr("Show the whole run (Home, or double click)"))
        self._fit.setAccessibleName(self.tr("Show the whole run"))
        self._table_button.setToolTip(self.tr("Show the points as a table"))
        self._table_button.setAccessibleName(self.tr("Show the points as a table"))
        self._table.setAccessibleName(self.tr("{0}, table of the points").format(self._title.text()))
        self._export.setToolTip(self.tr("Save all points as CSV"))
        self._export.setAccessibleName(self.tr("Save all points as CSV"))
        self._chart.setAccessibleName(self.tr("{0}, chart").format(self._title.text()))
        self._chart.setToolTip("")
        self.setAccessibleName(self._title.text())
        self._label_smoothing()
        self._describe()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._update_placeholder()
        elif event.type() in (QEvent.Type.FocusIn, QEvent.Type.Enter):
            # The words are made when somebody may read them, not at every point.
            self._chart.setAccessibleDescription(self.summary())
        return False

    # export

    def export_csv(self, path: str | Path) -> None:
        """Write all points of all series, one a line: series, x, value. The file is whole or unchanged.

        Raises OSError where it can't be written.
        """
        write_csv(path, self._x_label or "step", self._series.values())

    def _choose_export(self) -> None:
        name = (self._title.text() or "curves").lower().replace(" ", "-") + ".csv"
        path, _ = QFileDialog.getSaveFileName(
            self, self.tr("Save all points"), name, self.tr("CSV files (*.csv)")
        )
        if not path:
            return
        try:
            self.export_csv(path)
        except OSError as error:
            self.export_failed.emit(
                self.tr("{0}: the points were not saved: {1}").format(path, error.strerror)
            )
        else:
            self.exported.emit(path)
