"""ScatterPlot: points over two axes, a line to compare them with, and what the pointer is over."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets import theme
from widgets.image_bytes import CopyMenu

HEAD, FOOT = 20.0, 18.0
RADIUS = 2.5
MOST_POINTS = 5000
"""More are drawn as an even choice of them: a painter needs a second for a million."""
NEAR = 12.0
Line = Literal["equal", "zero"]


class ScatterPlot(QWidget):
    """Points (x, y); what is not finite is left out. Both axes have one range where ``line`` is equal."""

    def __init__(self, color: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        CopyMenu(self)
        self._color, self._line = color, "equal"
        self._x_title = self._y_title = ""
        self._xs: NDArray[np.float64] = np.zeros(0)
        self._ys: NDArray[np.float64] = np.zeros(0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFont(theme.font(theme.SECTION_PX))
        theme.changed.connect(self.update)

    def set_titles(self, x: str, y: str) -> None:
        """What the axes are."""
        self._x_title, self._y_title = x, y
        self._describe()

    def set_points(self, xs: ArrayLike, ys: ArrayLike, line: Line = "equal") -> None:
        """Show these points, with the line where both are equal, or where y is zero.

        Raises ValueError for arrays that are not equally long.
        """
        left, right = np.asarray(xs, np.float64), np.asarray(ys, np.float64)
        if left.shape != right.shape or left.ndim != 1:
            raise ValueError(
                f"ScatterPlot.set_points: two lists of the same length are needed: {left.shape} and "
                f"{right.shape}"
            )
        finite = np.isfinite(left) & np.isfinite(right)
        self._xs, self._ys, self._line = left[finite], right[finite], line
        self._describe()

    def points(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The points that are shown."""
        return self._xs, self._ys

    def sizeHint(self) -> QSize:
        return QSize(300, 240)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 130)

    def _describe(self) -> None:
        words = self.tr("{0} over {1}: {2} points").format(
            self._y_title, self._x_title, theme.format_number(len(self._xs))
        )
        self.setAccessibleName(words if len(self._xs) else self.tr("nothing yet"))
        self.update()

    def _area(self) -> QRectF:
        return QRectF(self.rect()).adjusted(RADIUS + 2, HEAD, -RADIUS - 2, -FOOT)

    def _ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ends of both axes."""
        ends = [(float(each.min()), float(each.max())) for each in (self._xs, self._ys)]
        if self._line == "equal":
            ends = [(min(ends[0][0], ends[1][0]), max(ends[0][1], ends[1][1]))] * 2
        else:
            far = max(abs(ends[1][0]), abs(ends[1][1]))
            ends[1] = (-far, far)
        wide = [(low, high) if high > low else (low - 0.5, high + 0.5) for low, high in ends]
        return wide[0], wide[1]

    def places(self) -> NDArray[np.float64]:
        """Where the points are in the widget, [n, 2] in pixels."""
        if not len(self._xs):
            return np.zeros((0, 2))
        area, ((left, right), (low, high)) = self._area(), self._ranges()
        return np.stack(
            [
                area.left() + (self._xs - left) / (right - left) * area.width(),
                area.bottom() - (self._ys - low) / (high - low) * area.height(),
            ],
            axis=1,
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, area = theme.current(), self._area()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        painter.setPen(QColor(tokens.mute))
        if not len(self._xs):
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self.tr("nothing yet"))
            return
        (left, right), (low, high) = self._ranges()
        across, middle = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignHCenter
        ends = [theme.format_number(value, digits=3) for value in (left, right, low, high)]
        head = QRectF(0, 0, self.width(), HEAD)
        foot = QRectF(0, area.bottom() + 1, self.width(), FOOT)
        painter.drawText(head, Qt.AlignmentFlag.AlignLeft | across, f"{ends[3]}  {self._y_title}")
        painter.drawText(foot, Qt.AlignmentFlag.AlignLeft | across, f"{ends[0]}")
        painter.drawText(foot, middle | across, self._x_title)
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight | across, ends[1])
        painter.setPen(QPen(QColor(tokens.line)))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.drawLine(area.bottomLeft(), area.topLeft())
        painter.setPen(QPen(QColor(tokens.mute), 1, Qt.PenStyle.DashLine))
        if self._line == "equal":
            painter.drawLine(area.bottomLeft(), area.topRight())
        else:
            painter.drawLine(
                QPointF(area.left(), area.center().y()), QPointF(area.right(), area.center().y())
            )
        color = QColor(theme.run_color(self._color))
        color.setAlphaF(0.75 if len(self._xs) < 300 else 0.4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        places = self.places()
        for x, y in places[:: max(1, len(places) // MOST_POINTS)].tolist():
            painter.drawEllipse(QPointF(x, y), RADIUS, RADIUS)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.words_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def words_at(self, point: QPointF) -> str:
        """The point that is nearest to the pointer; empty where none is near."""
        distances: NDArray[Any] = np.hypot(*(self.places() - (point.x(), point.y())).T)
        if not len(distances) or distances.min() > NEAR:
            return ""
        nearest = int(distances.argmin())
        x, y = (theme.format_number(float(each[nearest]), digits=4) for each in (self._xs, self._ys))
        return self.tr("{0} {1}, {2} {3}").format(self._x_title, x, self._y_title, y)
