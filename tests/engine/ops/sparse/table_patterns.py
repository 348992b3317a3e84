"""Rows of the operators on positions."""

from __future__ import annotations

import numpy as np

from tests.engine.ops.case import Case, row, s
from tests.engine.ops.sparse.references import places

SHAPE = [3, 4]
X, Y = places((3, 4), 5), places((3, 4), 4, seed=1)
MIXED = places((3, 4), 5, ordered=False)
TWICE = np.array([[1, 0, 1, 2], [2, 0, 2, 3]])
BATCH = places((2, 3, 4), 7)


def _numbers(indices, shape):  # type: ignore[no-untyped-def]
    return np.ravel_multi_index(tuple(indices), shape)


def _union(x, y, shape, everywhere=False):  # type: ignore[no-untyped-def]
    a, b = _numbers(x, shape), _numbers(y, shape)
    if everywhere:
        every = np.arange(np.prod(shape))
    elif a.tolist() == b.tolist():
        every = a
    else:
        every = np.array(sorted({*a.tolist(), *b.tolist()}))
    where = {n: k for k, n in enumerate(every.tolist())}
    return (
        np.stack(np.unravel_index(every, shape)),
        np.array([where[n] for n in a.tolist()]),
        np.array([where[n] for n in b.tolist()]),
    )


def _groups(indices, shape):  # type: ignore[no-untyped-def]
    found = _numbers(indices, shape)
    unique = sorted(set(found.tolist()))
    return np.stack(np.unravel_index(unique, shape)), np.array([unique.index(n) for n in found.tolist()])


def _crows(indices, shape):  # type: ignore[no-untyped-def]
    matrices = indices if len(shape) == 3 else np.concatenate([np.zeros_like(indices[:1]), indices])
    batches = shape[0] if len(shape) == 3 else 1
    return np.concatenate(
        [
            [((matrices[0] == b) & (matrices[1] < r)).sum() for r in range(shape[-2] + 1)]
            for b in range(batches)
        ]
    )


def _pairs(x, y, height):  # type: ignore[no-untyped-def]
    found = [(k, m) for k, a in enumerate(x) for m, b in enumerate(y) if a == b]
    return np.array([k for k, _ in found]), np.array([m for _, m in found])


def _sliced(indices, axes, starts, ends):  # type: ignore[no-untyped-def]
    inside = [
        k
        for k, place in enumerate(indices.T)
        if all(a <= place[axis] < b for axis, a, b in zip(axes, starts, ends, strict=True))
    ]
    found = indices[:, inside].copy()
    for axis, start in zip(axes, starts, strict=True):
        found[axis] -= start
    return found, np.array(inside, np.int64)


CASES: list[Case] = [
    *row(
        "sparse_union",
        _union,
        s(X, Y, shape=SHAPE),
        s(MIXED, Y, shape=SHAPE),
        s(MIXED, MIXED, shape=SHAPE),
        s(TWICE, Y, shape=SHAPE),
        data=True,
    ),
    *row("sparse_union", _union, s(X, Y, shape=SHAPE, everywhere=True)),
    *row(
        "sparse_groups",
        _groups,
        s(TWICE, shape=SHAPE),
        s(MIXED, shape=SHAPE),
        s(TWICE[:, [1, 0, 2, 3]], shape=SHAPE),
        data=True,
    ),
    *row(
        "sparse_order",
        lambda indices, shape: np.argsort(_numbers(indices, shape), kind="stable"),
        s(MIXED, shape=SHAPE),
        s(TWICE, shape=SHAPE),
    ),
    *row("sparse_crows", _crows, s(X, shape=SHAPE), s(BATCH, shape=[2, 3, 4])),
    *row(
        "sparse_csr_indices",
        lambda crows, cols, shape: X if len(shape) == 2 else BATCH,
        s(_crows(X, SHAPE), X[1], shape=SHAPE),
        s(_crows(BATCH, [2, 3, 4]), BATCH[2], shape=[2, 3, 4]),
    ),
    *row(
        "sparse_reshape_indices",
        lambda indices, shape, target: np.stack(np.unravel_index(_numbers(indices, shape), target)),
        s(X, shape=SHAPE, target=[2, 6]),
        s(X, shape=SHAPE, target=[12]),
        s(X, shape=SHAPE, target=[3, 2, 2]),
    ),
    *row(
        "sparse_slice_indices",
        _sliced,
        s(X, axes=[1], starts=[1], ends=[3]),
        s(BATCH, axes=[0, 2], starts=[1, 0], ends=[2, 3]),
        s(X, axes=[], starts=[], ends=[]),
        data=True,
    ),
    *row("sparse_pairs", _pairs, s(np.array([0, 2, 2, 1]), np.array([2, 0, 2, 3]), height=4), data=True),
]
