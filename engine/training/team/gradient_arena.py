"""GradientArena: the gradients of a network in one array for each dtype, summed over the ranks at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from engine.distributed.collectives import host
from engine.eager.tensor import Tensor, write
from engine.training.team.team import Team


class GradientArena:
    """Sums the gradients of ``parameters`` over a team.

    Behind the gradients of a dtype stands a number for each parameter: how many ranks have a gradient for it.
    One that no rank has stays None, as it would in one process.
    """

    def __init__(self, parameters: Iterable[Any]) -> None:
        kinds: dict[Any, list[Any]] = {}
        for parameter in parameters:
            kinds.setdefault(host(parameter, "training").dtype, []).append(parameter)
        self._parts = [_Part(dtype, members) for dtype, members in kinds.items()]

    def fill(self, contribute: bool) -> None:
        """Copy this rank's gradients, or zeros where it has nothing to contribute."""
        for part in self._parts:
            part.fill(contribute)

    def sum(self, team: Team) -> None:
        """Sum what the ranks have copied."""
        for part in self._parts:
            part.buffer = team.sum(part.buffer)

    def deliver(self) -> None:
        """Give the parameters their gradients."""
        for part in self._parts:
            part.deliver()


class _Part:
    """The parameters of one dtype and the array of their gradients."""

    def __init__(self, dtype: Any, parameters: list[Any]) -> None:
        self._parameters = parameters
        ends = np.cumsum([int(np.prod(parameter.shape)) for parameter in parameters]).tolist()
        self._places = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
        self._length = ends[-1]
        self.buffer = np.zeros(self._length + len(parameters), dtype)

    def fill(self, contribute: bool) -> None:
        flags = self.buffer[self._length :]
        if not contribute:
            self.buffer[:] = 0
            return
        for number, (parameter, place) in enumerate(zip(self._parameters, self._places, strict=True)):
            gradient = parameter.grad
            flags[number] = gradient is not None
            self.buffer[place] = 0 if gradient is None else host(gradient, "training").reshape(-1)

    def deliver(self) -> None:
        flags = self.buffer[self._length :]
        for number, (parameter, place) in enumerate(zip(self._parameters, self._places, strict=True)):
            if not flags[number]:
                continue
            total, gradient = self.buffer[place].reshape(parameter.shape), parameter.grad
            if gradient is None:
                parameter.grad = Tensor(total)
            else:
                write(gradient, total)
