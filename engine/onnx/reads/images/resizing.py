"""Rows of resizing, padding and sampling of images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.nn import functional as F
from engine.onnx.reads.rows import Known, Sizes, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import NeedsKnown, Unreadable, ints, require_size, sizes_of
from engine.tensor.tensor_like import AnyTensor

_PAD_MODES = {"edge": "edge", "reflect": "reflect", "wrap": "wrap"}
_IMAGE_MODES = {"edge": "replicate", "reflect": "reflect", "wrap": "circular"}


@reads("Pad")
def _(
    data: Any, pads: Known, constant_value: Any = None, axes: Known = None, *, mode: str = "constant"
) -> Any:
    along = list(range(data.ndim)) if axes is None else [int(a) % data.ndim for a in axes.reshape(-1)]
    numbers = ints(pads, "pads")
    if len(numbers) != 2 * len(along):
        raise Unreadable(f"{len(numbers)} pads for {len(along)} dimensions")
    pairs = [(0, 0)] * data.ndim
    for n, axis in enumerate(along):
        pairs[axis] = (numbers[n], numbers[n + len(along)])
    sizes = sizes_of(data)
    require_size(
        [
            max(d, 0) + max(a, 0) + max(b, 0) if isinstance(d, int) else 1
            for d, (a, b) in zip(sizes, pairs, strict=True)
        ]
    )
    if mode == "constant":
        flat = [n for pair in pairs for n in pair]
        if constant_value is None:
            return F.pad(data, flat)
        value = T.reshape(constant_value, [])
        inside = F.pad(T.full_like(data, True, "int32"), flat)
        return T.where(T.cast(inside, "bool"), F.pad(data, flat), value)
    if mode not in _PAD_MODES:
        raise Unreadable(f"mode {mode!r:.40}")
    x = data
    for axis, (before, after) in enumerate(pairs):
        x = _padded(x, axis, before, after, mode)
    return x


def _padded(x: Any, axis: int, before: int, after: int, mode: str) -> Any:
    """One dimension with copies of its own elements around it."""
    if before < 0 or after < 0:
        size = sizes_of(x)[axis]
        end = size + min(after, 0)
        x = T.slice(x, [axis], [max(-before, 0)], [end])
        before, after = max(before, 0), max(after, 0)
    if not before and not after:
        return x
    size = int(x.shape[axis])
    if size < 0:
        if x.ndim - axis > 3 or axis < 2:
            raise NeedsKnown("the size of a dimension that is padded must be known")
        numbers = [0] * 2 * (x.ndim - 2)
        numbers[2 * (x.ndim - 1 - axis)], numbers[2 * (x.ndim - 1 - axis) + 1] = before, after
        return F.pad(
            x, numbers, mode=_IMAGE_MODES[mode], data_format={3: "NCL", 4: "NCHW", 5: "NCDHW"}[x.ndim]
        )
    places = np.pad(np.arange(size), (before, after), mode=_PAD_MODES[mode])  # type: ignore[call-overload]
    return T.gather(x, T.to_tensor(places), axis=axis)


# -- resizing ------------------------------------------------------------------------------------------------
@reads("Resize")
def _(
    X: Any,
    roi: Known = None,
    scales: Known = None,
    sizes: Sizes = None,
    *,
    antialias: int = 0,
    axes: list[int] | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Any:
    along = list(range(X.ndim)) if axes is None else [a % X.ndim for a in axes]
    scales = None if scales is None or not scales.size else [float(s) for s in scales.reshape(-1)]
    way = coordinate_transformation_mode
    if keep_aspect_ratio_policy == "stretch" and not antialias and not exclude_outside:
        made = _interpolated(X, along, scales, sizes or None, mode, way, nearest_mode, cubic_coeff_a)
        if made is not None:
            return made
    have = [int(X.shape[a]) for a in along]
    if any(d < 0 for d in have):
        raise NeedsKnown("the sizes of the dimensions that are resized must be known")
    wanted, scales = _wanted(have, scales, sizes, keep_aspect_ratio_policy)
    require_size(wanted)
    region = np.zeros(0) if roi is None else np.asarray(roi).reshape(-1)
    x, outside = X, None
    for n, (axis, size, count, scale) in enumerate(zip(along, have, wanted, scales, strict=True)):
        ends = (region[n], region[n + len(along)]) if region.size == 2 * len(along) else (0.0, 1.0)
        at = _coordinates(way, size, count, scale, ends)
        if way == "tf_crop_and_resize":
            beyond = (at < 0) | (at > size - 1)
            shape = [1] * X.ndim
            shape[axis] = -1
            outside = beyond.reshape(shape) if outside is None else outside | beyond.reshape(shape)
        if size == count and scale == 1.0 and way != "tf_crop_and_resize":
            continue
        if mode == "nearest":
            x = T.gather(x, T.to_tensor(_nearest(at, nearest_mode, size)), axis=axis)
            continue
        weights = _weights(at, size, scale, mode, bool(antialias), cubic_coeff_a, bool(exclude_outside))
        x = along_axis(x, weights, axis)
    if outside is not None and outside.any():
        x = T.where(T.to_tensor(outside), T.full([], extrapolation_value, x.dtype.name), x)
    return x


def _wanted(
    have: list[int], scales: list[float] | None, sizes: Sizes, policy: str
) -> tuple[list[int], list[float]]:
    """The sizes of the result, and the scales, from one of them."""
    if scales is not None:
        return [math.floor(d * s) for d, s in zip(have, scales, strict=True)], scales
    wanted = ints(sizes, "the sizes")
    scales = [w / d for w, d in zip(wanted, have, strict=True)]
    if policy == "stretch":
        return wanted, scales
    factor = (min if policy == "not_larger" else max)(scales)
    return [math.floor(d * factor + 0.5) for d in have], [factor] * len(have)


@reads("Upsample")
def _(X: Any, scales: Known, *, mode: str = "nearest") -> Any:
    made = _interpolated(
        X,
        list(range(X.ndim)),
        [float(s) for s in scales.reshape(-1)],
        None,
        mode,
        "asymmetric",
        "floor",
        -0.75,
    )
    if made is None:
        raise Unreadable("these scales are not supported")
    return made


def along_axis(x: AnyTensor, weights: np.ndarray, axis: int) -> Any:
    """Weighted sums of the elements along an axis: ``weights`` is [results, elements]."""
    order = [n for n in range(x.ndim) if n != axis] + [axis]
    made = T.matmul(T.transpose(x, order), T.to_tensor(np.ascontiguousarray(weights.T.astype(x.dtype.name))))
    return T.transpose(made, [order.index(n) for n in range(x.ndim)])


def _interpolated(
    x: Any,
    along: Sequence[int],
    scales: Sequence[float] | None,
    sizes: Sequence[Any] | None,
    mode: str,
    way: str,
    nearest_mode: str,
    a: float,
) -> Any:
    """The same by the engine's own operator, which takes unknown sizes; None where it differs."""
    kinds = {
        ("nearest", "asymmetric"): ("nearest", False, 0),
        ("linear", "half_pixel"): ("linear", False, 0),
        ("linear", "pytorch_half_pixel"): ("linear", False, 0),
        ("linear", "asymmetric"): ("linear", False, 1),
        ("linear", "align_corners"): ("linear", True, 0),
        ("cubic", "half_pixel"): ("bicubic", False, 0),
        ("cubic", "align_corners"): ("bicubic", True, 0),
    }
    found = kinds.get((mode, way))
    rank = x.ndim - 2
    if found is None or rank not in (1, 2, 3) or (mode == "nearest" and nearest_mode != "floor"):
        return None
    if mode == "cubic" and (rank != 2 or a != -0.75):
        return None
    if mode == "nearest" and rank == 1:
        return None
    kind = {1: "linear", 2: "bilinear", 3: "trilinear"}[rank] if found[0] == "linear" else found[0]
    image = list(range(2, x.ndim))
    if sizes is not None:
        given = dict(zip(along, sizes, strict=True))
        rest = [given.get(n) for n in (0, 1)]
        if any(d is not None and isinstance(d, int) and d != int(x.shape[n]) for n, d in enumerate(rest)):
            return None
        wanted = [given.get(n, sizes_of(x)[n]) for n in image]
    else:
        assert scales is not None
        factors = dict(zip(along, scales, strict=True))
        if any(factors.get(n, 1.0) != 1.0 for n in (0, 1)):
            return None
        wanted = []
        for n in image:
            factor, size = factors.get(n, 1.0), sizes_of(x)[n]
            if isinstance(size, int):
                if math.floor(size * factor) != size * factor:
                    return None
                wanted.append(int(size * factor))
            elif float(factor).is_integer():
                wanted.append(size * int(factor))
            else:
                return None
    if way == "pytorch_half_pixel" and any(
        isinstance(d, int) and d == 1 and int(x.shape[n]) != 1 for n, d in zip(image, wanted, strict=True)
    ):
        return None
    require_size(wanted)
    layout = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[rank]
    return F.interpolate(x, wanted, None, kind, found[1], found[2], layout)


