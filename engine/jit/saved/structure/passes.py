"""What each pass over a Program changes, as differences of Programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.jit.saved.structure.changes import Structure
from engine.jit.saved.structure.compare import compare_structure
from engine.program.graph.program import Program
from engine.program.passes.pipeline import EXACT, copied, passes_over
from engine.program.saved.serialize import to_plain


@dataclass(frozen=True)
class PassDifferences:
    """A pass with its differences: ``before`` and ``after`` are the Program in its plain form."""

    name: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    structure: Structure


def compare_passes(program: Program, level: int = EXACT) -> list[PassDifferences]:
    """Compare ``program`` before and after each pass of ``optimize``.

    Nothing is executed but for constants that a pass folds. Raises ArgumentError as ``optimize`` does.
    """
    made = copied(program, level)
    before: Mapping[str, Any] = to_plain(made)
    found = []
    for each in passes_over(made, level):
        after: Mapping[str, Any] = to_plain(made)
        found.append(PassDifferences(each.rewrite.__name__, before, after, compare_structure(before, after)))
        before = after
    return found
