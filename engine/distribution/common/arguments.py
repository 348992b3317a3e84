"""Arguments of distributions: parameters as tensors, values to evaluate, shapes of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError
from engine.core.values.dtype import default_dtype
from engine.eager.grad_mode import no_grad
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.arguments.sizes import is_later, items, whole
from engine.tensor.creation import full, to_tensor
from engine.tensor.manipulation import broadcast_tensors
from engine.tensor.manipulation import shape as shape_of
from engine.tensor.math import cast
from engine.tensor.tensor_like import AnyTensor, ShapeLike, TensorLike

# A number or a tensor: what a parameter of several distributions is.
ScalarOrTensor: TypeAlias = float | np.integer[Any] | np.floating[Any] | AnyTensor


def scalars_or_tensors(where: str, **given: Any) -> list[Any]:
    """Parameters that are numbers or tensors, broadcast to one shape.

    A number takes the dtype of the first tensor, or the default dtype. Raises DTypeError for anything else.
    """
    tensors = [value for value in given.values() if is_tensor(value)]
    dtype = tensors[0].dtype if tensors else default_dtype()
    found = []
    for name, value in given.items():
        if not is_tensor(value) and not isinstance(value, Real):
            raise DTypeError(
                f"{where}: {name} is neither a number nor a Tensor: got {type(value).__name__}; "
                "use to_tensor()"
            )
        found.append(value if is_tensor(value) else full([], float(value), dtype=dtype.name))
    if len({tuple(value.shape) for value in found}) > 1:
        found = list(broadcast_tensors(_of_one_dtype(found)))
    return found


def _of_one_dtype(tensors: list[Any]) -> list[Any]:
    widest = sum_of(tensors).dtype
    return [tensor if tensor.dtype == widest else cast(tensor, widest.name) for tensor in tensors]


def sum_of(tensors: Iterable[Any]) -> Any:
    """The sum of tensors: of the shape that they broadcast to."""
    first, *others = tensors
    for other in others:
        first = first + other
    return first


def arrays_or_tensors(where: str, *given: Any, whole_too: bool = True) -> list[Any]:
    """Parameters that are all tensors, or all numbers, lists and arrays, which are broadcast to one shape.

    float32, unless an array among them holds float64. ``whole_too`` takes single integers as well.
    Raises ArgumentError where tensors are mixed with others, DTypeError for other types.
    """
    if all(is_tensor(value) for value in given):
        return list(given)
    numbers = (int, float) if whole_too else (float,)
    for value in given:
        if not is_tensor(value) and (
            not isinstance(value, (*numbers, list, tuple, np.ndarray)) or isinstance(value, np.generic)
        ):
            raise DTypeError(
                f"{where}: parameters are numbers, lists, arrays or Tensors: got {type(value).__name__}"
            )
    if any(is_tensor(value) for value in given):
        kinds = ", ".join(type(value).__name__ for value in given)
        raise ArgumentError(
            f"{where}: one parameter is a Tensor and another is not: got {kinds}; use to_tensor() for all"
        )
    wide = any(isinstance(value, np.ndarray) and value.dtype == np.float64 for value in given)
    if all(isinstance(value, float) for value in given) and len(given) == 1:
        return [full([], given[0], dtype=default_dtype().name)]
    arrays = [np.asarray(value, np.float64 if wide else np.float32) for value in given]
    return [
        to_tensor(np.ascontiguousarray(array).reshape(array.shape)) for array in np.broadcast_arrays(*arrays)
    ]


def floating(x: AnyTensor) -> Any:
    """``x``, in the default dtype where it holds integers."""
    return x if x.dtype.is_floating_point else cast(x, default_dtype().name)


def value_like(where: str, value: TensorLike, like: AnyTensor, numbers: bool = False) -> Any:
    """``value`` as a tensor of the dtype of ``like``; Python numbers only where ``numbers`` says so."""
    found = tensor_value(where, value, like, numbers)
    dtype = like.dtype if like.dtype.is_floating_point else default_dtype()
    return found if found.dtype == dtype else cast(found, dtype.name)


def tensor_value(where: str, value: TensorLike, like: AnyTensor | None = None, numbers: bool = False) -> Any:
    """``value``, which must be a tensor (or, with ``numbers``, a number or an array). Raises DTypeError."""
    if is_tensor(value):
        return value
    if numbers and like is not None and isinstance(value, (Real, np.ndarray)):
        dtype = like.dtype if like.dtype.is_floating_point else default_dtype()
        return to_tensor(np.asarray(value), dtype=dtype.name)
    raise DTypeError(f"{where}: value is not a Tensor: got {type(value).__name__}; use to_tensor()")


def sample_shape(where: str, shape: ShapeLike) -> list[Any]:
    """The sizes of ``shape``: ints, and Variables where only the running Program knows them.

    Raises DTypeError for a value that is not a sequence of integers.
    """
    if not is_tensor(shape) and not isinstance(shape, Iterable):
        raise DTypeError(
            f"{where}: shape is a sequence of integers: got {type(shape).__name__} {shape!r}; write e.g. [3]"
        )
    given = shape if is_tensor(shape) or isinstance(shape, (list, tuple, np.ndarray)) else list(shape)
    return [size if is_later(size) else whole(where, size) for size in items(where, given)]


def sizes_of(x: AnyTensor) -> list[Any]:
    """The sizes of ``x``; Variables where only the running Program knows them."""
    known = list(x.shape)
    if -1 not in known:
        return known
    later = shape_of(x)
    return [later[n] if size == -1 else size for n, size in enumerate(known)]


def without_gradient(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``, through which no gradient flows."""
    with no_grad():
        result = function(*args)
    if modes.is_symbolic(result):
        result.stop_gradient = True
    return result
