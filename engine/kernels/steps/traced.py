"""An operator's own kernel as a rule: it runs once on symbolic values, which write what it computes.

The kernel gets a module in place of NumPy whose functions are operations of a
:class:`~engine.kernels.steps.writer.Writer`, and values in place of arrays. So what an operator computes is
written once, in its kernel, and every backend takes it from there, in NumPy's order of operations. What
kernels compute by a function of their own and every backend has code for (``erf``, a sigmoid, masked values)
is asked of the module there: ``hasattr(xp, "erf")``.

A kernel that asks for what a value is not (its strides, its elements) can't be traced: it stays with the
array module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from engine.core.operators.opdef import OPS
from engine.core.values.dtype import as_dtype
from engine.kernels.steps.writer import FLOATS, Unsupported, Value, Writer


class GivenNumber(float):
    """A number that comes from an operator's attributes, through arithmetic too.

    Steps that differ in such numbers alone may share code.
    """

    def __neg__(self) -> GivenNumber:
        return GivenNumber(-float(self))

    def __add__(self, other: float) -> GivenNumber:
        return GivenNumber(float(self) + other)

    def __sub__(self, other: float) -> GivenNumber:
        return GivenNumber(float(self) - other)

    def __rsub__(self, other: float) -> GivenNumber:
        return GivenNumber(other - float(self))

    def __mul__(self, other: float) -> GivenNumber:
        return GivenNumber(float(self) * other)

    def __truediv__(self, other: float) -> GivenNumber:
        return GivenNumber(float(self) / other)

    def __rtruediv__(self, other: float) -> GivenNumber:
        return GivenNumber(other / float(self))

    __radd__, __rmul__ = __add__, __mul__


class Number:
    """A number in a dtype, as ``x.dtype.type(0.5)`` makes it of a symbolic ``x``."""

    __slots__ = ("kind", "value")

    def __init__(self, kind: str, value: float) -> None:
        self.kind, self.value = kind, value

    def __neg__(self) -> Number:
        return Number(self.kind, -self.value)

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, Number) else other)

    __hash__ = None  # type: ignore[assignment]


class SymbolicDType:
    """The dtype of a symbolic value, for what kernels ask of one."""

    __slots__ = ("_np", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._np = as_dtype(name).np

    @property
    def kind(self) -> str:
        """As NumPy's; of bfloat16 a float's."""
        return "f" if self.name in FLOATS else str(self._np.kind)

    @property
    def itemsize(self) -> int:
        """Bytes of a number that is computed with: 16-bit floats are computed in 32 bits."""
        return max(4, int(self._np.itemsize)) if self.name in FLOATS else int(self._np.itemsize)

    def type(self, value: Any) -> Any:
        """A number of this dtype."""
        return Number(self.name, value) if isinstance(value, int | float) else _refused()

    def __eq__(self, other: object) -> bool:
        name = other.name if isinstance(other, SymbolicDType) else as_dtype(cast(Any, other)).name
        return self.name == name

    def __hash__(self) -> int:
        return hash(self.name)


def _refused(*_: Any, **__: Any) -> Any:
    raise Unsupported


def _binary(name: str) -> Callable[[Traced, Any], Traced]:
    return lambda x, y: getattr(x.xp, name)(x, y)


def _reflected(name: str) -> Callable[[Traced, Any], Traced]:
    return lambda x, y: getattr(x.xp, name)(y, x)


class Traced:
    """A value that a kernel takes for an array."""

    __slots__ = ("dtype", "value", "xp")
    __array_ufunc__ = None

    def __init__(self, xp: TracingModule, value: Value) -> None:
        self.xp, self.value = xp, value
        self.dtype = SymbolicDType(xp.writer.kind(value))

    @property
    def shape(self) -> Traced:
        """Only to make an array of it: ``xp.ones(x.shape, bool)``."""
        return self

    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _binary("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _binary("divide"), _reflected("divide")
    __lt__, __le__ = _binary("less"), _binary("less_equal")
    __gt__, __ge__ = _binary("greater"), _binary("greater_equal")
    __eq__ = _binary("equal")  # type: ignore[assignment]
    __ne__ = _binary("not_equal")  # type: ignore[assignment]
    __and__, __or__ = _binary("logical_and"), _binary("logical_or")
    __xor__ = _binary("logical_xor")
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Traced:
        return self.xp.negative(self)

    def __invert__(self) -> Traced:
        return self.xp.logical_not(self)

    def __abs__(self) -> Traced:
        return self.xp.absolute(self)

    def __bool__(self) -> bool:
        raise Unsupported  # which way the kernel goes depends on elements

    def astype(self, dtype: Any, copy: bool = True) -> Traced:
        """In another dtype."""
        name = dtype.name if isinstance(dtype, SymbolicDType) else as_dtype(dtype).name
        return self.xp.cast(self, name)

    def copy(self) -> Traced:
        """The same value."""
        return self

    def __getattr__(self, name: str) -> Any:
        raise Unsupported(name)


class TracingModule:
    """In place of ``xp``: each function writes its operation."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def __getattr__(self, name: str) -> Any:
        raise Unsupported(name)

    # -- values --
    def _values(self, *operands: Any) -> list[Value]:
        """The operands as values of one kind; numbers take that of the others, as NumPy's rules have it."""
        like = next((x for x in operands if isinstance(x, Traced)), None)
        if like is None:
            raise Unsupported
        kinds = {x.dtype.name for x in operands if isinstance(x, Traced)}
        kinds |= {x.kind for x in operands if isinstance(x, Number)}
        if len(kinds) > 1:
            raise Unsupported
        return [x.value if isinstance(x, Traced) else self._number(like, x) for x in operands]

    def _number(self, like: Traced, number: Any) -> Value:
        value = number.value if isinstance(number, Number) else number
        if isinstance(value, np.ndarray | np.generic) or not isinstance(value, int | float):
            raise Unsupported
        if like.dtype.name not in FLOATS:
            raise Unsupported
        write = self.writer.given if isinstance(value, GivenNumber) else self.writer.number
        return write(like.value, float(value))

    def _floats(self, *operands: Any) -> list[Value]:
        values = self._values(*operands)
        if any(self.writer.kind(x) not in FLOATS for x in values):
            raise Unsupported
        return values

    def _not_bool(self, *operands: Any) -> list[Value]:
        values = self._values(*operands)
        if self.writer.kind(values[0]) == "bool":
            raise Unsupported
        return values

    def _truths(self, *operands: Any) -> list[Value]:
        values = self._values(*operands)
        if any(self.writer.kind(x) != "bool" for x in values):
            raise Unsupported
        return values

    # -- arithmetic --
    def add(self, x: Any, y: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.add(*self._not_bool(x, y)))

    def subtract(self, x: Any, y: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.sub(*self._not_bool(x, y)))

    def multiply(self, x: Any, y: Any, out: Any = None) -> Traced:
        if isinstance(x, Traced) and not _is_given(y) and isinstance(y, Number) and y.value == 1:
            return x  # exact, and other kernels are called with such numbers
        return Traced(self, self.writer.mul(*self._not_bool(x, y)))

    def divide(self, x: Any, y: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.div(*self._floats(x, y)))

    def square(self, x: Any, out: Any = None) -> Traced:
        (value,) = self._floats(x)
        return Traced(self, self.writer.mul(value, value))

    def negative(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.negative(*self._floats(x)))

    def absolute(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.absolute(*self._floats(x)))

    def sqrt(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.root(*self._floats(x)))

    def floor(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.rounded(*self._floats(x), "floor"))

    def ceil(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.rounded(*self._floats(x), "ceil"))

    def trunc(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.rounded(*self._floats(x), "trunc"))

    def copysign(self, x: Any, sign: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.with_sign(*self._floats(x, sign)))

    def maximum(self, x: Any, y: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.maximum(*self._not_bool(x, y)))

    def minimum(self, x: Any, y: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.minimum(*self._not_bool(x, y)))

    def clip(self, x: Any, low: Any, high: Any, out: Any = None) -> Traced:
        (value,) = self._floats(x)
        limits = [None if limit is None else self._values(x, limit)[1] for limit in (low, high)]
        if any(limit is not None and _is_nan(limit) for limit in (low, high)):
            raise Unsupported
        return x if limits == [None, None] else Traced(self, self.writer.limited(value, *limits))

    def sign(self, x: Any, out: Any = None) -> Traced:
        w, (value,) = self.writer, self._floats(x)
        zero = w.number(value, 0.0)
        one = w.with_sign(w.number(value, 1.0), value)
        signed = w.select(w.compare("!=", value, zero), one, zero)
        return Traced(self, w.select(w.is_nan(value), value, signed))

    def remainder(self, x: Any, y: Any, out: Any = None) -> Traced:
        """With the sign of the divisor, as NumPy's."""
        w, (a, b) = self.writer, self._floats(x, y)
        rest, zero = w.function("fmod", a, b), w.number(a, 0.0)
        other = w.exactly_one(w.compare("<", b, zero), w.compare("<", rest, zero))
        moved = w.select(other, w.add(rest, b), rest)
        return Traced(self, w.select(w.compare("==", rest, zero), w.with_sign(zero, b), moved))

    # -- comparison, logic, choice --
    def equal(self, x: Any, y: Any, out: Any = None) -> Traced:
        return self._compared("==", x, y)

    def not_equal(self, x: Any, y: Any, out: Any = None) -> Traced:
        return self._compared("!=", x, y)

    def less(self, x: Any, y: Any, out: Any = None) -> Traced:
        return self._compared("<", x, y)

    def less_equal(self, x: Any, y: Any, out: Any = None) -> Traced:
        return self._compared("<=", x, y)

    def greater(self, x: Any, y: Any, out: Any = None) -> Traced:
        return self._compared(">", x, y)

    def greater_equal(self, x: Any, y: Any, out: Any = None) -> Traced:
        return self._compared(">=", x, y)

    def _compared(self, sign: str, x: Any, y: Any) -> Traced:
        return Traced(self, self.writer.compare(sign, *self._values(x, y)))

    def logical_and(self, x: Any, y: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.both(*self._truths(x, y)))

    def logical_or(self, x: Any, y: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.either(*self._truths(x, y)))

    def logical_xor(self, x: Any, y: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.exactly_one(*self._truths(x, y)))

    def logical_not(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.opposite(*self._truths(x)))

    def isnan(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.is_nan(*self._floats(x)))

    def isinf(self, x: Any, out: Any = None) -> Traced:
        return self.absolute(x) == Number(x.dtype.name, float("inf"))

    def isfinite(self, x: Any, out: Any = None) -> Traced:
        return self.absolute(x) < Number(x.dtype.name, float("inf"))

    def where(self, condition: Any, x: Any, y: Any) -> Traced:
        (truth,) = self._truths(condition)
        return Traced(self, self.writer.select(truth, *self._values(x, y)))

    def ones(self, shape: Any, dtype: Any) -> Traced:
        if not isinstance(shape, Traced) or dtype not in (bool, np.bool_):
            raise Unsupported
        return Traced(self, self.writer.truth(shape.value, True))

    # -- functions --
    def cast(self, x: Traced, kind: str) -> Traced:
        w = self.writer
        if w.kind(x.value) == kind:
            return x
        if kind == "bool":
            return Traced(self, w.compare("!=", x.value, w.number(x.value, 0)))  # NaN is true
        if w.kind(x.value) in FLOATS and kind not in FLOATS:
            raise Unsupported  # the results for NaN and large numbers differ between processors
        return Traced(self, w.cast(x.value, kind))

    def exp(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.exp(*self._floats(x)))

    def expm1(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.expm1(*self._floats(x)))

    def log(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.log(*self._floats(x)))

    def log1p(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.log1p(*self._floats(x)))

    def tanh(self, x: Any, out: Any = None) -> Traced:
        return Traced(self, self.writer.tanh(*self._floats(x)))

    # -- what kernels compute by functions of their own, and every backend has code for --
    def erf(self, x: Any) -> Traced:
        return Traced(self, self.writer.erf(*self._floats(x)))

    def sigmoid(self, x: Any) -> Traced:
        return Traced(self, self.writer.sigmoid(*self._floats(x)))

    def chosen(self, values: Any, mask: Any) -> Traced:
        """``values`` where ``mask``, else 0."""
        (truth,) = self._truths(mask)
        (value,) = self._values(values)
        return Traced(self, self.writer.select(truth, value, self.writer.number(value, 0)))


