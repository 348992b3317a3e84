"""``fluid.embedding`` and ``fluid.one_hot``: for ids of any shape, without a last dimension of 1."""

from __future__ import annotations

from engine.fluid.layers.adapting import ones_at
from engine.fluid.renamed.functions import functions, row
from engine.static import nn as modern

__all__ = ["embedding", "one_hot"]

# fmt: off
ROWS = (
    row("embedding", modern.embedding,
        "input, size, is_sparse: bool = False, is_distributed: bool = False, "
        "padding_idx: int | None = None, param_attr=None, dtype='float32'",
        "Rows of a table [rows, size]: ids of any shape give that shape and ``size``; only in static mode."),
    row("one_hot", ones_at, "input, depth: int, allow_out_of_range: bool = False",
        """A one at each id, in a new last dimension of ``depth``.

        With ``allow_out_of_range`` numbers outside the classes give zeros.
        """, {"ids": "input"}),
)
# fmt: on
_made = functions(ROWS, __name__)
embedding, one_hot = _made["embedding"], _made["one_hot"]
