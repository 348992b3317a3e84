"""ParallelCoordinates: settings and results of many runs as lines over axes; ranges on axes select runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QToolTip, QWidget

from widgets import theme
from widgets.diagram import ColorScale, Column, Diagram, Layer
from widgets.parallel.axes import NEAR_END, Axes, Layout
from widgets.parallel.axis_menu import axis_menu
from widgets.parallel.drawing import Lines, paint_axes, paint_brushes

NEAR_LINE = 6.0
CLICK = 4.0  # the pointer has moved no further than this in a click
REFINE_MS = 120  # lines become smooth once the brush has rested so long


class ParallelCoordinates(Diagram):
    """A line for each row over an axis for each column; missing values are on a mark below their axis.

    Drag along an axis to select a range, drag the range to move it or an end of it to change it, click to
    clear it. Drag a title to move its axis; its menu makes it logarithmic, flips it, or colours lines by it.
    ``axes_changed`` reports another order or form of the axes, ``color_requested`` carries the name of the
    column that lines should be coloured by.
    """

    axes_changed = Signal()
    color_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._axes = Axes()
        self._colors = ColorScale()
        self._codes: list[int] = []
        self._order: NDArray[np.int64] = np.zeros(0, np.int64)
        self._layout: Layout | None = None
        self._lines: Lines | None = None
        self._drawn_axes: tuple[tuple[Layout, int | None, float | None], QPixmap] | None = None
        self._faint, self._bright = Layer(self), Layer(self)
        for layer in (self._faint, self._bright):
            layer.advanced.connect(self.update)
        self._refine = QTimer(self)
        self._refine.setSingleShot(True)
        self._refine.setInterval(REFINE_MS)
        self._refine.timeout.connect(partial(self._begin_bright, True))
        self._pointed: int | None = None
        self._current: int | None = None
        # What a press began: the kind (draw, move, low, high, title), the axis, where, and its range then.
        self._drag: tuple[str, int, QPointF, tuple[float, float]] | None = None
        self._moved: float | None = None
        self.describe()

    # ----- values -----

    def set_data(
        self,
        keys: Sequence[str],
        names: Sequence[str],
        columns: Sequence[Column],
        color: Column | None = None,
    ) -> None:
        """Show rows with a value of each column. Order, forms and ranges of known columns stay.

        Raises ValueError where the lengths differ.
        """
        brushed, before = self._axes.brushed, self.selection()
        self._set_rows(keys, names, [*columns, *([] if color is None else [color])])
        self._axes.take(columns)
        self._current = None if self._current is None or self._current >= len(self._axes) else self._current
        self._pointed = self._drag = self._moved = None
        self._set_color(color)
        self.refresh()
        if brushed:
            # Rows that came are in the ranges or not: the selection follows.
            self._chosen = self._axes.mask(len(self._keys))
            if self.selection() != before:
                self.selected.emit(self.selection())
        self.describe()

    def _set_color(self, color: Column | None) -> None:
        self._colors = ColorScale(color)
        codes = self._colors.codes()
        self._codes = codes.tolist()
        # Rows of one colour are drawn together; rows without a value first, below all others.
        missing = len(self._colors.colors()) - 1
        self._order = np.argsort(np.where(codes == missing, -1, codes), kind="stable")
        if not len(codes):
            self._order = np.arange(len(self._keys))

    def axes(self) -> list[str]:
        """The names of the columns in their order."""
        return [axis.column.name for axis in self._axes]

    def forms(self) -> dict[str, tuple[bool, bool]]:
        """For each column whether its axis is logarithmic, and whether it is flipped."""
        return {axis.column.name: (axis.log, axis.flipped) for axis in self._axes}

    def arrange(self, names: Sequence[str], forms: Mapping[str, tuple[bool, bool]] | None = None) -> None:
        """Put axes into this order, others after them, in these forms."""
        self._axes.arrange(names, forms or {})
        self.refresh()

    def move_axis(self, place: int, to: int) -> None:
        """Move an axis to another position."""
        to = min(max(to, 0), len(self._axes) - 1)
        if place != to:
            self._axes.insert(to, self._axes.pop(place))
            self._current = to
            self.refresh()
            self.axes_changed.emit()

    def set_form(self, place: int, log: bool, flipped: bool) -> None:
        """Make an axis linear or logarithmic, or flip it."""
        self._axes[place].set_form(log, flipped)
        self.refresh()
        self.axes_changed.emit()

    # ----- ranges -----

    def brushes(self) -> dict[str, str]:
        """The selected ranges in words, by column."""
        return {axis.column.name: axis.brush_text() for axis in self._axes if axis.brush is not None}

    def brush(self, place: int, low: float, high: float) -> None:
        """Select the rows between two positions (0 to 1) on an axis, and within the other ranges."""
        self._axes[place].set_units(low, high)
        self._select(self._axes.mask(len(self._keys)))
        self.describe()
        self.update()

    def clear_brush(self, place: int) -> None:
        """Remove the range of an axis."""
        if self._axes[place].brush is not None:
            self._axes[place].brush = None
            self._select(self._axes.mask(len(self._keys)))
            self.describe()
            self.update()

    def clear_selection(self) -> None:
        """Remove all ranges, and select nothing."""
        self._axes.clear_brushes()
        super().clear_selection()
        self.update()

    def set_selection(self, keys: Collection[str]) -> None:
        """Highlight these rows. Ranges that select others are removed."""
        if self._axes.brushed and (self._mask(keys) != self._axes.mask(len(self._keys))).any():
            self._axes.clear_brushes()
            self.update()
        super().set_selection(keys)

    # ----- painting -----

    def refresh(self) -> None:
        self._layout = self._lines = self._drawn_axes = None
        self._faint.stop()
        self._bright.stop()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.refresh()
        super().resizeEvent(event)

    def selection_shown(self) -> None:
        super().selection_shown()
        if self._lines is not None:
            self._begin_bright(False)
            self._refine.start()

    def sizeHint(self) -> QSize:
        return QSize(640, 320)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 180)

    def layout_of_axes(self) -> Layout:
        """Where the axes are."""
        if self._layout is None:
            self._layout = Layout(self._axes, self.width(), self.height())
        return self._layout

    @property
    def painted(self) -> bool:
        """Whether all lines have been painted."""
        return self._lines is not None and self._faint.complete and self._bright.complete

    def _prepare(self) -> None:
        if self._lines is None:
            self._lines = lines = Lines(self.layout_of_axes())
            tokens = theme.current()
            color = theme.mix(tokens.panel, tokens.mute, 0.28)
            self._faint.begin(
                self.size(),
                self.devicePixelRatioF(),
                len(self._keys),
                lambda painter, start, stop: lines.draw(painter, range(start, stop), color),
            )
            self._begin_bright(True)

    def _begin_bright(self, smooth: bool) -> None:
        """Draw the highlighted rows in their colours; not smooth while they change with each movement."""
        lines, codes, colors = self._lines, self._codes, self._colors.colors()
        if lines is None:
            return
        rows = (
            self._order[self.highlighted()[self._order]].tolist()
            if self._chosen.any() or not self._axes.brushed
            else []
        )

        def draw(painter: QPainter, start: int, stop: int) -> None:
            lines.draw_colored(painter, rows[start:stop], codes, colors)

        self._bright.begin(self.size(), self.devicePixelRatioF(), len(rows), draw, smooth)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._axes or not self._keys:
            painter.setPen(QColor(theme.current().mute))
            painter.drawText(
                self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.summary()
            )
            return
        self._prepare()
        painter.drawPixmap(0, 0, self._faint.pixmap)
        painter.drawPixmap(0, 0, self._bright.pixmap)
        layout = self.layout_of_axes()
        for row in (self.current_row(), self._pointed):
            if row is not None and self._lines is not None:
                painter.setPen(QPen(QColor(theme.current().text), 2))
                painter.drawPolyline(self._lines.line(row))
        painter.drawPixmap(0, 0, self._axes_image(layout))
        paint_brushes(painter, layout)

    def _axes_image(self, layout: Layout) -> QPixmap:
        """The axes with their numbers, which a moved range does not change."""
        current = self._current if self.hasFocus() or self._moved is not None else None
        state = layout, current, self._moved
        if self._drawn_axes is None or self._drawn_axes[0] != state:
            ratio = self.devicePixelRatioF()
            size = self.size() * ratio
            image = QPixmap(size.width(), size.height())
            image.setDevicePixelRatio(ratio)
            image.fill(Qt.GlobalColor.transparent)
            painter = QPainter(image)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setFont(self.font())
            paint_axes(painter, layout, self._colors, self.width(), current, self._moved)
            painter.end()
            self._drawn_axes = state, image
        return self._drawn_axes[1]

    def paint_on(self, painter: QPainter, size: QSize) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        layout = Layout(self._axes, size.width(), size.height())
        lines, tokens = Lines(layout), theme.current()
        shown = self.highlighted()
        lines.draw(painter, np.flatnonzero(~shown).tolist(), theme.mix(tokens.panel, tokens.mute, 0.28))
        lines.draw_colored(
            painter, self._order[shown[self._order]].tolist(), self._codes, self._colors.colors()
        )
        paint_axes(painter, layout, self._colors, size.width())
        paint_brushes(painter, layout)

    # ----- words -----

    def title(self) -> str:
        return self.tr("Parallel coordinates")

    def summary(self) -> str:
        if not self._keys:
            return self.tr("No runs yet")
        if not self._axes:
            return self.tr("No columns: choose the columns to show")
        words = self.tr("{0} rows over {1} axes: {2}").format(
            theme.format_number(len(self._keys)),
            theme.format_number(len(self._axes)),
            ", ".join(axis.column.title for axis in self._axes),
        )
        if self._colors.column is not None:
            words += "\n" + self.tr("Coloured by {0}").format(self._colors.column.title)
        for axis in self._axes:
            if axis.brush is not None:
                words += "\n" + self.tr("{0}: {1}").format(axis.column.title, axis.brush_text())
        return words

    # ----- the pointer -----

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if event.button() != Qt.MouseButton.LeftButton or not self._axes or not self._keys:
            super().mousePressEvent(event)
            return
        layout = self.layout_of_axes()
        self._drag = None
        if at.y() < layout.top - 2:
            place = layout.title_at(at.x())
            kind = "title"
        else:
            place, kind = layout.axis_at(at.x()), "draw"
        if place is None:
            return
        self._current = place
        units = self._axes[place].units()
        if kind == "draw" and units is not None:
            low, high = layout.y(units[0]), layout.y(units[1])
            if abs(at.y() - low) <= NEAR_END:
                kind = "low"
            elif abs(at.y() - high) <= NEAR_END:
                kind = "high"
            elif high < at.y() < low:
                kind = "move"
        self._drag = (kind, place, at, units or (0.0, 0.0))
        self._pointed = None
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if self._drag is None:
            self._point_at(at)
            return
        kind, place, start, (low, high) = self._drag
        if (at - start).manhattanLength() <= CLICK and self._moved is None:
            return
        layout = self.layout_of_axes()
        if kind == "title":
            self._moved = at.x() - start.x()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.update()
            return
        unit, before = layout.unit(at.y()), layout.unit(start.y())
        if kind == "draw":
            self.brush(place, before, unit)
        elif kind == "move":
            by = min(max(unit - before, -low), 1.0 - high)
            self.brush(place, low + by, high + by)
        else:
            self.brush(place, *((unit, high) if kind == "low" else (low, unit)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        drag, self._drag = self._drag, None
        at = event.position()
        if event.button() != Qt.MouseButton.LeftButton:
            super().mouseReleaseEvent(event)
            return
        if drag is None:
            if self._pointed is not None:
                self.row_clicked.emit(self._keys[self._pointed])
            return
        kind, place, start, _ = drag
        moved, self._moved = self._moved, None
        self.unsetCursor()
        if kind == "title" and moved is not None:
            xs = self.layout_of_axes().xs
            self.move_axis(place, int(np.abs(xs - (xs[place] + moved)).argmin()))
        elif (at - start).manhattanLength() <= CLICK:
            if kind == "title":
                self._show_menu(place)
            elif self._axes[place].brush is not None:
                self.clear_brush(place)
        self.update()

    def _point_at(self, at: QPointF) -> None:
        layout = self.layout_of_axes()
        self._prepare()
        pointed = None
        if self._lines is not None and layout.top <= at.y():
            pointed = self._lines.nearest(layout, at, self.highlighted(), NEAR_LINE)
        near_axis = layout.axis_at(at.x()) is not None and at.y() >= layout.top
        title = at.y() < layout.top and layout.title_at(at.x()) is not None
        shapes = Qt.CursorShape
        shape = (
            shapes.SizeVerCursor
            if near_axis
            else shapes.PointingHandCursor
            if pointed is not None or title
            else shapes.ArrowCursor
        )
        self.setCursor(shape)
        if near_axis:
            pointed = None
        if pointed != self._pointed:
            self._pointed = pointed
            self.update()
        place = layout.title_at(at.x()) if title else None
        words = "" if place is None else self._axes[place].column.title
        if pointed is not None:
            extra = [] if self._colors.column is None else [self._colors.column]
            words = self.row_text(pointed, [*(axis.column for axis in self._axes), *extra])
        if words:
            QToolTip.showText(self.mapToGlobal(at.toPoint()), words, self)
        else:
            QToolTip.hideText()

    def leaveEvent(self, event: QEvent) -> None:
        if self._pointed is not None:
            self._pointed = None
            self.update()
        super().leaveEvent(event)

    def _show_menu(self, place: int) -> None:
        menu = axis_menu(self, self._axes, place)
        menu.aboutToHide.connect(menu.deleteLater)
        layout = self.layout_of_axes()
        menu.popup(self.mapToGlobal(QPointF(layout.xs[place], layout.top).toPoint()))

    # ----- the keyboard -----

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right choose an axis, with Ctrl they move it; up and down move its range, with Shift its
        upper end; Space opens its menu, Delete clears its range, Escape all ranges."""
        key, count = Qt.Key(event.key()), len(self._axes)
        place = min(self._current or 0, count - 1)
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key == Qt.Key.Key_Escape and self._chosen.any():
            self.clear_selection()
        elif not count:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            step = 1 if key == Qt.Key.Key_Right else -1
            if control:
                self.move_axis(place, place + step)
            else:
                self._current = 0 if self._current is None else min(max(place + step, 0), count - 1)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            upper = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.brush(place, *self._axes[place].nudged(0.05 if key == Qt.Key.Key_Up else -0.05, upper))
        elif key == Qt.Key.Key_Space:
            self._show_menu(place)
        elif key == Qt.Key.Key_Delete:
            self.clear_brush(place)
        else:
            super().keyPressEvent(event)
        self.update()
