"""``fused_allreduce_gradients``: averages gradients after backward, where ``no_sync()`` skipped it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.distributed.gradient_buckets import reduce_gradients
from engine.distributed.groups import group_of
from engine.distributed.reducing import ReduceOp

__all__ = ["fused_allreduce_gradients"]

_TOGETHER = 128 * 1024 * 1024  # bytes of gradients that travel at once


def fused_allreduce_gradients(parameter_list: Iterable[Any], hcg: object = None) -> None:
    """Replace the gradients of ``parameter_list`` by their averages over all processes.

    Differs from Paddle: ``hcg`` has no effect, training is data-parallel.

    Raises:
        GradientError: a parameter has a gradient in some processes only.
    """
    group = group_of(None, "fused_allreduce_gradients")
    found = [(each.name, each) for each in parameter_list if not each.stop_gradient]
    if group.nranks > 1:
        reduce_gradients(found, group, ReduceOp.AVG, _TOGETHER, "fused_allreduce_gradients")
