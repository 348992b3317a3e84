"""A confusion matrix as a file: CSV with all counts, or a drawing as SVG or PNG."""

from __future__ import annotations

import csv
import io

from PySide6.QtCore import QBuffer, QIODevice, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPaintDevice, QPainter
from PySide6.QtSvg import QSvgGenerator

from widgets import theme
from widgets.confusion.drawing import MOST_DRAWN, Drawing, Table

SUFFIXES = (".svg", ".png", ".csv")
SCALE = 2
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
    return _svg(table, size, font, title) if suffix == ".svg" else _png(table, size, font)


def as_csv(table: Table) -> str:
    """A line for each true class: its name, counts by predicted class, their sum, recall and precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["true \\ predicted", *table.labels, "total", "recall", "precision"])
    ends = zip(table.recall().tolist(), table.precision().tolist(), strict=True)
    for label, row, (recall, precision) in zip(table.labels, table.counts.tolist(), ends, strict=True):
        shares = ["" if share != share else repr(share) for share in (recall, precision)]
        writer.writerow([label, *row, sum(row), *shares])
    return text.getvalue()


def _svg(table: Table, size: QSize, font: QFont, title: str) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle(title)
    _draw(table, size, font, generator)
    buffer.close()
    return bytes(buffer.data().data())


def _png(table: Table, size: QSize, font: QFont) -> bytes:
    image = QImage(size * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(Qt.GlobalColor.white)
    _draw(table, size, font, image)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(buffer.data().data())


def _draw(table: Table, size: QSize, font: QFont, device: QPaintDevice) -> None:
    painter = QPainter(device)
    painter.fillRect(QRect(0, 0, size.width(), size.height()), QColor(theme.current().panel))
    painter.translate(_PADDING, _PADDING)
    Drawing(table, size.width() - 2 * _PADDING, size.height() - 2 * _PADDING, font).paint(painter)
    painter.end()
