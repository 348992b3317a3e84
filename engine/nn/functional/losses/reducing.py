"""What losses do with one value a sample: their mean, their sum, or nothing."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.values.dtype import DType
from engine.ops.elementwise import arithmetic
from engine.ops.reductions import reduce
from engine.tensor.arguments.promote import operands
from engine.tensor.reductions import reduction as reduction_functions
from engine.tensor.tensor_like import AnyTensor


def check_reduction(where: str, reduction: str, *more: str) -> None:
    """Raise ArgumentError for a reduction other than 'sum', 'mean', 'none' (and ``more``)."""
    known = ("sum", "mean", "none", *more)
    if reduction not in known:
        raise ArgumentError(f"{where}: reduction {reduction!r} is not one of {', '.join(map(repr, known))}")


def reduced(loss: AnyTensor, reduction: str) -> Any:
    """The mean or sum of all values, or the values themselves."""
    if reduction == "mean":
        if 0 in dims(loss):
            raise ShapeError(
                f"loss: an empty array has no mean: got losses of shape {dims(loss)}; skip empty batches, "
                "or use reduction='sum'"
            )
        if loss.dtype.is_integer:
            return reduction_functions.mean(loss)
        return reduce.mean(loss, axis=[], keepdim=False, reduce_all=True)
    if reduction == "sum":
        if loss.dtype.is_integer:
            return reduction_functions.sum(loss)
        return reduce.sum(loss, axis=[], keepdim=False, reduce_all=True)
    return loss


def in_dtype(x: AnyTensor, dtype: DType) -> Any:
    """x, cast where it has another dtype."""
    return x if x.dtype is dtype else arithmetic.cast(x, out_dtype=dtype.name)


def dims(x: AnyTensor) -> list[int]:
    """The dimensions of x, -1 where not known."""
    return [int(d) for d in x.shape]


def require_same_shape(where: str, **values: Any) -> None:
    """Raise ShapeError where the tensors do not have one shape (an unknown dimension fits any)."""
    first, *others = values.values()
    for other in others:
        if other.ndim != first.ndim or any(
            a != b and -1 not in (a, b) for a, b in zip(dims(first), dims(other), strict=True)
        ):
            seen = ", ".join(f"{n} {list(v.shape)}" for n, v in values.items())
            raise ShapeError(f"{where}: the tensors must have one shape: got {seen}; reshape or expand them")


def require_floats(where: str, **values: Any) -> None:
    """Raise DTypeError for a tensor that is not floating."""
    for name, value in values.items():
        if not value.dtype.is_floating_point:
            raise DTypeError(
                f"{where}: {name} must be floating: got {value.dtype.name}{list(value.shape)}; "
                "cast it to float32"
            )


def difference(where: str, input: AnyTensor, label: AnyTensor) -> Any:
    """input - label in their common dtype, where one of them is broadcast to the other at most.

    Raises ShapeError where both would be: predictions [N, 1] and labels [N] are a mistake, not [N, N] losses.
    """
    require_one_sided(where, input=input, label=label)
    if input.dtype is not label.dtype:
        input, label = operands(where, input, label)
    return arithmetic.subtract(input, label)


def require_one_sided(where: str, **values: Any) -> None:
    """Raise ShapeError where two tensors would both have to be broadcast."""
    x, y = (dims(v) for v in values.values())
    rank = max(len(x), len(y))
    wide, tall = ([1] * (rank - len(d)) + d for d in (x, y))
    if wide == tall:
        return
    pairs = list(zip(wide, tall, strict=True))
    grows = len(x) < rank or any(a == 1 and b > 1 for a, b in pairs)
    if grows and (len(y) < rank or any(b == 1 and a > 1 for a, b in pairs)):
        seen = ", ".join(f"{n} {list(v.shape)}" for n, v in values.items())
        raise ShapeError(
            f"{where}: both tensors would have to be broadcast: got {seen}; reshape one to the other's shape"
        )
