"""Masked selection for the gradients of maximum, relu and max pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

# Integers of the width of a number, by its bytes.
_BITS = {width: np.dtype(f"i{width}") for width in (1, 2, 4, 8)}
_ZEROS = {kind: np.zeros((), kind) for kind in "efd"}
for _each in _ZEROS.values():
    _each.flags.writeable = False


def zero(xp: Any, x: Any) -> Any:
    """0 as what NumPy takes quickest beside an array of floats: it takes as long again over a Python number
    as over three elements."""
    return _ZEROS.get(x.dtype.char, 0) if xp is np else 0


def chosen(xp: Any, values: Any, mask: Any, out: Any = None) -> Any:
    """``values`` where ``mask``, else 0, also where a value is infinite.

    A product with the mask on the bits read as integers: as fast as a float product, without NaN from
    infinities. ``xp.where`` takes eleven times as long on 100,000 numbers.
    """
    if values.dtype.kind == "c":
        return xp.where(mask, values, values.dtype.type(0))
    bits = _BITS[values.dtype.itemsize]
    if out is None:
        return xp.multiply(values.view(bits), mask).view(values.dtype)
    xp.multiply(values.view(bits), mask, out=out.view(bits))
    return out
