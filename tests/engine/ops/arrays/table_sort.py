"""Rows of the operators in ``engine/ops/arrays/sort.py``."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, bools, ints, row, s, v
from tests.engine.ops.references import places


def _sorted(x: Any, axis: int = -1, descending: bool = False) -> Any:
    if x.size < 2:
        return x, np.zeros(x.shape, "int64")

    def order(line: Any) -> Any:
        return [n for _, n in sorted((-value if descending else value, n) for n, value in enumerate(line))]

    where = np.apply_along_axis(order, axis, x)
    return np.take_along_axis(x, where, axis), where


def _kth(x: Any, k: int, axis: int = -1, keepdim: bool = False) -> Any:
    if x.ndim == 0:
        return x, np.array(0)
    out, where = (part.take([k - 1], axis) for part in _sorted(x, axis))
    return (out, where) if keepdim else (out.squeeze(axis), where.squeeze(axis))


def _mode(x: Any, axis: int = -1, keepdim: bool = False) -> Any:
    def last(line: Any) -> int:
        line = list(line)
        best = min(set(line), key=lambda value: (-line.count(value), value))
        return len(line) - 1 - line[::-1].index(best)

    where = np.expand_dims(np.apply_along_axis(last, axis, x), axis)
    out = np.take_along_axis(x, where, axis)
    return (out, where) if keepdim else (out.squeeze(axis), where.squeeze(axis))


def _unique(
    x: Any, axis: Any = (), return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, dtype: str = "int64"
) -> Any:
    parts = [p.tolist() for p in (np.moveaxis(x, axis[0], 0) if axis else x.reshape(-1))]
    values = sorted({tuple(p) if isinstance(p, list) else p for p in parts})
    same = [[n for n, p in enumerate(parts) if np.array_equal(p, value)] for value in values]
    which = [next(n for n, group in enumerate(same) if p in group) for p in range(len(parts))]
    out = np.moveaxis(np.array(values, x.dtype), 0, axis[0]) if axis else np.array(values, x.dtype)
    return [
        out, np.array([s[0] for s in same]).astype(dtype) if return_index else None,
        np.array(which).astype(dtype) if return_inverse else None,
        np.array([len(s) for s in same]).astype(dtype) if return_counts else None
    ]


def _consecutive(
    x: Any, axis: Any = (), return_inverse: bool = False, return_counts: bool = False, dtype: str = "int64"
) -> Any:
    parts = [p.tolist() for p in (np.moveaxis(x, axis[0], 0) if axis else x.reshape(-1))]
    runs = [list(group) for _, group in itertools.groupby(parts)]
    out = np.array([r[0] for r in runs], x.dtype)
    return [
        np.moveaxis(out, 0, axis[0]) if axis else out,
        np.array([n for n, r in enumerate(runs) for _ in r]).astype(dtype) if return_inverse else None,
        np.array([len(r) for r in runs]).astype(dtype) if return_counts else None,
    ]


def _search(ordered: Any, values: Any, out_int32: bool = False, right: bool = False) -> Any:
    made = np.zeros(values.shape, "int32" if out_int32 else "int64")
    for place in places(values.shape):
        line = ordered if ordered.ndim == 1 else ordered[place[:-1]]
        made[place] = sum(a <= values[place] if right else a < values[place] for a in line)
    return made


def _topk(x: Any, k: int = 1, axis: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    def best(line: Any) -> list[int]:
        order = [(-float(value) if largest else float(value), n) for n, value in enumerate(line)]
        order.sort()
        return [n for _, n in order[:k]]

    where = np.apply_along_axis(best, axis, x)
    return np.take_along_axis(x, where, axis), where


CASES: list[Case] = [
    # -- sorting and searching
    *row("argsort", _sorted, s(v(5)), s(v(2, 4), axis=0), s(v(2, 4), descending=True), s(v()), s(v(0, 3)),
         grads="x"),
    *row("argsort", _sorted, s(ints(2, 6)), s(ints(2, 6), descending=True),
         s(ints(6).astype("uint8"), descending=True)),
    *row("kthvalue", _kth, s(v(5), k=2), s(v(2, 4), k=4), s(v(3, 2), k=1, axis=0, keepdim=True), s(v(), k=1),
         grads="x"),
    *row("kthvalue", _kth, s(ints(2, 6), k=3)),
    *row("mode", _mode, s(v(4)), s(v(2, 3), axis=0, keepdim=True), grads="x"),
    *row("mode", _mode, s(ints(3, 7)), s(ints(6, 2), axis=0), s(ints(2, 9), keepdim=True)),
    *row("unique", _unique, s(ints(8)), s(ints(2, 4), return_index=True, return_inverse=True,
         return_counts=True),
         s(ints(5, 2, high=2), axis=[0], return_inverse=True, dtype="int32"),
         s(ints(2, 5, high=2), axis=[-1], return_counts=True), s(v(3)), data=True),
    *row("unique_consecutive", _consecutive, s(ints(9, high=2)), s(ints(2, 4, high=2), return_inverse=True),
         s(ints(6, 1, high=2), axis=[0], return_inverse=True, return_counts=True),
         s(ints(1, 6, high=2), axis=[1], return_counts=True, dtype="int32"), data=True),
    *row("where_index", lambda x: np.array([p for p in places(x.shape) if x[p]], "int64").reshape(
         sum(bool(x[p]) for p in places(x.shape)), x.ndim),
         s(ints(2, 3, high=2)), s(bools(4)), s(np.array(True)), s(np.zeros((2, 2))),
         s(v(2, 1, 2)), data=True),
    *row("searchsorted", _search, s(np.sort(v(5)), v(2, 2, seed=1)), s(np.array([1, 1, 3]), ints(4)),
         s(np.array([1, 1, 3]), ints(4), right=True, out_int32=True),
         s(np.sort(v(2, 4)), v(2, 3, seed=1)), s(np.sort(ints(2, 3)), ints(2, 2), right=True)),
    *row("top_k_v2", _topk, s(v(5), k=2), s(v(2, 4)), s(v(3, 2), k=2, axis=0),
         s(v(2, 4), k=3, largest=False), grads="x"),
    *row("top_k_v2", _topk, s(ints(2, 6), k=3), s(ints(2, 6), k=3, largest=False), s(ints(2, 6)),
         s(ints(2, 6).astype(np.uint8), k=2))
]
