"""ProgramDiagram: the graph of a Program to look at, to walk through and to select in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QPointF, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QWidget

from widgets import theme
from widgets.image_bytes import copy_image
from widgets.program_diagram import words
from widgets.program_diagram.controls import ViewControls
from widgets.program_diagram.export import Drawing, ImageMaker
from widgets.program_diagram.picture import Picture
from widgets.program_diagram.scene import GROUPS, MORE, Scene
from widgets.program_diagram.selectable import SelectableCanvas

KEY_FACTOR = 1.25
_KEY_PAN = 60.0
_ARROWS = {
    Qt.Key.Key_Left: "left",
    Qt.Key.Key_Right: "right",
    Qt.Key.Key_Up: "up",
    Qt.Key.Key_Down: "down",
}
_PANS = {
    Qt.Key.Key_Left: (1, 0),
    Qt.Key.Key_Right: (-1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}
_CONTROL = Qt.KeyboardModifier.ControlModifier


class ProgramDiagram(SelectableCanvas):
    """Boxes joined by edges; the wheel zooms, dragging pans, a click selects, a double click opens a group.

    ``step_asked`` carries the node and the way of an arrow key: "left", "right", "up" or "down";
    Alt+Up selects the group around the selected box, Alt+Down the first box in a group.
    ``menu_opening`` lets others add to the context menu of a node, which is -1 for the ground.
    """

    step_asked = Signal(int, str)
    save_requested = Signal()
    menu_opening = Signal(QMenu, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._images = ImageMaker(self)
        self._controls = ViewControls(self)
        self._controls.zoomed.connect(lambda way: self.zoom_by(KEY_FACTOR**way))
        self._controls.fitted.connect(self.fit)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.retranslate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_controls()

    def set_scene(self, scene: Scene | None, keep: int | None = None) -> None:
        super().set_scene(scene, keep)
        self._place_controls()

    def _place_controls(self) -> None:
        controls = self._controls
        controls.move(self.width() - controls.width() - theme.SPACE_S, theme.SPACE_S)
        controls.setVisible(self._index.count > 0 and self.height() >= 3 * controls.height())

    # ----- words -----

    def retranslate(self) -> None:
        self.setAccessibleName(self.tr("Diagram of the Program"))
        self.describe()
        self.update()

    def describe(self) -> None:
        self.setAccessibleDescription(self.summary())

    def summary(self) -> str:
        """What the diagram shows, for people who can't see it."""
        if not self._index.count:
            return self._message or self.tr("No operators to show")
        current = self.current()
        picture = None if current is None else self._pictures.of(current)
        found = words.summary(self._shown, self._index, self._chosen.tolist())
        return f"{found}\n{picture.hint}" if picture is not None else found

    # ----- keyboard -----

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()
        super().focusOutEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, control = Qt.Key(event.key()), bool(event.modifiers() & _CONTROL)
        current = self.current()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif key in _ARROWS and self._index.count:
            if event.modifiers() & Qt.KeyboardModifier.AltModifier:
                self._choose_level(key)
            elif control:
                across, down = _PANS[key]
                self.pan_by(across * _KEY_PAN, down * _KEY_PAN)
            elif current is None:
                self._choose_middle()
            else:
                self.step_asked.emit(current, _ARROWS[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and current is not None:
            self.activate(current)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_by(KEY_FACTOR)
        elif key == Qt.Key.Key_Minus:
            self.zoom_by(1.0 / KEY_FACTOR)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key == Qt.Key.Key_F and not event.modifiers():
            self.fit_selection()
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self.pan_by(0.0, 0.8 * self.height() * (1 if key == Qt.Key.Key_PageUp else -1))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End) and self._index.count:
            self._choose(self._node(0 if key == Qt.Key.Key_Home else self._index.count - 1))
            self.ensure_visible(self._selected[-1])
        elif key == Qt.Key.Key_Escape and self._selected:
            self._choose(None)
        else:
            super().keyPressEvent(event)

    def _choose_level(self, key: Qt.Key) -> None:
        """Alt and an arrow: up to the group around the selected box, down to the first box in it."""
        row = self._index.row(self.current())
        if row is None:
            return
        around = self._index.frames_around(row)
        found = self._index.first_within(row) if key == Qt.Key.Key_Down else None
        if key == Qt.Key.Key_Up and around:
            found = around[-1]
        if found is not None:
            self._choose(self._node(found))
            self.ensure_visible(self._node(found))

    def _choose_middle(self) -> None:
        """Select the box nearest to the middle of what is in view."""
        x, y = self._view.to_scene(self.width() / 2, self.height() / 2)
        index = self._index
        away = ((index.left + index.right) / 2 - x) ** 2 + ((index.top + index.bottom) / 2 - y) ** 2
        node = self._node(int(away.argmin()))
        self._choose(node)
        self.ensure_visible(node)

    # ----- menu and images -----

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        at = QPointF(event.pos())
        row = self._row_at(at) if by_mouse else self._index.row(self.current())
        node = -1 if row is None else self._node(row)
        place = event.globalPos()
        if not by_mouse and row is not None:
            place = self.mapToGlobal(self.box_rect(node).center().toPoint())
        elif row is not None and node not in self._selected:
            self._choose(node)
        menu = self.menu(node)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def menu(self, node: int = -1) -> QMenu:
        """The context menu of a node; -1 for the ground."""
        menu = QMenu(self)
        row = self._index.row(node)
        if row is not None and self._scene.kinds[row] in (*GROUPS, MORE):
            opened = bool(self._scene.opened[row])
            menu.addAction(self.tr("Close group") if opened else self.tr("Open"), lambda: self.activate(node))
        self.menu_opening.emit(menu, node)
        if menu.actions():
            menu.addSeparator()
        menu.addAction(self.tr("Fit all"), self.fit)
        selection = menu.addAction(self.tr("Fit selection"), self.fit_selection)
        selection.setEnabled(bool(len(self._chosen)))
        if self._legend is not None:
            small = menu.addAction(self.tr("Small legend"))
            small.setCheckable(True)
            small.setChecked(self.has_small_legend)
            small.toggled.connect(self.set_small_legend)
        menu.addSeparator()
        menu.addAction(self.tr("Copy image"), self.copy)
        menu.addAction(self.tr("Save as image…"), self.save_requested.emit)
        return menu

    def copy(self) -> None:
        """Put what is in view into the clipboard as an image."""
        copy_image(self.png_content(whole=False))

    def saved_pictures(self) -> Iterator[tuple[int, Picture, QImage | None]]:
        """The pictures on closed boxes by node, with their channels as one image."""
        return self._pictures.strips(self._index)

    def _drawing(self, whole: bool) -> Drawing:
        if whole:
            return Drawing(self._painter, self._legend, self._pictures)
        return Drawing(self._painter, self._legend, self._pictures, self._view, self.size())

    def png_content(self, whole: bool) -> bytes:
        """The bytes of a PNG file of the view or of the whole scene, which for a large one takes seconds."""
        return self._drawing(whole).png()

    def make_png(self, whole: bool, take: Callable[[bytes], object]) -> None:
        """Make the same while the window lives, and call ``take`` with it."""
        self._images.make(self._drawing(whole), take)

    @property
    def is_making_png(self) -> bool:
        """Whether ``make_png`` has images to make."""
        return self._images.is_working

    def save_png(self, path: str | Path, whole: bool) -> None:
        """Write a PNG file of the view or of the whole scene. Raises OSError where it can't be written."""
        Path(path).write_bytes(self.png_content(whole))

    def paint_into(self, painter: QPainter, area: QRect, whole: bool) -> None:
        """Paint the view, or the whole scene, onto any painter, as large as an area allows."""
        drawing = self._drawing(whole)
        factor = min(area.width() / drawing.size.width(), area.height() / drawing.size.height())
        painter.save()
        painter.translate(QPointF(area.topLeft()))
        painter.scale(factor, factor)
        drawing.paint(painter)
        painter.restore()
