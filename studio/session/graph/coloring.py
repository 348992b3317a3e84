"""Coloring: what the operators of the page Graph are coloured and numbered by."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from psygnal import Signal

from resources.operator_keys import OperatorKey, phase_of
from studio.session.graph import figures as figure
from studio.session.graph.figures import LOOKED, MEASURED, SUBJECTS, FigureMaker, Figures, Place
from studio.session.graph.group_facts import GroupFacts, group_facts
from studio.session.graph.measured_step import MeasuredStep, OperatorCost, digest_of
from studio.session.selection import NOTHING, Selected
from studio.session.train.layers_view import LayerSnapshot, LayersViewModel
from studio.session.work.file_thread import FileThread

if TYPE_CHECKING:
    from studio.session.graph.graph_view import GraphViewModel

NOT_MEASURED = "Measure a step first."
NO_LOOK = "No look at the layers is known: measure a step, or train with looks at layers."
NOT_QUANTIZED = "The Program has no quantization report."
NOT_COMPARED = "Compare two Programs in numbers first."
NO_PHASE = "The Program shown has no such operators."


_BAD = (KeyError, TypeError, ValueError, AttributeError, IndexError)


@dataclass(frozen=True)
class Painted:
    """The numbers that are shown: of what (None for none), of single operators, and how many operators the
    kernel computes that one is a part of. ``phases`` are those that the Program has."""

    figures: Figures | None = None
    values: Mapping[Place, float] = field(default_factory=dict)
    fused: Mapping[Place, int] = field(default_factory=dict)
    phases: frozenset[str] = frozenset()


class Coloring:
    """``subject`` is one of ``SUBJECTS``, empty for no colours. ``look`` is the place of the look that is
    shown among ``looks``, the last one by default. ``changed`` is emitted when colours may be others, and
    ``painted`` when the numbers are there, which a thread finds out.

    Args:
        graph: has the Program.
        thread: finds out the numbers.
    """

    changed: ClassVar = Signal()
    painted: ClassVar = Signal()

    def __init__(self, graph: GraphViewModel, thread: FileThread) -> None:
        self._graph, self._thread = graph, thread
        self.shown = Painted()
        self.subject = ""
        self.step: MeasuredStep | None = None
        self._step_of: Selected = NOTHING
        self._batch = 0
        self._layers = LayersViewModel()
        self._at = -1
        self._noise: dict[Place, float] = {}
        self._differences: dict[OperatorKey, float] = {}
        self._difference_unit = ""
        self._made: tuple[object, ...] = ()
        self._figures: Figures | None = None
        self._maker: FigureMaker | None = None
        self._maker_of: tuple[object, ...] = ()

    # ----- what is known -----

    def show_step(self, step: MeasuredStep, of: Selected) -> None:
        """A step of the model of ``of`` was measured; without a choice, colour by its time."""
        self.step, self._step_of = step, of
        if not self.subject:
            self.subject = figure.TIME
        self._change()

    def show_looks(self, events: Iterable[Mapping[str, Any]]) -> None:
        """The looks at the layers of the run that is shown."""
        self._at = -1
        self._layers.show(events)
        self._change()

    def take_look(self, event: Mapping[str, Any]) -> None:
        """One more look at the training that is shown."""
        self._layers.take(event)
        self._change()

    def show_quantization(self, noise: Mapping[Place, float]) -> None:
        """Noise over signal of the input of each quantized layer, at the operator that multiplies."""
        self._noise = dict(noise)
        self._change()

    def show_differences(self, values: Mapping[OperatorKey, float], unit: str = "") -> None:
        """Differences of operators by their keys in the Program as it was traced, and colour by them."""
        self._differences, self._difference_unit = dict(values), unit
        if values:
            self.subject = figure.DIFFERENCE
        elif self.subject == figure.DIFFERENCE:
            self.subject = ""
        self._change()

    def use_batch(self, batch: int) -> None:
        """How many samples stand for open sizes."""
        if batch != self._batch:
            self._batch = batch
            self._change()

    def forget(self) -> None:
        """Another Program is shown: what was known of another run or model has no place in it."""
        if self._graph.subject != self._step_of:
            self.step = None
        self._differences = {}
        self._noise = {}
        self._layers.show(())
        self._at = -1
        self._change()

    # ----- choices -----

    def choose(self, subject: str) -> None:
        """Colour by another subject, or by none."""
        if subject != self.subject:
            self.subject = subject
            self._change()

    @property
    def looks(self) -> list[LayerSnapshot]:
        """The looks of the run; that of a measured step where there are none."""
        if self._layers.looks:
            return self._layers.looks
        step = self.measured_step
        return [step.look] if step is not None and step.look is not None else []

    @property
    def look(self) -> int:
        """The place of the look that is shown, -1 for none."""
        count = len(self.looks)
        return self._at if 0 <= self._at < count else count - 1

    def choose_look(self, place: int) -> None:
        """Show another look."""
        newest = place >= len(self.looks) - 1
        self._at = -1 if newest else place
        self._change()

    @property
    def measured_step(self) -> MeasuredStep | None:
        """The measured step of what is shown; None where another one was measured."""
        return self.step if self._step_of == self._graph.subject else None

    @property
    def is_stale(self) -> bool:
        """Whether what is shown was measured with another source."""
        return self.subject in MEASURED and self.is_stale_step

    @property
    def is_stale_step(self) -> bool:
        """Whether the measured step is of another source."""
        step = self.measured_step
        return step is not None and bool(self._graph.source) and step.source != digest_of(self._graph.source)

    def costs_at(self, place: Place) -> list[OperatorCost]:
        """What the kernels that compute an operator cost."""
        step = self.measured_step
        if step is None:
            return []
        key = self._maker_now().keys.get(place)
        planned = self._graph.is_step
        return [cost for cost in step.costs if key in (cost.planned if planned else cost.parts)]

    def why_not(self, subject: str) -> str:
        """Why the Program can't be coloured by a subject; empty where it can."""
        if subject in MEASURED:
            if self.measured_step is None:
                return NOT_MEASURED
            if subject in (figure.BACKWARD_TIME, figure.UPDATE_TIME) and not self._graph.is_step:
                return NO_PHASE
        if subject in LOOKED and not self.looks:
            return NO_LOOK
        if subject == figure.QUANTIZATION and not self._noise:
            return NOT_QUANTIZED
        if subject == figure.DIFFERENCE and not self._differences:
            return NOT_COMPARED
        return ""

    def possible(self) -> dict[str, str]:
        """All subjects, each with the reason why not."""
        return {subject: self.why_not(subject) for subject in SUBJECTS}

    # ----- figures -----

    def figures(self) -> Figures | None:
        """The numbers of the chosen subject; None where nothing is chosen or known."""
        subject, program = self.subject, self._graph.program
        if not subject or not program or self.why_not(subject):
            return None
        made = (subject, id(program), self._graph.is_step, id(self.step), self.look, self._batch)
        if self._made != made or subject in (*LOOKED, figure.QUANTIZATION, figure.DIFFERENCE):
            try:
                self._figures = self._make(subject, program)
            except _BAD:  # the Program is not as Model Studio writes it; the diagram says so
                self._figures = None
            self._made = made
        return self._figures

    def _make(self, subject: str, program: dict[str, Any]) -> Figures | None:
        step, maker = self.measured_step, self._maker_now()
        if subject in MEASURED and step is not None:
            return maker.measured(subject, step)
        if subject in LOOKED:
            return maker.look(subject, self.looks[self.look])
        if subject == figure.QUANTIZATION:
            return maker.by_place(subject, self._noise, "share")
        if subject == figure.DIFFERENCE:
            places = {
                maker.places[key]: value for key, value in self._differences.items() if key in maker.places
            }
            return maker.by_place(subject, places, self._difference_unit)
        plain = {figure.MEMORY: maker.memory, figure.PARAMETERS: maker.parameters, figure.DTYPE: maker.dtypes}
        return plain[subject]() if subject in plain else None

    def _maker_now(self) -> FigureMaker:
        """The maker of figures of the Program that is shown."""
        step, program = self.measured_step, self._graph.program
        batch = step.batch if step is not None else self._batch
        of = (id(program), batch)
        if self._maker is None or self._maker_of != of:
            self._maker, self._maker_of = FigureMaker(program, batch, self._graph.is_step, _is_view), of
        return self._maker

    def ask_of_group(self, places: Sequence[Place], then: Callable[[GroupFacts], object]) -> None:
        """Find out what is in a group, in the thread; the last group that was asked for counts."""
        program, maker = self._graph.program, self._maker_now()
        step = None if self.is_stale_step else self.measured_step

        def work() -> GroupFacts | None:
            try:
                return group_facts(program, places, maker, step)
            except _BAD:
                return None

        def take(found: GroupFacts | None) -> None:
            if found is not None and self._graph.program is program:
                then(found)

        self._thread.do(work, take, f"group {id(self)}")

    def show_program(self) -> None:
        """Another Program is shown."""
        self._change()

    def _change(self) -> None:
        self._made = ()
        self.changed.emit()
        program = self._graph.program

        def take(found: Painted) -> None:
            if self._graph.program is program:
                self.shown = found
                self.painted.emit()

        self._thread.do(lambda: self._paint(program), take, f"coloring {id(self)}")

    def _paint(self, program: Mapping[str, Any]) -> Painted:
        try:
            phases = frozenset(phases_of(program))
        except _BAD:
            return Painted()
        found = self.figures()
        if found is None:
            return Painted(phases=phases)
        fused = {
            place: len(source.places)
            for source in found.sources
            if len(source.places) > 1 and not source.any_place
            for place in source.places
        }
        return Painted(found, found.by_operator(), fused, phases)


def phases_of(program: Mapping[str, Any]) -> set[str]:
    """The phases that a Program has operators of."""
    return {phase_of(operator) for block in program.get("blocks", ()) for operator in block["ops"]}


def _is_view(kind: str) -> bool:
    """Whether operators of a type only show an array in another shape; False while no engine is loaded."""
    module = sys.modules.get("engine.core.operators.opdef")
    found = module.OPS.get(kind) if module is not None else None
    return bool(found is not None and found.view)
