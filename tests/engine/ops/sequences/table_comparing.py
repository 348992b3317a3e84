"""Rows of the operators in ``engine/ops/sequences/comparing.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s


def _steps(found: Any, wanted: Any) -> int:
    """The edit distance by its definition."""
    if not found or not wanted:
        return len(found) + len(wanted)
    replaced = _steps(found[1:], wanted[1:]) + (found[0] != wanted[0])
    return min(replaced, _steps(found[1:], wanted) + 1, _steps(found, wanted[1:]) + 1)


def _distances(
    found: Any, wanted: Any, length: Any, end: Any, normalized: bool = False, ignored_tokens: Any = ()
) -> Any:
    distances = []
    for n in range(len(found)):
        rows = [
            [t for t in each[n].reshape(-1)[: int(counts.reshape(-1)[n])].tolist() if t not in ignored_tokens]
            for each, counts in ((found, length), (wanted, end))
        ]
        distances.append([_steps(*rows) / (len(rows[1]) if normalized else 1)])
    return np.array(distances, np.float32).reshape(-1, 1), np.array([len(found)])


def _read(tags: Any, scheme: str, types: int) -> Any:
    """The chunks of one sequence, read tag by tag: (first, last, type)."""
    letters = {"IOB": "BI", "IOE": "IE", "IOBES": "BIES", "plain": "I"}[scheme]
    chunks, first = [], None
    count = len(letters)
    marks = [
        ("O", types) if tag >= types * count else (letters[tag % count], tag // count) for tag in tags
    ]
    for t, (letter, kind) in enumerate(marks):
        letter_before, before = marks[t - 1] if t else ("O", types)
        letter_after, after = marks[t + 1] if t + 1 < len(marks) else ("O", types)
        if letter != "O" and (letter in "BS" or kind != before or letter_before in "ES"):
            first = t
        if letter != "O" and (letter in "ES" or kind != after or letter_after in "BS"):
            chunks.append((first, t, kind))
    return set(chunks)


def _counts(
    found: Any, label: Any, length: Any, chunk_scheme: str = "IOB", num_chunk_types: int = 1,
    excluded_chunk_types: Any = (),
) -> Any:
    totals = np.zeros(3)
    for n, count in enumerate(length.reshape(-1).tolist()):
        sides = [
            {c for c in _read(rows[n].reshape(-1)[:count].tolist(), chunk_scheme, num_chunk_types)
             if c[2] not in excluded_chunk_types}
            for rows in (found, label)
        ]  # fmt: skip
        totals += [len(sides[0]), len(sides[1]), len(sides[0] & sides[1])]
    precision, recall = (totals[2] / n if n else 0.0 for n in totals[:2])
    f1 = 2 * precision * recall / (precision + recall) if totals[2] else 0.0
    return *(np.array([x], np.float32) for x in (precision, recall, f1)), *totals.astype(int).reshape(3, 1)


TOKENS = (ints(3, 5), ints(3, 4, seed=3), np.array([5, 3, 0]), np.array([4, 2, 3]))


def _tags(scheme: int, types: int = 3) -> Any:
    """Two rows of tags that differ in some places, and lengths."""
    one = ints(4, 12, high=types * scheme + 1, seed=scheme)
    other = np.where(ints(4, 12, seed=9) == 0, ints(4, 12, high=types * scheme + 1, seed=5), one)
    return one, other, np.array([12, 7, 0, 9])


CASES: list[Case] = [
    *row("edit_distance", _distances, s(*TOKENS), s(*TOKENS, normalized=True),
         s(*TOKENS, ignored_tokens=(1, 3)),
         s(TOKENS[0][..., None], TOKENS[1][..., None], TOKENS[2][:, None], TOKENS[3][:, None]),
         s(ints(0, 2), ints(0, 3), ints(0), ints(0)), s(ints(2, 0), ints(2, 2), ints(2, high=1),
         np.array([2, 1]))),
    *row("chunk_eval", _counts, s(*_tags(2), num_chunk_types=3),
         s(*_tags(2), chunk_scheme="IOE", num_chunk_types=3), s(*_tags(4), chunk_scheme="IOBES",
         num_chunk_types=3),
         s(*_tags(1), chunk_scheme="plain", num_chunk_types=3),
         s(*(each[..., None] for each in _tags(2)), num_chunk_types=3, excluded_chunk_types=(1,)),
         s(ints(0, 2), ints(0, 2), ints(0), num_chunk_types=1))
]
