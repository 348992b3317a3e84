"""Rows of shapes: reshaping, dimensions of one, transposing, joining, splitting."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.nn import functional as F
from engine.onnx.reads.rows import Known, Raw, Sizes, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import (
    Items,
    NeedsKnown,
    Numbers,
    Unreadable,
    elements,
    ints,
    numbers,
    require_size,
    sizes_of,
)
from engine.program.graph.variable import Variable
from engine.tensor.tensor_like import AnyTensor


@reads("Shape")
def _(g: Any, data: Raw, *, start: int = 0, end: int | None = None) -> Any:
    if isinstance(data, Numbers):
        return np.array([len(data.items)][start:end], np.int64)
    return numbers(sizes_of(data)[start:end])


@reads("Size")
def _(g: Any, data: Raw) -> Any:
    if isinstance(data, Numbers):
        return np.int64(len(data.items))
    sizes = sizes_of(data)
    if all(isinstance(d, int) for d in sizes):
        return np.int64(np.prod(sizes, dtype=np.int64))
    return T.reshape(T.cast(T.numel(data), "int64"), [])


@reads("Reshape")
def _(g: Any, data: Raw, shape: Raw, *, allowzero: int = 0) -> Any:
    wanted = elements(shape)
    plain = [d if isinstance(d, int) else -2 for d in wanted]
    if isinstance(data, Numbers) and plain in ([-1], [len(data.items)]):
        return data
    if isinstance(data, Numbers) and not plain and len(data.items) == 1:
        return data.items[0]
    if isinstance(data, np.ndarray) and all(isinstance(d, int) for d in wanted):
        kept = [data.shape[n] if d == 0 and not allowzero else d for n, d in enumerate(wanted)]
        return data.reshape(kept)
    if isinstance(data, Variable) and data.ndim == 0 and plain in ([-1], [1]) and data.dtype.name == "int64":
        return Numbers([data])
    x = g.tensor(data)
    if not allowzero:
        sizes = sizes_of(x)
        wanted = [
            sizes[n] if isinstance(d, int) and d == 0 and n < len(sizes) else d for n, d in enumerate(wanted)
        ]
    plain = [d if isinstance(d, int) else -2 for d in wanted]
    if 0 in plain and -1 not in plain:  # which the engine takes for the dimension of x
        return T.zeros(wanted, x.dtype.name)
    return T.reshape(x, wanted)


@reads("Flatten")
def _(input: Any, *, axis: int = 1) -> Any:
    axis = axis + input.ndim if axis < 0 else axis
    sizes = sizes_of(input)
    if not 0 <= axis <= len(sizes):
        raise Unreadable(f"axis {axis} of a tensor of {len(sizes)} dimensions")
    if axis == 0:
        return T.reshape(input, [1, -1]) if 0 not in list(input.shape) else T.reshape(input, [1, 0])
    if axis == 1 and len(sizes) == 2:
        return T.assign(input)
    if axis == 1 and len(sizes) > 1 and 0 not in list(input.shape):
        return T.flatten(input, 1, -1)
    known = [all(isinstance(d, int) for d in part) for part in (sizes[:axis], sizes[axis:])]
    rows, columns = (
        int(np.prod(part, dtype=np.int64)) if is_known else -1
        for part, is_known in zip((sizes[:axis], sizes[axis:]), known, strict=True)
    )
    if rows < 0 and columns < 0:
        made = sizes[0]
        for each in sizes[1:axis]:
            made = made * each
        rows = made
    return T.reshape(input, [rows, columns])


@reads("Squeeze")
def _(g: Any, data: Raw, axes: Known = None) -> Any:
    along = None if axes is None else [int(a) for a in axes.reshape(-1)]
    if isinstance(data, Numbers):
        return data.items[0] if len(data.items) == 1 else data
    if isinstance(data, np.ndarray):
        return np.squeeze(data, None if along is None else tuple(along))
    if along == []:
        return T.assign(data)
    if along is None and any(int(d) < 0 for d in data.shape):
        raise NeedsKnown("axes of a tensor with unknown dimensions must be given")
    return T.squeeze(data, along)


@reads("Unsqueeze")
def _(g: Any, data: Raw, axes: Known) -> Any:
    along = [int(a) for a in axes.reshape(-1)]
    ndim = 1 if isinstance(data, Numbers) else data.ndim
    along = sorted(a + ndim + len(along) if a < 0 else a for a in along)
    if len(set(along)) < len(along) or any(not 0 <= a < ndim + len(along) for a in along):
        raise Unreadable(f"axes {along} of {ndim} dimensions")
    if isinstance(data, Variable) and data.ndim == 0 and along == [0] and data.dtype.name == "int64":
        return Numbers([data])
    if isinstance(data, np.ndarray):
        return np.expand_dims(data, tuple(along))
    return T.unsqueeze(g.tensor(data), along)


@reads("Transpose")
def _(data: Any, *, perm: list[int] | None = None) -> Any:
    return T.transpose(data, perm if perm is not None else list(range(data.ndim))[::-1])


@reads("Identity")
def _(g: Any, input: Raw) -> Any:
    return input


@reads("Concat")
def _(g: Any, *inputs: Raw, axis: int) -> Any:
    values = list(inputs)
    if any(isinstance(v, Numbers) for v in values) and all(
        isinstance(v, Numbers) or (isinstance(v, np.ndarray) and v.ndim == 1 and v.dtype == np.int64)
        for v in values
    ):
        return numbers([item for v in values for item in elements(v)])
    if all(isinstance(v, np.ndarray) for v in values):
        return np.concatenate(values, axis)
    made = [g.tensor(v) for v in values]
    return T.concat(made, axis=axis) if len(made) > 1 else made[0]


@reads("Split")
def _(g: Any, input: Raw, split: Known = None, *, axis: int = 0, num_outputs: int | None = None) -> Any:
    count = num_outputs or g.outputs
    x = g.tensor(input)
    size = int(x.shape[axis])
    if split is not None:
        parts = [int(n) for n in split.reshape(-1)]
    elif size < 0:
        if count == 1:
            return (x,)
        raise NeedsKnown("the size of the dimension that is split must be known")
    else:
        most = -(-size // count)
        parts = [max(min(most, size - n * most), 0) for n in range(count)]
    if len(parts) != g.outputs:
        raise Unreadable(f"{len(parts)} parts for {g.outputs} results")
    if len(parts) == 1:
        return (T.assign(x),)
    ends = np.cumsum(parts).tolist()
    return tuple(T.slice(x, [axis % x.ndim], [end - n], [end]) for n, end in zip(parts, ends, strict=True))


@reads("Expand")
def _(g: Any, input: Raw, shape: Raw) -> Any:
    wanted = elements(shape)
    require_size(wanted)
    x = g.tensor(input)
    sizes = sizes_of(x)
    ndim = max(len(sizes), len(wanted))
    sizes, wanted = [1] * (ndim - len(sizes)) + sizes, [1] * (ndim - len(wanted)) + wanted
    if all(isinstance(d, int) for d in wanted) and all(isinstance(d, int) for d in sizes):
        made = list(np.broadcast_shapes(tuple(sizes), tuple(wanted)))
        return T.assign(x) if made == sizes_of(x) else T.expand(x, made)
    if all(isinstance(d, int) and d == 1 for d in wanted) and ndim == x.ndim:
        return T.assign(x)
    if all(isinstance(d, int) for d in sizes):
        kept = [w if d == 1 else d for d, w in zip(sizes, wanted, strict=True)]
        if all(
            d == 1 or not isinstance(w, int) or w in (1, d) for d, w in zip(sizes, wanted, strict=True)
        ) and all(d == 1 or isinstance(w, int) for d, w in zip(sizes, wanted, strict=True)):
            return T.expand(x, kept)
    ones = T.full(wanted, True, "bool")
    return broadcast(x, ones)


def broadcast(x: AnyTensor, other: AnyTensor) -> Any:
    """``x`` in the shape of both, whatever their sizes are."""
    return T.where(T.logical_or(other, T.full([], True, "bool")), x, x)


@reads("Tile")
def _(input: Any, repeats: Sizes) -> Any:
    require_size(
        [
            r * (d if isinstance(d, int) else 1) if isinstance(r, int) else 1
            for r, d in zip(repeats, sizes_of(input), strict=True)
        ]
    )
    return T.tile(input, repeats) if repeats else T.assign(input)


@reads("DepthToSpace")
def _(input: Any, *, blocksize: int, mode: str = "DCR") -> Any:
    n, c, h, w = sizes_of(input)
    b = blocksize
    if mode == "DCR":
        x = T.transpose(T.reshape(input, [n, b, b, c // (b * b), h, w]), [0, 3, 4, 1, 5, 2])
    else:
        x = T.transpose(T.reshape(input, [n, c // (b * b), b, b, h, w]), [0, 1, 4, 2, 5, 3])
    return T.reshape(x, [n, c // (b * b), h * b, w * b])


@reads("SpaceToDepth")
def _(input: Any, *, blocksize: int, mode: str = "DCR") -> Any:
    n, c, h, w = sizes_of(input)
    b = blocksize
    x = T.reshape(input, [n, c, h // b, b, w // b, b])
    return T.reshape(
        T.transpose(x, [0, 3, 5, 1, 2, 4] if mode == "DCR" else [0, 1, 3, 5, 2, 4]),
        [n, c * b * b, h // b, w // b],
    )


@reads("Trilu")
def _(g: Any, input: Raw, k: Known = None, *, upper: int = 1) -> Any:
    offset = 0 if k is None else int(k.reshape(-1)[0])
    if isinstance(input, np.ndarray):
        return (np.triu if upper else np.tril)(input, offset)
    x = g.tensor(input)
    boolean = x.dtype.name == "bool"
    made = (T.triu if upper else T.tril)(T.cast(x, "int32") if boolean else x, offset)
    return T.cast(made, "bool") if boolean else made


@reads("CenterCropPad")
def _(input_data: Any, shape: Known, *, axes: list[int] | None = None) -> Any:
    x = input_data
    along = list(range(x.ndim)) if axes is None else [a % x.ndim for a in axes]
    wanted = ints(shape, "the shape")
    require_size(wanted)
    before, after = [0] * x.ndim, [0] * x.ndim
    for axis, size in zip(along, wanted, strict=True):
        have = int(x.shape[axis])
        if have < 0:
            raise NeedsKnown("the size of a dimension that is cut must be known")
        if have > size:
            start = (have - size) // 2
            x = T.slice(x, [axis], [start], [start + size])
        else:
            before[axis] = (size - have) // 2
            after[axis] = size - have - before[axis]
    if not any(before + after):
        return x
    return F.pad(x, [n for pair in zip(before, after, strict=True) for n in pair])


@reads("SplitToSequence")
def _(g: Any, input: Raw, split: Known = None, *, axis: int = 0, keepdims: int = 1) -> Any:
    x = g.tensor(input)
    axis %= x.ndim
    size = int(x.shape[axis])
    if size < 0:
        raise NeedsKnown("the size of the dimension that is split must be known")
    if split is None:
        parts = [1] * size
    elif split.ndim == 0:
        most = int(split)
        if most < 1:
            raise Unreadable(f"parts of {most} elements")
        parts = [min(most, size - n) for n in range(0, size, most)]
    else:
        parts = [int(n) for n in split]
    ends = np.cumsum(parts).tolist()
    made = [T.slice(x, [axis], [end - n], [end]) for n, end in zip(parts, ends, strict=True)]
    return Items([T.squeeze(v, [axis]) if split is None and not keepdims else v for v in made])
