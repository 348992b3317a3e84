"""TrainingSubject: steps of a training, on copies of the weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.debugger.points import Array, Failure, Part, Point, Site
from engine.debugger.subjects.rehearsal import Rehearsal
from engine.debugger.subjects.stepped import Sites, part_of, points_of, sites_of
from engine.eager.tensor import write
from engine.kernels.choice import kernels
from engine.kernels.cpu.threads import computing_threads
from engine.program.run.stepping.otherwise import in_words
from engine.training.randomness import random_state
from resources.operator_keys import network_call, within_network

if TYPE_CHECKING:
    from engine.training.whole_step import WholeStep

UPDATE = "update"


@dataclass(eq=False)
class _Made:
    """A step with the sites of its parts. Of its last run: what it began with instead of the step's values,
    the weights that were changed after the update, and the random state at its end."""

    step: WholeStep
    sites: list[Sites]
    begun: Mapping[str, Array] = field(default_factory=dict)
    after: dict[str, Array] = field(default_factory=dict)
    random: dict[str, Any] = field(default_factory=dict)


class TrainingSubject:
    """The step that ``rehearsal`` comes to next, whose ``batch`` it gave, and those after it.

    Several runs over a batch may be under way at once, each with its own stepping plans.
    """

    def __init__(
        self, rehearsal: Rehearsal, batch: tuple[Any, Any], title: str, notes: Sequence[str] = ()
    ) -> None:
        self.title, self.notes = title, list(notes)
        self._rehearsal = rehearsal
        self._root = rehearsal.stepper.network_call
        self._first: tuple[Any, tuple[Any, Any], dict[str, Any]] | None = None
        self._take(batch)
        self.parts: list[Part] = self._parts_of(self._free[0])
        if rehearsal.compiled_since >= 0:
            self.notes.append(self._rounding())

    def _take(self, batch: tuple[Any, Any]) -> None:
        self._given = batch
        self.batch = self._rehearsal.step
        self.random = self._rehearsal.random
        self._complete: _Made | None = None
        with self.entered():
            self._free = [self._make()]

    def _make(self) -> _Made:
        step = self._rehearsal.stepper.whole_step(*self._given)
        first = (0, step.function.forward_count)
        found: list[Sites] = [
            sites_of(part.title, part.plan, begin, self._layer_of)
            for part, begin in zip(step.parts, first, strict=False)
        ]
        return _Made(step, found)

    def _rounding(self) -> str:
        """What the training computes otherwise than it is computed here."""
        with kernels.guard("auto"):
            rows = [row for _, row in self._free[0].step.computed_otherwise()]
        return f"the training's compiled kernels may round otherwise than NumPy's here, in {in_words(rows)}"

    def _layer_of(self, layer: str) -> str:
        return network_call(layer, self._root)

    def _parts_of(self, made: _Made) -> list[Part]:
        step, forward = made.step, made.step.function.forward_count
        ranges = ((0, forward), (forward, None))
        found = [
            part_of(
                part.title,
                step.function.program,
                sites,
                *each,
                lambda plain: within_network(plain, self._root),
            )
            for part, sites, each in zip(step.parts, made.sites, ranges, strict=False)
        ]
        rule = type(self._rehearsal.stepper.optimizer).__name__.lower()
        names = [name for name, _ in step.trained]
        self._updates = [
            Site(UPDATE, ((0, n),), rule, name.rpartition(".")[0]) for n, name in enumerate(names)
        ]
        if names:
            found.append(Part(UPDATE, None, tuple(names), tuple(self._updates)))
        return found

    # -- a run over the batch ------------------------------------------------------------------------------
    def initial(self) -> Mapping[str, Array]:
        made = self._free[0] if self._free else self._complete
        assert made is not None, "each run gives its step back"
        return made.step.function.arrays()

    @contextmanager
    def entered(self) -> Iterator[None]:
        # The rehearsal has claimed BLAS.
        with computing_threads(self._rehearsal.config.threads, claim=False), kernels.guard("numpy"):
            yield

    def begin(self, changed: Mapping[str, Array]) -> Iterator[Point]:
        made = self._free.pop() if self._free else self._make()
        made.begun, made.after, made.random = changed, {}, {}
        try:
            step = made.step
            yield from points_of(step.begin_forward(changed), made.sites[0])
            if len(step.parts) > 1:
                yield from points_of(step.begin_backward(), made.sites[1])
            yield from self._updated(made)
            made.random = random_state()
        finally:
            if made.random:
                self._complete, spare = made, self._complete
            else:
                spare = made
            if spare is not None:
                self._free.append(spare)

    def _updated(self, made: _Made) -> Iterator[Point]:
        try:
            rows = made.step.updates()
        except Exception as error:
            raise Failure(self._updates[0], (), [], error) from error
        begun = {**made.step.function.arrays(), **made.begun}
        for site, row in zip(self._updates, rows, strict=True):
            # The array that the forward has read: it need not be kept once more.
            given = [(row.variable, begun[row.variable]), (f"{row.variable}@GRAD", row.gradient)]
            # All results may be parts of one array, which should not stay for one of them.
            yield Point(site, (), given, [(row.variable, row.after)], made.after.__setitem__, changing=True)

    # -- from batch to batch -------------------------------------------------------------------------------
    def advance(self) -> bool:
        made, rehearsal = self._complete, self._rehearsal
        if made is None or self.batch >= rehearsal.progress.total_steps:
            return False
        if self._first is None:
            self._first = rehearsal.state(), self._given, self.random
        stepper, rehearsal.random = rehearsal.stepper, made.random
        loss, *others = made.step.begun.outputs
        accuracy = float(others[0]) if stepper.scale is None else None
        if math.isfinite(float(loss)) or rehearsal.config.on_divergence == "continue":
            tensors = {t.name: t for t in made.step.function.tensors}
            for name, array in made.begun.items():
                if name in tensors:
                    write(tensors[name], array)
            with rehearsal.drawing():  # L-BFGS computes the batch again
                made.step.keep()
            for name, array in made.after.items():
                write(tensors[name], array)
            if stepper.schedule is not None:
                stepper.schedule.after_batch()
        rehearsal.done(float(loss), accuracy, int(self._given[1].shape[0]))
        self._take(rehearsal.batch_of(rehearsal.step))
        return True

    def restart(self) -> None:
        if self._first is not None:
            tree, batch, random = self._first
            self._rehearsal.go_back(tree)
            self._rehearsal.random = random
            self._take(batch)

    def close(self) -> None:
        self._free.clear()
        self._complete = None
