"""PredictionSubject: a saved model on one batch of inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from engine.core.values.spec import Spec
from engine.debugger.points import Array, Part, Point
from engine.debugger.subjects.stepped import part_of, points_of, sites_of
from engine.jit.translated_layer import TranslatedLayer
from engine.kernels.choice import kernels
from engine.program.run.stages.choose import module_for
from engine.program.run.stepping.plan import SteppingPlan
from engine.training.randomness import random_state


class PredictionSubject:
    """The forward of a loaded model, without passes; ``inputs`` are arrays or Tensors."""

    def __init__(self, layer: TranslatedLayer, inputs: Sequence[Any], title: str) -> None:
        self.title, self.notes = title, ["the model as it was saved, without passes"]
        self.batch = 1
        self.random: dict[str, Any] = random_state()
        program, taken, outputs, tensors = layer.functions["forward"].unoptimized(inputs)
        bound = list(program.bound())
        feeds = {
            v.name: Spec(t._array.shape, t._array.dtype.name) for v, t in zip(taken, tensors, strict=True)
        }
        self._arrays = [t._array for t in (*tensors, *(v.tensor for v in bound))]
        self._variables = [*taken, *bound]
        with self.entered():
            self._plan = SteppingPlan(
                program,
                program.global_block().ops,
                self._variables,
                outputs,
                feeds,
                module_for(self._arrays),
            )
        self._sites = sites_of("forward", self._plan)
        self.parts: list[Part] = [part_of("forward", program, self._sites)]

    def initial(self) -> Mapping[str, Array]:
        return {v.name: a for v, a in zip(self._variables, self._arrays, strict=True)}

    @contextmanager
    def entered(self) -> Iterator[None]:
        with kernels.guard("numpy"):
            yield

    def begin(self, changed: Mapping[str, Array]) -> Iterator[Point]:
        values = {**self.initial(), **changed}
        return points_of(self._plan.begin([values[v.name] for v in self._variables]), self._sites)

    def advance(self) -> bool:
        return False

    def restart(self) -> None:
        """There is one batch."""

    def close(self) -> None:
        """Nothing is held but arrays."""
