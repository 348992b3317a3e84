"""Rows of triangles of matrices, and of the positions of their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.writes.arrays.creation import computed
from engine.onnx.writes.graph import Graph, Value, numpy_dtype
from engine.onnx.writes.rows import writes

_SUPPORTED = {"bool", "float32", "float64", "int64"}  # by ONNX Runtime


@writes("tril_triu")
def _(g: Graph, x: Value, *, diagonal: int, lower: bool) -> Value:
    wider = "float32" if numpy_dtype(x.dtype).kind == "f" else "int64"
    kept = x if x.dtype in _SUPPORTED else g.cast(x, wider)
    made = g.Trilu(kept, np.int64(diagonal), upper=int(not lower))
    return made if x.dtype in _SUPPORTED else g.cast(made, x.dtype)


@writes("tril_indices", "triu_indices")
def _(g: Graph, *, rows: int, cols: int, offset: int, dtype: Any) -> Value:
    return computed(g)
