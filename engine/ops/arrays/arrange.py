"""Order and place of elements: flipping, rolling, triangles, repeating, grids, shards."""

from __future__ import annotations

from typing import Any

from engine.core.dtype import as_dtype, from_numpy
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.infer import normal_axes, normal_axis, same_as_x
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.arrays import shape
from engine.ops.reductions import reduce


def _infer_flip(x: Spec, *, axis: Any) -> Spec:
    normal_axes("flip", axis, x.ndim)
    return x


@op("flip", infer=_infer_flip, complex=True)
def flip(xp, x, *, axis):
    """The order of elements reversed along the axes."""
    return xp.flip(x, tuple(axis)).copy()


flip.grad(x=lambda g, axis: flip(g, axis=axis))


def _infer_roll(x: Spec, *, shifts: Any, axis: Any = ()) -> Spec:
    if axis and len(axis) != len(shifts):
        raise ArgumentError(
            f"roll: {len(shifts)} shifts {list(shifts)} for {len(axis)} axes {list(axis)}; give one for each"
        )
    if not axis and len(shifts) != 1:
        raise ArgumentError(f"roll: without axis there is one shift: got {list(shifts)}; give axis too")
    for a in axis:
        normal_axis("roll", a, x.ndim)
    return x


@op("roll", infer=_infer_roll, complex=True)
def roll(xp, x, *, shifts, axis=()):
    """Elements moved along the axes, what leaves coming in at the other end; without axis as if flat."""
    _infer_roll(Spec(x.shape, from_numpy(x.dtype)), shifts=shifts, axis=axis)
    return xp.roll(x, tuple(shifts), tuple(axis)) if len(axis) else xp.roll(x, shifts[0])


roll.grad(x=lambda g, shifts, axis: roll(g, shifts=[-s for s in shifts], axis=axis))


def _infer_triangle(x: Spec, **_: Any) -> Spec:
    if x.ndim < 2:
        raise ShapeError(f"tril/triu: x needs at least 2 dimensions: got {x}; a matrix or a batch of them")
    return x


@op("tril_triu", infer=_infer_triangle)
def tril_triu(xp, x, *, diagonal=0, lower=True):
    """The lower (or upper) triangle of the last two dimensions, zeros elsewhere."""
    if x.ndim < 2:
        raise ValueError("too few dimensions")  # the mode asks inference to say what is wrong
    return xp.tril(x, diagonal) if lower else xp.triu(x, diagonal)


tril_triu.grad(x=lambda g, diagonal, lower: tril_triu(g, diagonal=diagonal, lower=lower))


def _indices(name: str) -> Any:
    def infer(*, rows: int, cols: int, offset: int = 0, dtype: str = "int64") -> Spec:
        for what, value in (("row", rows), ("col", cols)):
            if value < 0:
                raise ArgumentError(f"{name}: {what} must not be negative: got {value}; use 0 or more")
        count = sum(_in_row(r, cols, offset, name == "tril_indices") for r in range(rows))
        return Spec((2, count), dtype)

    return infer


def _in_row(row: int, cols: int, offset: int, lower: bool) -> int:
    below = min(max(row + offset + 1, 0), cols)
    return below if lower else cols - min(max(row + offset, 0), cols)


@op("tril_indices", infer=_indices("tril_indices"))
def tril_indices(xp, *, rows, cols, offset=0, dtype="int64"):
    """Row and column numbers of the elements of a lower triangle, row by row."""
    return xp.stack(xp.tril_indices(rows, offset, cols)).astype(as_dtype(dtype).np)


@op("triu_indices", infer=_indices("triu_indices"))
def triu_indices(xp, *, rows, cols, offset=0, dtype="int64"):
    """Row and column numbers of the elements of an upper triangle, row by row."""
    return xp.stack(xp.triu_indices(rows, offset, cols)).astype(as_dtype(dtype).np)


def _infer_repeat(x: Spec, *, repeats: int, axis: int = 0) -> Spec:
    axis = normal_axis("repeat_interleave", axis, x.ndim)
    if repeats < 0:
        raise ArgumentError(f"repeat_interleave: repeats must not be negative: got {repeats}; use 0 or more")
    size = x.shape[axis]
    return x.with_shape((*x.shape[:axis], size if size < 0 else size * repeats, *x.shape[axis + 1 :]))


@op("repeat_interleave", infer=_infer_repeat)
def repeat_interleave(xp, x, *, repeats, axis=0):
    """Each element along an axis several times in a row."""
    return xp.repeat(x, repeats, axis=axis)


@op("repeat_interleave_grad", infer=lambda g_in, like, **_: like.with_dtype(g_in.dtype))
def _sum_repeats(xp, g_in, like, *, repeats, axis=0):
    """g summed over the copies of each element."""
    axis %= like.ndim
    before, size, after = like.shape[:axis], like.shape[axis], like.shape[axis + 1 :]
    return g_in.reshape((*before, size, repeats, *after)).sum(axis=axis + 1, dtype=g_in.dtype)


_sum_repeats.grad(g_in=lambda g, repeats, axis: repeat_interleave(g, repeats=repeats, axis=axis))
repeat_interleave.grad(x=lambda g, x_like, repeats, axis: _sum_repeats(g, x_like, repeats=repeats, axis=axis))


