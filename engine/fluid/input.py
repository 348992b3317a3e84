"""``fluid.data``, and ``fluid.embedding`` and ``fluid.one_hot``: for ids of any shape, without a last
dimension of 1."""

from __future__ import annotations

from collections.abc import Sequence

from engine.fluid.layers.adapting import building, ones_at
from engine.fluid.layers.nn.at_once import also_at_once
from engine.fluid.renamed.functions import functions, row
from engine.program.graph.variable import Variable
from engine.static import inputs
from engine.static import nn as modern
from engine.tensor.tensor_like import DTypeLike

__all__ = ["data", "embedding", "one_hot"]

# fmt: off
ROWS = (
    row("embedding", modern.embedding,
        "input, size, is_sparse: bool = False, is_distributed: bool = False, "
        "padding_idx: int | None = None, param_attr=None, dtype='float32'",
        "Rows of a table [rows, size]: ids of any shape give that shape and ``size``."),
    row("one_hot", ones_at, "input, depth: int, allow_out_of_range: bool = False",
        """A one at each id, in a new last dimension of ``depth``.

        With ``allow_out_of_range`` numbers outside the classes give zeros.
        """, {"ids": "input"}),
)
# fmt: on
_made = functions(ROWS, __name__)
embedding, one_hot = also_at_once(_made["embedding"], late=True), _made["one_hot"]


def data(
    name: str, shape: Sequence[int | None], dtype: DTypeLike = "float32", lod_level: int = 0
) -> Variable:
    """A Variable of the Program that is fed under ``name``; None or -1 in ``shape`` is any size.

    In a guard it belongs to the guard's own Program. ``lod_level`` is that of rows of uneven length; arrays
    may be fed as well. Raises the errors of ``static.data``.
    """
    with building():
        made = inputs.data(name, shape, dtype, lod_level)
    made.lod_level = lod_level
    return made