def _coordinates(way: str, size: int, count: int, scale: float, ends: tuple[float, float]) -> np.ndarray:
    """Where each result is among the elements."""
    at = np.arange(count, dtype=np.float64)
    if way == "half_pixel":
        return (at + 0.5) / scale - 0.5
    if way == "half_pixel_symmetric":
        wanted = size * scale
        adjusted = count / wanted if wanted else 1.0
        return size / 2 * (1 - adjusted) + (at + 0.5) / scale - 0.5
    if way == "pytorch_half_pixel":
        return (at + 0.5) / scale - 0.5 if count > 1 else np.zeros(count)
    if way == "align_corners":
        length = size * scale
        return at * (size - 1) / (length - 1) if count > 1 and length > 1 else np.zeros(count)
    if way == "asymmetric":
        return at / scale
    if way == "tf_crop_and_resize":
        start, end = ends
        if count > 1:
            length = size * scale if count == math.floor(size * scale) else count
            return start * (size - 1) + at * (end - start) * (size - 1) / (length - 1)
        return np.full(count, 0.5 * (start + end) * (size - 1))
    raise Unreadable(f"coordinate_transformation_mode {way!r:.40}")


def _nearest(at: np.ndarray, mode: str, size: int) -> np.ndarray:
    rounded: Any = {
        "round_prefer_floor": lambda v: np.ceil(v - 0.5),
        "round_prefer_ceil": lambda v: np.floor(v + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }.get(mode)
    if rounded is None:
        raise Unreadable(f"nearest_mode {mode!r:.40}")
    found: np.ndarray = np.clip(rounded(at), 0, size - 1).astype(np.int64)
    return found


def _weights(
    at: np.ndarray, size: int, scale: float, mode: str, antialias: bool, a: float, exclude: bool
) -> np.ndarray:
    """How much of each element is in each result: [results, elements]."""
    if mode not in ("linear", "cubic"):
        raise Unreadable(f"mode {mode!r:.40}")
    narrow = min(scale, 1.0) if antialias else 1.0
    reach = (1 if mode == "linear" else 2) / narrow
    made = np.zeros((len(at), size))
    for n, x in enumerate(at):
        places = np.arange(math.floor(x - reach) + 1, math.ceil(x + reach) + 1)
        distance = np.abs(places - x) * narrow
        w = np.maximum(1 - distance, 0) if mode == "linear" else _cubic(distance, a)
        if exclude:
            w = np.where((places < 0) | (places >= size), 0.0, w)
        if exclude or antialias:
            w = w / w.sum()
        np.add.at(made[n], np.clip(places, 0, size - 1), w)
    return made


def _cubic(d: np.ndarray, a: float) -> np.ndarray:
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


# -- sampling ------------------------------------------------------------------------------------------------
@reads("AffineGrid")
def _(theta: Any, size: Known, *, align_corners: int = 0) -> Any:
    return F.affine_grid(theta, [int(v) for v in size.reshape(-1)], bool(align_corners))


@reads("GridSample")
def _(X: Any, grid: Any, *, align_corners: int = 0, mode: str = "linear", padding_mode: str = "zeros") -> Any:
    kind = {"linear": "bilinear", "bilinear": "bilinear", "nearest": "nearest"}.get(mode)
    if kind is None:
        raise Unreadable(f"mode {mode!r:.40} is not supported")
    return F.grid_sample(X, grid, kind, padding_mode, bool(align_corners))