def _infer_repeat_each(x: Spec, repeats: Spec, *, dim: int = 0) -> Spec:
    axis = normal_axis("repeat_interleave", dim, x.ndim)
    if not repeats.dtype.is_integer:
        raise DTypeError(f"repeat_interleave: repeats must be int32 or int64: got {repeats}; cast it")
    sizes = (x.shape[axis], 1 if repeats.ndim == 0 else repeats.shape[0])
    if repeats.ndim > 1 or (1 not in sizes[1:] and -1 not in sizes and sizes[0] != sizes[1]):
        raise ShapeError(
            f"repeat_interleave: repeats is {repeats}: dimension {dim} of x is {x.shape[axis]}; give one "
            "number for each element, or one for all"
        )
    return x.with_shape((*x.shape[:axis], -1, *x.shape[axis + 1 :]))


@op("repeat_interleave_with_tensor_index", infer=_infer_repeat_each, slots={"repeats": "RepeatTensor"})
def repeat_each(xp, x, repeats, *, dim=0):
    """Each element along a dimension as often as ``repeats`` says, in a row."""
    return xp.take(x, _copies(xp, x, repeats, dim), axis=dim)


def _copies(xp: Any, x: Any, repeats: Any, dim: int) -> Any:
    """The place in x of each element of the result."""
    repeats = repeats.reshape(-1)
    if repeats.size and int(repeats.min()) < 0:
        raise ArgumentError(f"repeat_interleave: repeats must not be negative: got {int(repeats.min())}")
    times = xp.broadcast_to(repeats, (x.shape[dim],))
    ends = xp.cumsum(times)
    return xp.searchsorted(ends, xp.arange(int(ends[-1]) if ends.size else 0), side="right")


@op(
    "repeat_interleave_with_tensor_index_grad",
    infer=lambda g_in, like, repeats, **_: like.with_dtype(g_in.dtype),
)
def _sum_copies(xp, g_in, like, repeats, *, dim=0):
    """g summed over the copies of each element."""
    result = xp.zeros(like.shape, g_in.dtype)
    xp.add.at(xp.moveaxis(result, dim, 0), _copies(xp, like, repeats, dim), xp.moveaxis(g_in, dim, 0))
    return result


_sum_copies.grad(g_in=lambda g, repeats, dim: repeat_each(g, repeats, dim=dim))
repeat_each.grad(x=lambda g, x_like, repeats, dim: _sum_copies(g, x_like, repeats, dim=dim))


def _infer_meshgrid(xs: list[Spec]) -> tuple[Spec, ...]:
    for n, spec in enumerate(xs):
        if spec.ndim > 1:
            raise ShapeError(f"meshgrid: input {n} is {spec}; each has at most 1 dimension, flatten it")
    sizes = [1 if s.ndim == 0 else s.shape[0] for s in xs]
    return tuple(s.with_shape(sizes) for s in xs)


@op("meshgrid", infer=_infer_meshgrid, outputs=("parts",), output_list="parts",
    slots={"xs": "X", "parts": "Out"})  # fmt: skip
def meshgrid(xp, xs: list):
    """For each vector a tensor of all sizes together, in which it varies along its own dimension only."""
    if any(x.ndim > 1 for x in xs):
        raise ValueError("too many dimensions")
    return [grid.copy() for grid in xp.meshgrid(*xs, indexing="ij")]


def _meshgrid_grad(g_parts: Any, xs_like: Any) -> Any:
    made: list[Any] = []
    for n, (g, x) in enumerate(zip(g_parts, xs_like, strict=True)):
        if g is None:
            made.append(shape.fill_like(x, value=0.0))
            continue
        others = [a for a in range(len(g_parts)) if a != n]
        made.append(shape.reshape_to(reduce.sum(g, axis=others) if others else g, x))
    return made


meshgrid.grad(xs=_meshgrid_grad)


def _infer_shard(x: Spec, *, index_num: int, nshards: int, shard_id: int, **_: Any) -> Spec:
    if nshards < 1 or index_num < 1 or not 0 <= shard_id < nshards:
        raise ArgumentError(
            f"shard_index: index_num {index_num}, nshards {nshards}, shard_id {shard_id}; "
            "shard_id is 0 to nshards - 1"
        )
    return same_as_x(x)


@op("shard_index", infer=_infer_shard)
def shard_index(xp, x, *, index_num, nshards, shard_id, ignore_value=-1):
    """Numbers counted within their shard, where that is ``shard_id``; ``ignore_value`` elsewhere."""
    _infer_shard(Spec(x.shape, "int64"), index_num=index_num, nshards=nshards, shard_id=shard_id)
    size = (index_num + nshards - 1) // nshards
    if x.size and (int(x.min()) < 0 or int(x.max()) >= index_num):
        wrong = x[(x < 0) | (x >= index_num)].reshape(-1)[0]
        raise OutOfRangeError(
            f"shard_index: {int(wrong)} is out of range for index_num {index_num}; use 0 to {index_num - 1}"
        )
    return xp.where(x // size == shard_id, x % size, x.dtype.type(ignore_value))
