"""``data``: the Variables that an Executor feeds."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.static import data as modern_data


def data(
    name: str, shape: Any, append_batch_size: bool = True, dtype: Any = "float32", lod_level: int = 0,
    type: Any = None, stop_gradient: bool = True,
) -> Any:  # fmt: skip
    """A Variable that is fed under ``name``; ``shape`` is that of a sample.

    With ``append_batch_size`` a first dimension of any size is added, unless a dimension of ``shape`` is None
    or negative already. Raises ArgumentError for ``lod_level``: rows of uneven length are not in one tensor
    here.
    """
    if lod_level:
        raise ArgumentError(
            f"layers.data: {name!r} has lod_level={lod_level}: LoD tensors (rows of uneven length in one "
            "tensor) do not exist here; pad the rows and use layers.sequence_mask"
        )
    known = [-1 if d is None else int(d) for d in shape]
    if append_batch_size and all(d >= 0 for d in known):
        known = [-1, *known]
    made = modern_data(name, known, dtype)
    made.stop_gradient = stop_gradient
    return made
