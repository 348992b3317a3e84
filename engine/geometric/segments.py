"""Rows of a batch reduced by the segment that each belongs to."""

from __future__ import annotations

from typing import Any

from engine.ops.graphs import segments
from engine.program.build.calls import takes_name
from engine.tensor.tensor_like import AnyTensor


@takes_name
def segment_sum(data: AnyTensor, segment_ids: AnyTensor, name: str | None = None) -> Any:
    """The sum of the rows of ``data`` with the same number; ``segment_ids`` [rows] must not fall.

    Numbers that do not occur have rows of 0.
    """
    return segments.segment_pool(data, segment_ids, pooltype="SUM")


@takes_name
def segment_mean(data: AnyTensor, segment_ids: AnyTensor, name: str | None = None) -> Any:
    """The mean of the rows of ``data`` with the same number; ``segment_ids`` [rows] must not fall."""
    return segments.segment_pool(data, segment_ids, pooltype="MEAN")


@takes_name
def segment_min(data: AnyTensor, segment_ids: AnyTensor, name: str | None = None) -> Any:
    """The least elements of the rows of ``data`` with the same number; ``segment_ids`` must not fall."""
    return segments.segment_pool(data, segment_ids, pooltype="MIN")


@takes_name
def segment_max(data: AnyTensor, segment_ids: AnyTensor, name: str | None = None) -> Any:
    """The greatest elements of the rows of ``data`` with the same number; ``segment_ids`` must not fall."""
    return segments.segment_pool(data, segment_ids, pooltype="MAX")
