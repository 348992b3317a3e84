"""A confusion matrix as a file: CSV with all counts, or a drawing as SVG or PNG."""

from __future__ import annotations

import csv
import io

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QColor, QFont, QPainter

from widgets import theme
from widgets.confusion.drawing import MOST_DRAWN, Drawing, Table
from widgets.image_bytes import png_bytes, svg_bytes

SUFFIXES = (".svg", ".png", ".csv")
_PADDING = 12


def as_bytes(table: Table, suffix: str, font: QFont, title: str = "") -> bytes:
    """The content of a file with this suffix: ``.svg``, ``.png`` (twice the size) or ``.csv``.

    Raises ValueError for another suffix.
    """
    if suffix == ".csv":
        return as_csv(table).encode()
    if suffix not in SUFFIXES:
        raise ValueError(f"confusion matrix: no such format: {suffix!r}; give one of {', '.join(SUFFIXES)}")
    count = len(table.labels)
    cell = 44 if count <= 20 else 30 if count <= MOST_DRAWN else 6
    size = QSize(count * cell + 160, count * cell + 110)

    def paint(painter: QPainter) -> None:
        painter.fillRect(QRect(0, 0, size.width(), size.height()), QColor(theme.current().panel))
        painter.translate(_PADDING, _PADDING)
        Drawing(table, size.width() - 2 * _PADDING, size.height() - 2 * _PADDING, font).paint(painter)

    return svg_bytes(size, title, paint) if suffix == ".svg" else png_bytes(size, paint)


def as_csv(table: Table) -> str:
    """A line for each true class: its name, counts by predicted class, their sum, recall and precision; of a
    difference the counts alone."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if table.signed:
        writer.writerow(["true \\ predicted", *table.labels])
        writer.writerows(
            [label, *row] for label, row in zip(table.labels, table.counts.tolist(), strict=True)
        )
        return text.getvalue()
    writer.writerow(["true \\ predicted", *table.labels, "total", "recall", "precision"])
    ends = zip(table.recall().tolist(), table.precision().tolist(), strict=True)
    for label, row, (recall, precision) in zip(table.labels, table.counts.tolist(), ends, strict=True):
        shares = ["" if share != share else repr(share) for share in (recall, precision)]
        writer.writerow([label, *row, sum(row), *shares])
    return text.getvalue()
