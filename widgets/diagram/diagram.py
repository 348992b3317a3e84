"""Diagram: the base of all diagrams of many rows: their names, the selection, and the drawing as a file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from widgets import theme
from widgets.diagram.column import Column
from widgets.image_bytes import copy_image, png_bytes, svg_bytes
from widgets.retranslated import Retranslated

SUFFIXES = (".svg", ".png")
_MARGIN = 12


class Diagram(Retranslated, QWidget):
    """Rows have a key and a name. An empty selection means that all rows count alike.

    ``selected`` carries the keys that the user selected here, ``row_clicked`` the key of a row that was
    clicked, ``save_requested`` that the diagram should be saved as a file.
    """

    selected = Signal(list)
    row_clicked = Signal(str)
    save_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keys: tuple[str, ...] = ()
        self._names: tuple[str, ...] = ()
        self._chosen: NDArray[np.bool_] = np.zeros(0, bool)
        self._marked = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setFont(theme.font(theme.SECTION_PX))
        theme.changed.connect(self.refresh)

    # ----- rows -----

    def _set_rows(self, keys: Sequence[str], names: Sequence[str], columns: Sequence[Column]) -> None:
        """Take other rows; selected ones stay so. Raises ValueError where the lengths differ."""
        lengths = {len(keys), len(names), *(len(column) for column in columns)}
        if len(lengths) > 1:
            raise ValueError(
                f"{type(self).__name__}: keys, names and columns of the same length are needed: "
                f"{sorted(lengths)}"
            )
        chosen = self.selection()
        self._keys, self._names = tuple(keys), tuple(names)
        self._chosen = self._mask(chosen)

    def _mask(self, keys: Collection[str]) -> NDArray[np.bool_]:
        wanted = set(keys)
        return np.fromiter((key in wanted for key in self._keys), bool, len(self._keys))

    def selection(self) -> list[str]:
        """The keys of the selected rows."""
        return [self._keys[row] for row in np.flatnonzero(self._chosen).tolist()]

    def set_selection(self, keys: Collection[str]) -> None:
        """Highlight these rows; none for all alike. Emits nothing."""
        mask = self._mask(keys)
        if (mask != self._chosen).any():
            self._chosen = mask
            self.selection_shown()

    def set_current(self, key: str) -> None:
        """Mark a row, whether it is selected or not; an empty key for none."""
        if key != self._marked:
            self._marked = key
            self.describe()
            self.update()

    def current_row(self) -> int | None:
        """The marked row; None where there is none."""
        return self._keys.index(self._marked) if self._marked in self._keys else None

    def _select(self, mask: NDArray[np.bool_]) -> None:
        """The user selected these rows."""
        if (mask != self._chosen).any():
            self._chosen = mask
            self.selection_shown()
            self.selected.emit(self.selection())

    def selection_shown(self) -> None:
        """The selection is another one."""
        self.describe()
        self.update()

    def highlighted(self) -> NDArray[np.bool_]:
        """The rows to paint in colour: those selected, else all."""
        return self._chosen if self._chosen.any() else np.ones(len(self._keys), bool)

    def row_text(self, row: int, columns: Sequence[Column]) -> str:
        """The name of a row and its values, as rich text for a tool tip."""
        tokens = theme.current()
        lines = dict.fromkeys(
            f"<tr><td style='color:{tokens.mute}'>{escape(column.title)}&nbsp;&nbsp;</td>"
            f"<td>{escape(column.text_of(row))}</td></tr>"
            for column in columns
        )
        return f"<b>{escape(self._names[row])}</b><table cellspacing=0>{''.join(lines)}</table>"

    # ----- for subclasses -----

    def paint_on(self, painter: QPainter, size: QSize) -> None:
        """Paint the whole diagram, without what belongs to the pointer."""
        raise NotImplementedError

    def title(self) -> str:
        """The kind of diagram, in words."""
        raise NotImplementedError

    def summary(self) -> str:
        """What the diagram shows, for people who can't see it."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Paint everything anew: other rows, other columns, another theme."""
        self.update()

    # ----- words and files -----

    def describe(self) -> None:
        """Set the names for screen readers."""
        self.setAccessibleName(self.title())
        words = self.summary()
        if self._chosen.any():
            chosen = self.tr("{0} of {1} selected").format(
                theme.format_number(int(self._chosen.sum())), theme.format_number(len(self._keys))
            )
            words = f"{words}\n{chosen}"
        marked = self.current_row()
        if marked is not None:
            words = "\n".join((words, self.tr("Marked: {0}").format(self._names[marked])))
        self.setAccessibleDescription(words)

    def retranslate(self) -> None:
        """Describe and paint it in the current language."""
        self.describe()
        self.refresh()

    def file_content(self, suffix: str) -> bytes:
        """The diagram as ``.svg`` or ``.png`` (twice the size). Raises ValueError for another suffix."""
        if suffix not in SUFFIXES:
            raise ValueError(f"diagram: unknown format: {suffix!r}; give one of {', '.join(SUFFIXES)}")
        inner = self.size()
        size = inner + QSize(2 * _MARGIN, 2 * _MARGIN)

        def paint(painter: QPainter) -> None:
            painter.fillRect(QRect(0, 0, size.width(), size.height()), QColor(theme.current().panel))
            painter.translate(_MARGIN, _MARGIN)
            painter.setFont(self.font())
            self.paint_on(painter, inner)

        return svg_bytes(size, self.title(), paint) if suffix == ".svg" else png_bytes(size, paint)

    def copy(self) -> None:
        """Put the diagram into the clipboard as an image."""
        copy_image(self.file_content(".png"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+C copies; other keys are those of the kind of diagram."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.menu()
        menu.exec(event.globalPos())
        menu.deleteLater()

    def menu(self) -> QMenu:
        """The menu of the diagram."""
        menu = QMenu(self)
        menu.addAction(self.tr("Copy image"), self.copy)
        menu.addAction(self.tr("Save as image…"), self.save_requested.emit)
        clear = menu.addAction(self.tr("Clear selection"), self.clear_selection)
        clear.setEnabled(bool(self._chosen.any()))
        return menu

    def clear_selection(self) -> None:
        """Select nothing."""
        self._select(np.zeros(len(self._keys), bool))
