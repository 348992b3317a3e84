"""Rows of the operator in ``engine/ops/sequences/viterbi.py``."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _best(potentials: Any, transition: Any, lengths: Any, include_bos_eos_tag: bool = True) -> Any:
    """By trying all paths."""
    batch, _, tags = potentials.shape
    scores, paths = np.zeros(batch), np.zeros((batch, lengths.max()), np.int64)
    for b, length in enumerate(lengths):
        found = {}
        for path in itertools.product(range(tags), repeat=int(length)):
            score = sum(potentials[b, t, tag] for t, tag in enumerate(path))
            score += sum(transition[i, j] for i, j in itertools.pairwise(path))
            if include_bos_eos_tag:
                score += transition[-1, path[0]] + transition[-2, path[-1]]
            found[path] = score
        best = max(found, key=lambda path: found[path])
        scores[b], paths[b, :length] = found[best], best
    return scores, paths


LENGTHS = np.array([4, 1, 2])

CASES: list[Case] = [
    *row("viterbi_decode", _best,
         s(v(3, 4, 3), v(3, 3, seed=1), LENGTHS), s(v(3, 5, 4, seed=2), v(4, 4), LENGTHS),
         s(v(3, 4, 3), v(3, 3, seed=1), LENGTHS, include_bos_eos_tag=False),
         s(v(3, 4, 1), v(1, 1), LENGTHS, include_bos_eos_tag=False), data=True)
]
