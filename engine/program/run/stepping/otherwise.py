"""Which operators of a plan may round otherwise than a stepping plan, which runs each by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from engine.program.graph.liveness import with_sub_blocks
from engine.program.run.explain import explain
from engine.program.run.inspected import Inspected

FUSED, COMPILED = "fused", "compiled"
_NAMED = 4  # types of operators


@dataclass(frozen=True)
class Otherwise:
    """An operator of a plan: the types of those it consists of, the path of the call of a Layer that has all
    of them, the user's lines that they come from, and whether it is "fused" or else "compiled"."""

    parts: tuple[str, ...]
    layer: str
    places: tuple[tuple[str, int], ...]
    how: str


def computed_otherwise(plan: Inspected) -> list[Otherwise]:
    """The operators of ``plan`` that are fused, and those that compiled kernels run, or will.

    Where there are none, a stepping plan by NumPy's kernels gives the same bits.
    """
    found = []
    for operator, explained in zip(with_sub_blocks(plan.ops), explain(plan), strict=True):
        # A pass makes operators such as conv2d_fusion.
        fused = len(explained.parts) > 1 or explained.name.endswith("_fusion")
        if fused or explained.kernel in ("fast", "compiling"):
            how = FUSED if fused else COMPILED
            found.append(Otherwise(explained.parts, operator.layer, explained.places, how))
    return found


def in_words(rows: Sequence[Otherwise]) -> str:
    """How many operators they are, and which most often: "12 operators, 3 of them fused: 5 conv2d, ..."."""
    fused = sum(row.how == FUSED for row in rows)
    most = Counter("+".join(row.parts) for row in rows).most_common(_NAMED)
    named = ", ".join(f"{count} {name}" for name, count in most)
    if len(rows) > sum(count for _, count in most):
        named += ", ..."
    if fused:
        return f"{len(rows)} operators, {fused} of them fused: {named}"
    return f"{len(rows)} operators: {named}"
