"""Kernels that write nodes: they run with arrays whose operations are recorded.

An elementwise kernel is a formula in NumPy's functions, so it serves as the row, too: ``by_kernel("lerp")``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from engine.onnx.writes.graph import Graph, Value

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

SMALL = {"bool", "int8", "int16", "uint8"}  # ONNX Runtime has no arithmetic of these
_LOGIC = {"And", "Not", "Or"}

# What a kernel computes with: arrays that are recorded, and numbers.
Operand: TypeAlias = "Recorded | np.ndarray | np.generic | complex"


class Recorded:
    """An array of which only the dtype is known.

    A mask chooses nothing: all elements are computed, and ``result[mask] = part`` takes them where the mask
    holds. ``any`` holds always: the kernel does what might be needed.
    """

    __array_ufunc__ = None  # so that NumPy's numbers leave the operation to it

    def __init__(self, g: Graph, value: Value, dtype: DTypeLike) -> None:
        self.g, self.value, self.dtype = g, value, np.dtype(dtype)
        self.shape: Any = ()  # kernels only give it back to ``reshape``

    # -- what NumPy's arrays have --------------------------------------------------------------------------
    def astype(self, dtype: DTypeLike, copy: bool = True) -> Recorded:
        wanted = np.dtype(dtype)
        if wanted == self.dtype:
            return self
        return Recorded(self.g, self.g.cast(self.value, wanted.name), wanted)

    def reshape(self, shape: object) -> Recorded:
        return self

    def any(self) -> bool:
        return True

    def __getitem__(self, mask: Any) -> Recorded:
        return self

    def __setitem__(self, mask: Recorded, part: Recorded) -> None:
        self.value = self.node("Where", part, self, first=mask).value

    # -- operators -----------------------------------------------------------------------------------------
    def node(
        self,
        kind: str,
        *others: Any,
        dtype: DTypeLike | None = None,
        first: Recorded | None = None,
        **attributes: Any,
    ) -> Recorded:
        """A node of inputs in one dtype: that of the result, unless ``dtype`` gives another.

        ``first`` is an input before these, and keeps its dtype. Numbers of Python take the others' dtype.
        """
        given = others if first is not None else (self, *others)
        kinds = [x.dtype for x in given if isinstance(x, Recorded | np.generic | np.ndarray)]
        common = np.result_type(*kinds, *(x for x in given if type(x) in (int, float)))
        small = common.name in SMALL and kind not in _LOGIC
        made = np.dtype(np.int32) if small else common
        read = [self.of(x, made).astype(made).value for x in given]
        lead = [] if first is None else [first.value]
        result = Recorded(
            self.g, self.g.node(kind, *lead, *read, **attributes)[0], made if dtype is None else dtype
        )
        return result.astype(common) if dtype is None else result

    def of(self, x: Operand, dtype: DTypeLike) -> Recorded:
        """A number as one."""
        if isinstance(x, Recorded):
            return x
        return Recorded(self.g, self.g.constant(np.asarray(x, dtype)), dtype)

    def __add__(self, other: Any) -> Recorded:
        return self.node("Add", other)

    def __radd__(self, other: Any) -> Recorded:
        return self.node("Add", other)

    def __sub__(self, other: Any) -> Recorded:
        return self.node("Sub", other)

    def __rsub__(self, other: Any) -> Recorded:
        return self._number(other) - self

    def __mul__(self, other: Any) -> Recorded:
        return self.node("Mul", other)

    def __rmul__(self, other: Any) -> Recorded:
        return self.node("Mul", other)

    def __truediv__(self, other: Any) -> Recorded:
        return self.node("Div", other)

    def __rtruediv__(self, other: Any) -> Recorded:
        return self._number(other) / self

    def __pow__(self, other: Any) -> Recorded:
        return self.node("Pow", other)

    def __neg__(self) -> Recorded:
        return self.node("Neg")

    def _number(self, x: Any) -> Recorded:
        return self.of(x, np.result_type(self.dtype, x))

    def __lt__(self, other: Any) -> Recorded:
        return self.node("Less", other, dtype=bool)

    def __le__(self, other: Any) -> Recorded:
        return self.node("LessOrEqual", other, dtype=bool)

    def __gt__(self, other: Any) -> Recorded:
        return self.node("Greater", other, dtype=bool)

    def __ge__(self, other: Any) -> Recorded:
        return self.node("GreaterOrEqual", other, dtype=bool)

    def __eq__(self, other: Any) -> Any:
        return self.node("Equal", other, dtype=bool)

    def __ne__(self, other: Any) -> Any:
        return ~(self == other)

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Any) -> Recorded:
        return self.node("And", other)

    def __or__(self, other: Any) -> Recorded:
        return self.node("Or", other)

    def __invert__(self) -> Recorded:
        return self.node("Not")


class Functions:
    """The functions of NumPy that elementwise kernels call as ``xp``. They ignore ``out``."""

    inf, nan, float64, int32, bool_ = math.inf, math.nan, np.float64, np.int32, np.bool_

    def __init__(self, g: Graph) -> None:
        self.g = g

    def where(self, condition: Recorded, x: Operand, y: Operand) -> Recorded:
        return condition.node("Where", x, y, first=condition)

    def ravel(self, x: Recorded) -> Recorded:
        return x

    def ones_like(self, x: Recorded) -> Recorded:
        return x.of(1, x.dtype)

    def zeros_like(self, x: Recorded) -> Recorded:
        return x.of(0, x.dtype)

    empty_like = zeros_like

    # -- arithmetic ----------------------------------------------------------------------------------------
    def divide(self, x: Operand, y: Operand, out: object = None) -> Recorded:
        return self._of(x, y).node("Div", y)

    def multiply(self, x: Operand, y: Operand, out: object = None) -> Recorded:
        return self._of(x, y).node("Mul", y)

    def _of(self, x: Any, like: Any) -> Recorded:
        """An input of which the other one is an array."""
        return x if isinstance(x, Recorded) else like.of(x, np.result_type(x, like.dtype))

    def square(self, x: Recorded, out: object = None) -> Recorded:
        return x * x

    def power(self, x: Recorded, y: Operand, out: object = None) -> Recorded:
        return x.node("Pow", y)

    def minimum(self, x: Recorded, y: Operand, out: object = None) -> Recorded:
        return x.node("Min", y)

    def maximum(self, x: Recorded, y: Operand, out: object = None) -> Recorded:
        return x.node("Max", y)

    def fmin(self, x: Recorded, y: Recorded, out: object = None) -> Recorded:
        return self._without_nan(x, y, "Min")

    def fmax(self, x: Recorded, y: Recorded, out: object = None) -> Recorded:
        return self._without_nan(x, y, "Max")

    def _without_nan(self, x: Recorded, y: Recorded, kind: str) -> Recorded:
        if x.dtype.kind != "f":
            return x.node(kind, y)
        return self.where(self.isnan(x), y, self.where(self.isnan(y), x, x.node(kind, y)))

    def clip(self, x: Recorded, low: Operand, high: Operand) -> Recorded:
        return self.minimum(self.maximum(x, low), high)

    def absolute(self, x: Recorded, out: object = None) -> Recorded:
        return x.node("Abs")

    abs = absolute

    def copysign(self, size: Operand, signed: Recorded) -> Recorded:
        size = signed.of(size, signed.dtype)
        positive = self.absolute(size)
        if signed.dtype.kind in "bu":
            return positive
        # 1 / 0 has the sign of the zero
        seen = self.where(signed == 0, 1.0 / signed, signed) if signed.dtype.kind == "f" else signed
        unit = self.where(seen < 0, positive.of(-1, positive.dtype), positive.of(1, positive.dtype))
        return positive * unit  # ``Where`` of ONNX Runtime loses the sign of a zero

    def remainder(self, x: Recorded, y: Operand, out: object = None) -> Recorded:
        """With the sign of y, as ``Mod`` gives it of integers only."""
        made = x.node("Mod", y, fmod=1) if x.dtype.kind == "f" else x.node("Mod", y)
        if made.dtype.kind != "f":
            return made
        y = made.of(y, made.dtype)
        return self.where((made != 0) & ((made < 0) != (y < 0)), made + y, made)

    def floor_divide(self, x: Recorded, y: Recorded, out: object = None) -> Recorded:
        below = (x < 0) != (y < 0)
        if x.dtype.kind != "f" and y.dtype.kind != "f":
            near = x.node("Div", y)  # rounded to 0
            return self.where((near * y != x) & below, near - 1, near)
        rest = x.node("Mod", y, fmod=1)
        near = (x - rest) / y
        near = self.where((rest != 0) & below, near - 1.0, near)
        made = self.floor(near)
        return self.where(y == 0, x / y, self.where(near - made > 0.5, made + 1.0, made))

    # -- rounding, and what numbers are --------------------------------------------------------------------
    def floor(self, x: Recorded, out: object = None) -> Recorded:
        return x.node("Floor") if x.dtype.kind == "f" else x

    def ceil(self, x: Recorded, out: object = None) -> Recorded:
        return x.node("Ceil") if x.dtype.kind == "f" else x

    def rint(self, x: Recorded) -> Recorded:
        return x.node("Round")

    def trunc(self, x: Recorded, out: object = None) -> Recorded:
        return self.where(x < 0, x.node("Ceil"), x.node("Floor")) if x.dtype.kind == "f" else x

    def isnan(self, x: Recorded) -> Recorded:
        return x.node("IsNaN", dtype=bool) if x.dtype.kind == "f" else x != x

    def isinf(self, x: Recorded) -> Recorded:
        if x.dtype.kind != "f":
            return x.node("Equal", x, dtype=bool).node("Not")
        wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x  # opset 17 has none of float16
        return wide.node("IsInf", dtype=bool)

    def isposinf(self, x: Recorded) -> Recorded:
        return x.node("Equal", math.inf, dtype=bool)

    def isfinite(self, x: Recorded) -> Recorded:
        return ~(self.isnan(x) | self.isinf(x)) if x.dtype.kind == "f" else x == x

    def nan_to_num(self, x: Recorded, nan: float, posinf: float | None, neginf: float | None) -> Recorded:
        if x.dtype.kind != "f":
            return x
        most = np.finfo(x.dtype).max
        made = self.where(x == math.inf, most if posinf is None else posinf, x)
        made = self.where(x == -math.inf, -most if neginf is None else neginf, made)
        return self.where(self.isnan(x), nan, made)

    def isclose(self, x: Recorded, y: Recorded, rtol: float, atol: float, equal_nan: bool) -> Recorded:
        if x.dtype.kind != "f" or y.dtype.kind != "f":
            x, y = x.astype(np.float64), y.astype(np.float64)
        close: Recorded = (self.absolute(x - y) <= self.absolute(y) * rtol + atol) & self.isfinite(y) | (
            x == y
        )
        if equal_nan:
            close = close | self.isnan(x) & self.isnan(y)
        return close

    def frexp(self, x: Recorded) -> tuple[Recorded, Recorded]:
        """The exponent by the logarithm, corrected by one where that is inexact."""
        wide = x.astype(np.float64)
        special = (wide == 0) | ~self.isfinite(wide)
        size = self.where(special, 1.0, self.absolute(wide))
        exponent = self.floor(self.log(size) / math.log(2.0)) + 1.0
        part = size * self._two_to(-exponent)
        up, down = (part >= 1.0).astype(np.float64), (part < 0.5).astype(np.float64)
        exponent = exponent + up - down
        made = wide * self._two_to(-exponent)
        return self.where(special, wide, made).astype(x.dtype), self.where(special, 0.0, exponent).astype(
            np.int32
        )

    def ldexp(self, x: Recorded, y: Recorded) -> Recorded:
        return (x.astype(np.float64) * self._two_to(y.astype(np.float64))).astype(x.dtype)

    def _two_to(self, x: Recorded) -> Recorded:
        return x.of(2.0, x.dtype) ** x

    # -- exponentials, logarithms, angles ------------------------------------------------------------------
    def sqrt(self, x: Recorded, out: object = None) -> Recorded:
        return x.node("Sqrt")

    def exp(self, x: Recorded) -> Recorded:
        return x.node("Exp")

    def expm1(self, x: Recorded, out: object = None) -> Recorded:
        """As a product, accurate near 0."""
        return (x * 0.5).node("Tanh") * (self.exp(x) + 1.0)

    def log(self, x: Recorded) -> Recorded:
        return x.node("Log")

    def log1p(self, x: Recorded, out: object = None) -> Recorded:
        """Near 0 by the first terms of the series in x / (2 + x)."""
        part = x / (x + 2.0)
        square = part * part
        total = square * (1.0 / 13.0)
        for n in (11, 9, 7, 5, 3):
            total = (total + 1.0 / n) * square
        return self.where(self.absolute(x) < 0.1, part * 2.0 * (total + 1.0), self.log(x + 1.0))

    def log2(self, x: Recorded, out: object = None) -> Recorded:
        return self.log(x) * (1.0 / math.log(2.0))

    def log10(self, x: Recorded, out: object = None) -> Recorded:
        return self.log(x) * (1.0 / math.log(10.0))

    def logaddexp(self, x: Recorded, y: Recorded, out: object = None) -> Recorded:
        apart = self.where(x == y, 0.0, self.absolute(x - y))  # also of two infinities
        return self.maximum(x, y) + self.log1p(self.exp(-apart))

    def tanh(self, x: Recorded, out: object = None) -> Recorded:
        return x.node("Tanh")

    def sin(self, x: Recorded) -> Recorded:
        return x.node("Sin")

    def tan(self, x: Recorded) -> Recorded:
        return self.sin(x) / self.sin(x + math.pi / 2.0)  # ONNX Runtime has Tan and Cos in float32 only

    def arctan2(self, x: Recorded, y: Recorded, out: object = None) -> Recorded:
        """The angle of the point (y, x)."""
        swapped = self.absolute(x) > self.absolute(y)  # the quotient is at most 1
        large, small = self.where(swapped, x, y), self.where(swapped, y, x)
        both = self.absolute(large) == self.absolute(small)  # also 0 / 0 and inf / inf
        unit = self.where(large == 0, 0.0, self.copysign(1.0, x) * self.copysign(1.0, y))
        quotient = self.where(both, unit, small / large)
        angle = quotient.node("Atan")
        half = self.copysign(math.pi / 2.0, x)
        turned = self.where(self.copysign(1.0, y) < 0, angle + self.copysign(math.pi, x), angle)
        made = self.where(swapped, half - angle, turned)
        return self.where(self.isnan(x) | self.isnan(y), math.nan, made)

    def hypot(self, x: Recorded, y: Recorded, out: object = None) -> Recorded:
        one, other = self.absolute(x), self.absolute(y)
        large, small = self.maximum(one, other), self.minimum(one, other)
        share = small / large
        made = large * self.sqrt(share * share + 1.0)
        made = self.where(large == 0, large, made)
        return self.where((one == math.inf) | (other == math.inf), math.inf, made)
