"""From the integers of a quantized table's rows to values."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.operators.bounds import Number
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec

LEVELS = 128
"""How many magnitudes ``dequantize_log`` knows: bytes are a sign and one of them."""


def _infer_abs_max(x: Spec, scale: Spec, *, max_range: float) -> Spec:
    where = "dequantize_abs_max"
    if not x.dtype.is_integer:
        raise DTypeError(f"{where}: x holds integers: got {x}; quantize it first")
    require_floating(where, scale=scale)
    if scale.size not in (1, -1):
        raise ShapeError(f"{where}: scale must be one number, shape [1]: got {scale}")
    if not max_range > 0:
        raise ArgumentError(f"{where}: max_range must be above 0: got {max_range}; it is 127 for 8 bits")
    return x.with_dtype(scale.dtype)


@op("dequantize_abs_max", infer=_infer_abs_max)
def dequantize_abs_max(xp, x, scale, *, max_range: Number):
    """x * scale / max_range, in the dtype of ``scale`` [1]; ``max_range`` is 127 for 8 bits."""
    return x.astype(scale.dtype) * scale.reshape(()) / scale.dtype.type(max_range)


def _infer_log(x: Spec, magnitudes: Spec) -> Spec:
    where = "dequantize_log"
    if x.dtype.name != "int8":
        raise DTypeError(f"{where}: x is int8: got {x}; quantize it with 8 bits")
    require_floating(where, dict=magnitudes)
    if magnitudes.size not in (LEVELS, -1):
        raise ShapeError(f"{where}: dict holds {LEVELS} magnitudes: got {magnitudes}; pad it")
    return x.with_dtype(magnitudes.dtype)


@op("dequantize_log", infer=_infer_log, slots={"magnitudes": "Dict"})
def dequantize_log(xp, x, magnitudes):
    """The magnitude [128] at each number; from -128 to -1 it is minus that at the number plus 128."""
    place = x.astype("int64")
    values: Any = magnitudes.reshape(-1)[xp.where(place < 0, place + LEVELS, place)]
    return xp.where(place < 0, -values, values)
