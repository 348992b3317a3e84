"""Convolutions of sparse images: only outputs that an element reaches are computed."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ConditionError, ShapeError, UnsupportedError
from engine.core.strictness import tolerate
from engine.eager.sparse import Sparse
from engine.nn.functional.windows import Padding, Sizes, padding_of, sizes
from engine.ops.sparse import convolution
from engine.tensor.sparse import parts
from engine.tensor.sparse.binary import add
from engine.tensor.tensor_like import AnyTensor

FORMATS = {2: "NHWC", 3: "NDHWC"}


def paddings(where: str, padding: Padding, rank: int) -> list[int]:
    """The padding of each dimension, the same before and after.

    'SAME' counts as no padding, and of different paddings before and after the first numbers are taken, as in
    Paddle; both give a LeniencyWarning.
    """
    numbers, algorithm = padding_of(where, padding, True, rank)
    if algorithm == "SAME" or len(numbers) != rank:
        tolerate(
            ArgumentError(
                f"{where}: padding {padding!r} counts as {numbers[:rank]} here; pass {rank} numbers"
            )
        )
    return numbers[:rank]


def require_images(where: str, x: Sparse, rank: int, data_format: str) -> None:
    """Raise an error unless x is a COO tensor of images with dense channels."""
    if data_format != FORMATS[rank]:
        raise ConditionError(f"{where}: data_format must be {FORMATS[rank]!r}: got {data_format!r}")
    parts.require_sparse(where, x=x)
    if x.ndim != rank + 2:
        raise ShapeError(f"{where}: x must have {rank + 2} dimensions, {FORMATS[rank]}: got {list(x.shape)}")
    if x.is_sparse_csr() or x.depth != rank + 1:
        raise UnsupportedError(
            f"{where}: x must be a COO tensor whose channels are dense: {list(x.shape)} has {x.depth} sparse "
            f"dimensions; use to_dense().to_sparse_coo({rank + 1})"
        )


def convolve(
    where: str,
    rank: int,
    x: Sparse,
    weight: AnyTensor,
    bias: AnyTensor | None,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    groups: int,
    submanifold: bool,
    data_format: str,
) -> Any:
    """The convolutions of this module."""
    if groups != 1:
        raise ConditionError(f"{where}: groups must be 1: got {groups}")
    require_images(where, x, rank, data_format)
    if len(weight.shape) != rank + 2 or weight.shape[-2] != x.shape[-1]:
        raise ShapeError(
            f"{where}: weight must be [{rank} sizes, {x.shape[-1]} channels, outputs] for x {list(x.shape)}: "
            f"got {list(weight.shape)}"
        )
    kernel = [int(d) for d in weight.shape[:rank]]
    strides = sizes(where, "stride", stride, rank)
    dilations = sizes(where, "dilation", dilation, rank)
    around = paddings(where, padding, rank)
    if submanifold:  # the window is around each element
        strides, around = [1] * rank, [d * (k // 2) for d, k in zip(dilations, kernel, strict=True)]
    sizes_in = parts.at_depth(x)
    sites, numbers, sources, targets, counts = convolution.rulebook(
        x.coordinates(),
        shape=sizes_in,
        kernel_size=kernel,
        strides=strides,
        paddings=around,
        dilations=dilations,
        same_sites=submanifold,
    )
    values = convolution.convolve(x._values, weight, sources, targets, counts, numbers)
    places = sizes_in[1:]
    if not submanifold:
        places = list(convolution.extents(places, kernel, strides, around, dilations))
    out = parts.coo(sites, values, [sizes_in[0], *places, int(weight.shape[-1])])
    return out if bias is None else add(out, bias)


def conv3d(
    x: Sparse,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Any:
    """Convolution of a COO tensor [N, D, H, W, C] with weight [depth, height, width, C, outputs].

    The result has an element wherever the window covers one of x. ``padding`` is a number, or one for each
    dimension; groups other than 1 raise ConditionError.
    """
    return convolve("conv3d", 3, x, weight, bias, stride, padding, dilation, groups, False, data_format)


def subm_conv3d(
    x: Sparse,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    key: str | None = None,
    name: str | None = None,
) -> Any:
    """Submanifold convolution of a COO tensor [N, D, H, W, C]: the result has the positions of x, sorted.

    The window is around each element, for any ``stride`` and ``padding`` (B. Graham and L. van der
    Maaten, Submanifold Sparse Convolutional Networks, 2017). ``key`` is not needed.

    Differs from Paddle: with kernels of even size, too, the result has the shape and the positions of x.
    """
    return convolve("subm_conv3d", 3, x, weight, bias, stride, padding, dilation, groups, True, data_format)


def conv2d(
    x: Sparse,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Any:
    """Convolution of a COO tensor [N, H, W, C] with weight [height, width, C, outputs]; see conv3d."""
    return convolve("conv2d", 2, x, weight, bias, stride, padding, dilation, groups, False, data_format)


def subm_conv2d(
    x: Sparse,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    key: str | None = None,
    name: str | None = None,
) -> Any:
    """Submanifold convolution of a COO tensor [N, H, W, C]; see subm_conv3d.

    Differs from Paddle: with kernels of even size, too, the result has the shape and the positions of x.
    """
    return convolve("subm_conv2d", 2, x, weight, bias, stride, padding, dilation, groups, True, data_format)
