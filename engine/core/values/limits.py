"""The range and precision of data types: ``finfo`` and ``iinfo``."""

from __future__ import annotations

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.values.dtype import DTypeLike, as_dtype, bfloat16


class finfo:
    """The limits of a floating type; of a complex type those of its parts.

    ``min``, ``max``, ``eps`` (distance from 1 to the next number), ``tiny`` = ``smallest_normal``,
    ``resolution`` (about the last decimal digit), ``bits``, ``dtype``. Raises ArgumentError for another type.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        found = as_dtype(dtype)
        if found is bfloat16:
            self.min, self.max = -3.38953138925e38, 3.38953138925e38
            self.eps, self.tiny = 2.0**-7, 2.0**-126
            self.resolution, self.bits, self.dtype = 0.01, 16, found.name
        elif found.is_floating_point or found.is_complex:
            info = np.finfo(found.np)
            self.min, self.max, self.eps = float(info.min), float(info.max), float(info.eps)
            self.tiny, self.resolution = float(info.tiny), float(str(info.resolution))
            self.bits, self.dtype = int(info.bits), str(info.dtype)
        else:
            raise ArgumentError(
                f"finfo: dtype is floating or complex: got {found.name}; use iinfo()"
            ).set_kind("InvalidArgument")
        self.smallest_normal = self.tiny

    def __repr__(self) -> str:
        return (
            f"paddle.finfo(min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"resolution={self.resolution:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"bits={self.bits}, dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer type: ``min``, ``max``, ``bits``, ``dtype``.

    Raises ArgumentError for another type.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        found = as_dtype(dtype)
        if not found.is_integer:
            raise ArgumentError(f"iinfo: dtype must be an integer type: got {found.name}; use finfo()")
        info = np.iinfo(found.np)
        self.min, self.max, self.bits, self.dtype = int(info.min), int(info.max), int(info.bits), found.name

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"
