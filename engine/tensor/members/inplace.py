"""Changing a tensor in place."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ConversionError, DTypeError, EngineError, GradientError, ShapeError
from engine.core.frames import located, user_frame
from engine.core.operators.operator import Leaf
from engine.core.raw_errors import RAW, explained
from engine.eager.tensor import Tensor, counter_of, wrap, write
from engine.ops.elementwise import arithmetic
from engine.program.build.builder import Builder, current_builder
from engine.program.graph.variable import Variable
from engine.tensor.tensor_like import AnyTensor


def replace(where: str, x: AnyTensor, value: AnyTensor, *, becomes: str = "", always: bool = True) -> Any:
    """Make ``x`` hold ``value``, computed from it by recorded operators; gradients flow through the change.

    Without ``always`` x stays as it is while a Program is built in static mode, and ``value`` is the result:
    there Paddle's forms with a trailing underscore are those without. In converted functions x changes as it
    does eagerly. ``becomes`` names the property of x that may change, "shape", "dtype" or both: x then holds
    another array, which is a view of the old one where ``value`` is. Raises GradientError for a leaf that
    backward needs, ShapeError and DTypeError where the shape would change, or a fraction be lost.
    """
    if modes.is_symbolic(x) or modes.is_symbolic(value):
        builder = current_builder()
        assert builder is not None, "symbolic values exist only while a Program is built"
        if builder.startup is not None and not always:
            return value
        return _rebind(builder, where, x, value, becomes)
    tensor: Any = x  # neither is a Variable
    recording = modes.current().grad
    if recording:
        _require_no_leaf(where, tensor)
    if value._array.shape != tensor._array.shape and "shape" not in becomes:
        raise ShapeError(
            f"{where}: an in-place change keeps the shape: {x.shape} would become {value.shape}; "
            "use the form without _"
        )
    if becomes and (value._array.shape != tensor._array.shape or value._array.dtype != tensor._array.dtype):
        counter_of(tensor).count += 1
        tensor._array = value._array
        if not recording and tensor._edge is not None:  # under no_grad() a leaf stays one, of the new shape
            tensor._edge = Leaf(tensor._array.shape)
    else:
        write(tensor, _in_dtype(where, x, value)._array)
    if recording:
        tensor._edge = value._edge
    return x


def _require_no_leaf(where: str, x: Tensor) -> None:
    if x._edge.__class__ is Leaf and not x.stop_gradient:
        raise GradientError(
            f"{where}: {x.name!r} is a leaf with stop_gradient=False, backward needs its value; "
            "change it under no_grad(), or use the form that returns a new tensor"
        )


def before(where: str, x: AnyTensor, arguments: Sequence[object] = (), becomes: str = "") -> Any:
    """The source of the new value of x: x itself, or a copy if backward may need the old value."""
    if x.__class__ is not Tensor or not modes.current().grad:
        return x
    _require_no_leaf(where, x)
    if x._edge is None and all(getattr(a, "_edge", None) is None for a in arguments):
        return x
    old = wrap(x._array if becomes == "shape" else x._array.copy())
    old._edge = x._edge
    if becomes == "shape":  # the new value may be a view
        old._version = counter_of(x)
    return old


def _in_dtype(where: str, x: Any, value: Any) -> Any:
    """``value`` in the dtype of x; raises DTypeError where a fraction or an imaginary part would be lost."""
    if value.dtype is x.dtype:
        return value
    if _KINDS.index(value.dtype.np.kind) > _KINDS.index(x.dtype.np.kind):
        raise DTypeError(
            f"{where}: an in-place change keeps the dtype: {x.dtype.name} can't hold {value.dtype.name}; "
            f"use the form without _, or cast_('{value.dtype.name}') first"
        )
    return arithmetic.cast(value, out_dtype=x.dtype.name)


_KINDS = "buifc"  # each holds the values of those before it, but for the range


def _rebind(builder: Builder, where: str, x: Any, value: Any, becomes: str) -> Any:
    """In a Program values do not change: from here on the name means the new value.

    A tensor from outside of a converted function gets its value when the Program has run.
    """
    if isinstance(x, Tensor):
        if builder.assigned is None:
            error: EngineError = ConversionError(
                f"{where}: {x.name!r} lives outside of the Program and can't be changed in place in it; "
                "return the new value, or write it with assign(value, output)"
            )
            raise located(error, user_frame())
        if x._edge is not None:
            error = GradientError(
                f"{where}: {x.name!r} is a tensor with stop_gradient=False, backward needs its value; "
                "change it outside of the converted function under no_grad(), or use a new tensor"
            )
            raise located(error, user_frame())
    if builder.startup is not None and becomes == "shape and dtype" and not getattr(x, "persistable", True):
        builder.rebind(x, value)
        return x
    if builder.startup is None and becomes and isinstance(x, Variable):
        builder.rename(x, value)
        return x
    if -1 not in value.shape and -1 not in x.shape and tuple(value.shape) != tuple(x.shape):
        error = ShapeError(
            f"{where}: an in-place change keeps the shape: {list(x.shape)} would become "
            f"{list(value.shape)}; use the form without _"
        )
        raise located(error, user_frame())
    if becomes and value.dtype is not x.dtype:
        error = DTypeError(
            f"{where}: in a Program an in-place change keeps the dtype: {x.dtype.name} would become "
            f"{value.dtype.name}; use the form without _"
        )
        raise located(error, user_frame())
    builder.rebind(x, _in_dtype(where, x, value))
    return x


# The functions that have a form with a trailing underscore, by the property of the tensor that may change. A
# function that is added to the table of methods gets its form by adding its name here.
FORMS = {
    "": (
        "abs acos acosh add addmm asin asinh atan atanh bitwise_and bitwise_not bitwise_or bitwise_xor ceil "
        "clip cos cosh digamma divide erf erfinv exp expm1 floor floor_divide floor_mod frac gcd hypot i0 "
        "index_add index_fill index_put lcm lerp lgamma log log10 log1p log2 logit masked_fill mod "
        "multigammaln multiply nan_to_num neg polygamma pow put_along_axis reciprocal remainder renorm round "
        "rsqrt scale scatter sigmoid sin sinh sqrt square subtract tan tanh tril triu trunc"
    ),
    "dtype": (
        "cast cumprod equal greater_equal greater_than ldexp less_equal less_than logical_and logical_not "
        "logical_or logical_xor not_equal"
    ),
    "shape": "cumsum flatten reshape squeeze t transpose unsqueeze",
}


def inplace(name: str, function: Callable[..., Any], becomes: str = "") -> Callable[..., Any]:
    """The form with a trailing underscore of ``function``."""

    signature = inspect.signature(function)
    first = next(iter(signature.parameters))

    @functools.wraps(function)
    def changed(*args: Any, **kwargs: Any) -> Any:
        if not args:
            if first not in kwargs:
                raise TypeError(f"{name}() missing 1 required positional argument: {first!r}")
            args = (kwargs.pop(first),)
        x, *others = args
        try:
            old = before(name, x, (*others, *kwargs.values()), becomes)
            return replace(name, x, function(old, *others, **kwargs), becomes=becomes, always=False)
        except RAW as error:
            raise explained(function, args, kwargs, error, name)  # noqa: B904 - the error has its cause

    parameters = [p for p in signature.parameters.values() if p.name not in ("out", "broadcast")]
    changed.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    changed.__name__ = changed.__qualname__ = name
    changed.__doc__ = f"In place: {function.__doc__}"
    return changed


def forms(functions: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The forms with a trailing underscore of those of ``functions`` that are in ``FORMS``."""
    return {
        f"{name}_": inplace(f"{name}_", functions[name], becomes)
        for becomes, names in FORMS.items()
        for name in names.split()
        if name in functions
    }
