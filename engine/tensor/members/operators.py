"""Python's operators on tensors: the short way for eager tensors and numbers, else the public functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.errors import DTypeError
from engine.core.operators.generate import make_method
from engine.core.operators.opdef import Applier
from engine.eager.tensor import Tensor, wrap
from engine.ops.elementwise import arithmetic, power, rounding
from engine.ops.elementwise import comparison as comparison_ops
from engine.ops.linalg import products as linalg_ops
from engine.program.build.calls import names_results
from engine.program.graph.unknown import Unknown
from engine.tensor import linalg, logic, math
from engine.tensor.arguments.promote import EAGER, PLAIN, is_tensor, operands
from engine.tensor.elements import indexing
from engine.tensor.elementwise import bitwise

# Results in a Program are called ``tmp_0``, as Paddle calls those of Python's operators.
python_operator = names_results(
    form="tmp",
    only="scale cast elementwise_add elementwise_sub elementwise_mul elementwise_div elementwise_pow "
    "elementwise_mod elementwise_floordiv matmul_v2 equal not_equal less_than less_equal greater_than "
    "greater_equal square",
)

# The classes of Python numbers; bool is a separate class here.
_NUMBERS = (float, int)


def _operand(y: Any) -> bool:
    """True for a tensor, number or array; False for an object that may define the operation itself."""
    if y is None or isinstance(y, (str, bytes, dict, set)):
        raise DTypeError(
            f"operator: the other operand is {type(y).__name__}: {y!r}; use a tensor, array or number (and "
            "`is None` to ask for None)"
        ).set_kind("InvalidArgument")
    return is_tensor(y) or isinstance(y, (int, float, complex, np.generic, np.ndarray, list, tuple, Unknown))


def _comparable(y: Any) -> bool:
    """The same for == and !=, which are False and True for texts and the like."""
    return not isinstance(y, (str, bytes, dict, set)) and _operand(y)


def _binary(
    apply: Applier[..., Any] | None,
    general: Callable[..., Any],
    number: Callable[..., Any] | None = None,
    suits: Callable[[Any], bool] = _operand,
    floating: bool = False,
) -> Callable[..., Any]:
    """An operator: straight to the op for two eager tensors of one dtype, else through the function.

    ``number(x, value)`` is the short way for a floating tensor and a Python number. Without ``apply`` it is
    the only one; with ``floating`` only floats go straight to it.
    """
    general = python_operator(general)

    def otherwise(x: Any, y: Any) -> Any:
        if (
            number is not None
            and y.__class__ in _NUMBERS
            and x.__class__ in PLAIN
            and x._array.dtype.kind == "f"
        ):
            return number(x, y)
        return general(x, y) if suits(y) else NotImplemented

    return otherwise if apply is None else make_method(apply, PLAIN, EAGER, otherwise, number, floating)


def _reflected(general: Callable[..., Any], number: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """An operator whose left operand is not a tensor."""
    general = python_operator(general)

    def method(x: Any, y: Any) -> Any:
        if (
            number is not None
            and y.__class__ in _NUMBERS
            and x.__class__ in PLAIN
            and x._array.dtype.kind == "f"
        ):
            return number(x, y)
        return general(y, x) if _operand(y) else NotImplemented

    return method


def _with_number(apply: Callable[..., Any]) -> Callable[..., Any]:
    """An op on a tensor and a number, which becomes a tensor without dimensions."""

    def method(x: Tensor, value: float) -> Any:
        array = x._array
        if array.__class__ is np.ndarray:
            return apply(x, wrap(np.array(value, array.dtype)))
        return apply(*operands("operator", x, value))

    return method


def _comparison(apply: Applier[..., Any], general: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return _binary(apply, general, _with_number(apply), **options)


def _over(x: Tensor, value: float) -> Any:
    return arithmetic.scale(x, scale=1.0 / value) if value else math.divide(x, value)


def _to_the(x: Tensor, value: float) -> Any:
    return power.square(x) if value == 2 else math.pow(x, value)


def _turned(function: Callable[..., Any]) -> Callable[..., Any]:
    """An op on a tensor and a number, the number first."""
    return _with_number(lambda x, value: function(value, x))


def _product(x: Any, y: Any) -> Any:
    return linalg.matmul(*operands("matmul", x, y))


OPERATORS: dict[str, Callable[..., Any]] = {
    "__add__": _binary(arithmetic.add, math.add, lambda x, value: arithmetic.scale(x, bias=value)),
    "__radd__": _reflected(math.add, lambda x, value: arithmetic.scale(x, bias=value)),
    "__sub__": _binary(arithmetic.subtract, math.subtract, lambda x, value: arithmetic.scale(x, bias=-value)),
    "__rsub__": _reflected(math.subtract, lambda x, value: arithmetic.scale(x, scale=-1.0, bias=value)),
    "__mul__": _binary(arithmetic.multiply, math.multiply, lambda x, value: arithmetic.scale(x, scale=value)),
    "__rmul__": _reflected(math.multiply, lambda x, value: arithmetic.scale(x, scale=value)),
    "__truediv__": _binary(arithmetic.divide, math.divide, _over, floating=True),
    "__rtruediv__": _reflected(math.divide, _turned(arithmetic.divide)),
    "__floordiv__": _binary(None, math.floor_divide),
    "__rfloordiv__": _reflected(math.floor_divide),
    "__mod__": _binary(rounding.remainder, math.remainder, _with_number(rounding.remainder)),
    "__rmod__": _reflected(math.remainder),
    "__pow__": _binary(None, math.pow, _to_the),
    "__rpow__": _reflected(math.pow, _turned(power.power)),
    "__matmul__": _binary(linalg_ops.matmul, _product),
    "__rmatmul__": _reflected(_product),
    "__neg__": math.neg,
    "__abs__": math.abs,
    "__eq__": _comparison(comparison_ops.equal, logic.equal, suits=_comparable),
    "__ne__": _comparison(comparison_ops.not_equal, logic.not_equal, suits=_comparable),
    "__lt__": _comparison(comparison_ops.less_than, logic.less_than),
    "__le__": _comparison(comparison_ops.less_equal, logic.less_equal),
    "__gt__": _comparison(comparison_ops.greater_than, logic.greater_than),
    "__ge__": _comparison(comparison_ops.greater_equal, logic.greater_equal),
    "__invert__": bitwise.bitwise_not,
    "__and__": bitwise.bitwise_and,
    "__rand__": bitwise.bitwise_and,
    "__or__": bitwise.bitwise_or,
    "__ror__": bitwise.bitwise_or,
    "__xor__": bitwise.bitwise_xor,
    "__rxor__": bitwise.bitwise_xor,
    "__getitem__": indexing.getitem,
    "__setitem__": indexing.setitem,
    "__iter__": indexing.iterate,
}
