"""How a confusion matrix is drawn: where cells, labels and margins are, for the screen and for files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter

from resources.quantities import percent
from widgets import theme

GAP = 1.0
# With more classes the cells are drawn as one image.
MOST_DRAWN = 40
SMALLEST_TEXT, SMALLEST_CELL = 8, 11.0
# Below these sizes of a cell the words of the axes and the margins would take more than they give.
TITLES_FROM, MARGIN_HIGH, MARGIN_WIDE = 15.0, 16.0, 26.0


def divided(counts: NDArray[np.int64], totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Counts by totals; NaN where a total is 0."""
    out = np.full(np.broadcast(counts, totals).shape, np.nan)
    return np.divide(counts, totals, out=out, where=totals > 0)


@dataclass(frozen=True)
class Table:
    """Counts (classes, classes), true by predicted class, with a label each.

    ``by_row`` writes shares of the row instead of counts; ``axes`` names the two axes. ``signed`` counts are
    the difference of two tables: how many more, or fewer, there are.
    """

    counts: NDArray[np.int64]
    labels: Sequence[str]
    by_row: bool = False
    axes: tuple[str, str] = ("true", "predicted")
    signed: bool = False

    def shares(self) -> NDArray[np.float64]:
        """Each count divided by the total of its row; NaN in a row without images."""
        return divided(self.counts, self.counts.sum(axis=1, keepdims=True))

    def recall(self) -> NDArray[np.float64]:
        """For each class the share of its images that was found; NaN without images."""
        return divided(np.diag(self.counts), self.counts.sum(axis=1))

    def precision(self) -> NDArray[np.float64]:
        """For each class the share of right ones among what was taken for it; NaN where nothing was."""
        return divided(np.diag(self.counts), self.counts.sum(axis=0))

    def texts(self) -> list[list[str]]:
        """The texts of the cells: a count, or a whole percentage of the row; empty for 0."""
        if self.signed:
            return [[signed_text(count) if count else "" for count in row] for row in self.counts.tolist()]
        if not self.by_row:
            return [
                [theme.format_number(count) if count else "" for count in row] for row in self.counts.tolist()
            ]
        return [
            [_whole_percent(share) if share > 0 else "" for share in row] for row in self.shares().tolist()
        ]

    def strength(self) -> NDArray[np.float64]:
        """How strongly each cell is coloured, 0 to 1."""
        if self.signed:
            most = max(1, int(np.abs(self.counts).max(initial=0)))
            return np.where(self.counts == 0, 0.0, 0.15 + 0.85 * np.abs(self.counts) / most)
        # Errors are a few in a hundred: they stand out from the first one on, hence not in proportion.
        return np.where(self.counts > 0, 0.06 + 0.94 * np.nan_to_num(self.shares()) ** 0.75, 0.0)

    def worse(self) -> NDArray[np.bool_]:
        """Of a difference: where there are fewer right answers, or more wrong ones."""
        right = np.eye(len(self.labels), dtype=bool)
        return np.where(right, self.counts < 0, self.counts > 0)


def signed_text(count: int) -> str:
    """A difference with its sign: +3, \u22122 (the sign as wide as a plus), 0."""
    number = theme.format_number(abs(count))
    return f"+{number}" if count > 0 else f"\u2212{number}" if count < 0 else number


def _whole_percent(share: float) -> str:
    return "<1" if share < 0.005 else str(round(100 * share))


