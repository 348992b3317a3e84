"""Shape and dtype inference that several operators share. Unknown dimensions are -1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.attached import Attached
from engine.core.errors import AssertedRangeError, DTypeError, OutOfRangeError, ShapeError
from engine.core.values.dtype import DType, bool_, complex64, complex128, float32, float64
from engine.core.values.spec import Spec


def same_as_x(x: Spec, **_: Any) -> Spec:
    """One input; the output has its shape and dtype."""
    return x


def floating_as_x(where: str) -> Callable[..., Spec]:
    """One floating input; the output has its shape and dtype."""

    def infer(x: Spec, **_: Any) -> Spec:
        require_floating(where, x=x)
        return x

    return infer


def require_floating(where: str, **specs: Spec | Attached) -> None:
    for name, spec in specs.items():
        if not (spec.dtype.is_floating_point or spec.dtype.is_complex):
            seen = f"{spec.dtype.name}{list(spec.shape)}"
            raise DTypeError(f"{where}: {name} must be floating: got {seen}; cast it to float32 first")


def require_same_dtype(where: str, **specs: Spec) -> DType:
    """The one dtype of all ``specs``; raises DTypeError where they differ."""
    first = next(iter(specs.values())).dtype
    if any(s.dtype is not first for s in specs.values()):
        seen = ", ".join(f"{n}={s}" for n, s in specs.items())
        raise DTypeError(f"{where}: inputs have different dtypes: {seen}; cast one with astype()").set_kind(
            "InvalidArgument"
        )
    return first


def broadcast_shapes(where: str, x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
    """NumPy's broadcasting, where an unknown dimension takes the other's unless that is 1."""
    shape = []
    for n in range(max(len(x), len(y))):
        a = x[len(x) - 1 - n] if n < len(x) else 1
        b = y[len(y) - 1 - n] if n < len(y) else 1
        if a == b or b == 1:
            shape.append(a)
        elif a == 1:
            shape.append(b)
        elif a == -1 or b == -1:
            shape.append(max(a, b))
        else:
            raise ShapeError(
                f"{where}: shapes {list(x)} and {list(y)} do not broadcast: "
                f"dimension {-1 - n} is {a} and {b}; make them equal or 1"
            )
    return tuple(reversed(shape))


def broadcast(where: str) -> Callable[..., Spec]:
    """Two inputs of one dtype, an output of their broadcast shape."""

    def infer(x: Spec, y: Spec, **_: Any) -> Spec:
        return Spec(broadcast_shapes(where, x.shape, y.shape), require_same_dtype(where, x=x, y=y))

    return infer


def floating_broadcast(where: str) -> Callable[..., Spec]:
    """Two floating inputs of one dtype, an output of their broadcast shape."""
    both = broadcast(where)

    def infer(x: Spec, y: Spec, **_: Any) -> Spec:
        require_floating(where, x=x, y=y)
        return both(x, y)

    return infer


def compare(where: str) -> Callable[..., Spec]:
    """Two inputs of one dtype, a bool output of their broadcast shape."""

    def infer(x: Spec, y: Spec, **_: Any) -> Spec:
        require_same_dtype(where, x=x, y=y)
        return Spec(broadcast_shapes(where, x.shape, y.shape), bool_)

    return infer


def part_dtype(dtype: DType) -> DType:
    """The dtype of the parts of a complex dtype; a real dtype itself."""
    return {complex64: float32, complex128: float64}.get(dtype, dtype)


def part_of_x(x: Spec, **_: Any) -> Spec:
    """One input, an output of its shape that is real where the input is complex."""
    return x.with_dtype(part_dtype(x.dtype))


def as_bool(x: Spec, **_: Any) -> Spec:
    return x.with_dtype(bool_)


_ASSERTED = frozenset(("moveaxis", "put_along_axis", "split", "take_along_axis", "unflatten"))


def normal_axis(where: str, axis: int, ndim: int, extra: int = 0) -> int:
    """``axis`` counted from the front; raises OutOfRangeError outside ``[-ndim, ndim)`` (plus ``extra``)."""
    high = ndim + extra
    if not -high <= axis < high and not (high == 0 and axis in (0, -1)):
        kind = AssertedRangeError if where in _ASSERTED else OutOfRangeError
        raise kind(
            f"{where}: axis {axis} is out of range for {ndim} dimensions; use {-high} to {max(high - 1, 0)}"
        ).set_kind("InvalidArgument")
    return axis + high if axis < 0 else axis


def normal_axes(where: str, axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    """Several axes counted from the front, sorted, each at most once."""
    if len(axes) == 1:
        return (normal_axis(where, int(axes[0]), ndim),)
    found = sorted({normal_axis(where, int(a), ndim) for a in axes})
    if len(found) != len(axes):
        raise OutOfRangeError(f"{where}: axes {list(axes)} name a dimension twice for {ndim} dimensions")
    return tuple(found)


def reduced_axes(where: str, axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    """normal_axes of a reduction: a tensor without dimensions takes 0 and -1, and has nothing to reduce."""
    if ndim:
        return normal_axes(where, axes, ndim)
    for axis in axes:
        normal_axis(where, int(axis), 0)
    return ()


def reduced_shape(
    where: str, shape: Sequence[int], axis: Sequence[int], keepdim: bool, reduce_all: bool
) -> tuple[int, ...]:
    """The shape after reducing ``axis`` (all dimensions if ``reduce_all`` or no axis)."""
    if reduce_all or not axis:
        return (1,) * len(shape) if keepdim else ()
    axes = reduced_axes(where, axis, len(shape))
    if keepdim:
        return tuple(1 if n in axes else d for n, d in enumerate(shape))
    return tuple(d for n, d in enumerate(shape) if n not in axes)


def reshaped(where: str, shape: Sequence[int], target: Sequence[int]) -> tuple[int, ...]:
    """Resolve 0 (keep) and -1 (the rest) in ``target`` against ``shape``.

    Behind the dimensions of an empty tensor 0 is the size itself. Raises ShapeError if the number of elements
    would change.
    """
    result = []
    for n, d in enumerate(target):
        if d == 0:
            if n >= len(shape) and 0 not in shape:
                raise ShapeError(
                    f"{where}: 0 at position {n} of {list(target)} keeps a dimension that {list(shape)} "
                    "does not have"
                )
            result.append(shape[n] if n < len(shape) else 0)
        elif d < -1:
            raise ShapeError(f"{where}: {d} in {list(target)} is not a dimension; use -1 once for the rest")
        else:
            result.append(d)
    unknown_rest = [n for n, d in enumerate(target) if d == -1]
    if len(unknown_rest) > 1:
        raise ShapeError(f"{where}: more than one -1 in {list(target)}; give all dimensions but one")
    if all(d >= 0 for d in shape):
        total = _product(shape)
        if unknown_rest:
            rest = _product(d for n, d in enumerate(result) if n != unknown_rest[0])
            if rest == 0 or total % rest:
                raise ShapeError(
                    f"{where}: {list(shape)} has {total} elements, which do not fill {list(target)}; "
                    "the known dimensions must divide them"
                )
            result[unknown_rest[0]] = total // rest
        elif _product(result) != total:
            raise ShapeError(
                f"{where}: {list(shape)} has {total} elements: {list(target)} needs {_product(result)}; "
                "keep them equal"
            )
    elif unknown_rest:
        # Unknown dimensions that stay in place cancel; if the remaining ones are known, so is the rest.
        unchanged = [n for n, d in enumerate(target) if d == 0]
        left = [d for n, d in enumerate(shape) if n not in unchanged]
        if all(d >= 0 for d in left):
            rest = _product(d for n, d in enumerate(result) if n != unknown_rest[0] and n not in unchanged)
            if rest == 0 or _product(left) % rest:
                raise ShapeError(
                    f"{where}: {list(shape)} does not fill {list(target)}; "
                    "the known dimensions must divide it"
                )
            result[unknown_rest[0]] = _product(left) // rest
    return tuple(result)


def _product(dims: Any) -> int:
    total = 1
    for d in dims:
        total *= d
    return total


def gradient_of(where: str, forward: Callable[..., Spec]) -> Callable[..., Spec]:
    """Inference of the gradient of ``forward``'s first input, of its shape and of the dtype of the incoming
    gradient, which must have the shape of the result."""

    def infer(x: Spec, g_in: Spec, *rest: Spec | None, **attrs: Any) -> Spec:
        made = forward(x, *rest, **attrs)
        if not made.agrees(g_in.with_dtype(made.dtype)):
            raise ShapeError(f"{where}: the gradient is {g_in}; its shape must be that of the result, {made}")
        return x.with_dtype(g_in.dtype)

    return infer


def gradient_like(where: str, forward: Callable[..., Spec]) -> Callable[..., Spec]:
    """``gradient_of`` for an operator that takes the gradient first, then a value like the input."""
    infer = gradient_of(where, forward)
    return lambda g_in, like, *rest, **attrs: infer(like, g_in, *rest, **attrs)


def require_integers(where: str, **specs: Spec | None) -> None:
    """Raise DTypeError for the first of the given specs that is not of an integer dtype."""
    for name, spec in specs.items():
        if spec is not None and not spec.dtype.is_integer:
            raise DTypeError(f"{where}: {name} holds integers: got {spec}; cast it to int64")
