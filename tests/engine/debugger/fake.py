"""A subject of plain functions, for tests of what needs no Program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from engine.debugger import Failure, Part, Point, Site
from engine.training.randomness import random_state, set_random_state

Step = tuple[str, str, Callable[..., Any], tuple[str, ...], str, str, int]
"""Part, operator, function, names of inputs, name of the output, layer, line."""


class FakeSubject:
    """Steps one after the other; ``runs`` counts passes, ``batches`` how many there are."""

    def __init__(self, steps: list[Step], initial: dict[str, Any], batches: int = 1) -> None:
        self.title, self.notes = "fake", []
        self.steps = steps
        self.batch = 1
        self.batches = batches
        self.runs = 0
        self._initial = initial
        self.random = random_state()
        names = dict.fromkeys(step[0] for step in steps)
        self.parts = [Part(name, {}, sites=tuple(s for s in self.sites if s.part == name)) for name in names]

    @property
    def sites(self) -> list[Site]:
        return [
            Site(part, ((0, n),), operator, layer, "/home/user/net.py" if line else "", line)
            for n, (part, operator, _, _, _, layer, line) in enumerate(self.steps)
        ]

    def initial(self) -> Mapping[str, Any]:
        return self._initial

    def entered(self) -> Any:
        return nullcontext()

    def begin(self, changed: Mapping[str, Any]) -> Iterator[Point]:
        self.runs += 1
        return self._points({**self._initial, **changed})

    def _points(self, values: dict[str, Any]) -> Iterator[Point]:
        for site, (_, _, function, read, made, _, _) in zip(self.sites, self.steps, strict=True):
            given = [(name, values[name]) for name in read]
            try:
                with np.errstate(all="ignore"):
                    values[made] = function(*[array for _, array in given])
            except Exception as error:
                raise Failure(site, (), given, error) from error
            yield Point(site, (), given, [(made, values[made])], values.__setitem__)

    def advance(self) -> bool:
        self.batch += 1
        return self.batch <= self.batches

    def restart(self) -> None:
        self.batch = 1
        set_random_state(self.random)

    def close(self) -> None:
        self.steps = []
