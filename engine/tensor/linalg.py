"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

from engine.ops import linalg as ops


def matmul(
    x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Any:
    """Matrix product over the last two dimensions. Raises ShapeError where the inner dimensions differ."""
    return ops.matmul(x, y, trans_x=transpose_x, trans_y=transpose_y)
