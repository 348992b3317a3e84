"""Rows of convolution and pooling, with references that compute one element of the result at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, row, s, v


def _pads(size: Any, kernel: Any, strides: Any, paddings: Any, algorithm: str) -> Any:
    if algorithm == "VALID":
        return [(0, 0), (0, 0)]
    if algorithm == "SAME":
        needed = [
            max((math.ceil(n / t) - 1) * t + k - n, 0) for n, k, t in zip(size, kernel, strides, strict=True)
        ]
        return [(n // 2, n - n // 2) for n in needed]
    return (
        [(paddings[0],) * 2, (paddings[1],) * 2]
        if len(paddings) == 2
        else [tuple(paddings[:2]), tuple(paddings[2:])]
    )


def _conv(
    x: Any, weight: Any, strides: Any = (1, 1), paddings: Any = (0, 0), padding_algorithm: str = "EXPLICIT",
    dilations: Any = (1, 1), groups: int = 1, data_format: str = "NCHW",
) -> Any:  # fmt: skip
    if data_format == "NHWC":
        x = np.transpose(x, (0, 3, 1, 2))
    pads = _pads(x.shape[2:], weight.shape[2:], strides, paddings, padding_algorithm)
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    kh, kw = weight.shape[2:]
    height = (x.shape[2] - dilations[0] * (kh - 1) - 1) // strides[0] + 1
    width = (x.shape[3] - dilations[1] * (kw - 1) - 1) // strides[1] + 1
    result = np.zeros((x.shape[0], weight.shape[0], height, width))
    each = weight.shape[0] // groups
    for f, i, j in np.ndindex(weight.shape[0], height, width):
        first = f // each * weight.shape[1]
        top, left = i * strides[0], j * strides[1]
        window = x[:, first : first + weight.shape[1], top : top + dilations[0] * kh : dilations[0],
                   left : left + dilations[1] * kw : dilations[1]]  # fmt: skip
        result[:, f, i, j] = (window * weight[f]).sum((1, 2, 3))
    return np.transpose(result, (0, 2, 3, 1)) if data_format == "NHWC" else result


def _conv_grad(
    x: Any, weight: Any, g: Any, need_x: bool = True, need_weight: bool = True, **attrs: Any
) -> Any:
    """The convolution is linear in x and in weight: one unit of each at a time."""

    def slopes(array: Any, apply: Any) -> Any:
        found = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            unit = np.zeros_like(array)
            unit[place] = 1.0
            found[place] = (apply(unit) * g).sum()
        return found

    return (
        slopes(x, lambda unit: _conv(unit, weight, **attrs)) if need_x else None,
        slopes(weight, lambda unit: _conv(x, unit, **attrs)) if need_weight else None,
    )


def _windows(x: Any, attrs: dict[str, Any]) -> Any:
    """Output position, and rows and columns of the image in the window and counted for the mean."""
    size, k = x.shape[2:], attrs["ksize"]
    if attrs.get("global_pooling"):
        yield (0, 0), range(size[0]), range(size[1]), size[0] * size[1]
        return
    if attrs.get("adaptive"):
        for i, j in np.ndindex(*k):
            rows, columns = (
                range(p * n // o, math.ceil((p + 1) * n / o)) for p, n, o in zip((i, j), size, k, strict=True)
            )
            yield (i, j), rows, columns, len(rows) * len(columns)
        return
    t = attrs.get("strides", (1, 1))
    pads = _pads(size, k, t, attrs.get("paddings", (0, 0)), attrs.get("padding_algorithm", "EXPLICIT"))
    rounding = math.ceil if attrs.get("ceil_mode") else math.floor
    out = [rounding((n - k[a] + sum(pads[a])) / t[a]) + 1 for a, n in enumerate(size)]
    for i, j in np.ndindex(*out):
        spans = []
        counted = 1
        for a, p in enumerate((i, j)):
            start = p * t[a] - pads[a][0]
            end = min(start + k[a], size[a] + pads[a][0])
            inside = range(max(start, 0), min(end, size[a]))
            counted *= len(inside) if attrs.get("exclusive", True) else end - start
            spans.append(inside)
        yield (i, j), spans[0], spans[1], counted


def _layouts(function: Any) -> Any:
    """NHWC is NCHW with the dimensions moved."""

    def run(*arrays: Any, data_format: str = "NCHW", **attrs: Any) -> Any:
        if data_format == "NHWC":
            return np.moveaxis(function(*(np.moveaxis(a, 3, 1) for a in arrays), **attrs), 1, 3)
        return function(*arrays, **attrs)

    return run


@_layouts
def _pool(x: Any, pooling_type: str = "max", **attrs: Any) -> Any:
    found = {p: x[:, :, r][:, :, :, c].reshape(*x.shape[:2], -1) for p, r, c, _ in _windows(x, attrs)}
    last = max(found)
    result = np.zeros((*x.shape[:2], last[0] + 1, last[1] + 1))
    for (i, j), _, _, counted in _windows(x, attrs):
        result[:, :, i, j] = found[i, j].max(-1) if pooling_type == "max" else found[i, j].sum(-1) / counted
    return result


@_layouts
def _pool_grad(x: Any, out: Any, g: Any, pooling_type: str = "max", **attrs: Any) -> Any:
    result = np.zeros_like(x)
    for (i, j), rows, columns, counted in _windows(x, attrs):
        for n, c in np.ndindex(x.shape[:2]):
            places = [(n, c, r, q) for r in rows for q in columns]
            if pooling_type == "max":
                places = [max(places, key=lambda p: x[p])]
            for place in places:
                result[place] += g[n, c, i, j] / (1 if pooling_type == "max" else counted)
    return result


@_layouts
def _pick(x: Any, out: Any, values: Any, **attrs: Any) -> Any:
    result = np.zeros_like(out)
    for (i, j), rows, columns, _ in _windows(x, attrs):
        for n, c in np.ndindex(x.shape[:2]):
            best = max(((n, c, r, q) for r in rows for q in columns), key=lambda p: x[p])
            result[n, c, i, j] = values[best]
    return result


CONVS = [
    s(v(2, 1, 5, 5), v(3, 1, 3, 3)),
    s(v(2, 3, 5, 4), v(2, 3, 2, 3), paddings=[1, 2], strides=[2, 1]),
    s(v(1, 2, 5, 5), v(2, 2, 2, 2), paddings=[0, 1, 2, 0]),
    s(v(2, 4, 4, 4), v(4, 2, 3, 3), groups=2, paddings=[1, 1]),
    s(v(1, 3, 4, 4), v(6, 1, 2, 2), groups=3, strides=[2, 2]),
    s(v(1, 2, 6, 6), v(1, 2, 2, 3), dilations=[2, 2], paddings=[1, 1]),
    s(v(1, 2, 6, 5), v(1, 2, 3, 2), padding_algorithm="SAME", strides=[2, 2]),
    s(v(1, 2, 4, 4), v(1, 2, 3, 3), padding_algorithm="VALID"),
    s(v(2, 4, 4, 2), v(3, 2, 3, 3), data_format="NHWC", paddings=[1, 1]),
    s(v(0, 2, 4, 4), v(3, 2, 3, 3)),
]
# With so many channels the image's gradient is a long product.
WIDE = [
    s(v(1, 32, 3, 3), v(2, 32, 2, 2), paddings=[1, 0]),
    s(v(1, 32, 2, 4), v(2, 32, 2, 2), paddings=[0, 2], dilations=[1, 2]),
    s(v(1, 32, 2, 2), v(1, 32, 1, 1), paddings=[0, 1, 0, 0]),
]


def _conv_grads(sample: Sample, **more: Any) -> Sample:
    x, weight = sample.inputs
    return s(x, weight, v(*_conv(x, weight, **sample.attrs).shape, seed=9), **sample.attrs, **more)


POOLS = [
    s(v(2, 2, 4, 4), ksize=[2, 2], strides=[2, 2]),
    s(v(1, 2, 5, 5), ksize=[3, 2], strides=[1, 2]),
    s(v(1, 1, 5, 5), ksize=[2, 2], strides=[2, 2], ceil_mode=True),
    s(v(1, 2, 5, 4), ksize=[3, 3], strides=[2, 2], paddings=[1, 1]),
    s(v(1, 1, 5, 5), ksize=[3, 3], strides=[2, 2], paddings=[2, 0, 1, 2]),
    s(v(1, 1, 5, 6), ksize=[3, 3], strides=[2, 2], padding_algorithm="SAME"),
    s(v(1, 1, 5, 6), ksize=[2, 2], strides=[2, 2], padding_algorithm="VALID"),
    s(v(1, 2, 3, 4), ksize=[1, 1], global_pooling=True),
    s(v(1, 2, 4, 6), ksize=[2, 3], adaptive=True),
    s(v(1, 2, 5, 4), ksize=[2, 3], adaptive=True),
    s(v(1, 1, 2, 3), ksize=[3, 4], adaptive=True),
    s(v(1, 4, 4, 2), ksize=[2, 2], strides=[2, 2], data_format="NHWC"),
    s(v(1, 1, 3, 3), ksize=[1, 1], strides=[2, 2]),
    s(v(0, 2, 4, 4), ksize=[2, 2], strides=[2, 2]),
]  # fmt: skip
SHARED = s(v(1, 1, 5, 5), ksize=[3, 3], strides=[2, 2], paddings=[1, 1], exclusive=False)


def _as(kind: str, *samples: Sample) -> list[Sample]:
    return [s(*c.inputs, pooling_type=kind, **c.attrs) for c in samples]


def _pool_grads(kind: str, *samples: Sample) -> list[Sample]:
    made = []
    for c in samples:
        if c.inputs[0].size:
            out = _pool(*c.inputs, pooling_type=kind, **c.attrs)
            made.append(s(*c.inputs, out, v(*out.shape, seed=9), pooling_type=kind, **c.attrs))
    return made


def _picks(*samples: Sample) -> list[Sample]:
    full = [c for c in samples if c.inputs[0].size]
    return [s(*c.inputs, _pool(*c.inputs, **c.attrs), v(*c.inputs[0].shape, seed=9), **c.attrs) for c in full]


CASES: list[Case] = [
    *row("conv2d", _conv, *CONVS, *WIDE, grads="x weight"),
    *row("conv2d_grad", _conv_grad, *[_conv_grads(c) for c in CONVS], *[_conv_grads(c) for c in WIDE],
         _conv_grads(CONVS[0], need_x=False),
         _conv_grads(CONVS[1], need_weight=False), grads="x weight g_in"),
    *row("pool2d", _pool, *_as("max", *POOLS[:-1]), *_as("avg", *POOLS[:-1], SHARED), grads="x"),
    *row("pool2d", lambda x, **_: np.zeros((0, 2, 2, 2)), *_as("max", POOLS[-1]), *_as("avg", POOLS[-1]),
         grads="x"),
    *row("pool2d", lambda x, **_: np.array([[[[np.nan, 4.0]]]]),
         s(np.array([[[[1, np.nan, 4, 3], [2, 3, 2, 1.0]]]]), pooling_type="max", ksize=[2, 2],
         strides=[2, 2])),
    *row("pool2d_grad", _pool_grad, *_pool_grads("max", *POOLS), *_pool_grads("avg", *POOLS, SHARED),
         grads="g_in"),
    *row("pool2d_grad", lambda x, out, g, **_: np.array([[[[0.0, 5.0], [0.0, 0.0]]]]),
          # of several maxima the first
         s(np.array([[[[1.0, 2.0], [2.0, 2.0]]]]), np.array([[[[2.0]]]]), np.array([[[[5.0]]]]),
         pooling_type="max", ksize=[2, 2])),
    *row("max_pool2d_pick", _pick, *_picks(*POOLS), grads="values"),
]  # fmt: skip
