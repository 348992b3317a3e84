"""Region: a sub-block of an operator, with its arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.program.graph.program import Block
    from engine.program.graph.variable import Variable


class Region:
    """One of the sub-blocks that an operator of control flow runs.

    ``arguments`` are the Variables that have a value when the block begins: a loop's values. They are defined
    in the block or in a parent that the operator's regions share. ``results`` are the Variables that the
    block returns, defined in it or in a parent. Everything else that the block reads is captured from
    outside.
    """

    __slots__ = ("arguments", "block", "results")

    def __init__(self, block: Block, arguments: Sequence[Variable], results: Sequence[Variable]) -> None:
        self.block = block
        self.arguments = tuple(arguments)
        self.results = tuple(results)

    def __repr__(self) -> str:
        return (
            f"<Region of block {self.block.idx}: {[v.name for v in self.arguments]} -> "
            f"{[v.name for v in self.results]}>"
        )
