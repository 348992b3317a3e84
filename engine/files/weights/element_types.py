"""Types of elements that NumPy or a Tensor lacks, as the nearest ones that hold every value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.files.plain import Array


@dataclass(frozen=True)
class ElementType:
    """How elements are stored, and ``convert``, which gives an array that a Tensor can hold."""

    stored: np.dtype[Any]
    convert: Callable[[Array], Array] | None = None

    def array(self, raw: bytes | bytearray | memoryview, order: str = "<") -> Array:
        """The flat array in ``raw``, in native byte order; it may share memory."""
        flat: Array = np.frombuffer(raw, self.stored.newbyteorder("<" if order == "<" else ">"))
        if not flat.dtype.isnative:
            flat = flat.astype(self.stored)
        return flat if self.convert is None else self.convert(flat)


def _small_float(array: Array) -> Array:
    """float8 with 4 bits of exponent and no infinity (e4m3fn) as float16, which holds each of its numbers."""
    return _E4M3[array]


def _e4m3() -> Array:
    bits = np.arange(256)
    exponent, fraction = (bits >> 3) & 15, bits & 7
    size = np.where(exponent > 0, (8 + fraction) * 2.0 ** (exponent - 10.0), fraction * 2.0**-9)
    size[bits & 127 == 127] = np.nan
    return np.where(bits & 128, -size, size).astype(np.float16)


_E4M3 = _e4m3()

BOOL = ElementType(np.dtype(np.uint8), lambda array: array != 0)
I8, U8 = ElementType(np.dtype(np.int8)), ElementType(np.dtype(np.uint8))
I16, I32, I64 = (ElementType(np.dtype(f"i{size}")) for size in (2, 4, 8))
F16, F32, F64 = (ElementType(np.dtype(f"f{size}")) for size in (2, 4, 8))
BF16 = ElementType(np.dtype(np.uint16))
"""bfloat16: its bits as uint16, which means nothing else here."""
C64, C128 = ElementType(np.dtype(np.complex64)), ElementType(np.dtype(np.complex128))
U16 = ElementType(np.dtype(np.uint16), lambda array: array.astype(np.int32))
U32 = ElementType(np.dtype(np.uint32), lambda array: array.astype(np.int64))
F8_E5M2 = ElementType(np.dtype(np.uint8), lambda array: (array.astype(np.uint16) << 8).view(np.float16))
F8_E4M3 = ElementType(np.dtype(np.uint8), _small_float)
