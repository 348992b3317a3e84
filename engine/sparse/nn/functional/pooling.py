"""Pooling of sparse images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ConditionError
from engine.eager.sparse import Sparse
from engine.nn.functional.windows import Padding, sizes
from engine.ops.sparse import convolution, rows
from engine.sparse.nn.functional.conv import paddings, require_images
from engine.tensor.sparse import parts


def max_pool3d(
    x: Sparse,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Any:
    """The largest stored elements in windows over a COO tensor [N, D, H, W, C], channel by channel.

    The result has an element wherever the window covers one of x; zeros that are not stored do not count.
    ``ceil_mode`` has no effect, as in Paddle.
    """
    where = "max_pool3d"
    if not isinstance(x, parts.Sparse) or x.is_sparse_csr():
        raise ConditionError(f"{where}: x must be a COO tensor; use to_sparse_coo(4)")
    require_images(where, x, 3, data_format)
    kernel = sizes(where, "kernel_size", kernel_size, 3)
    strides = kernel if stride is None else sizes(where, "stride", stride, 3)
    around, steps = paddings(where, padding, 3), [1, 1, 1]
    size = parts.at_depth(x)
    sites, numbers, sources, targets, _ = convolution.rulebook(
        x.coordinates(), shape=size, kernel_size=kernel, strides=strides, paddings=around, dilations=steps
    )
    values = rows.max_rows(rows.take_rows(x._values, sources), targets, numbers)
    places = convolution.extents(size[1:], kernel, strides, around, steps)
    return parts.coo(sites, values, [size[0], *places, x.shape[-1]])
