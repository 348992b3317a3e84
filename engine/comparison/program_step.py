"""What is computed: a step that can be repeated as a Program, after chosen passes, on a chosen device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from engine.comparison.recorded import Applied, Side
from engine.comparison.values import ValueStore
from engine.core.errors import ArgumentError
from engine.core.place import ArrayModule, as_place, backend, place_guard
from engine.eager.tensor import Tensor
from engine.jit.run_program import ProgramRunner
from engine.program.graph.liveness import with_sub_blocks
from engine.program.passes.rewriter import noting_substitutions
from resources.operator_keys import LOSS, network_call

BUILT = 0
"""The level of passes of a Program as it was built."""


class ProgramStep(ABC):
    """A step as a Program; each recording begins with the same weights and random numbers.

    ``label`` names it for people; ``level`` is the level of passes at which it runs usually; ``network`` is
    the path of the call from which layer calls have their paths, outside of which is the loss.
    """

    label: str
    level: int
    network = ""

    @property
    @abstractmethod
    def tensors(self) -> list[Tensor]:
        """The inputs."""

    @abstractmethod
    def runner(self, passes: int = BUILT) -> ProgramRunner:
        """The Program after the passes of a level."""

    @abstractmethod
    def of_program(
        self,
        store: ValueStore,
        label: str,
        runner: ProgramRunner,
        device: str = "",
        drawn: Sequence[Applied] = (),
    ) -> Side:
        """The step as the Program of ``runner``, on a device by its name; on the CPU by default.

        Operators that draw random numbers give those of ``drawn``, where that is not empty: devices draw
        others from one seed.
        """

    @abstractmethod
    def take_batch(self, other: ProgramStep) -> None:
        """Use the inputs and the random numbers of another step of this kind."""

    def static(
        self,
        store: ValueStore,
        label: str = "",
        passes: int = BUILT,
        device: str = "",
        drawn: Sequence[Applied] = (),
    ) -> Side:
        """The step as a Program after the passes of a level; see :meth:`of_program`."""
        with noting_substitutions() as aliases:
            runner = self.runner(passes)
        side = self.of_program(store, label or self.label, runner, device, drawn)
        side.aliases = aliases
        return side


@contextmanager
def computing_on(device: str) -> Iterator[ArrayModule]:
    """Within the block a device computes, by its name; gives its array module.

    Raises DeviceError where it can't be used.
    """
    if device in ("", "cpu"):
        yield np
        return
    with place_guard(device):
        yield backend(as_place(device)).xp


def require_comparable(a: ProgramStep, b: ProgramStep) -> None:
    """Raise ArgumentError, before anything runs, where two steps have no operator in common, or inputs of
    different shapes or dtypes."""
    one, other = a.runner(), b.runner()
    types = [
        {
            each.opdef.name
            for each in with_sub_blocks(runner.forward_ops)
            if network_call(each.layer, step.network) != LOSS
        }
        for step, runner in ((a, one), (b, other))
    ]
    if not types[0] & types[1]:
        raise ArgumentError(
            f"compare: {a.label} and {b.label} have no operator in common; compare models of one kind"
        )
    shapes = [[v.spec for v in runner.inputs] for runner in (one, other)]
    fit = len(shapes[0]) == len(shapes[1]) and all(
        x.dtype is y.dtype and len(x.shape) == len(y.shape) and all(map(_fits, x.shape, y.shape))
        for x, y in zip(*shapes, strict=True)
    )
    if not fit:
        texts = [", ".join(f"{v.dtype.name} {list(v.shape)}" for v in side) for side in shapes]
        raise ArgumentError(
            f"compare: the inputs differ: {a.label} takes {texts[0]}, {b.label} takes {texts[1]}; compare "
            "models that take the same inputs"
        )


def _fits(a: int, b: int) -> bool:
    return a == b or -1 in (a, b)
