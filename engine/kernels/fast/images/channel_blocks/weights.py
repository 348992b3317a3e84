"""Weights as the stages read them, laid out once for all calls."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from engine.kernels.fast.images.channel_blocks.stages import Convolution, Depthwise, RowConvolution
from engine.kernels.fast.images.channel_blocks.winograd_code import TILE
from engine.kernels.fast.images.sample_blocks import aligned
from engine.kernels.fast.images.winograd_transforms import transforms

Array = np.ndarray[Any, Any]


def of_convolution(stage: Convolution, lanes: int, weight: Array, bias: Array | None) -> Array:
    """For filters [filter, channel, row, column]."""
    per_group = stage.group_blocks * lanes
    filters = len(weight) // stage.groups
    step = stage.source.lanes
    parts = [_biases(bias, stage.target.blocks * lanes, len(weight))]
    for n in range(stage.groups):
        own = weight[n * filters : (n + 1) * filters]
        # [channel][row][column][filter] of each block of channels
        rows = [
            own[:, c : c + step].transpose(2, 3, 1, 0).reshape(-1, filters)
            for c in range(0, stage.taken, step)
        ]
        matrix = np.zeros((stage.entries, per_group), np.float32)
        matrix[:, :filters] = np.concatenate(rows) if rows else 0.0
        for begin in range(0, per_group, stage.wide * lanes):
            parts.append(matrix[:, begin : begin + stage.wide * lanes].reshape(-1))
    return _joined(parts)


def of_winograd(weight: Array) -> Array:
    """Filters [filter, channel, 3, 3] as those of 36 groups, one for each entry of the transformed tiles."""
    matrix = np.array(transforms(TILE).filters)
    entries = weight.astype(np.float64).reshape(-1, 9)
    made = np.empty((len(matrix) ** 2, len(entries)), np.float32)
    for row, (i, j) in zip(made, itertools.product(matrix, matrix), strict=True):
        row[...] = entries @ np.outer(i, j).reshape(-1)
    return made.reshape(-1, weight.shape[1], 1, 1)


def of_biases(bias: Array | None, filters: int, lanes: int) -> Array:
    """A number for each filter, zeros without biases."""
    return _joined([_biases(bias, -(-filters // lanes) * lanes, filters)])


def of_row_convolution(stage: RowConvolution, weight: Array, bias: Array | None) -> Array:
    """For filters [filter, channel, row, column]."""
    tiles = [weight[n : n + stage.tile] for n in range(0, len(weight), stage.tile)]
    rows = [tile.transpose(1, 2, 3, 0).reshape(-1) for tile in tiles]
    return _joined([_biases(bias, len(weight), len(weight)), *rows])


def of_depthwise(stage: Depthwise, lanes: int, weight: Array, bias: Array | None) -> Array:
    """For filters [channel, 1, row, column]."""
    full = stage.target.blocks * lanes
    matrix = np.zeros((full, weight[0].size), np.float32)
    matrix[: len(weight)] = weight.reshape(len(weight), -1)
    blocks = matrix.reshape(stage.target.blocks, lanes, -1).transpose(0, 2, 1)
    return _joined([_biases(bias, full, len(weight)), blocks.reshape(-1)])


def of_channels(values: Array, channels: int, lanes: int) -> Array:
    """A number for each channel."""
    return _joined(
        [_biases(np.broadcast_to(values.reshape(-1), channels), -(-channels // lanes) * lanes, channels)]
    )


def _biases(bias: Array | None, full: int, count: int) -> Array:
    made = np.zeros(full, np.float32)
    if bias is not None:
        made[:count] = bias.reshape(-1)
    return made


def _joined(parts: list[Array]) -> Array:
    made: Array = aligned(sum(part.size for part in parts))
    np.concatenate(parts, out=made)
    return made
