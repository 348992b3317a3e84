"""Compiled chains of convolutions, poolings and products: how weights are laid out, and how one is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import function
from engine.kernels.fast.images.chain_code import _WIDE, Chain, Convolution, Product, emit
from engine.kernels.fast.images.sample_blocks import aligned, array

Array = Any


class ChainKernel:
    """The compiled function of one chain for some samples, with its weights: pairs of weight and bias.

    Weights of convolutions are [filters, channels, rows, columns], of products [values, results] with values
    in the order of a grid: channels, rows and columns as NumPy flattens them.
    """

    def __init__(self, plan: Chain, samples: int, weights: Sequence[tuple[Array, Array | None]]) -> None:
        self.plan, self.samples = plan, samples
        self.handle = function(f"chain {plan}", lambda m, n: emit(m, n, plan))
        stages = [s for s in plan.stages if isinstance(s, (Convolution, Product))]
        self._weights = [_laid(plan, s, *w) for s, w in zip(stages, weights, strict=True)]
        last = plan.stages[-1]
        assert isinstance(last, Product)
        self._shape = (samples, last.results)
        self._free: list[tuple[Any, Array]] = []

    def _taken(self) -> tuple[Any, Array]:
        """Arguments, and the memory between the stages, of one call at a time."""
        scratch = aligned(self.plan.places()[-1])
        scratch[...] = 0
        return array(0, 0, address(scratch), *map(address, self._weights)), scratch

    def __call__(self, x: Array) -> Array:
        """The result [samples, results] for contiguous float32 x [samples, ...]."""
        made = np.empty(self._shape, np.float32)
        try:
            taken = self._free.pop()
        except IndexError:
            taken = self._taken()
        arguments = taken[0]
        arguments[0], arguments[1] = address(x), address(made)
        self.handle.call(arguments, 0, self.samples)
        self._free.append(taken)
        return made


def _laid(plan: Chain, stage: Convolution | Product, weight: Array, bias: Array | None) -> Array:
    """Biases, then for each group of vectors of results [value][vector][lane]."""
    if isinstance(stage, Convolution):
        rows, most = weight.transpose(1, 2, 3, 0).reshape(-1, len(weight)), 2
    else:
        rows, most = weight, _WIDE
        if not isinstance(stage.source, int):
            grid = stage.source
            rows = rows.reshape(grid.channels, grid.rows, grid.columns, -1).transpose(1, 2, 0, 3)
            rows = rows.reshape(weight.shape)
    count, results = rows.shape
    full = -(-results // plan.lanes) * plan.lanes
    padded = np.zeros((count + 1, full), np.float32)
    padded[1:, :results] = rows
    if bias is not None:
        padded[0, :results] = bias
    parts = [padded[0]]
    for begin, wide in plan.groups(results, most):
        start = begin * plan.lanes
        parts.append(padded[1:, start : start + wide * plan.lanes].reshape(-1))
    whole = np.concatenate(parts)
    made = aligned(whole.size)
    made[...] = whole
    return made
