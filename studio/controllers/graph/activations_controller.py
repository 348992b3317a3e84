"""Activations on the page Graph: pictures on the boxes of the diagram, and values of the chosen operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from PySide6.QtCore import QObject

from resources import quantities
from resources.words import plural, shown
from studio.controllers.bindings import Bindings
from studio.controllers.tensor_values import show_values
from studio.session.explain.activations import Place
from studio.session.explain.maps import is_image
from studio.session.session import Session
from studio.windows.graph.activations_panel import ActivationsPanel
from studio.windows.graph.graph_inspector import GraphInspector
from studio.windows.graph.graph_page import DIAGRAM, GraphPage
from widgets import theme
from widgets.delayed import delayed
from widgets.program_diagram import Picture
from widgets.tensor_view import Counts, Planes

if TYPE_CHECKING:
    from engine.explain import Activation

FOLLOW_MS = 100  # at most ten samples a second follow a pen
LEAST = 48.0  # pixels of a box on the screen that has a picture


class Feeding(Protocol):
    """What the page Predict can be fed from here."""

    def draw(self, drawing: Any) -> None: ...
    def step(self, by: int) -> None: ...
    def edit(self) -> None: ...


class ActivationsController(QObject):
    """Asks while the diagram is visible and activations are wanted.

    Args:
        feeding: the page Predict, which is built when it is called.
    """

    def __init__(
        self, session: Session, page: GraphPage, panel: ActivationsPanel, feeding: Callable[[], Feeding]
    ) -> None:
        super().__init__(page)
        self._session, self._page, self._panel, self._feeding = session, page, panel, feeding
        self._activations = session.explaining.activations
        self._view = self._activations.view
        self._diagram = session.graph_tools.diagram
        self._bonds = Bindings()
        self._again = self._by_pad = False
        self._group: Place | None = None  # the last operator of the selected group
        self._pace = delayed(self, FOLLOW_MS, self._paced)
        panel.hide()
        page.bar.activations_toggled.connect(self._turn)
        page.view_chosen.connect(lambda _: self._look())
        page.shown.connect(self._look)
        page.diagram.view_settled.connect(self._view_settled)
        panel.drawn.connect(self._drawn)
        panel.step_requested.connect(lambda by: feeding().step(by))
        panel.edit_requested.connect(lambda: feeding().edit())
        self._ask_values()
        predict, graph, follow = session.predict.events, session.graph.events, self._bonds.follow
        follow(predict.fed, lambda _: self._fed())
        for signal in (predict.model, predict.checkpoint, graph.program):
            follow(signal, lambda _: self._changed())
        for signal in (graph.selected, graph.program):
            follow(signal, lambda _: self.show_group("", ()))
        follow(self._diagram.drawn, lambda _: self._changed())
        for field in ("found", "stopped"):
            follow(getattr(self._view.events, field), lambda _: self._show())
        follow(self._activations.value_shown, self._show_value)
        self._bonds.again(self._show_again)

    def _ask_values(self) -> None:
        tensor, ask = self._panel.tensor, self._activations.ask_value
        tensor.image_wanted.connect(
            lambda sample, first: ask(tensor.name(), "image", sample=sample, first=first)
        )
        tensor.histogram_wanted.connect(lambda: ask(tensor.name(), "histogram"))
        tensor.statistics_wanted.connect(lambda: ask(tensor.name(), "statistics"))
        tensor.block_wanted.connect(
            lambda row, rows, column, columns: ask(
                tensor.name(), "rows", row=row, column=column, count=rows, width=columns
            )
        )

    # ----- what is asked -----

    def _turn(self, on: bool) -> None:
        """The user wants activations, or no longer."""
        self._view.shown = on
        self._panel.setVisible(on)
        self._diagram.give_room(on)
        if on:
            self._session.loader.load_model()
            self._fed()
        self._look()

    def _look(self) -> None:
        visible = self._view.shown and self._page.isVisible() and self._page.current_view() == DIAGRAM
        self._activations.look(visible)
        if visible:
            self._changed()
        else:
            self._page.diagram.set_pictures({})

    def _view_settled(self) -> None:
        """Other boxes may be large enough now."""
        if self._view.shown and set(self._places()) - self._pictured:
            self._changed()

    _pictured: frozenset[Place] = frozenset()

    def _fed(self) -> None:
        if not self._view.shown:
            return
        is_image, value = self._takes_image(), self._session.predict.fed[0]
        self._panel.show_input(is_image)
        if is_image and not self._by_pad:
            self._panel.show_image(value)
        self._changed()

    def _takes_image(self) -> bool:
        """Whether the model takes one image, which can be drawn here."""
        first, *others = self._session.predict.inputs
        return first.form in ("digit", "picture") and not others

    def _drawn(self, drawing: Any) -> None:
        self._by_pad = True
        try:
            self._feeding().draw(drawing)
        finally:
            self._by_pad = False

    def _changed(self) -> None:
        """Ask now, or at the end of the pause since the last request."""
        if not self._view.shown:
            return
        self._again = True
        if not self._pace.isActive():
            self._paced()

    def _paced(self) -> None:
        if self._again:
            self._again = False
            places = self._places()
            self._pictured = frozenset(places)
            self._activations.want(places)
            self._activations.ask()
            self._pace.start()

    def _places(self) -> list[Place]:
        """The operators of the boxes that have room for a picture, in view."""
        drawn, diagram = self._diagram.shown, self._page.diagram
        if drawn is None or self._diagram.diagram is None:
            return []
        zoom, seen = diagram.view().zoom, diagram.view_rect()
        boxes = np.asarray(drawn.scene.boxes)
        near = (boxes[:, 3] * zoom >= LEAST) & ~np.asarray(drawn.scene.opened)
        near &= (boxes[:, 0] < seen.right()) & (boxes[:, 0] + boxes[:, 2] > seen.left())
        near &= (boxes[:, 1] < seen.bottom()) & (boxes[:, 1] + boxes[:, 3] > seen.top())
        found = (self._last_of(node) for node in np.asarray(drawn.scene.ids)[near].tolist())
        return [place for place in found if place is not None]

    def _last_of(self, node: int) -> Place | None:
        """The operator of a box, or the last one of a group."""
        diagram = self._diagram.diagram
        places = [] if diagram is None else diagram.operators_of(node)
        return places[-1] if places else None

    # ----- what is shown -----

    def _show_again(self) -> None:
        """Show the words in another language; a tensor stays as it is."""
        self._show_pictures()
        self._show_note()
        place = self._session.graph.selected
        if place is None or place not in self._view.found:
            self._show_operator()

    def _show(self) -> None:
        self._show_pictures()
        self._show_note()
        self._show_operator()

    def _show_pictures(self) -> None:
        drawn, pictures = self._diagram.shown, {}
        if drawn is not None and self._view.shown and self._view.found:
            for node in drawn.scene.ids.tolist():
                place = self._last_of(node)
                found = None if place is None else self._view.found.get(place)
                if found is not None:
                    pictures[node] = self._picture(found)
            pictures |= self._of_inputs()
        self._page.diagram.set_pictures(pictures)

    def _of_inputs(self) -> dict[int, Picture]:
        """The images that the model is fed, on the boxes of its inputs."""
        diagram, predict = self._diagram.diagram, self._session.predict
        pictures: dict[int, Picture] = {}
        for place, (asked, value) in enumerate(zip(predict.inputs, predict.fed, strict=True)):
            if diagram is not None and value is not None and is_image(asked):
                image = np.asarray(value, np.float32)
                planes = np.moveaxis(image, -1, 0) if image.ndim == 3 else image[None]
                low, high = float(planes.min()), float(planes.max())
                node = diagram.operator_count + place
                pictures[node] = Picture(Planes(planes, total=len(planes), low=low, high=high))
        return pictures

    def _picture(self, found: Activation) -> Picture:
        sizes = found.shape[1:] if len(found.shape) > 1 and found.shape[0] == 1 else found.shape
        shape, zeros = " \u00d7 ".join(map(str, sizes)), quantities.percent(found.zeros)
        low, high = (float("nan") if end is None else end for end in (found.low, found.high))
        lines = [self.tr("{0}: {1}").format(found.variable, shape), self.tr("{0} zeros").format(zeros)]
        if low == low:
            lines.append(self.tr("{0} to {1}").format(quantities.value(low), quantities.value(high)))
        if found.not_finite:
            lines.append(self.tr("{0} NaN or infinite").format(quantities.count(found.not_finite)))
        planes = counts = None
        if found.channels is not None:
            planes = Planes(found.channels, total=found.all_channels, low=low, high=high)
        elif found.counts:
            counts = Counts(low, high, found.counts, found.not_finite)
        words = self.tr("{0} \u00b7 {1} zeros").format(shape, zeros)
        return Picture(planes, counts, words, "\n".join(lines))

    def _show_note(self) -> None:
        view, panel = self._view, self._panel
        if not view.stopped:
            text = ""
            if view.found:
                text = self.tr("Computed in {0}.").format(theme.format_duration(view.seconds))
        elif view.stopped == "nan":
            text = plural(
                "No activations: {0} value of the input is NaN or infinite.",
                "No activations: {0} values of the input are NaN or infinite.",
                view.not_finite,
            ).format(quantities.count(view.not_finite))
        else:
            text = {
                "input": self.tr("Draw, or choose a test sample.")
                if self._takes_image()
                else self.tr("Enter the values on the page Predict, or choose a test sample."),
                "model": self.tr("Select a run with a checkpoint, or a saved model."),
                "step": self.tr(
                    "A training step has no activations of one sample. Switch Training step off."
                ),
                "cancelled": self.tr("Cancelled."),
            }.get(view.stopped, shown(view.message))
        panel.set_note(text)

    def show_group(self, _name: str, places: Sequence[Place]) -> None:
        """Show the result of a selected group: that of its last operator. None for no group."""
        self._group = places[-1] if places else None
        self._show_operator()

    def _show_operator(self) -> None:
        """The values of the selected operator, or of the selected group."""
        tensor, place = self._panel.tensor, self._group or self._session.graph.selected
        found = None if place is None else self._view.found.get(place)
        if not self._view.shown:
            return
        if found is None:
            tensor.clear(
                self.tr("Select an operator to see its values.")
                if place is None or not self._view.found
                else self.tr("This operator computes nothing of the sample.")
            )
        else:
            tensor.set_tensor(found.variable, found.shape, found.dtype)

    def _show_value(self, variable: str, kind: str, values: Any) -> None:
        tensor = self._panel.tensor
        if variable != tensor.name():
            return
        try:
            show_values(tensor, kind, values)
        except (LookupError, TypeError, ValueError, OverflowError):  # the model is untrusted
            tensor.clear(self.tr("The model's process sent invalid values."))

    def close(self) -> None:
        """Follow the view models no longer."""
        self._pace.stop()
        self._bonds.release()


def add_activations(
    session: Session, page: GraphPage, inspector: GraphInspector, feeding: Callable[[], Feeding]
) -> ActivationsController:
    """Their panel above the facts of the inspector, and what fills it."""
    panel = ActivationsPanel()
    inspector.set_head(panel)
    return ActivationsController(session, page, panel, feeding)
