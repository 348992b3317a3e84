"""Draft: a plan while its stages make it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Program, Variable


@dataclass(frozen=True)
class Draft:
    """What the stages have decided so far; ids are those of Variables, positions those among the operators.

    ``choose`` gives the operators (``live``), the arrays of ``constants`` and the ``specs``, by id; ``fuse``
    the operators after it, and ``groups`` and ``products``, the positions of updates and of products that are
    one call; ``place`` the last three fields: by id of an operator the inputs that its results are written
    into (``reused``), the values whose arrays are let go of after a position (``dying``), and the numbers of
    the outputs that are ``copied``, as they may share an array with an argument.
    """

    program: Program
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    xp: Any
    consumes: bool
    live: Liveness
    constants: Mapping[int, Any]
    specs: Mapping[int, Spec]
    groups: Sequence[Sequence[int]] = ()
    products: Sequence[Sequence[int]] = ()
    reused: Mapping[int, Sequence[Variable | None]] = field(default_factory=dict)
    dying: Mapping[int, Sequence[Variable]] = field(default_factory=dict)
    copied: frozenset[int] = frozenset()

    @property
    def ops(self) -> Sequence[Operator]:
        """The operators of the plan."""
        return self.live.ops

    def spec_of(self, value: Variable | list[Any] | None) -> Any:
        """The Spec of an operator's input in this plan; None for an absent one."""
        if isinstance(value, list):
            return [self.spec_of(v) for v in value]
        return None if value is None else self.specs.get(id(value), value.spec)
