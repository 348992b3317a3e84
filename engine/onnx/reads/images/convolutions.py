"""Rows of convolutions."""

from __future__ import annotations

from typing import Any

from engine.nn import functional as F
from engine.onnx.reads.images.windows import each, known_sizes, padded, paddings, spatial
from engine.onnx.reads.rows import Known, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import Unreadable, like, sizes_of
from engine.vision.ops import deform_conv2d

_CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_TRANSPOSED = {1: F.conv1d_transpose, 2: F.conv2d_transpose, 3: F.conv3d_transpose}


def _rank(x: Any, w: Any) -> int:
    rank = x.ndim - 2
    if rank not in _CONVOLUTIONS or w.ndim != x.ndim:
        raise Unreadable(f"an image of {x.ndim} dimensions with filters of {w.ndim}")
    return int(rank)


def _flat(pairs: Any) -> list[int]:
    return [n for pair in pairs for n in pair]


def _with_channels(x: Any, count: int) -> Any:
    """An image whose number of channels, which follows from the filters, is known."""
    if int(x.shape[1]) >= 0:
        return x
    sizes = sizes_of(x)
    return T.reshape(x, [sizes[0], count, *sizes[2:]])


@reads("Conv")
def _(
    X: Any,
    W: Any,
    B: Any = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Any = None,
    group: int = 1,
    kernel_shape: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Any:
    rank = _rank(X, W)
    stride, dilation = each(strides, rank), each(dilations, rank)
    X = _with_channels(X, int(W.shape[1]) * group)
    if auto_pad == "SAME_UPPER" and min(spatial(X)) < 0 and dilation == [1] * rank:
        return _CONVOLUTIONS[rank](X, W, B, stride, "SAME", dilation, group)
    pairs = paddings(X, auto_pad, pads, list(W.shape[2:]), stride, dilation)
    x = X
    if any(n < 0 for n in _flat(pairs)):
        x, pairs = padded(X, pairs, 0.0), [(0, 0)] * rank
    return _CONVOLUTIONS[rank](x, W, B, stride, _flat(pairs), dilation, group)


@reads("ConvTranspose")
def _(
    X: Any,
    W: Any,
    B: Any = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Any = None,
    group: int = 1,
    kernel_shape: Any = None,
    output_padding: Any = None,
    output_shape: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Any:
    """The whole result, without what padding cuts off."""
    rank = _rank(X, W)
    X = _with_channels(X, int(W.shape[0]))
    stride, dilation = each(strides, rank), each(dilations, rank)
    more = each(output_padding, rank, 0)
    kernel = [(int(k) - 1) * d + 1 for k, d in zip(W.shape[2:], dilation, strict=True)]
    if output_shape or auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        sizes = known_sizes(X)
        wanted = (
            each(output_shape[-rank:], rank)
            if output_shape
            else [n * s for n, s in zip(sizes, stride, strict=True)]
        )
        pairs = []
        for size, k, s, extra, w in zip(sizes, kernel, stride, more, wanted, strict=True):
            total = s * (size - 1) + extra + k - w
            small = total // 2
            pairs.append((small, total - small) if auto_pad == "SAME_UPPER" else (total - small, small))
    else:
        pairs = paddings(X, "VALID" if auto_pad == "VALID" else "NOTSET", pads, kernel, stride, dilation)
    function: Any = _TRANSPOSED[rank]
    options: dict[str, Any] = {"stride": stride, "dilation": dilation, "groups": group}
    if all(a == b >= 0 for a, b in pairs) and all(m < s for m, s in zip(more, stride, strict=True)):
        return function(X, W, B, padding=[a for a, _ in pairs], output_padding=more, **options)
    made = function(X, W, None, **options)
    made = padded(made, [(-a, e - b) for (a, b), e in zip(pairs, more, strict=True)], 0.0)
    return made if B is None else T.add(made, T.reshape(B, [1, -1, *[1] * rank]))


@reads("DeformConv")
def _(
    X: Any,
    W: Any,
    offset: Any,
    B: Any = None,
    mask: Any = None,
    *,
    dilations: Any = None,
    group: int = 1,
    kernel_shape: Any = None,
    offset_group: int = 1,
    pads: Any = None,
    strides: Any = None,
) -> Any:
    stride, dilation = each(strides, 2), each(dilations, 2)
    top, left, bottom, right = each(pads, 4, 0)
    x = X
    if (top, left) != (bottom, right):
        x = padded(X, [(top, bottom), (left, right)], 0.0)
        top = left = 0
    return deform_conv2d(x, offset, W, B, stride, [top, left], dilation, offset_group, group, mask)


@reads("Col2Im")
def _(
    input: Any,
    image_shape: Known,
    block_shape: Known,
    *,
    dilations: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Any:
    sizes, block = ([int(v) for v in given.reshape(-1)] for given in (image_shape, block_shape))
    if len(sizes) != 2:
        raise Unreadable(f"an image of {len(sizes)} dimensions; 2 are supported")
    top, left, bottom, right = each(pads, 4, 0)
    return F.fold(input, sizes, block, each(strides, 2), [top, left, bottom, right], each(dilations, 2))


@reads("LRN")
def _(X: Any, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Any:
    before = (size - 1) // 2
    squares = F.pad(T.square(X), [0, 0, before, size - 1 - before, *[0, 0] * (X.ndim - 2)])
    channels = int(X.shape[1])
    total = None
    for n in range(size):
        part = squares[:, n : n + channels]
        total = part if total is None else T.add(total, part)
    scaled = T.add(T.multiply(total, like(alpha / size, X)), like(bias, X))
    return T.divide(X, T.pow(scaled, like(beta, X)))
