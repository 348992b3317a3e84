"""Shapes, joining, splitting, gathering."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.eager.tensor import Tensor
from engine.ops import along, math
from engine.ops import index as index_ops
from engine.ops import shape as ops
from engine.program.unknown import Unknown
from engine.tensor.creation import to_tensor
from engine.tensor.promote import common_dtype, is_tensor
from engine.tensor.tensor_array import TensorArray


def _ints(values: Any) -> list[int]:
    if isinstance(values, Tensor):
        found = values.tolist()
        return found if isinstance(found, list) else [found]
    if isinstance(values, (list, tuple)):
        return [int(v.item()) if isinstance(v, Tensor) else int(v) for v in values]
    return [int(values)]


def reshape(x: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape: 0 keeps a dimension, one -1 takes the rest."""
    if isinstance(shape, (list, tuple)):  # a dimension of x that is not known yet stays where it is
        kept = [isinstance(d, Unknown) and d.variable is x and d.axis == n for n, d in enumerate(shape)]
        shape = [0 if keep else d for keep, d in zip(kept, shape, strict=True)]
    return ops.reshape(x, shape=_ints(shape))


def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Any:
    """Dimensions start_axis to stop_axis as one."""
    return ops.flatten(x, start_axis=start_axis, stop_axis=stop_axis)


def transpose(x: Any, perm: Any, name: str | None = None) -> Any:
    """Dimensions in the order ``perm``."""
    return ops.transpose(x, axis=_ints(perm))


def t(input: Any, name: str | None = None) -> Any:
    """A matrix transposed; tensors of fewer dimensions as they are. Raises ShapeError for more than 2."""
    if input.ndim > 2:
        raise ShapeError(f"t: takes at most 2 dimensions: got {list(input.shape)}; use transpose(x, perm)")
    return input if input.ndim < 2 else ops.transpose(input, axis=[1, 0])


def squeeze(x: Any, axis: Any = None, name: str | None = None) -> Any:
    """Without dimensions of size 1 (those of ``axis`` only, where given)."""
    return ops.squeeze(x, axes=[] if axis is None else _ints(axis))


def unsqueeze(x: Any, axis: Any, name: str | None = None) -> Any:
    """With dimensions of size 1 put in at ``axis``."""
    return ops.unsqueeze(x, axes=_ints(axis))


def concat(x: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Tensors joined along an existing dimension; different dtypes are promoted."""
    if isinstance(x, TensorArray):
        return x.concatenated(_ints(axis)[0])
    tensors = list(x)
    if tensors:
        dtype = tensors[0].dtype
        for tensor in tensors[1:]:
            dtype = common_dtype(dtype, tensor.dtype)
        tensors = [v if v.dtype is dtype else math.cast(v, out_dtype=dtype.name) for v in tensors]
    return ops.concat(tensors, axis=_ints(axis)[0])


def stack(x: Any, axis: int = 0, name: str | None = None) -> Any:
    """Tensors of one shape joined along a new dimension."""
    if isinstance(x, TensorArray):
        return x.stacked(axis)
    return ops.stack(list(x), axis=axis)


def _known_size(where: str, x: Any, axis: int) -> int:
    """The size of a dimension that says how many results there are."""
    size: int = x.shape[axis]
    if isinstance(size, Unknown):
        raise ShapeError(
            f"{where}: dimension {axis} of {x.name!r} {x.spec} is not known before running; "
            "fix it in the InputSpec, or give the lengths of the parts"
        )
    return size


def unbind(input: Any, axis: int = 0) -> list[Any]:
    """The parts along a dimension, which is dropped."""
    count = _known_size("unbind", input, axis)
    return list(ops.unstack(input, axis=axis % max(input.ndim, 1), num=count))


def split(x: Any, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> list[Any]:
    """Cut into equal parts (an int) or parts of given lengths (one may be -1)."""
    axis = _ints(axis)[0]
    if isinstance(num_or_sections, int):
        size = _known_size("split", x, axis)
        if num_or_sections < 1 or size % num_or_sections:
            raise ArgumentError(
                f"split: dimension {axis} of {list(x.shape)} does not divide into {num_or_sections} equal "
                "parts"
            )
        sections = [size // num_or_sections] * num_or_sections
    else:
        sections = _ints(num_or_sections)
        if sections.count(-1) == 1:
            size = _known_size("split", x, axis)
            rest = sections.index(-1)
            sections[rest] = size - sum(s for n, s in enumerate(sections) if n != rest)
    return list(ops.split(x, axis=axis, sections=sections))


def chunk(x: Any, chunks: int, axis: Any = 0, name: str | None = None) -> list[Any]:
    """Cut into ``chunks`` equal parts."""
    return split(x, chunks, axis)


def expand(x: Any, shape: Any, name: str | None = None) -> Any:
    """Repeated along dimensions of size 1, to ``shape`` (-1 keeps one)."""
    return ops.expand(x, shape=_ints(shape))


broadcast_to = expand


def expand_as(x: Any, y: Any, name: str | None = None) -> Any:
    """x expanded to the shape of y."""
    return ops.expand(x, shape=list(y.shape))


def tile(x: Any, repeat_times: Any, name: str | None = None) -> Any:
    """Repeated whole along each dimension."""
    return ops.tile(x, repeat_times=_ints(repeat_times))


def gather(x: Any, index: Any, axis: Any = None, name: str | None = None) -> Any:
    """Slices of x along ``axis`` (0) at the positions in the 1-D ``index``."""
    return index_ops.gather(x, index, axis=0 if axis is None else _ints(axis)[0])


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """x where condition holds, else y, broadcast."""
    if x is None or y is None:
        raise ArgumentError("where: give both x and y")
    x, y = (v if is_tensor(v) else to_tensor(v) for v in (x, y))
    dtype = common_dtype(x.dtype, y.dtype)
    x, y = (v if v.dtype is dtype else math.cast(v, out_dtype=dtype.name) for v in (x, y))
    return index_ops.where(condition, x, y)


def topk(
    x: Any, k: Any, axis: Any = None, largest: bool = True, sorted: bool = True, name: str | None = None
) -> tuple[Any, Any]:
    """The k largest (or smallest) elements along ``axis`` (the last), and their positions."""
    values, indices = along.topk(
        x, k=_ints(k)[0], axis=-1 if axis is None else axis, largest=largest, sorted=sorted
    )
    return values, indices


def shape(input: Any) -> Any:
    """The dimensions as an int32 tensor (known at run time also where a Program does not know them)."""
    return ops.shape(input)


def numel(x: Any, name: str | None = None) -> Any:
    """Number of elements, as a 0-D int64 tensor."""
    size = x.size
    return size.value() if isinstance(size, Unknown) else to_tensor(size)