def _shortened(count: int) -> str:
    """A count in at most four characters: 12 345 is 12k."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count // size}{unit}"
    return str(count)


class Drawing:
    """A table laid out in ``width`` x ``height`` pixels. Cells take all the room: they need not be square.

    ``cells`` is the rectangle of all cells, ``wide`` and ``high`` the size of one.
    """

    def __init__(self, table: Table, width: float, height: float, font: QFont) -> None:
        self.table, self._font, self._width = table, font, width + 1.0
        self._metrics = QFontMetricsF(font)
        line, count = self._metrics.height(), max(1, len(table.labels))
        widest = max((self._metrics.horizontalAdvance(label) for label in table.labels), default=0.0)
        names = min(widest, width * 0.25) + theme.SPACE_S
        below = line + theme.SPACE_XS
        self._titled = (height - below - line) / count >= TITLES_FROM
        left = names + (line + theme.SPACE_XS if self._titled else 0.0)
        below += line if self._titled else 0.0
        side = self._metrics.horizontalAdvance("100.0\u2009%") + theme.SPACE_S
        under = line + theme.SPACE_XS
        self.margins = (
            not table.signed
            and count <= MOST_DRAWN
            and (width - left - side) / count >= MARGIN_WIDE
            and (height - below - under) / count >= MARGIN_HIGH
        )
        self._side, self._under = (side, under) if self.margins else (0.0, 0.0)
        self.wide = max(1.0, (width - left - self._side) / count)
        self.high = max(1.0, (height - below - self._under) / count)
        self.cells = QRectF(left, 0, self.wide * count, self.high * count)

    def cell(self, true: int, predicted: int) -> QRectF:
        """Where a cell is."""
        at = self.cells
        return QRectF(at.left() + predicted * self.wide, at.top() + true * self.high, self.wide, self.high)

    @property
    def radius(self) -> int:
        """How far corners of cells are rounded."""
        return 3 if min(self.wide, self.high) >= SMALLEST_CELL else 0

    def paint(self, painter: QPainter) -> None:
        """Draw everything but what is pointed at."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, bool(self.radius))
        self._paint_cells(painter)
        self._paint_labels(painter)
        if self.margins:
            self._paint_margins(painter)

    def _paint_cells(self, painter: QPainter) -> None:
        tokens, table = theme.current(), self.table
        strength, empty = table.strength(), theme.mix(tokens.panel, tokens.accent, 0.04)
        # The colours of full cells, and which of them each cell goes towards.
        full = (tokens.ok, tokens.bad) if table.signed else (tokens.accent,)
        which = table.worse().astype(int) if table.signed else np.zeros(table.counts.shape, int)
        side = len(self.table.labels)
        if side > MOST_DRAWN or self.high < SMALLEST_CELL or self.wide < SMALLEST_CELL:
            low, high = np.array(theme.rgb(empty)), np.array([theme.rgb(color) for color in full])[which]
            rgb = np.ascontiguousarray(low + (high - low) * strength[..., None] + 0.5).astype(np.uint8)
            image = QImage(rgb.tobytes(), side, side, 3 * side, QImage.Format.Format_RGB888)
            painter.drawImage(self.cells, image)
            return
        texts, font = self._fitting()
        painter.setFont(font)
        for row, words in enumerate(texts):
            for column, text in enumerate(words):
                color = theme.mix(empty.name(), full[which[row, column]], float(strength[row, column]))
                box = self.cell(row, column).adjusted(GAP / 2, GAP / 2, -GAP / 2, -GAP / 2)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(color)
                painter.drawRoundedRect(box, self.radius, self.radius)
                if text:
                    painter.setPen(QColor("#10131A" if theme.luminance(color) > 0.2 else "#FFFFFF"))
                    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _fitting(self) -> tuple[list[list[str]], QFont]:
        """The texts of the cells in a font in which the longest one fits: smaller, then shortened."""
        texts = self.table.texts()
        room = self.wide - GAP - 2
        largest = min(theme.BODY_PX - 1, max(SMALLEST_TEXT, int(self.high * 0.72)))
        for px in range(largest, SMALLEST_TEXT - 1, -1):
            font = theme.font(px)
            metrics = QFontMetricsF(font)
            if max((metrics.horizontalAdvance(text) for row in texts for text in row), default=0) <= room:
                return texts, font
        font = theme.font(SMALLEST_TEXT)
        metrics = QFontMetricsF(font)
        short = (
            texts
            if self.table.by_row or self.table.signed
            else [[_shortened(count) if count else "" for count in row] for row in self.table.counts.tolist()]
        )
        return [
            [text if metrics.horizontalAdvance(text) <= self.wide else "" for text in row] for row in short
        ], font

    def _paint_labels(self, painter: QPainter) -> None:
        metrics, at, line = self._metrics, self.cells, self._metrics.height()
        labels = self.table.labels
        painter.setFont(self._font)
        painter.setPen(QColor(theme.current().mute))
        down = max(1, -(-int(line) // max(1, int(self.high))))
        widest = max(metrics.horizontalAdvance(label) for label in labels)
        across = max(1, -(-int(min(widest, 3 * max(self.wide, line)) + 4) // max(1, int(self.wide))))
        title = line + theme.SPACE_XS if self._titled else 0.0
        room = at.left() - title - theme.SPACE_S
        for index, label in enumerate(labels):
            if index % down == 0:
                top = at.top() + index * self.high + (self.high - line) / 2
                box = QRectF(title, max(0.0, top), room + theme.SPACE_XS, line)
                text = metrics.elidedText(label, Qt.TextElideMode.ElideRight, room + 1)
                painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            if index % across == 0:
                wide = self.wide * across
                left = at.left() + index * self.wide + (self.wide - wide) / 2
                if index and left + wide > self._width:
                    continue
                box = QRectF(left, at.bottom() + self._under + theme.SPACE_XS, wide, line)
                text = metrics.elidedText(label, Qt.TextElideMode.ElideRight, wide)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        if not self._titled:
            return
        below = QRectF(at.left(), at.bottom() + self._under + theme.SPACE_XS + line, at.width(), line)
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, self.table.axes[1])
        painter.save()
        painter.translate(0, at.center().y())
        painter.rotate(-90)
        side = QRectF(-at.height() / 2, 0, at.height(), line)
        painter.drawText(side, Qt.AlignmentFlag.AlignCenter, self.table.axes[0])
        painter.restore()

    def _paint_margins(self, painter: QPainter) -> None:
        """The recall of each class at the right of its row, its precision below its column."""
        at, line = self.cells, self._metrics.height()
        painter.setFont(theme.font(theme.SECTION_PX))
        painter.setPen(QColor(theme.current().text))
        wide = self.wide >= self._side
        for index, (recall, precision) in enumerate(
            zip(self.table.recall().tolist(), self.table.precision().tolist(), strict=True)
        ):
            if recall == recall:
                box = QRectF(
                    at.right() + theme.SPACE_XS,
                    at.top() + index * self.high,
                    self._side - theme.SPACE_XS,
                    self.high,
                )
                painter.drawText(
                    box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, percent(recall)
                )
            if precision == precision:
                box = QRectF(at.left() + index * self.wide, at.bottom() + theme.SPACE_XS, self.wide, line)
                text = percent(precision) if wide else _whole_percent(precision)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
