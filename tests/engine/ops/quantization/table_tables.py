"""Rows of the operators in ``engine/ops/quantization/tables.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, pos, row, s


def dequantize_log(x: Any, magnitudes: Any) -> Any:
    found = [magnitudes[i] if i >= 0 else -magnitudes[i + 128] for i in x.ravel().tolist()]
    return np.array(found, magnitudes.dtype).reshape(x.shape)


CASES: list[Case] = [
    *row("dequantize_abs_max", lambda x, scale, max_range: np.asarray(x * scale.reshape(()) / max_range),
         s(ints(2, 3, low=-128, high=128).astype("int8"), pos(1), max_range=127.0),
         s(ints(4, low=-999, high=999).astype("int16"), pos(1), max_range=32767.0),
         s(ints(low=-9, high=9).astype("int8"), pos(1), max_range=127.0),
         s(ints(0, 3).astype("int8"), pos(1), max_range=127.0)),
    *row("dequantize_log", dequantize_log,
         s(ints(5, 6, low=-128, high=128).astype("int8"), pos(128)), s(ints(0, 3).astype("int8"), pos(128)))
]
