"""Trigonometric and hyperbolic functions, and angles."""

from __future__ import annotations

import math as numbers
from typing import Any

from engine.ops.activations import smooth
from engine.ops.elementwise import arithmetic, trigonometry
from engine.ops.elementwise import trigonometry as ops
from engine.program.build.calls import named
from engine.tensor.arguments.factories import alike, binary, floating, unary
from engine.tensor.arguments.promote import operands
from engine.tensor.tensor_like import AnyTensor

sin = unary("sin", trigonometry.sin)
cos = unary("cos", trigonometry.cos)
tan = unary("tan", ops.tan)
asin = unary("asin", ops.asin)
acos = unary("acos", ops.acos)
atan = unary("atan", ops.atan)
sinh = unary("sinh", ops.sinh)
cosh = unary("cosh", ops.cosh)
tanh = unary("tanh", smooth.tanh)
asinh = unary("asinh", ops.asinh)
acosh = unary("acosh", ops.acosh)
atanh = unary("atanh", ops.atanh)
hypot = binary("hypot", ops.hypot, as_floating=True)


def atan2(x: AnyTensor, y: AnyTensor, name: str | None = None) -> Any:
    """The angle of the point (y, x), in radians in [-pi, pi], elementwise and broadcast.

    Integers become float64 first.
    """
    if name:
        return named(name, atan2, x, y)
    if alike(x, y) and x._array.dtype.kind == "f":
        return ops.atan2(x, y)
    x, y = operands("atan2", x, y)
    if not x.dtype.is_floating_point:
        x, y = (arithmetic.cast(v, out_dtype="float64") for v in (x, y))
    return ops.atan2(x, y)


def deg2rad(x: AnyTensor, name: str | None = None) -> Any:
    """Radians from degrees, elementwise; integers become float32 first."""
    if name:
        return named(name, deg2rad, x)
    return arithmetic.scale(floating("deg2rad", x), scale=numbers.pi / 180.0)


def rad2deg(x: AnyTensor, name: str | None = None) -> Any:
    """Degrees from radians, elementwise; integers become float32 first."""
    if name:
        return named(name, rad2deg, x)
    return arithmetic.scale(floating("rad2deg", x), scale=180.0 / numbers.pi)
