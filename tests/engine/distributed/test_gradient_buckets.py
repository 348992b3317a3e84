"""Which parameters share a bucket: as Paddle 2.6.2's ``core.eager_assign_group_by_size`` says."""

from __future__ import annotations

import pytest

from engine.distributed.gradient_buckets import assigned

F, D = ("float32", 4), ("float64", 8)


@pytest.mark.parametrize(
    ("lengths", "dtypes", "limits", "expected"),
    [
        ([10] * 5, [F] * 5, [40, 80], [[0], [1, 2], [3, 4]]),
        ([10] * 5, [F] * 5, [41, 81], [[0, 1], [2, 3, 4]]),
        ([300, 5, 5, 400, 1, 2, 3], [F] * 7, [100, 1000], [[0], [1, 2, 3], [4, 5, 6]]),
        ([4] * 6, [F, D] * 3, [32, 48], [[0, 2], [1], [3, 5], [4]]),
        ([4] * 3, [F] * 3, [1, 1], [[0], [1], [2]]),
        ([4] * 3, [F] * 3, [10**6, 10**7], [[0, 1, 2]]),
        ([1] * 8, [D, F] * 4, [8, 16], [[0], [1, 3], [2, 4], [5, 7], [6]]),
    ],
)
def test_buckets_are_paddles(lengths, dtypes, limits, expected) -> None:
    kinds = [(length * size, name) for length, (name, size) in zip(lengths, dtypes, strict=True)]
    assert assigned(kinds, limits) == expected
