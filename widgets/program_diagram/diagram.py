"""ProgramDiagram: the graph of a Program to look at, to walk through and to select in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QGestureEvent, QMenu, QPinchGesture, QToolTip, QWidget

from widgets import theme
from widgets.image_bytes import copy_image
from widgets.program_diagram import words
from widgets.program_diagram.canvas import Canvas
from widgets.program_diagram.controls import ViewControls
from widgets.program_diagram.export import Drawing, ImageMaker
from widgets.program_diagram.index import NEAR
from widgets.program_diagram.painting import shapes
from widgets.program_diagram.scene import GROUPS, MORE, Scene
from widgets.program_diagram.view import DETAILED

WHEEL_FACTOR = 1.2  # for each notch of a wheel
KEY_FACTOR = 1.25
_KEY_PAN = 60.0
_LEAST_TITLE = 16.0  # of a frame, on the screen
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


class ProgramDiagram(Canvas):
    """Boxes joined by edges; the wheel zooms, dragging pans, a click selects, a double click opens a group.

    ``selected`` carries the node that the user selected last, ``selection_changed`` all of them;
    ``activated`` the node of a double click, of Return or of the square of a group; ``more_asked`` the same
    for a box that represents further ones; ``step_asked`` the node and the way of an arrow key: "left",
    "right", "up" or "down".
    ``menu_opening`` lets others add to the context menu of a node, which is -1 for the ground.
    """

    selected = Signal(int)
    selection_changed = Signal(list)
    activated = Signal(int)
    more_asked = Signal(int)
    step_asked = Signal(int, str)
    save_requested = Signal()
    menu_opening = Signal(QMenu, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pressed: QPointF | None = None
        self._dragging = False
        self._in_map = False
        self._images = ImageMaker(self)
        self._controls = ViewControls(self)
        self._controls.zoomed.connect(lambda way: self.zoom_by(KEY_FACTOR**way))
        self._controls.fitted.connect(self.fit)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.grabGesture(Qt.GestureType.PinchGesture)
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
        controls.setVisible(self._index.count > 0 and self.height() >= 2 * controls.height())

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
        return words.summary(self._shown, self._index, self._chosen.tolist())

    # ----- selection -----

    def select(self, nodes: Iterable[int]) -> None:
        """Select nodes, whether there are boxes of them or not; emits nothing."""
        found = list(dict.fromkeys(nodes))
        if found != self._selected:
            self._selected = found
            self._chosen = self._index.rows(found)
            self.describe()
            self.update()

    def selection(self) -> list[int]:
        """The selected nodes; the current one is the last."""
        return list(self._selected)

    def current(self) -> int | None:
        """The node that keys act on; None without a selected box."""
        return next((node for node in reversed(self._selected) if self._index.row(node) is not None), None)

    def _choose(self, node: int | None, add: bool = False) -> None:
        """The user selected a box, or nothing."""
        if node is None:
            found = self._selected if add else []
        elif add:
            others = [each for each in self._selected if each != node]
            found = others if node in self._selected else [*others, node]
        else:
            found = [node]
        if found != self._selected:
            self.select(found)
            self.selection_changed.emit(self.selection())
        if found and node is not None and node in found:
            self.selected.emit(node)

    def _node(self, row: int) -> int:
        return int(self._scene.ids[row])

    def activate(self, node: int) -> None:
        """Do what a double click on a box does."""
        row = self._index.row(node)
        if row is not None:
            (self.more_asked if self._scene.kinds[row] == MORE else self.activated).emit(node)

    # ----- where things are -----

    def box_rect(self, node: int) -> QRectF:
        """Where a box is in the widget; empty where the scene doesn't have it."""
        row = self._index.row(node)
        if row is None:
            return QRectF()
        box = self._index.box(row)
        left, top = self._view.to_screen(box.left, box.top)
        return QRectF(left, top, box.width * self._view.zoom, box.height * self._view.zoom)

    def toggle_rect(self, node: int) -> QRectF:
        """Where the square is that opens or closes a group; empty where the box has none."""
        row = self._index.row(node)
        if row is None or self._view.zoom < DETAILED:
            return QRectF()
        kind = int(self._scene.kinds[row])
        if kind not in GROUPS and kind != MORE:
            return QRectF()
        box = shapes.toggle_box(kind, QRectF(*self._scene.boxes[row].tolist()), bool(self._scene.opened[row]))
        left, top = self._view.to_screen(box.left(), box.top())
        zoom = self._view.zoom
        return QRectF(left, top, box.width() * zoom, box.height() * zoom).adjusted(-3, -3, 3, 3)

    def _row_at(self, at: QPointF) -> int | None:
        """The box at a point; a frame counts at its title only, as the ground within it is for dragging."""
        row = self._index.box_at(*self._view.to_scene(at.x(), at.y()))
        if row is not None and self._scene.opened[row]:
            top = self._view.to_screen(0.0, float(self._index.top[row]))[1]
            return row if at.y() <= top + max(_LEAST_TITLE, shapes.TITLE_HIGH * self._view.zoom) else None
        return row

    def minimap_rect(self) -> QRectF:
        """Where the minimap is; empty while all is in view."""
        wide, high = float(self.width()), float(self.height())
        return self._minimap.area(wide, high) if self._minimap.is_shown(self._view, wide, high) else QRectF()

    def _covered(self, at: QPointF) -> bool:
        """Whether the legend is at a point."""
        return self._legend is not None and self._legend.area(self.height()).contains(at)

    # ----- pointer -----

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            super().mousePressEvent(event)
            return
        self._pressed, self._dragging = event.position(), event.button() == Qt.MouseButton.MiddleButton
        self._in_map = self.minimap_rect().contains(event.position())
        if self._in_map:
            self._look_at_map(event.position())

    def _look_at_map(self, at: QPointF) -> None:
        x, y = self._minimap.point(at, self.width(), self.height())
        self.set_view(self._view.centered(x, y, self.width(), self.height()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if self._pressed is None:
            self._hover(at)
        elif self._in_map:
            self._look_at_map(at)
        else:
            moved = at - self._pressed
            if not self._dragging and moved.manhattanLength() >= QApplication.startDragDistance():
                self._dragging = True
            if self._dragging:
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
                self._pressed = at
                self.pan_by(moved.x(), moved.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, dragged, in_map = self._pressed, self._dragging, self._in_map
        self._pressed, self._dragging, self._in_map = None, False, False
        self.unsetCursor()
        if pressed is None or dragged or in_map or event.button() != Qt.MouseButton.LeftButton:
            return
        if self._covered(event.position()):
            return
        row = self._row_at(event.position())
        add = bool(event.modifiers() & (_CONTROL | Qt.KeyboardModifier.ShiftModifier))
        node = None if row is None else self._node(row)
        self._choose(node, add)
        if node is not None and self.toggle_rect(node).contains(event.position()):
            self.activate(node)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row = self._row_at(event.position())
        if event.button() != Qt.MouseButton.LeftButton or row is None or self._covered(event.position()):
            self.mousePressEvent(event)
            return
        node = self._node(row)
        if not self.minimap_rect().contains(event.position()):
            # The square has had its click already; two of them open and close.
            self._pressed = event.position() if self.toggle_rect(node).contains(event.position()) else None
            if self._pressed is None:
                self.activate(node)

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hovered(None)
        super().leaveEvent(event)

    def _hover(self, at: QPointF) -> None:
        free = not self.minimap_rect().contains(at) and not self._covered(at)
        row = self._row_at(at) if free else None
        square = row is not None and self.toggle_rect(self._node(row)).contains(at)
        self.setCursor(Qt.CursorShape.PointingHandCursor if square else Qt.CursorShape.ArrowCursor)
        self._set_hovered(row)

    def _set_hovered(self, row: int | None) -> None:
        if row != self._hovered:
            self._hovered = row
            self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """A wheel zooms, with Shift or Alt it pans; a touchpad pans, with Ctrl it zooms."""
        modifiers, angle, pixels = event.modifiers(), event.angleDelta(), event.pixelDelta()
        touch = event.phase() != Qt.ScrollPhase.NoScrollPhase and not pixels.isNull()
        pan = bool(modifiers & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier))
        if modifiers & _CONTROL or not (touch or pan):
            turned = angle.y() or angle.x()
            if turned:
                self.zoom_by(WHEEL_FACTOR ** (turned / 120.0), event.position())
        else:
            moved = QPointF(pixels) if touch else QPointF(angle) * 0.5
            if pan and not moved.x():
                moved = QPointF(moved.y(), 0.0)
            self.pan_by(moved.x(), moved.y())
        event.accept()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip(QPointF(event.pos())), self)
            return True
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
                self.zoom_by(1.0 + event.value(), event.position())
                return True
        elif isinstance(event, QGestureEvent):
            pinch = event.gesture(Qt.GestureType.PinchGesture)
            if isinstance(pinch, QPinchGesture):
                self.zoom_by(pinch.scaleFactor(), self.mapFromGlobal(pinch.hotSpot()))
                return True
        return super().event(event)

    def tip(self, at: QPointF) -> str:
        """The tool tip at a point: of a box or of an edge."""
        if self.minimap_rect().contains(at) or self._covered(at):
            return ""
        row = self._row_at(at)
        if row is not None:
            return words.box_tip(self._shown, row)
        edge = self._index.edge_at(*self._view.to_scene(at.x(), at.y()), NEAR / self._view.zoom)
        return "" if edge is None else words.edge_tip(self._shown, edge)

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
            if control:
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
        menu.addSeparator()
        menu.addAction(self.tr("Copy image"), self.copy)
        menu.addAction(self.tr("Save as image…"), self.save_requested.emit)
        return menu

    def copy(self) -> None:
        """Put what is in view into the clipboard as an image."""
        copy_image(self.png_content(whole=False))

    def _drawing(self, whole: bool) -> Drawing:
        if whole:
            return Drawing(self._painter, self._legend)
        return Drawing(self._painter, self._legend, self._view, self.size())

    def png_content(self, whole: bool) -> bytes:
        """The bytes of a PNG file of the view or of the whole scene, which for a large one takes seconds."""
        return self._drawing(whole).png()

    def make_png(self, whole: bool, take: Callable[[bytes], object]) -> None:
        """Make the same while the window lives, and call ``take`` with it."""
        self._images.make(self._drawing(whole), take)

    @property
    def is_making_png(self) -> bool:
        """Whether ``make_png`` has not called yet: only one image is made at a time."""
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
