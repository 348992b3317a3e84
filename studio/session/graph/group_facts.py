"""GroupFacts: what is in a group of operators, for the inspector of the page Graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from studio.session.graph import figures as figure
from studio.session.graph.figures import FigureMaker, Place
from studio.session.graph.measured_step import MeasuredStep

MOST_KINDS = 8


@dataclass(frozen=True)
class GroupFacts:
    """``kinds`` are the types of operators with their numbers, the most frequent first, at most MOST_KINDS
    of them; ``other`` how many operators have other types. ``parameters`` counts the numbers in parameters,
    ``bytes`` those of all results; ``seconds`` are those of a measured step, None where nothing is known."""

    operators: int
    kinds: tuple[tuple[str, int], ...]
    other: int
    parameters: float | None = None
    bytes: float | None = None
    seconds: float | None = None


def group_facts(
    program: Mapping[str, Any], places: Iterable[Place], maker: FigureMaker, step: MeasuredStep | None
) -> GroupFacts:
    """The facts of the operators at ``places``; ``step`` is the one that was measured.

    Raises KeyError, TypeError, ValueError, AttributeError or IndexError for a damaged Program.
    """
    places = list(places)
    counts = Counter(str(program["blocks"][block]["ops"][index]["type"]) for block, index in places)
    kinds = tuple(counts.most_common(MOST_KINDS))
    return GroupFacts(
        len(places),
        kinds,
        len(places) - sum(count for _, count in kinds),
        maker.parameters().of(places),
        maker.memory().of(places),
        None if step is None else maker.measured(figure.TIME, step).of(places),
    )
