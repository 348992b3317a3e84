"""Operands of binary functions: Python numbers and tensors of different dtypes brought to one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import DTypeError, OutOfRangeError
from engine.core.values.bfloat import filled
from engine.core.values.dtype import DType, common_dtype, default_dtype, scalar_dtype
from engine.eager.tensor import Parameter, Tensor, wrap
from engine.ops.elementwise import arithmetic
from engine.program.build.calls import names_results
from engine.program.graph.unknown import Unknown, known_operand
from engine.tensor.creation import full, to_tensor
from engine.tensor.tensor_like import AnyTensor, TensorLike

if TYPE_CHECKING:
    from typing_extensions import TypeIs

# The classes of eager tensors that may go straight to an op.
PLAIN: set[type[Tensor]] = {Tensor}
# Those that may where results are eager: in a Program those of a Parameter have names of their own.
EAGER: set[type[Tensor]] = {Tensor, Parameter}


def is_tensor(value: object) -> TypeIs[AnyTensor]:
    return isinstance(value, Tensor) or modes.is_symbolic(value)


def operands(where: str, x: TensorLike, y: TensorLike, *, floating: bool = False) -> tuple[Any, Any]:
    """x and y as tensors of one dtype; ``floating`` makes integers float first (true division)."""
    if x.__class__ in EAGER and y.__class__ in EAGER:  # most calls
        kind = x._array.dtype
        if kind is y._array.dtype and (not floating or kind.kind == "f"):
            return x, y
    left: Any = known_operand(x)
    right: Any = known_operand(y)
    if not is_tensor(left) and not is_tensor(right):
        raise DTypeError(
            f"{where}: neither operand is a Tensor: got {type(left).__name__} and {type(right).__name__}; "
            "use to_tensor()"
        ).set_kind("InvalidArgument")
    if not is_tensor(left):
        left = _from_python(where, left, right)
    elif not is_tensor(right):
        right = _from_python(where, right, left)
    if left.dtype is not right.dtype and modes.is_static():
        left, right = _numbers_cast(x, left, y, right)
    dtype = common_dtype(left.dtype, right.dtype)
    if floating and not (dtype.is_floating_point or dtype.is_complex):
        dtype = default_dtype()
    return _cast(left, dtype), _cast(right, dtype)


def _numbers_cast(x: object, left: Any, y: object, right: Any) -> tuple[Any, Any]:
    """The operands; one that eager code has as a Python number gets the dtype that this number would get."""
    one, other = _number_of(x), _number_of(y)
    if one is not None and other is None:
        return _cast(left, scalar_dtype(one, right.dtype)), right
    if other is not None and one is None:
        return left, _cast(right, scalar_dtype(other, left.dtype))
    return left, right


def _number_of(value: object) -> float | None:
    return 0 if isinstance(value, Unknown) else getattr(value, "number", None)


def _cast(x: Any, dtype: DType) -> Any:
    return x if x.dtype is dtype else arithmetic.cast(x, out_dtype=dtype.name)


def _from_python(where: str, value: Any, like: Any) -> Any:
    """A number or array as a tensor; a number takes the tensor's dtype unless that loses its fraction."""
    if modes.is_static():
        return _operand_in_program(where, value, like)
    if isinstance(value, (np.ndarray, list, tuple)):
        return to_tensor(value)
    _require_number(where, value)
    dtype = scalar_dtype(value, like.dtype)
    if like.__class__ in PLAIN and like._array.__class__ is np.ndarray:
        try:
            return wrap(filled(np, (), value, dtype))
        except OverflowError:
            raise OutOfRangeError(
                f"{where}: {value} does not fit the other operand's {dtype.name}; cast that to a wider dtype"
            ) from None
    return full([], value, dtype=dtype.name)


@names_results(form="tmp", outer=True)
def _operand_in_program(where: str, value: Any, like: Any) -> Any:
    if isinstance(value, (np.ndarray, list, tuple)):
        return to_tensor(value)
    _require_number(where, value)
    return full([], value, dtype=scalar_dtype(value, like.dtype).name)


def _require_number(where: str, value: Any) -> None:
    if not isinstance(value, (bool, int, float, complex, np.generic)):
        raise DTypeError(
            f"{where}: an operand is {type(value).__name__}; it must be a Tensor, array or number"
        ).set_kind("InvalidArgument")
