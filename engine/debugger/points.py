"""What is debugged: a Subject, which runs a batch operator by operator, and the points at which it waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

Array = Any
"""An array of NumPy or CuPy; a list of them where a Variable is a list, None for an absent one."""

Place = tuple[tuple[int, int], ...]
"""Pairs of a block's number and an operator's number within it, outermost first."""


@dataclass(frozen=True)
class Site:
    """An operator of a part: its type, the path of the call of its layer, and the user's line; empty and 0
    where it is unknown. ``fills`` says that it fills with infinity on purpose, as masks are made."""

    part: str
    where: Place
    operator: str
    layer: str = ""
    file: str = ""
    line: int = 0
    fills: bool = False


@dataclass(slots=True)
class Point:
    """A moment after an operator: its results are there, and nothing has read them.

    ``replace`` changes a result before the step continues. ``changing`` says whether arrays of results may be
    written again later, so that who keeps them copies them.
    """

    site: Site
    iterations: tuple[int, ...]
    inputs: Sequence[tuple[str, Array]]
    outputs: Sequence[tuple[str, Array]]
    replace: Callable[[str, Array], None]
    changing: bool = False


class Failure(Exception):
    """An operator raised an error, which is the cause; what it was given is there."""

    def __init__(
        self, site: Site, iterations: tuple[int, ...], inputs: Sequence[tuple[str, Array]], error: Exception
    ) -> None:
        super().__init__(str(error))
        self.site = site
        self.iterations = iterations
        self.inputs = inputs
        self.error = error


@dataclass(frozen=True)
class Part:
    """Forward, backward or update of a batch: ``program`` as plain values (``serialize.to_plain``), whose
    operators ``Site.where`` counts; None where ``rows`` are the parameters that are updated one by one."""

    name: str
    program: Mapping[str, Any] | None = None
    rows: tuple[str, ...] = ()
    sites: tuple[Site, ...] = ()

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"name": self.name, "program": self.program, "rows": list(self.rows)}


class Subject(Protocol):
    """One batch that can be run any number of times, each time with the same bits, and those after it."""

    title: str
    notes: list[str]

    @property
    def parts(self) -> Sequence[Part]:
        """Forward, backward, update: those that there are."""

    @property
    def batch(self) -> int:
        """The number of the batch, as a training counts its steps: from 1."""

    @property
    def random(self) -> dict[str, Any]:
        """The random state that the batch begins with."""

    def initial(self) -> Mapping[str, Array]:
        """The values that the batch begins with: its inputs and the parameters, by name."""

    def entered(self) -> AbstractContextManager[None]:
        """Within the block operators compute as they do in the subject: threads, kernels, device."""

    def begin(self, changed: Mapping[str, Array]) -> Iterator[Point]:
        """Run the batch from its start, with other values for what ``changed`` names.

        Raises Failure for an operator that raises an error.
        """

    def advance(self) -> bool:
        """Go to the next batch, with the weights that the last complete run left; False: there is none."""

    def restart(self) -> None:
        """Go back to the first batch and its weights."""

    def close(self) -> None:
        """Let go of everything."""