# Functions of C's mathematical library, by the names that NumPy has for them.
_LIBRARY = {
    **{
        name: name for name in ("log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "hypot", "fmax", "fmin")
    },
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "power": "pow",
    "floor_divide": "floor_divide",  # NumPy's alone
}


def _library(name: str) -> Callable[..., Traced]:
    def function(xp: TracingModule, *operands: Any, out: Any = None) -> Traced:
        return Traced(xp, xp.writer.function(name, *xp._floats(*operands)))

    return function


for _name, _in_c in _LIBRARY.items():
    setattr(TracingModule, _name, _library(_in_c))


def _is_nan(number: Any) -> bool:
    value = number.value if isinstance(number, Number) else number
    return bool(value != value)


def _is_given(number: Any) -> bool:
    return isinstance(number.value if isinstance(number, Number) else number, GivenNumber)


def traced(w: Writer, name: str, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    """What the kernel of an operator computes of these values, written by ``w``.

    Raises:
        Unsupported: the kernel is not a formula of single elements, or the backend lacks an operation of it.
    """
    opdef = OPS[name]
    given = {key: _given(value) for key, value in {**opdef.attributes, **attrs}.items()}
    xp = TracingModule(w)
    try:
        made = opdef.kernel(xp, *[Traced(xp, value) for value in values], **given)
    except Exception as error:  # whatever a kernel raises that asks for more than a formula does
        raise Unsupported(name) from error
    if not isinstance(made, Traced):
        raise Unsupported(name)
    return made.value


def _given(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return GivenNumber(value)


def written(
    w: Writer, name: str, values: Sequence[Value], attrs: Mapping[str, Any], result: str
) -> Value | None:
    """The value that one operator gives, of the kind ``result``; None where the array module has to compute
    it, as for mixed dtypes."""
    try:
        made = traced(w, name, values, attrs)
    except Unsupported:
        return None
    return made if w.kind(made) == result else None
