"""Tensor arrays: tensors of one shape and dtype, stacked along a first dimension that grows."""

from __future__ import annotations

from typing import Any

from engine.core.errors import OutOfRangeError, ShapeError
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.arrays import creation, shape
from engine.ops.arrays import index as index_ops


def _joined(where: str, array: Spec, x: Spec, length: int) -> Spec:
    if array.dtype is not x.dtype or array.ndim != x.ndim + 1:
        raise ShapeError(
            f"{where}: the array holds {array.with_shape(array.shape[1:])}, this is {x}; the tensors of an "
            "array have one dtype and one number of dimensions"
        )
    dims = [a if a == b else -1 for a, b in zip(array.shape[1:], x.shape, strict=True)]
    return array.with_shape([length, *(x.shape if array.shape[0] == 0 else dims)])


def _require_fit(where: str, array: Any, x: Any) -> None:
    if array.shape[1:] != x.shape:
        raise ShapeError(
            f"{where}: the array holds tensors of shape {list(array.shape[1:])}, this is {list(x.shape)}; "
            "the tensors of an array have one shape"
        )


def _infer_append(array: Spec, x: Spec) -> Spec:
    return _joined("array_append", array, x, array.shape[0] + 1 if array.shape[0] >= 0 else -1)


@op("array_append", infer=_infer_append)
def array_append(xp, array, x):
    """The array with one more tensor at its end; an empty array may have any shape."""
    if not len(array):
        return xp.array(x)[None]
    _require_fit("array_append", array, x)
    return xp.concatenate([array, x[None]])


array_append.grad(
    array=lambda g: index_ops.slice_view(g, index=(("slice", None, -1, None),)),
    x=lambda g: index_ops.slice_view(g, index=(-1,)),
)


def _position(where: str, i: Any, last: int) -> int:
    at = int(i.reshape(-1)[0])
    if not 0 <= at <= last:
        raise OutOfRangeError(f"{where}: position {at} of an array of {last}; write at 0 to {last}")
    return at


def _infer_write(array: Spec, x: Spec, i: Spec) -> Spec:
    return _joined("array_write", array, x, 1 if array.shape[0] == 0 else -1)


@op("write_to_array", infer=_infer_write, slots={"array": "Array", "x": "X", "i": "I"})
def write_to_array(xp, array, x, i):
    """The array with the tensor at position ``i``, which may be one past the end."""
    at = _position("array_write", i, len(array))
    if not len(array):
        return xp.array(x)[None]
    _require_fit("array_write", array, x)
    if at == len(array):
        return xp.concatenate([array, x[None]])
    out = array.copy()
    out[at] = x
    return out


@op("write_to_array_grad", infer=lambda g_in, array, i: g_in.with_shape([array.shape[0], *g_in.shape[1:]]))
def _write_grad(xp, g_in, array, i):
    """The gradient of the array before the write: zero at the position that was written."""
    result = xp.array(g_in[: len(array)])
    at = int(i.reshape(-1)[0])
    if at < len(array):
        result[at] = 0
    return result


def _row(g: Any, i: Any) -> Any:
    return index_ops.getitem(g, [shape.reshape(i, shape=[])], index=(("tensor", 0),))


_write_grad.grad(g_in=lambda g, g_in, i: write_to_array(g, creation.fill_like(_row(g_in, i), value=0.0), i))
write_to_array.grad(array=lambda g, array, i: _write_grad(g, array, i), x=lambda g, i: _row(g, i))
