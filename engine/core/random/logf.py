"""The natural logarithm of float32 numbers as glibc's ``logf`` rounds it.

NumPy's own differs in the last bit for a fifth of all numbers, and with it a fifth of the normal numbers of a
seed. The method (Szabolcs Nagy's, glibc 2.27): x = z * 2^k with z near the middle c of one of 16 intervals;
log(x) = log1p(z / c - 1) + log(c) + k log(2), with a cubic for log1p, all in float64 and rounded once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LOWEST = 0x3F330000  # the bits of 0.699219: the intervals reach from here to twice that
_INVERSE = np.array(
    [
        float.fromhex(c)
        for c in (
            "0x1.661ec79f8f3bep+0",
            "0x1.571ed4aaf883dp+0",
            "0x1.49539f0f010bp+0",
            "0x1.3c995b0b80385p+0",
            "0x1.30d190c8864a5p+0",
            "0x1.25e227b0b8eap+0",
            "0x1.1bb4a4a1a343fp+0",
            "0x1.12358f08ae5bap+0",
            "0x1.0953f419900a7p+0",
            "0x1p+0",
            "0x1.e608cfd9a47acp-1",
            "0x1.ca4b31f026aap-1",
            "0x1.b2036576afce6p-1",
            "0x1.9c2d163a1aa2dp-1",
            "0x1.886e6037841edp-1",
            "0x1.767dcf5534862p-1",
        )
    ]
)
_LOG = np.array(
    [
        float.fromhex(c)
        for c in (
            "-0x1.57bf7808caadep-2",
            "-0x1.2bef0a7c06ddbp-2",
            "-0x1.01eae7f513a67p-2",
            "-0x1.b31d8a68224e9p-3",
            "-0x1.6574f0ac07758p-3",
            "-0x1.1aa2bc79c81p-3",
            "-0x1.a4e76ce8c0e5ep-4",
            "-0x1.1973c5a611cccp-4",
            "-0x1.252f438e10c1ep-5",
            "0x0p+0",
            "0x1.aa5aa5df25984p-5",
            "0x1.c5e53aa362eb4p-4",
            "0x1.526e57720db08p-3",
            "0x1.bc2860d22477p-3",
            "0x1.1058bc8a07ee1p-2",
            "0x1.4043057b6ee09p-2",
        )
    ]
)
_LOG_2 = float.fromhex("0x1.62e42fefa39efp-1")
_CUBIC, _SQUARE, _LINEAR = (
    float.fromhex(c) for c in ("-0x1.00ea348b88334p-2", "0x1.5575b0be00b6ap-2", "-0x1.ffffef20a4123p-2")
)


def logf(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """log(x) of positive, normal float32 numbers."""
    bits = x.view(np.int32)
    above = bits - _LOWEST
    interval = (above >> 19) & 15
    z = (bits - (above & np.int32(-(1 << 23)))).view(np.float32).astype(np.float64)
    r = z * _INVERSE.take(interval)
    r -= 1.0
    result = _LOG.take(interval)
    result += (above >> 23) * _LOG_2
    result += r
    squared = r * r
    r *= _SQUARE
    r += _LINEAR
    r += _CUBIC * squared
    r *= squared
    r += result
    rounded: NDArray[np.float32] = r.astype(np.float32)
    return rounded
