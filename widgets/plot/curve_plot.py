"""CurvePlot: the curves of one quantity with their legend, smoothing, log axis, read-out and export."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QHeaderView,
    QStackedWidget,
    QTableView,
    QWidget,
)

from resources import quantities
from resources.replacing import replaced_file
from widgets import theme
from widgets.cards import Chip
from widgets.image_bytes import CopyMenu, copy_image
from widgets.labels import heading, mute
from widgets.layouts import horizontal, vertical
from widgets.plot.chart import Chart
from widgets.plot.controls import PlotActions, SmoothingControl
from widgets.plot.export import csv_writer
from widgets.plot.image_export import image_of
from widgets.plot.legend import Legend
from widgets.plot.series import Series
from widgets.plot.smoothing import SHARES
from widgets.plot.table import PointsModel
from widgets.plot.words import Write, rows_at, summary
from widgets.retranslated import Retranslated

Floats = NDArray[np.float64]

TABLE_MS = 1000
LEFT_OUT_PX = 30
MOST_IN_HEADER = 3


class CurvePlot(Retranslated, QWidget):
    """Several series over one x axis (a training step, usually).

    Every point is stored: `series_data` and the CSV file hold all of them, only the drawing is reduced, to at
    most two points a pixel. Redraws are batched to 20 a second whatever the rate of `append`.
    """

    exported = Signal(str)
    export_failed = Signal(str)
    curve_clicked = Signal(str)

    def __init__(self, title: str = "", x_label: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._series: dict[str, Series] = {}
        self._companions: dict[str, list[str]] = {}  # curves that another one's chip stands for
        self._smoothing = 0.0
        self._write: Write = quantities.number
        self._x_label, self._y_label = x_label, ""
        self._title = heading(title)
        self._title.setVisible(bool(title))
        self._legend = Legend()
        self._legend.toggled.connect(self.set_series_visible)
        self._control = SmoothingControl()
        self._control.changed.connect(self.set_smoothing)
        self._log = Chip(checkable=True)
        self._log.setChecked(False)
        self._log.toggled.connect(self.set_log)
        self.actions_bar = PlotActions(self.writer, self.copy)
        self.actions_bar.table_toggled.connect(self.set_table_visible)
        self.actions_bar.saved.connect(self.exported)
        self.actions_bar.failed.connect(self.export_failed)
        self._chart = Chart(self._series.values, self._rows_at)
        self.actions_bar.fit_requested.connect(self._chart.show_whole)
        # On the chart, so that the layout doesn't move when values are omitted.
        self._left_out = Chip(parent=self._chart, checkable=True)
        self._left_out.setChecked(False)
        self._left_out.hide()
        self._left_out.toggled.connect(self.set_whole_range)
        self._chart.curve_clicked.connect(self.curve_clicked)
        self._chart.left_out_changed.connect(self._show_left_out)
        self._placeholder_text = ""
        self._placeholder = mute(self._chart, wrap=True)
        self._placeholder.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._placeholder.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._chart.installEventFilter(self)
        CopyMenu(self._chart, self.image)
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
        self._build()
        self.retranslate()

    def _build(self) -> None:
        self._header = header = horizontal(None, 0)
        header.addWidget(self._title)
        header.addWidget(self._legend, 1000, Qt.AlignmentFlag.AlignVCenter)
        header.addStretch(1)  # where the legend is below it
        for widget in (self._control, self._log, self.actions_bar):
            header.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self._lines = vertical(self, 0, theme.SPACE_XS)
        self._lines.addLayout(header)
        self._lines.addWidget(self._pages, 1)

    def _place_legend(self) -> None:
        """A few chips are next to the title, more of them below it, in the width of the chart."""
        below = self._legend.count() > MOST_IN_HEADER
        if below != (self._lines.indexOf(self._legend) >= 0):
            (self._header if below else self._lines).removeWidget(self._legend)
            if below:
                self._lines.insertWidget(1, self._legend)
            else:
                self._header.insertWidget(1, self._legend, 1000, Qt.AlignmentFlag.AlignVCenter)

    def set_format(self, write: Write, percent: bool = False) -> None:
        """How values are written where the pointer is and in the summary; ``percent`` has the axis show
        shares as percentages."""
        self._write = write
        self._chart.set_percent(percent)
        self._describe()

    # series

    def add_series(
        self,
        key: str,
        label: str,
        color: int | str = 0,
        dashed: bool = False,
        smooth: bool | None = None,
        companion_of: str = "",
    ) -> None:
        """Add a curve with a legend chip. `color` is the number of a run colour, or any colour name.

        A dashed curve (a validation value at each epoch, usually) is not smoothed unless `smooth` says so. A
        curve that is the `companion_of` another has no chip: the chip of the other one shows and hides both.

        Raises ValueError for a key that is already there, KeyError if the companion does not exist.
        """
        if key in self._series:
            raise ValueError(
                f"CurvePlot.add_series: the key is already there: {key!r}; remove_series() it first"
            )
        if companion_of:
            self._companions.setdefault(self._get(companion_of).key, []).append(key)
        series = Series(key, label, color, dashed, smoothable=not dashed if smooth is None else smooth)
        series.smooth(self._smoothing)
        self._series[key] = series
        if not companion_of:
            self._legend.add(key, label, color, dashed)
            self._place_legend()
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
        """Take a curve and its chip away, with the curves next to it."""
        del self._series[self._get(key).key]
        for companion in self._companions.pop(key, ()):
            self._series.pop(companion, None)
        self._legend.remove(key)
        self._place_legend()
        self._changed()

    def clear(self) -> None:
        """Take all curves away."""
        for key in list(self._series):
            if key in self._series:  # it may have gone with another one
                self.remove_series(key)
        self.set_marks([])
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
        for one in (key, *self._companions.get(key, ())):
            self._get(one).visible = visible
            self._legend.set_shown(one, visible)
        self._changed()

    def set_front(self, keys: Collection[str]) -> None:
        """Draw these curves over the others, which are paler; none to draw all alike."""
        for key, series in self._series.items():
            series.quiet = bool(keys) and key not in keys
        self._legend.set_front(keys)
        self._changed()

    def quiet(self) -> list[str]:
        """The keys of the curves that are paler than others."""
        return [key for key, series in self._series.items() if series.quiet]

    def _get(self, key: str) -> Series:
        if key not in self._series:
            raise KeyError(f"CurvePlot: no such series: {key!r}; there are {list(self._series)}")
        return self._series[key]

    # options

    def set_smoothing(self, share: float) -> None:
        """The share of a run's points that the moving average reaches over, 0 (off) to 0.2.

        Raises ValueError outside.
        """
        if not 0 <= share <= SHARES[-1]:
            raise ValueError(
                f"CurvePlot.set_smoothing: the share must be between 0 and {SHARES[-1]}: {share}"
            )
        if share == self._smoothing:
            return
        self._smoothing = share
        for series in self._series.values():
            series.smooth(share)
        self._control.set_share(share)
        self._changed()

    def smoothing(self) -> float:
        """The share of a run's points that the moving average reaches over; 0 is off."""
        return self._smoothing

    def set_best(self, key: str, x: float | None) -> None:
        """Mark the point at x as the best of a curve with a ring; None for none."""
        self._get(key).best = x
        self._changed()

    def set_marks(self, xs: ArrayLike) -> None:
        """Short ticks at the foot of the chart: where epochs end."""
        self._chart.marks = np.asarray(xs, dtype=np.float64)
        self._chart.schedule()

    def set_robust(self, on: bool) -> None:
        """Whether the y range may omit extreme values; a chip then says so and shows them again."""
        self._chart.robust = on
        self._changed()

    def set_whole_range(self, on: bool) -> None:
        """Let the y axis reach to all values, however far out."""
        self._left_out.setChecked(on)
        self._chart.set_whole_range(on)
        self._show_left_out()

    def set_log(self, on: bool) -> None:
        """A logarithmic y axis; values at or below zero can't be shown on it and leave gaps."""
        self._chart.log = on
        self._log.setChecked(on)
        self._changed()

    def set_title(self, title: str, x_label: str | None = None, y_label: str = "") -> None:
        """Change the words at the top and the names of the axes; y is called as the title where no other is
        given."""
        self._title.setText(title)
        self._title.setVisible(bool(title))
        self._y_label = y_label
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
        self.actions_bar.table.setChecked(visible)
        if visible:
            self._table_timer.start()
        else:
            self._table_timer.stop()

    def set_controls_visible(self, visible: bool) -> None:
        """Show or hide smoothing and log, for a plot whose owner has them for several; the actions stay."""
        self._control.setVisible(visible)
        self._log.setVisible(visible)

    @property
    def chart(self) -> Chart:
        """The drawing area, for zooming and reading by code."""
        return self._chart

    # text

    def summary(self) -> str:
        """The curves in words, for people who can't see them."""
        return "\n".join(filter(None, (summary(self._series.values(), self._write), self._words_left_out())))

    def _rows_at(self, x: float) -> str:
        head = f"{self._x_label or self.tr('step')} {theme.format_number(x, digits=7)}"
        return rows_at(x, head, self._series.values(), self._write)

    def _words_left_out(self) -> str:
        count, farthest = self._chart.left_out
        if not count:
            return ""
        reach = self._write(farthest)
        if count == 1:
            return self.tr("1 omitted: {0}").format(reach)
        return self.tr("{0} omitted, up to {1}").format(theme.format_number(count), reach)

    def _show_left_out(self) -> None:
        chip, words = self._left_out, self._words_left_out()
        chip.setVisible(bool(words) or self._chart.whole_range)
        chip.setText(
            self.tr("whole range") if self._chart.whole_range else self.tr("{0} · whole range").format(words)
        )
        chip.setToolTip(self.tr("Values so far out would flatten all others. This shows the whole range."))
        room = self._chart.width() - 2 * LEFT_OUT_PX
        chip.resize(min(chip.sizeHint().width(), max(room, 80)), chip.sizeHint().height())
        chip.move(self._chart.width() - chip.width() - LEFT_OUT_PX, 4)

    def _changed(self) -> None:
        self._chart.schedule()
        self._describe()

    def _describe(self) -> None:
        for key, chip in self._legend.chips.items():
            series = self._series[key]
            bad = len(series.bad_xs)
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

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self._log.setText(self.tr("log"))
        self._log.setToolTip(self.tr("Logarithmic y axis; values at or below zero are not shown on it"))
        self._table.setAccessibleName(self.tr("{0}, table of the points").format(self._title.text()))
        self._chart.setAccessibleName(self.tr("{0}, chart").format(self._title.text()))
        self._chart.setToolTip("")
        self.setAccessibleName(self._title.text())
        self._chart.set_titles(self._x_label or self.tr("step"), self._y_label or self._title.text())
        self.actions_bar.set_title(self._title.text())
        self._show_left_out()
        self._describe()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._update_placeholder()
            self._show_left_out()
        elif event.type() in (QEvent.Type.FocusIn, QEvent.Type.Enter):
            # The description is built when it may be read, not at every point.
            self._chart.setAccessibleDescription(self.summary())
        return False

    # export

    def export_csv(self, path: str | Path) -> None:
        """Write all points of all series, one a line: series, x, value. The file is whole or unchanged.

        Raises OSError where it can't be written.
        """
        self.writer("csv")(Path(path))

    def export(self, kind: str, path: Path) -> None:
        """Write all points (csv), or the image as it is now (png, svg). Raises OSError."""
        self.writer(kind)(path)

    def writer(self, kind: str) -> Callable[[Path], None]:
        """What writes the points or the image as they are now, in any thread; raises OSError."""
        if kind == "csv":
            return csv_writer(self._x_label or "step", self._series.values())
        content = self.image(kind)

        def write(path: Path) -> None:
            with replaced_file(path) as file:
                file.write(content)

        return write

    def image(self, kind: str = "png") -> bytes:
        """The image as it is now, as a file: png or svg."""
        return image_of(kind, self._title.text(), self._series.values(), self._chart)

    def copy(self) -> None:
        """Put the image into the clipboard."""
        copy_image(self.image())
