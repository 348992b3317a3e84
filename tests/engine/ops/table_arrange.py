"""Rows of the operators that arrange, pick, put, sort and search elements."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, bools, ints, row, s, v


def _places(shape: Any) -> Any:
    return itertools.product(*[range(d) for d in shape])


def _roll(x: Any, shifts: Any, axis: Any = ()) -> Any:
    if not axis:
        flat = list(x.reshape(-1))
        return np.array([flat[(n - shifts[0]) % len(flat)] for n in range(len(flat))]).reshape(x.shape)
    for shift, a in zip(shifts, axis, strict=True):
        x = np.stack([x.take((n - shift) % x.shape[a], a) for n in range(x.shape[a])], a)
    return x


def _triangle(x: Any, diagonal: int = 0, lower: bool = True) -> Any:
    result = x.copy()
    for place in _places(x.shape):
        r, c = place[-2:]
        if (c - r > diagonal) if lower else (c - r < diagonal):
            result[place] = 0
    return result


def _triangle_indices(lower: bool) -> Any:
    def want(rows: int, cols: int, offset: int = 0, dtype: str = "int64") -> Any:
        away = [(r, c) for r, c in _places((rows, cols)) if (offset - c + r) * (1 if lower else -1) >= 0]
        return np.array(away, dtype).reshape(-1, 2).T

    return want


def _diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    planes = np.moveaxis(x, (axis1, axis2), (0, 1))
    rows = [r for r in range(planes.shape[0]) if 0 <= r + offset < planes.shape[1]]
    return np.stack([planes[r, r + offset] for r in rows], -1)


def _repeat(x: Any, repeats: int, axis: int = 0) -> Any:
    return np.stack([x.take(n // repeats, axis) for n in range(x.shape[axis] * repeats)], axis)


def _fill_diagonal(x: Any, y: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    result = x.copy()
    first, second = dim1 % x.ndim, dim2 % x.ndim
    for place in _places(x.shape):
        if place[second] - place[first] == offset:
            rest = tuple(p for n, p in enumerate(place) if n not in (first, second))
            result[place] = y[(*rest, min(place[first], place[second]))]
    return result


def _diag_embed(x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    size = x.shape[-1] + abs(offset)
    made = np.zeros((*x.shape[:-1], size, size))
    for place in _places(x.shape):
        n = place[-1]
        made[(*place[:-1], n + max(0, -offset), n + max(0, offset))] = x[place]
    return np.moveaxis(made, (-2, -1), (dim1, dim2))


def _diag(x: Any, offset: int = 0, padding_value: float = 0.0) -> Any:
    if x.ndim == 2:
        return np.array([x[p] for p in _places(x.shape) if p[1] - p[0] == offset])
    x = x.reshape(-1)
    size = len(x) + abs(offset)
    made = np.full((size, size), padding_value)
    for n, value in enumerate(x):
        made[n + max(0, -offset), n + max(0, offset)] = value
    return made


def _meshgrid(xs: Any) -> Any:
    shape = [x.size for x in xs]
    return [np.array([x.reshape(-1)[p[n]] for p in _places(shape)]).reshape(shape) for n, x in enumerate(xs)]


def _unfold(x: Any, axis: int, size: int, step: int) -> Any:
    starts = range(0, x.shape[axis] - size + 1, step)
    return np.stack([np.moveaxis(x.take(range(a, a + size), axis), axis, -1) for a in starts], axis % x.ndim)


def _fold(g: Any, like: Any, axis: int, size: int, step: int) -> Any:
    result = np.zeros(like.shape)
    for place in _places(g.shape):
        target = list(place[:-1])
        target[axis] = place[axis if axis >= 0 else axis - 1] * step + place[-1]
        result[tuple(target)] += g[place]
    return result


def _strided(x: Any, shape: Any, stride: Any, offset: int = 0) -> Any:
    flat = x.reshape(-1)
    found = [flat[offset + sum(a * b for a, b in zip(p, stride, strict=True))] for p in _places(shape)]
    return np.array(found).reshape(shape)


def _strided_add(g: Any, like: Any, shape: Any, stride: Any, offset: int = 0) -> Any:
    flat = np.zeros(like.size)
    for p in _places(shape):
        flat[offset + sum(a * b for a, b in zip(p, stride, strict=True))] += g[p]
    return flat.reshape(like.shape)


def _gather_nd(x: Any, index: Any) -> Any:
    made = [x[tuple(index[p])] for p in _places(index.shape[:-1])]
    return np.array(made).reshape((*index.shape[:-1], *x.shape[index.shape[-1] :]))


def _nd_add(x: Any, index: Any, updates: Any) -> Any:
    result = x.copy()
    for p in _places(index.shape[:-1]):
        result[tuple(index[p])] += updates[p]
    return result


def _scatter(x: Any, index: Any, updates: Any, overwrite: bool = True) -> Any:
    result = x.copy()
    rows = list(zip(index.reshape(-1), updates.reshape(index.size, *x.shape[1:]), strict=True))
    for n, u in rows:
        result[n] = u if overwrite else 0
    for n, u in rows:
        if not overwrite:
            result[n] += u
    return result


def _index_add(x: Any, index: Any, value: Any, axis: int = 0) -> Any:
    result = x.copy()
    for n, target in enumerate(index):
        np.moveaxis(result, axis, 0)[target] += np.moveaxis(value, axis, 0)[n]
    return result


def _sample(x: Any, index: Any) -> Any:
    return np.array([[x[r, c] for c in line] for r, line in enumerate(index)]).reshape(index.shape)


def _masked_select(x: Any, mask: Any) -> Any:
    x, mask = np.broadcast_arrays(x, mask)
    return np.array([x[p] for p in _places(x.shape) if mask[p]])


def _masked_grad(g: Any, like: Any, mask: Any) -> Any:
    spread, chosen = np.broadcast_arrays(np.arange(like.size).reshape(like.shape), mask)
    result = np.zeros(like.size)
    for place, value in zip([int(spread[p]) for p in _places(spread.shape) if chosen[p]], g, strict=True):
        result[place] += value
    return result.reshape(like.shape)


def _put_along(
    x: Any, indices: Any, values: Any, axis: int = 0, reduce: str = "assign", include_self: bool = True,
    broadcast: bool = False,
) -> Any:  # fmt: skip
    shape = [d if n == axis % x.ndim or not broadcast else x.shape[n] for n, d in enumerate(indices.shape)]
    indices, values = np.broadcast_to(indices, shape), np.broadcast_to(values, shape)
    met: dict[Any, list[float]] = {}
    for place in _places(shape):
        target = list(place)
        target[axis] = int(indices[place])
        met.setdefault(tuple(target), []).append(values[place])
    result = x.copy()
    for target, found in met.items():
        every = [x[target], *found] if include_self else found
        join = {"add": sum, "mul": np.prod, "amin": min, "amax": max, "assign": lambda e: e[-1]}[reduce]
        result[target] = join(every)
    return result


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
    return_counts: bool = False, dtype: str = "int64",
) -> Any:  # fmt: skip
    parts = [p.tolist() for p in (np.moveaxis(x, axis[0], 0) if axis else x.reshape(-1))]
    values = sorted({tuple(p) if isinstance(p, list) else p for p in parts})
    same = [[n for n, p in enumerate(parts) if np.array_equal(p, value)] for value in values]
    which = [next(n for n, group in enumerate(same) if p in group) for p in range(len(parts))]
    out = np.moveaxis(np.array(values, x.dtype), 0, axis[0]) if axis else np.array(values, x.dtype)
    return [
        out, np.array([s[0] for s in same]).astype(dtype) if return_index else None,
        np.array(which).astype(dtype) if return_inverse else None,
        np.array([len(s) for s in same]).astype(dtype) if return_counts else None,
    ]  # fmt: skip


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
    for place in _places(values.shape):
        line = ordered if ordered.ndim == 1 else ordered[place[:-1]]
        made[place] = sum(a <= values[place] if right else a < values[place] for a in line)
    return made


def _shard(x: Any, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Any:
    size = -(-index_num // nshards)
    here = [e - size * shard_id if e // size == shard_id else ignore_value for e in x.reshape(-1)]
    return np.array(here).reshape(x.shape)


def _reshape_dims(x: Any, dims: Any, shape: Any, places: Any) -> Any:
    shape = [x.shape[n] if d == 0 else d for n, d in enumerate(shape)]
    for place, size in zip(places, dims, strict=True):
        shape[place] = size.item()
    return x.reshape(shape)


def _expand_dims(x: Any, dims: Any, shape: Any, places: Any) -> Any:
    shape = [x.shape[n - len(shape)] if d == -1 and n not in places else d for n, d in enumerate(shape)]
    for place, size in zip(places, dims, strict=True):
        shape[place] = size.item()
    return x * np.ones(shape)


SMALL = np.array([[0, 3], [2, 1]])
TWICE = np.array([[0, 0], [1, 2]])

CASES: list[Case] = [
    *row("flip", lambda x, axis: x[tuple(slice(None, None, -1 if n in [a % x.ndim for a in axis] else None)
         for n in range(x.ndim))], s(v(3), axis=[0]), s(v(2, 3), axis=[0, -1]), s(v(0, 2), axis=[1]),
         s(v(2, 3, 2), axis=[1]), grads="x"),
    *row("roll", _roll, s(v(5), shifts=[2]), s(v(2, 3), shifts=[-4]), s(v(2, 3), shifts=[1, -1], axis=[0, 1]),
         s(v(3, 2), shifts=[4], axis=[-2]), s(v(0, 2), shifts=[1], axis=[1]), grads="x"),
    *row("tril_triu", _triangle, s(v(3, 3)), s(v(3, 4), diagonal=1), s(v(4, 2), diagonal=-1, lower=False),
         s(v(2, 3, 3), lower=False), s(v(0, 3)), grads="x"),
    *row("tril_indices", _triangle_indices(True), s(rows=3, cols=4), s(rows=4, cols=2, offset=-1),
         s(rows=2, cols=3, offset=2, dtype="int32"), s(rows=0, cols=3)),
    *row("triu_indices", _triangle_indices(False), s(rows=3, cols=4), s(rows=4, cols=2, offset=-1),
         s(rows=2, cols=3, offset=2, dtype="int32"), s(rows=2, cols=2, offset=5)),
    *row("diagonal", _diagonal,
         s(v(3, 3)), s(v(2, 4), offset=1), s(v(2, 3, 4), axis1=1, axis2=-1), s(v(4, 2, 3), offset=-2),
         grads="x"),
    *row("fill_diagonal_tensor", _fill_diagonal, s(v(3, 3), v(3, seed=1)), s(v(2, 4), v(2, seed=1), offset=1),
         s(v(2, 3, 4), v(2, 3, seed=1), dim1=1, dim2=2), s(v(4, 3), v(2, seed=1), offset=-2), grads="x y"),
    *row("diag_embed", _diag_embed, s(v(3)), s(v(2, 3), offset=1), s(v(2, 3), offset=-2, dim1=0, dim2=2),
         grads="x"),
    *row("diag_v2", _diag, s(v(3)), s(v(2), offset=-1, padding_value=2.5), s(v(3, 4), offset=1),
         s(v(4, 2), offset=-1), s(v(1).reshape(())), grads="x"),
    *row("repeat_interleave", _repeat, s(v(3), repeats=2), s(v(2, 3), repeats=3, axis=1),
         s(v(2, 3), repeats=1, axis=-2), grads="x"),
    *row("repeat_interleave_grad", lambda g, like, repeats, axis=0: sum(
         np.take(g, range(n, g.shape[axis], repeats), axis) for n in range(repeats)),
         s(v(6), v(3), repeats=2), s(v(2, 9), v(2, 3), repeats=3, axis=-1), grads="g_in"),
    *row("repeat_interleave_with_tensor_index", lambda x, repeats, dim=0: np.repeat(x, repeats, dim),
         s(v(3), np.array([2, 0, 1])), s(v(2, 3), np.array([2]), dim=1), s(v(2, 3), np.array([1, 3]), dim=-2),
         s(v(3), np.array([0, 0, 0])), s(v(0, 2), np.array([2])), grads="x", data=True),
    *row("repeat_interleave_with_tensor_index_grad", lambda g, like, repeats, dim=0: np.stack([g.take(range(
         sum(repeats[:n]), sum(repeats[:n + 1])), dim).sum(dim) for n in range(len(repeats))], dim),
         s(v(3), v(3), np.array([2, 0, 1])), s(v(2, 4), v(2, 2), np.array([1, 3]), dim=-1), grads="g_in"),
    *row("meshgrid", _meshgrid, s([v(2), v(3, seed=1)]), s([v(2), v(3), v(2, seed=2)]), s([v(3)]),
         s([v(), v(2)]), grads="xs"),
    *row("tensor_unfold", _unfold, s(v(7), axis=0, size=3, step=2), s(v(2, 5), axis=1, size=2, step=1),
         s(v(4, 2), axis=-2, size=4, step=3), s(v(5), axis=0, size=2, step=4), grads="x"),
    *row("tensor_unfold_grad", _fold, s(v(3, 3), v(7), axis=0, size=3, step=2),
         s(v(2, 4, 2), v(2, 5), axis=-1, size=2, step=1), grads="g_in"),
    *row("as_strided", _strided, s(v(3, 4), shape=[2, 3], stride=[4, 1], offset=1), s(v(5), shape=[3, 3],
         stride=[1, 1]), s(v(6), shape=[], stride=[], offset=2), grads="x"),
    *row("as_strided_grad", _strided_add, s(v(2, 3), v(3, 4), shape=[2, 3], stride=[4, 1], offset=1),
         s(v(3, 3), v(5), shape=[3, 3], stride=[1, 1]), grads="g_in"),
    *row("view_dtype", lambda x, dtype: np.frombuffer(x.tobytes(), dtype).reshape(*x.shape[:-1], -1),
         s(ints(2, 3), dtype="int32"), s(ints(4).astype("int16"), dtype="int64")),
    *row("memcpy", lambda x: x, s(v()), s(v(0, 2)), s(v(2, 3)), grads="x"),
    *row("shard_index", _shard, s(ints(3, 2, high=20), index_num=20, nshards=3, shard_id=1),
         s(ints(2, 2), index_num=4, nshards=2, shard_id=0, ignore_value=9)),
    # -- picking and putting
    *row("gather_nd", _gather_nd, s(v(2, 3), np.array([[0, 1], [1, 2], [0, 1]])),
         s(v(3, 2), np.array([[2], [0]])),
         s(v(3, 2), np.array([1])), s(v(2, 3), np.array([1, 2])),
         s(v(2), np.zeros((3, 0), "int64")), grads="x",
         unknown=False),
    *row("scatter_nd_add", _nd_add, s(v(2, 3), np.array([[0, 1], [1, 2], [0, 1]]), v(3, seed=1)),
         s(v(3, 2), np.array([[2], [2]]), v(2, 2, seed=1)), s(v(3, 2), np.array([1]), v(2, seed=1)),
         s(v(2), np.zeros((3, 0), "int64"), v(3, 2, seed=1)), grads="x updates", unknown=False),
    *row("scatter", _scatter, s(v(4), np.array([2, 0]), v(2, seed=1)),
         s(v(3, 2), np.array([1]), v(1, 2, seed=1)),
         s(v(3, 2), np.array([2, 0, 2]), v(3, 2, seed=1), overwrite=False),
         s(v(3, 2), np.array(1), v(2, seed=1)),
         grads="x updates"),
    *row("scatter", _scatter, s(v(3), np.array([1, 1]), v(2, seed=1))),
    *row("index_select", lambda x, index, dim=0: np.stack([x.take(i, dim) for i in index], dim),
         s(v(4), ints(3)), s(v(2, 4), ints(3), dim=1), s(v(4, 2), ints(5), dim=-2), grads="x"),
    *row("index_add", _index_add, s(v(4), ints(3), v(3, seed=1)),
         s(v(2, 4), ints(3), v(2, 3, seed=1), axis=1),
         s(v(4, 2), ints(2), v(2, 2, seed=1), axis=-2), grads="x value"),
    *row("index_sample", _sample, s(v(2, 4), ints(2, 3)), s(v(3, 4), ints(3, 1)), grads="x"),
    *row("masked_select", _masked_select, s(v(4), bools(4)), s(v(2, 3), bools(3)), s(v(3), bools(2, 3)),
         s(v(2, 1), bools(2, 3)), s(v(), np.array(True)), grads="x", data=True),
    *row("masked_select_grad", _masked_grad, s(v(2), v(4), np.array([True, False, False, True])),
         s(v(4), v(2, 1), np.array([[True, False, True], [True, True, False]])),
         s(v(3), v(3), np.array([[True, False, True], [True, False, False]])), grads="g_in"),
    *row("put_along_axis", _put_along, s(v(2, 4), SMALL, v(2, 2, seed=1), axis=1),
         s(v(4, 3), np.array([[1, 0, 1]]), v(1, 3, seed=1)), s(v(2, 3), np.array([[1]]), v(), broadcast=True),
         s(v(2, 3), TWICE, v(2, 2, seed=1) * 1.1, axis=1, reduce="add"),
         s(v(2, 3), TWICE, v(2, 2, seed=1) * 1.1, axis=-1, reduce="add", include_self=False),
         s(v(2, 3), TWICE, v(2, 2, seed=1) * 1.1, axis=1, reduce="mul"),
         s(v(3, 2), np.array([[0, 1], [0, 2]]), v(2, 2, seed=1) * 1.1, reduce="mul", include_self=False),
         s(v(2, 3), TWICE, v(2, 2, seed=1) * 1.1, axis=1, reduce="amin"),
         s(v(2, 3), TWICE, v(2, 2, seed=1) * 1.1, axis=1, reduce="amax", include_self=False),
         grads="x values"),
    *row("take_along_axis", lambda x, indices, axis, broadcast=False: np.take_along_axis(
         x, np.broadcast_to(indices, [*x.shape[:axis], indices.shape[axis], *x.shape[axis + 1:]]), axis),
         s(v(3, 4), np.array([[0, 3]]), axis=1, broadcast=True), grads="x"),
    *row("put_along_axis_zeros", lambda g, like, indices, **_: _put_along(np.zeros(like.shape),
         np.broadcast_to(
         indices, g.shape), g, 1, "add"), s(v(3, 2), v(3, 4), np.array([[0, 3]]), axis=1, broadcast=True),
         grads="g_in"),
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
    *row("where_index", lambda x: np.array([p for p in _places(x.shape) if x[p]], "int64").reshape(
         sum(bool(x[p]) for p in _places(x.shape)), x.ndim),
         s(ints(2, 3, high=2)), s(bools(4)), s(np.array(True)), s(np.zeros((2, 2))),
         s(v(2, 1, 2)), data=True),
    *row("searchsorted", _search, s(np.sort(v(5)), v(2, 2, seed=1)), s(np.array([1, 1, 3]), ints(4)),
         s(np.array([1, 1, 3]), ints(4), right=True, out_int32=True),
         s(np.sort(v(2, 4)), v(2, 3, seed=1)), s(np.sort(ints(2, 3)), ints(2, 2), right=True)),
    # -- sizes that are values
    *row("reshape2_dims", _reshape_dims, s(v(2, 3), [np.array(3)], shape=[-1, 2], places=[0]),
         s(v(2, 6), [np.array([2])], shape=[0, -1, 3], places=[1]), grads="x"),
    *row("reshape2_dims", _reshape_dims, s(v(2, 6), [np.array(2), np.array(3)], shape=[-1, -1, -1],
         places=[0, 2]),
         grads="x", data=True),
    *row("expand_v2_dims", _expand_dims, s(v(1, 3), [np.array(2)], shape=[-1, -1], places=[0]),
         s(v(3), [np.array(2)], shape=[-1, 3], places=[0]),
         s(v(2, 1), [np.array([2]), np.array(4)], shape=[3, -1, -1], places=[1, 2]), grads="x", data=True),
    *row("tile_dims", lambda x, dims, repeat_times: np.tile(x, [int(dims.pop(0).item()) if t == -1 else t
         for t in repeat_times]), s(v(2, 3), [np.array(2)], repeat_times=[-1, 1]),
         s(v(3), [np.array(2), np.array([3])], repeat_times=[-1, -1]), grads="x", data=True),
    *row("tile_dims_grad", lambda g, like: sum(g[a : a + 2, b : b + 3] for a in range(0, g.shape[0], 2)
         for b in range(0, g.shape[1], 3)), s(v(4, 6), v(2, 3)), s(v(2, 3), v(2, 3)), grads="g_in"),
    *row("tile_like", lambda x, like: np.tile(x, (2, 2)), s(v(3), v(2, 6)), s(v(2, 1), v(4, 2)), grads="x"),
    *row("range_of", lambda start, end, step, dtype="int64": np.arange(start, end, step).astype(dtype),
         s(np.array(1), np.array(7), np.array(2)), s(np.array(0.5), np.array(2.0), np.array(0.5),
         dtype="float64"), data=True),
    *row("fill_constant", lambda dims, shape, value, dtype="float32": np.full([2, 3], value, dtype),
         s([np.array(2)], shape=[-1, 3], value=1.5), s([np.array([2]), np.array(3)], shape=[-1, -1], value=2,
         dtype="int64"), data=True),
]  # fmt: skip
