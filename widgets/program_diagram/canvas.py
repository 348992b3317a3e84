"""Canvas: shows a scene in a view: a cached image while the view moves, the sharp one soon after."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QRegion, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets import theme
from widgets.delayed import delayed
from widgets.program_diagram.index import Rows, SceneIndex
from widgets.program_diagram.painting.boxes import Shown
from widgets.program_diagram.painting.crumbs import Crumbs
from widgets.program_diagram.painting.images import EDGE, SharpImage
from widgets.program_diagram.painting.legend import Legend
from widgets.program_diagram.painting.legend_strip import LegendStrip
from widgets.program_diagram.painting.look import look
from widgets.program_diagram.painting.marks import check_marks
from widgets.program_diagram.painting.minimap import Minimap
from widgets.program_diagram.painting.overlay import paint_chosen, paint_focus, paint_message, paint_note
from widgets.program_diagram.painting.pictures import Pictures
from widgets.program_diagram.painting.scene_painter import ScenePainter, paint_all
from widgets.program_diagram.painting.texts import BoxTexts, Fonts
from widgets.program_diagram.painting.values import NodeColors, ScaleKind, Values, checked_values
from widgets.program_diagram.picture import Picture
from widgets.program_diagram.scene import Scene, empty_scene
from widgets.program_diagram.view import MOST_ZOOM, READABLE, View
from widgets.retranslated import Retranslated

SHARP_MS = 90  # after the last change of the view
_MANY = 10_000
_LOW = 420  # a diagram of less height has a small legend
BUSY_MS, BUSY_STAYS_MS = 150, 300


class Canvas(Retranslated, QWidget):
    """``view_changed`` follows each change of what is in view, ``view_settled`` when it rests."""

    view_changed = Signal()
    view_settled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: Values | None = None
        self._marks: dict[int, tuple[str, ...]] = {}
        self._pictures = Pictures()
        self._small_legend: bool | None = None
        self._view = View()
        self._placed = False  # whether the view belongs to the scene
        # The view that a scene and a size of the widget get; None once the user has moved it.
        self._placing: Callable[[], View] | None = self._beginning
        self._message = ""
        self._busy = self._busy_words = ""
        self._busy_shown = False
        self._selected: list[int] = []  # nodes, the current one last
        self._hovered: int | None = None  # a row
        self._hovered_edge: int | None = None
        self._texts = BoxTexts(Fonts())
        self._image = SharpImage(self)
        self._image.ready.connect(self.update)
        self._sharp = delayed(self, SHARP_MS, self._rest)
        self._next_turn = delayed(self, 0, self._begin)
        self._busy_delay = delayed(self, BUSY_MS, self._show_busy)
        self._busy_hide = delayed(self, BUSY_STAYS_MS, self._hide_busy)
        self._take(empty_scene())
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        theme.changed.connect(self.refresh)

    # ----- what is shown -----

    def _take(self, scene: Scene) -> None:
        self._scene, self._index = scene, SceneIndex(scene)
        self._prepare()

    def _prepare(self) -> None:
        """Colours, marks and painters of the scene."""
        colors = None if self._values is None else NodeColors(self._values, self._scene)
        marks = {self._index.row(node): each for node, each in self._marks.items()}
        by_row = {row: each for row, each in marks.items() if row is not None}
        self._shown = Shown(self._scene, look(), self._texts, colors, by_row)
        self._painter = ScenePainter(self._shown, self._index)
        self._legend = None if colors is None else Legend(colors)
        self._minimap = Minimap(self._painter)
        self._chosen: Rows = self._index.rows(self._selected)
        self._hovered = self._hovered_edge = None
        self._image.outdate()
        self.describe()

    def set_scene(self, scene: Scene | None, keep: int | None = None) -> None:
        """Show a scene; None for none.

        Args:
            keep: the box that stays where it is on the screen; without it the one nearest to the middle of
                those that both scenes have. A view that the user has not moved is placed anew without it.
        """
        old, before, had_view = self._index, self._view, self._placed and self._index.count > 0
        self._take(empty_scene() if scene is None else scene)
        moved = keep is not None or self._placing is None
        anchor = self._anchor(old, keep) if had_view and moved else None
        if anchor is None:
            self._placed = False
            if not had_view:
                self._placing = self._beginning
            self._image.drop()
            self._place()
        else:
            self._placing = None
            first, second = old.box(anchor[0]), self._index.box(anchor[1])
            x, y = before.to_screen(first.left, first.top)
            self._view = View(x - second.left * before.zoom, y - second.top * before.zoom, before.zoom)
            factor = 1.0 if self._image.view is None else self._image.view.zoom / before.zoom
            self._image.shift((self._view.x - before.x) * factor, (self._view.y - before.y) * factor)
            if not second.meets(self._view.seen(self.width(), self.height())):
                self.ensure_visible(self._scene.ids[anchor[1]])  # a tall frame was closed from its middle
        self.view_changed.emit()
        self._sharp.start()
        self.update()

    def _anchor(self, old: SceneIndex, keep: int | None) -> tuple[int, int] | None:
        """The rows, in the old and the new scene, of the box that stays in its place."""
        row, new = old.row(keep), self._index.row(keep)
        if row is not None and new is not None:
            return row, new
        if not self._index.count:
            return None
        x, y = self._view.to_scene(self.width() / 2, self.height() / 2)
        away = np.hypot((old.left + old.right) / 2 - x, (old.top + old.bottom) / 2 - y)
        for near in np.argsort(away)[:200].tolist():
            new = self._index.row(int(old.scene.ids[near]))
            if new is not None:
                return near, new
        return None

    def scene(self) -> Scene:
        """What is shown."""
        return self._scene

    def set_colors(
        self,
        values: Mapping[int, float | None],
        title: str,
        unit: str = "",
        scale: ScaleKind = "linear",
        labels: Sequence[str] = (),
        notes: Mapping[int, str] | None = None,
    ) -> None:
        """Colour boxes by values of their nodes, and write them on the boxes; grey without one.

        Args:
            values: numbers by node; with ``labels`` positions in those.
            unit: written after a number; "s", "B" and "share" write seconds, bytes and shares of 1.
            scale: "linear" or "log".
            notes: words on boxes without a value.
        """
        self._values = checked_values(values, title, unit, scale, labels, notes)
        self._prepare()
        self.update()

    def clear_colors(self) -> None:
        """Colour boxes by their kinds again."""
        if self._values is not None:
            self._values = None
            self._prepare()
            self.update()

    def set_marks(self, marks: Mapping[int, str | Collection[str]]) -> None:
        """Mark nodes, each with one of ``MARKS`` or several. Raises ValueError for an unknown one."""
        found = {node: (each,) if isinstance(each, str) else tuple(each) for node, each in marks.items()}
        check_marks(found)
        if found != self._marks:
            self._marks = found
            self._prepare()
            self.update()

    def set_pictures(self, pictures: Mapping[int, Picture]) -> None:
        """Show on nodes what they computed, where their boxes are large enough on the screen."""
        self._pictures.set(pictures)
        self.update()

    def set_message(self, words: str) -> None:
        """The reason why there is no scene; shown where there are no boxes."""
        if words != self._message:
            self._message = words
            self.describe()
            self.update()

    def set_busy(self, words: str) -> None:
        """Show that a layout is being made, once that takes a moment; an empty text ends it."""
        if words == self._busy:
            return
        if words:
            self._busy = self._busy_words = words
            self._busy_hide.stop()
            if self._busy_shown:
                self.update()
            else:
                self._busy_delay.start()
        else:
            self._busy = ""
            self._busy_delay.stop()
            if self._busy_shown and not self._busy_hide.isActive():
                self._busy_hide.start()

    def _show_busy(self) -> None:
        self._busy_shown = True
        self.update()

    def _hide_busy(self) -> None:
        self._busy_shown = False
        self.update()

    def refresh(self) -> None:
        """Paint everything anew, as after another theme."""
        self._texts = BoxTexts(Fonts())
        self._pictures.outdate()
        self._prepare()
        self._image.drop()
        self.update()

    def describe(self) -> None:
        """Set the texts for screen readers."""
        raise NotImplementedError

    # ----- the view -----

    def view(self) -> View:
        """What is in view, and how large."""
        return self._view

    def set_view(self, view: View) -> None:
        """Show another part, as near as there is something."""
        view = View(view.x, view.y, self._allowed(view.zoom))
        view = view.clamped(self._index.whole, self.width(), self.height())
        self._placed, self._placing = True, None
        if view != self._view:
            self._view = view
            self.view_changed.emit()
            self._sharp.start()
            self.update()

    def _allowed(self, zoom: float) -> float:
        whole = View.fitting(self._index.whole, self.width(), self.height())
        return min(MOST_ZOOM, max(zoom, min(0.25, whole.zoom * 0.5)))

    def view_rect(self) -> QRectF:
        """The part of the scene that is in view."""
        seen = self._view.seen(self.width(), self.height())
        return QRectF(seen.left, seen.top, seen.width, seen.height)

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom; the point of the screen ``at`` stays where it is, the middle without it."""
        at = QPointF(self.width() / 2, self.height() / 2) if at is None else at
        self.set_view(self._view.zoomed(self._allowed(self._view.zoom * factor), at.x(), at.y()))

    def pan_by(self, dx: float, dy: float) -> None:
        """Move the scene by pixels of the screen."""
        self.set_view(self._view.moved(dx, dy))

    def fit(self) -> None:
        """Show the whole scene."""
        self.set_view(self._fitting())
        self._placing = self._fitting

    def fit_selection(self) -> None:
        """Show the selected boxes; all without any."""
        whole = self._index.bounds(self._chosen) if len(self._chosen) else self._index.whole
        self.set_view(View.fitting(whole, self.width(), self.height()))

    def center_on(self, node: int) -> None:
        """Bring a box to the middle, large enough to be read; nothing where the scene doesn't have it."""
        row = self._index.row(node)
        if row is not None:
            box = self._index.box(row)
            zoom = self._view.zoom if self._view.zoom >= READABLE else 1.0
            high = min(box.bottom, box.top + self.height() / zoom / 2)  # of a tall frame its top
            x, y = (box.left + box.right) / 2, (box.top + high) / 2
            self.set_view(self._view.centered(x, y, self.width(), self.height(), zoom))

    def ensure_visible(self, node: int) -> None:
        """Pan as little as is needed for a box to be in view."""
        row = self._index.row(node)
        if row is None:
            return
        box, edge = self._index.box(row), 24.0
        left, top = self._view.to_screen(box.left, box.top)
        right, bottom = self._view.to_screen(box.right, box.bottom)
        dx = _inward(left, right, self.width(), edge)
        dy = _inward(top, bottom, self.height(), edge)
        if dx or dy:
            self.pan_by(dx, dy)

    def _place(self) -> bool:
        """Take the first view of a scene, once the size of the widget is known; whether it was taken now."""
        if self._placed or not self.isVisible() or not self._index.count:
            return False
        self._view = (self._placing or self._beginning)()
        self._placed = True
        return True

    def _beginning(self) -> View:
        whole, first = self._index.whole, self._index.box(0)
        return View.beginning(whole, first, self.width(), self.height())

    def _fitting(self) -> View:
        return View.fitting(self._index.whole, self.width(), self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        old = event.oldSize()
        if self._placing is not None:
            self._placed = False
            self._place()
        elif self._placed and old.isValid():
            # What was in the middle stays there.
            dx, dy = (self.width() - old.width()) / 2, (self.height() - old.height()) / 2
            self._view = self._view.moved(dx, dy)
        self._sharp.start()
        self.view_changed.emit()

    def sizeHint(self) -> QSize:
        return QSize(640, 480)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 160)

    # ----- images -----

    @property
    def is_sharp(self) -> bool:
        """Whether the image of this very view is shown."""
        whole = self._image.target(self._view).contains(QRectF(self.rect()))
        image, same = self._image, self._image.view == self._view
        return same and whole and not image.is_stale and not image.is_painting

    def _rest(self) -> None:
        """The view rests: paint it sharp."""
        self.view_settled.emit()
        if not self.is_sharp and not self._image.is_coming(self._view) and self.isVisible():
            self._begin()

    def _begin(self) -> None:
        """Begin the sharp image of what is in view now; the old one is shown meanwhile."""
        size = self.size() + QSize(2 * EDGE, 2 * EDGE)
        steps = self._painter.steps(self._view.moved(EDGE, EDGE), size.width(), size.height())
        self._image.begin(self._view, size, self.devicePixelRatioF(), steps, self._shown.look.ground)

    @property
    def has_small_legend(self) -> bool:
        """Whether the legend has one line: where there is little height, unless the user chose."""
        return self.height() < _LOW if self._small_legend is None else self._small_legend

    def set_small_legend(self, small: bool) -> None:
        """Show the legend in one line, or all of it."""
        self._small_legend = small
        self.update()

    def _strip(self) -> LegendStrip | None:
        if self._legend is None or not self.has_small_legend:
            return None
        return LegendStrip(self._legend, self.width(), self.height())

    def legend_rect(self) -> QRectF:
        """Where the legend is; empty without one."""
        strip = self._strip()
        if strip is not None:
            return strip.area()
        return QRectF() if self._legend is None else self._legend.area(self.height())

    def _crumbs(self) -> Crumbs:
        """The groups around what is in view; the buttons have room next to them."""
        wide = float(self.width())
        return Crumbs(self._shown, self._index, self._view.seen(wide, self.height()), wide - 80.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            self._paint(painter)
        finally:
            painter.end()

    def _paint(self, painter: QPainter) -> None:
        if self._place():
            self.view_changed.emit()
        wide, high = float(self.width()), float(self.height())
        if not self._index.count:
            painter.fillRect(self.rect(), self._shown.look.ground)
            paint_message(painter, QRectF(self.rect()), self._message or self.tr("No operators to show"))
        else:
            self._paint_image(painter)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            seen = self._view.seen(wide, high)
            self._pictures.paint(painter, self._index, self._view, seen)
            pointed = self._hovered, self._hovered_edge
            paint_chosen(painter, self._painter, self._view, seen, self._chosen, pointed)
            strip = self._strip()
            if strip is not None:
                strip.paint(painter)
            elif self._legend is not None:
                self._legend.paint(painter, high)
            self._crumbs().paint(painter)
            if self._minimap.is_shown(self._view, wide, high):
                self._minimap.paint(painter, self._view, wide, high, self.devicePixelRatioF())
        if self._busy_shown:
            paint_note(painter, QRectF(self.rect()), self._busy_words, self._texts.fonts)
        if self.hasFocus():
            paint_focus(painter, QRectF(self.rect()))

    def _paint_image(self, painter: QPainter) -> None:
        image, screen = self._image, QRectF(self.rect())
        if image.is_stale or (image.view is None and not image.is_coming(self._view)):
            # To find the steps of very many boxes takes a turn of the loop.
            if self._index.count > _MANY:
                self._next_turn.start()
            else:
                self._begin()
        elif image.view is not None and image.view.zoom == self._view.zoom and not image.is_painting:
            if not image.target(self._view).contains(screen):
                self._begin()  # a pan has left the image
        target = image.target(self._view)
        if not target.contains(screen):
            self._paint_uncovered(painter, target)
        image.paint(painter, self._view, self.devicePixelRatioF())

    def _paint_uncovered(self, painter: QPainter, covered: QRectF) -> None:
        """Where there is no image yet: the ground with plain boxes and lines."""
        rest = QRegion(self.rect()).subtracted(QRegion(covered.toAlignedRect().adjusted(1, 1, -1, -1)))
        painter.save()
        painter.setClipRegion(rest)
        painter.fillRect(self.rect(), self._shown.look.ground)
        area = rest.boundingRect()
        view = self._view.moved(-area.left(), -area.top())
        painter.translate(area.topLeft())
        paint_all(painter, self._painter.steps(view, area.width(), area.height(), plain=True))
        painter.restore()


def _inward(low: float, high: float, room: float, edge: float) -> float:
    """How far to move a range so that it is within the room; of one that is too long its beginning."""
    if high - low > room - 2 * edge or low < edge:
        return edge - low if low < edge or low > room - edge else 0.0
    return min(0.0, room - edge - high)
