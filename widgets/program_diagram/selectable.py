"""SelectableCanvas: boxes are pointed at, selected and opened; dragging and the wheel move the view."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QGestureEvent, QPinchGesture, QToolTip, QWidget

from widgets.program_diagram import words
from widgets.program_diagram.canvas import Canvas
from widgets.program_diagram.index import NEAR
from widgets.program_diagram.painting import shapes
from widgets.program_diagram.scene import GROUPS, MORE
from widgets.program_diagram.view import DETAILED

WHEEL_FACTOR = 1.2  # for each notch of a wheel
_LEAST_TITLE = 16.0  # of a frame, on the screen
_CONTROL = Qt.KeyboardModifier.ControlModifier


class SelectableCanvas(Canvas):
    """``selected`` carries the node that the user selected last, ``selection_changed`` all of them;
    ``activated`` the node of a double click, of Return or of the square of a group; ``more_asked`` the same
    for a box that represents further ones."""

    selected = Signal(int)
    selection_changed = Signal(list)
    activated = Signal(int)
    more_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pressed: QPointF | None = None
        self._dragging = False
        self._in_map = False
        self.setMouseTracking(True)
        self.grabGesture(Qt.GestureType.PinchGesture)

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
        """Whether the legend or the titles at the top are at a point."""
        return self.legend_rect().contains(at) or self._crumbs().area().contains(at)

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
        if self.legend_rect().contains(event.position()):
            self.set_small_legend(not self.has_small_legend)
            return
        if self._covered(event.position()):
            group = self._crumbs().row_at(event.position())
            if group is not None:
                self._choose(self._node(group))
                self.center_on(self._node(group))
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
        edge = self._edge_at(at) if free and row is None else None
        square = row is not None and self.toggle_rect(self._node(row)).contains(at)
        hand = square or self.legend_rect().contains(at) or self._crumbs().row_at(at) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)
        self._set_hovered(row, edge)

    def _edge_at(self, at: QPointF) -> int | None:
        return self._index.edge_at(*self._view.to_scene(at.x(), at.y()), NEAR / self._view.zoom)

    def _set_hovered(self, row: int | None, edge: int | None = None) -> None:
        if (row, edge) != (self._hovered, self._hovered_edge):
            self._hovered, self._hovered_edge = row, edge
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
        if self.legend_rect().contains(at):
            return (
                self.tr("Show all of the legend")
                if self.has_small_legend
                else self.tr("Make the legend small")
            )
        if self.minimap_rect().contains(at) or self._covered(at):
            return ""
        row = self._row_at(at)
        if row is not None:
            picture = self._pictures.of(int(self._scene.ids[row]))
            return words.box_tip(self._shown, row, picture.hint if picture is not None else "")
        edge = self._edge_at(at)
        return "" if edge is None else words.edge_tip(self._shown, edge)
