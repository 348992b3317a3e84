"""RowDelegate: rows of the Program tree, with the hits of a filter marked and explained."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from widgets import theme
from widgets.program_tree.filtering import spans
from widgets.program_tree.model import NAME, SHAPE, WHY, ProgramModel

EDGE = 3

Index = QModelIndex | QPersistentModelIndex


class RowDelegate(QStyledItemDelegate):
    """Paints a row's own texts as any tree does, until there is something to mark or to add.

    In a compact tree the shape is at the right end of the name's column, so that a long name is cut only
    where the shape of its own row needs the room.
    """

    def __init__(self, model: ProgramModel) -> None:
        super().__init__(model)
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        hint = super().sizeHint(option, index)
        why = self._why(index)
        if why:
            hint.setWidth(hint.width() + theme.SPACE_M + _width(theme.mono_font(), why))
        return hint

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        compact = self._model.compact and index.column() == NAME
        ground = index.data(Qt.ItemDataRole.BackgroundRole)
        if isinstance(ground, QColor):  # the style sheet would leave it out
            painter.fillRect(option.rect, ground)
            if index.column() == NAME:
                edge = QRect(option.rect.left() - EDGE, option.rect.top(), EDGE, option.rect.height())
                painter.fillRect(edge, QColor(theme.current().accent))
        if not self._model.filter.words and not compact:
            super().paint(painter, option, index)
            return
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        text, shown.text = shown.text, ""
        style = shown.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, shown.widget)
        room = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, shown, shown.widget)
        room.adjust(3, 0, -3, 0)
        why = self._why(index)
        if compact and not why:  # for want of room: what a filter was asked for comes first
            room = self._paint_shape(painter, room, index, _width(shown.font, text))
        color = index.data(Qt.ItemDataRole.ForegroundRole)
        ink = color if isinstance(color, QColor) else QColor(theme.current().text)
        used = self._write(painter, room, text, shown.font, ink)
        if why:
            room.setLeft(room.left() + used + theme.SPACE_M)
            self._write(painter, room, why, theme.mono_font(), QColor(theme.current().mute))

    def _why(self, index: Index) -> str:
        return str(index.data(WHY) or "") if index.column() == NAME else ""

    def _paint_shape(self, painter: QPainter, room: QRect, index: Index, name: int) -> QRect:
        """Write what the column of shapes says at the right; returns what is left for the name."""
        text = str(index.siblingAtColumn(SHAPE).data() or "")
        if not text:
            return room
        font = theme.mono_font()
        wanted = _width(font, text) + 1
        # Where both don't fit, neither takes more than half unless the other leaves it.
        width = min(wanted, max(room.width() - name - theme.SPACE_S, room.width() // 2))
        place = QRect(room)
        place.setLeft(room.right() - width + 1)
        self._write(painter, place, text, font, QColor(theme.current().mute))
        return room.adjusted(0, 0, -width - theme.SPACE_S, 0)

    def _write(self, painter: QPainter, room: QRect, text: str, font: QFont, ink: QColor) -> int:
        """Write one line with the words of the filter marked; returns its width."""
        if room.width() <= 0:
            return 0
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        layout = QTextLayout(shown, font)
        ranges = []
        # Of a text that is cut, what is left of a hit is marked too.
        left = len(shown) if shown == text else len(shown) - 1
        for start, length in spans(text, self._model.filter.words):
            mark = QTextLayout.FormatRange()
            mark.start, mark.length = start, max(0, min(length, left - start))
            mark.format = _mark()
            ranges.append(mark)
        layout.setFormats(ranges)
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(room.width() + 1)
        layout.endLayout()
        painter.save()
        painter.setPen(ink)
        layout.draw(painter, QPointF(room.left(), room.center().y() - line.height() / 2 + 0.5))
        painter.restore()
        return round(line.naturalTextWidth())


def _width(font: QFont, text: str) -> int:
    return QFontMetrics(font).horizontalAdvance(text)


def _mark() -> QTextCharFormat:
    """A background and a line below: not marked by colour alone."""
    tokens = theme.current()
    mark = QTextCharFormat()
    mark.setBackground(theme.mix(tokens.panel, tokens.warn, 0.35))
    mark.setForeground(QColor(tokens.text))
    mark.setFontUnderline(True)
    return mark
