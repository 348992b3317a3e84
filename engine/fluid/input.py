"""``fluid.embedding`` and ``fluid.one_hot``: for ids of any shape, without a last dimension of 1."""

from __future__ import annotations

from typing import Any

from engine.fluid.layers.adapting import adapter, ones_at
from engine.static import nn as modern

__all__ = ["embedding", "one_hot"]


@adapter
def embedding(
    input: Any,
    size: Any,
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Any:
    """Rows of a table [rows, size]: ids of any shape give that shape and ``size``; only in static mode."""
    return modern.embedding(input, size, is_sparse, is_distributed, padding_idx, param_attr, dtype)


@adapter
def one_hot(input: Any, depth: int, allow_out_of_range: bool = False) -> Any:
    """A one at each id, in a new last dimension of ``depth``.

    With ``allow_out_of_range`` numbers outside the classes give zeros.
    """
    return ones_at(input, depth, allow_out_of_range)
