"""Operators that have no row, with the reason."""

from __future__ import annotations

WITHOUT: dict[str, str] = {
    "view_dtype": "ONNX has no operator that reads bytes as another dtype",
}
