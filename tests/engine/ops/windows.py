"""References of convolution and pooling that compute one element of the result at a time, for any rank."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def pads_of(size: Any, kernel: Any, strides: Any, paddings: Any, algorithm: str) -> Any:
    if algorithm == "VALID":
        return [(0, 0)] * len(size)
    if algorithm == "SAME":
        needed = [
            max((math.ceil(n / t) - 1) * t + k - n, 0) for n, k, t in zip(size, kernel, strides, strict=True)
        ]
        return [(n // 2, n - n // 2) for n in needed]
    if len(paddings) == len(size):
        return [(p, p) for p in paddings]
    return [tuple(paddings[n : n + 2]) for n in range(0, len(paddings), 2)]


def layouts(function: Any) -> Any:
    """Channels last is channels second with the dimensions moved; the filters of ``weight`` stay."""

    def run(*arrays: Any, data_format: str = "NCHW", weight: Any = None, **attrs: Any) -> Any:
        more = {} if weight is None else {"weight": weight}
        if data_format[-1] == "C":
            return np.moveaxis(function(*(np.moveaxis(a, -1, 1) for a in arrays), **more, **attrs), 1, -1)
        return function(*arrays, **more, **attrs)

    return run


def _spread(x: Any, weight: Any, padding_algorithm: str, dilations: Any) -> Any:
    rank = x.ndim - 2
    return (1,) * rank if padding_algorithm == "SAME" or dilations is None else dilations


def conv(x: Any, weight: Any, **attrs: Any) -> Any:
    return _conv(x, weight=weight, **attrs)


@layouts
def _conv(
    x: Any,
    weight: Any,
    strides: Any = None,
    paddings: Any = None,
    padding_algorithm: str = "EXPLICIT",
    dilations: Any = None,
    groups: int = 1,
) -> Any:
    rank = x.ndim - 2
    strides, paddings = strides or (1,) * rank, paddings or (0,) * rank
    dilations = _spread(x, weight, padding_algorithm, dilations)
    kernel = weight.shape[2:]
    x = np.pad(x, [(0, 0), (0, 0), *pads_of(x.shape[2:], kernel, strides, paddings, padding_algorithm)])
    out = [
        (n - d * (k - 1) - 1) // t + 1
        for n, k, t, d in zip(x.shape[2:], kernel, strides, dilations, strict=True)
    ]
    result = np.zeros((x.shape[0], weight.shape[0], *out))
    each = weight.shape[0] // groups
    for f, *place in np.ndindex(weight.shape[0], *out):
        first = f // each * weight.shape[1]
        cut = tuple(
            slice(p * t, p * t + d * k, d)
            for p, t, d, k in zip(place, strides, dilations, kernel, strict=True)
        )
        window = x[(slice(None), slice(first, first + weight.shape[1]), *cut)]
        result[(slice(None), f, *place)] = (window * weight[f]).sum(tuple(range(1, x.ndim)))
    return result


def slopes(array: Any, apply: Any, g: Any) -> Any:
    """The gradient of ``(apply(array) * g).sum()`` for a linear function: one unit at a time."""
    found = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        unit = np.zeros_like(array)
        unit[place] = 1.0
        found[place] = (apply(unit) * g).sum()
    return found


def bilinear_grad(function: Any) -> Any:
    """Gradients of a function that is linear in x and in weight."""

    def run(x: Any, weight: Any, g: Any, need_x: bool = True, need_weight: bool = True, **attrs: Any) -> Any:
        return (
            slopes(x, lambda unit: function(unit, weight, **attrs), g) if need_x else None,
            slopes(weight, lambda unit: function(x, unit, **attrs), g) if need_weight else None,
        )

    return run


def conv_transpose(x: Any, weight: Any, **attrs: Any) -> Any:
    return _conv_transpose(x, weight=weight, **attrs)


@layouts
def _conv_transpose(
    x: Any,
    weight: Any,
    output_padding: Any = (),
    output_size: Any = (),
    strides: Any = None,
    paddings: Any = None,
    padding_algorithm: str = "EXPLICIT",
    dilations: Any = None,
    groups: int = 1,
) -> Any:
    """Each element of x adds the filter, times itself, to the result."""
    rank = x.ndim - 2
    strides, paddings = strides or (1,) * rank, paddings or (0,) * rank
    dilations = _spread(x, weight, padding_algorithm, dilations)
    kernel, size = weight.shape[2:], x.shape[2:]
    pads = pads_of(size, kernel, strides, paddings, padding_algorithm)
    full = [
        (n - 1) * t + d * (k - 1) + 1 for n, t, d, k in zip(size, strides, dilations, kernel, strict=True)
    ]
    out = [f - sum(p) for f, p in zip(full, pads, strict=True)]
    out = list(output_size) or [o + e for o, e in zip(out, output_padding or (0,) * rank, strict=True)]
    canvas = np.zeros(
        (x.shape[0], weight.shape[1] * groups, *[f + o for f, o in zip(full, out, strict=True)])
    )
    for channel, *place in np.ndindex(*x.shape[1:]):
        first = channel * groups // x.shape[1] * weight.shape[1]
        cut = tuple(
            slice(p * t, p * t + d * k, d)
            for p, t, d, k in zip(place, strides, dilations, kernel, strict=True)
        )
        part = canvas[(slice(None), slice(first, first + weight.shape[1]), *cut)]
        part += x[(slice(None), channel, *place)].reshape(-1, *(1,) * (rank + 1)) * weight[channel]
    return canvas[(..., *[slice(p[0], p[0] + o) for p, o in zip(pads, out, strict=True)])]


def windows(x: Any, attrs: dict[str, Any]) -> Any:
    """Output position, the range of the image in each dimension, and the count for the mean."""
    size, k = x.shape[2:], attrs["ksize"]
    if attrs.get("global_pooling"):
        yield (0,) * len(size), [range(n) for n in size], math.prod(size)
        return
    if attrs.get("adaptive"):
        for place in np.ndindex(*k):
            spans = [
                range(p * n // o, math.ceil((p + 1) * n / o)) for p, n, o in zip(place, size, k, strict=True)
            ]
            yield place, spans, math.prod(map(len, spans))
        return
    t = attrs.get("strides") or (1,) * len(size)
    paddings = attrs.get("paddings") or (0,) * len(size)
    pads = pads_of(size, k, t, paddings, attrs.get("padding_algorithm", "EXPLICIT"))
    rounding = math.ceil if attrs.get("ceil_mode") else math.floor
    out = [rounding((n - k[a] + sum(pads[a])) / t[a]) + 1 for a, n in enumerate(size)]
    for place in np.ndindex(*out):
        spans = []
        counted = 1
        for a, p in enumerate(place):
            start = p * t[a] - pads[a][0]
            end = min(start + k[a], size[a] + pads[a][0])
            inside = range(max(start, 0), min(end, size[a]))
            counted *= len(inside) if attrs.get("exclusive", True) else end - start
            spans.append(inside)
        yield place, spans, counted


def _cut(x: Any, spans: Any) -> Any:
    return x[(slice(None), slice(None), *[slice(r.start, r.stop) for r in spans])].reshape(*x.shape[:2], -1)


@layouts
def pool(x: Any, pooling_type: str = "max", **attrs: Any) -> Any:
    found = {place: (_cut(x, spans), counted) for place, spans, counted in windows(x, attrs)}
    result = np.zeros((*x.shape[:2], *[n + 1 for n in max(found)]))
    for place, (window, counted) in found.items():
        result[(slice(None), slice(None), *place)] = (
            window.max(-1) if pooling_type == "max" else window.sum(-1) / counted
        )
    return result


def best(x: Any, n: int, c: int, spans: Any) -> tuple[int, ...]:
    """The position of the first maximum of a window."""
    places = [
        (n, c, *(r.start + i for r, i in zip(spans, inner, strict=True)))
        for inner in np.ndindex(*map(len, spans))
    ]
    return max(places, key=lambda p: x[p])


@layouts
def pool_grad(x: Any, out: Any, g: Any, pooling_type: str = "max", **attrs: Any) -> Any:
    result = np.zeros_like(x)
    for place, spans, counted in windows(x, attrs):
        for n, c in np.ndindex(x.shape[:2]):
            if pooling_type == "max":
                result[best(x, n, c, spans)] += g[(n, c, *place)]
            else:
                result[(n, c, *[slice(r.start, r.stop) for r in spans])] += g[(n, c, *place)] / counted
    return result


@layouts
def pick(x: Any, out: Any, values: Any, **attrs: Any) -> Any:
    result = np.zeros_like(out)
    for place, spans, _ in windows(x, attrs):
        for n, c in np.ndindex(x.shape[:2]):
            result[(n, c, *place)] = values[best(x, n, c, spans)]
    return result


def positions(x: Any, **attrs: Any) -> Any:
    """The flat position of the maximum of each window in its image."""
    found = {}
    for place, spans, _ in windows(x, attrs):
        for n, c in np.ndindex(x.shape[:2]):
            found[(n, c, *place)] = np.ravel_multi_index(best(x, n, c, spans)[2:], x.shape[2:])
    result = np.zeros([n + 1 for n in max(found)], np.int32) if found else np.zeros(0, np.int32)
    for place, where in found.items():
        result[place] = where
    return result
