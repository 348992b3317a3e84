"""Rows of the operators in ``engine/ops/sequences/beams.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s, v


def _search(
    pre_ids: Any, pre_scores: Any, scores: Any, ids: Any, lengths: Any, beam_size: int, end_id: int,
    is_accumulated: bool = True, level: int = 0,
) -> Any:  # fmt: skip
    """All candidates of a source sorted by score; there are no equal ones."""
    sizes = [beam_size] * (len(pre_ids) // beam_size) if lengths is None else lengths.tolist()
    chosen, first = [], 0
    for size in sizes:
        every = []
        for place in range(first, first + size):
            if pre_ids[place, 0] == end_id:
                every.append((pre_scores[place, 0], place, end_id))
                continue
            for n, score in enumerate(scores[place]):
                total = score if is_accumulated else pre_scores[place, 0] + np.log(score)
                every.append((total, place, n if ids is None else ids[place, n]))
        best = sorted(every, reverse=True)[:beam_size]
        if lengths is None or any(name != end_id or pre_ids[place, 0] != end_id for _, place, name in best):
            chosen += sorted(best, key=lambda item: (item[1], -item[0]))
        first += size
    totals, places, names = (np.array([item[n] for item in chosen]) for n in range(3))
    counts = np.bincount(places.astype(int), minlength=len(pre_ids))
    return names.astype(int)[:, None], totals[:, None], places.astype(int), counts


def _sentences(
    ids: Any, scores: Any, counts: Any, sources: Any, n: Any, prefixes: Any, m: Any, end_id: int
) -> Any:  # fmt: skip
    """The words of two steps: each candidate of the second behind that of its prefix."""
    first, rest = int(counts[0]), sorted(range(int(counts[0]), len(ids)), key=lambda row: -scores[row, 0])
    owner = [0] * first + np.repeat(np.arange(first), prefixes[m[0]:]).tolist()
    words = [[owner[row], row] for row in rest]
    flat = [row for own in words for row in own]
    return ids[flat, 0], scores[flat, 0], np.array([len(words)]), np.array([2] * len(words))


PREFIXES = (np.array([[1], [2], [5], [5], [4]]), v(5, 1, seed=3))
ENDED = (np.array([[5], [5], [1]]), v(3, 1, seed=3), v(3, 4) - 9)


CASES: list[Case] = [
    *row("beam_search", _search,
         s(*PREFIXES, v(5, 3), ints(5, 3, high=6), np.array([3, 2]), beam_size=2, end_id=5),
         s(*PREFIXES, np.exp(v(5, 3)), None, np.array([1, 4]), beam_size=3, end_id=5, is_accumulated=False),
         s(*PREFIXES, v(5, 3), None, np.array([5, 0]), beam_size=20, end_id=9),
         s(*ENDED, None, np.array([2, 1]), beam_size=2, end_id=5), data=True),
    *row("beam_search", _search, s(ints(4, 1, high=6), v(4, 1, seed=3), v(4, 3), ints(4, 3, high=6, seed=2),
         None, beam_size=2, end_id=5),
         s(ENDED[0][:2], ENDED[1][:2], ENDED[2][:2], None, None, beam_size=2, end_id=5)),
    *row("beam_search_decode", _sentences,
         s(np.array([[7], [8], [3], [4], [5]]), v(5, 1), np.array([2, 3]), np.array([1, 2]), np.array([1, 1]),
           np.array([2, 2, 1]), np.array([1, 2]), end_id=9), data=True),
]
