"""Resizing of images: nearest, linear and cubic interpolation, one dimension after the other.

Along a dimension each element of the result is a sum of a few elements of the image ("taps").
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.operators.bounds import Size
from engine.core.operators.infer import gradient_of, require_floating
from engine.core.operators.opdef import op
from engine.core.operators.windows import is_last
from engine.core.values.spec import Spec

_CUBIC = -0.75


@lru_cache(maxsize=256)
def _taps(
    method: str, size: int, out: int, scale: float, align_corners: bool, align_mode: int
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """For each tap the element of the image it takes and its weight, for every element of the result."""
    ratio = 0.0
    if out > 1:
        ratio = (size - 1) / (out - 1) if align_corners else 1 / scale if scale > 0 else size / out
    steps = np.arange(out)
    if method == "nearest":
        # In float32, as Paddle computes it: which element is the nearest depends on it.
        if scale > 0 and not align_corners:
            ratio = float(np.float32(1) / np.float32(scale))
        place = np.float32(ratio) * steps.astype(np.float32)
        return (np.minimum(place.astype(np.int64), size - 1),), (1.0,)
    half = not align_corners and (method == "bicubic" or align_mode == 0)
    place = ratio * (steps + 0.5) - 0.5 if half else ratio * steps
    if method == "bicubic":
        first = np.floor(place)
        t = place - first
        weights = (_far(t + 1), _near(t), _near(1 - t), _far(2 - t))
        return tuple([(first + n).clip(0, size - 1).astype(np.int64) for n in (-1, 0, 1, 2)]), weights
    place = np.maximum(place, 0)
    first = np.minimum(place.astype(np.int64), size - 1)
    t = place - first
    return (first, np.minimum(first + 1, size - 1)), (1 - t, t)


def _near(t: Any) -> Any:
    return ((_CUBIC + 2) * t - (_CUBIC + 3)) * t * t + 1


def _far(t: Any) -> Any:
    return ((_CUBIC * t - 5 * _CUBIC) * t + 8 * _CUBIC) * t - 4 * _CUBIC


class _Axis:
    """The interpolation along one dimension of the image."""

    def __init__(self, axis: int, ndim: int, taps: Any) -> None:
        self.axis = axis
        self.places, self.weights = taps
        self.across = [1] * ndim
        self.across[axis] = -1

    def _weight(self, xp: Any, n: int, dtype: Any) -> Any:
        return xp.asarray(self.weights[n], dtype).reshape(self.across)

    def forward(self, xp: Any, x: Any) -> Any:
        total = xp.take(x, xp.asarray(self.places[0]), axis=self.axis)
        if len(self.places) == 1:
            return total
        total *= self._weight(xp, 0, x.dtype)
        for n in range(1, len(self.places)):
            part = xp.take(x, xp.asarray(self.places[n]), axis=self.axis)
            part *= self._weight(xp, n, x.dtype)
            total += part
        return total

    def backward(self, xp: Any, g: Any, size: int) -> Any:
        """The gradient of the ``size`` elements along the dimension."""
        # With the dimension first, whole slices are added.
        moved = xp.ascontiguousarray(xp.moveaxis(g, self.axis, 0))
        total = xp.zeros((size, *moved.shape[1:]), g.dtype)
        if not moved.size:
            return xp.moveaxis(total, 0, self.axis)
        across = (-1, *[1] * (g.ndim - 1))
        for places, weights in zip(self.places, self.weights, strict=True):
            part = moved if len(self.places) == 1 else moved * xp.asarray(weights, g.dtype).reshape(across)
            for n, place in enumerate(places.tolist()):
                total[place] += part[n]
        return xp.moveaxis(total, 0, self.axis)


def _sizes(
    where: str, size: Any, out_size: Any, scale: Any, given: tuple[int, ...]
) -> tuple[list[int], list[float]]:
    """Size of the result, and scale of each dimension (0 where the sizes determine it)."""
    rank = len(size)
    if out_size is not None:
        return [int(n) for n in out_size], [0.0] * rank
    if scale:
        made = _scaled(tuple(size), tuple(scale) * (rank if len(scale) == 1 else 1))
        return list(made[0]), list(made[1])
    return list(given[3 - rank :]), [0.0] * rank


@lru_cache(maxsize=256)
def _scaled(size: tuple[int, ...], scale: tuple[float, ...]) -> tuple[list[int], list[float]]:
    """Sizes and scales as Paddle has them, in float32: 10 * 0.7999999999999999 is 8."""
    factors = [np.float32(s) for s in scale]
    out = [-1 if d < 0 else int(np.float32(d) * s) for d, s in zip(size, factors, strict=True)]
    return out, [float(s) for s in factors]


def _define(method: str, rank: int) -> Any:
    """The operator of one method for images of ``rank`` dimensions (0: 2 or 3), and that of its gradient."""
    where = f"{method}_interp_v2"

    def infer(
        x: Spec,
        out_size: Spec | None,
        scale_tensor: Spec | None,
        *,
        data_layout: str,
        out_d: int,
        out_h: int,
        out_w: int,
        scale: Any,
        **_: Any,
    ) -> Spec:
        ranks = (rank,) if rank else (2, 3)
        if x.ndim - 2 not in ranks:
            raise ShapeError(
                f"{where}: x needs {' or '.join(str(r + 2) for r in ranks)} dimensions: got {x}; reshape it"
            )
        if method != "nearest":
            require_floating(where, x=x)
        last = is_last(where, data_layout, x.ndim - 2)
        size = x.shape[1:-1] if last else x.shape[2:]
        for name, spec in (("out_size", out_size), ("scale", scale_tensor)):
            if spec is not None and (
                spec.ndim > 1 or (spec.ndim and spec.shape[0] not in (-1, 1, len(size)))
            ):
                raise DTypeError(f"{where}: {name} as a tensor has shape [{len(size)}]: got {spec}")
        if out_size is not None or scale_tensor is not None:
            out = [-1] * len(size)
        else:
            if scale and len(scale) not in (1, len(size)):
                raise ArgumentError(f"{where}: scale has {len(size)} numbers: got {list(scale)}")
            out = _sizes(where, size, None, scale, (out_d, out_h, out_w))[0]
            _require_sizes(where, x, size, out)
        return x.with_shape((x.shape[0], *out, x.shape[-1]) if last else (*x.shape[:2], *out))

    def _axes(
        x: Any,
        out_size: Any,
        scale_tensor: Any,
        data_layout: str,
        given: Any,
        scale: Any,
        align_corners: bool,
        align_mode: int,
        made: Any = None,
    ) -> list[_Axis]:
        last = data_layout[-1] == "C"
        size = x.shape[1:-1] if last else x.shape[2:]
        if x.ndim - 2 not in ((rank,) if rank else (2, 3)):
            raise ValueError("shapes do not fit")  # inference explains the error
        if scale_tensor is not None:
            scale = scale_tensor.reshape(-1).tolist()
        out, scales = _sizes(where, size, None if out_size is None else out_size.tolist(), scale, given)
        _require_sizes(where, Spec(x.shape, "float32"), size, out)
        if made is not None and tuple(out) != (made.shape[1:-1] if last else made.shape[2:]):
            raise ShapeError(
                f"{where}_grad: the size of the result is {out}; the gradient is {Spec.of(made)}"
            )
        return [
            _Axis(n + (1 if last else 2), x.ndim, _taps(method, *each, bool(align_corners), align_mode))
            for n, each in enumerate(zip(size, out, scales, strict=True))
        ]

    @op(where, infer=infer, slots={"out_size": "OutSize", "scale_tensor": "Scale"})
    def interpolate(
        xp,
        x,
        out_size=None,
        scale_tensor=None,
        *,
        data_layout="NCHW",
        out_d: Size = -1,
        out_h: Size = -1,
        out_w: Size = -1,
        scale=(),
        interp_method=method,
        align_corners=False,
        align_mode=1,
    ):
        """x [N, C, ...] at another size, given by the attributes, ``scale``, or the tensors."""
        for axis in _axes(
            x, out_size, scale_tensor, data_layout, (out_d, out_h, out_w), scale, align_corners, align_mode
        ):
            x = axis.forward(xp, x)
        return x

    @op(
        f"{where}_grad",
        infer=gradient_of(f"{where}_grad", infer),
        outputs=("x_grad",),
        slots={"out_size": "OutSize", "scale_tensor": "Scale", "g_in": "Out@GRAD", "x_grad": "X@GRAD"},
    )
    def gradient(
        xp,
        x,
        g_in,
        out_size=None,
        scale_tensor=None,
        *,
        data_layout="NCHW",
        out_d: Size = -1,
        out_h: Size = -1,
        out_w: Size = -1,
        scale=(),
        interp_method=method,
        align_corners=False,
        align_mode=1,
    ):
        """The gradient of x."""
        axes = _axes(
            x,
            out_size,
            scale_tensor,
            data_layout,
            (out_d, out_h, out_w),
            scale,
            align_corners,
            align_mode,
            g_in,
        )
        for axis in reversed(axes):
            g_in = axis.backward(xp, g_in, x.shape[axis.axis])
        return xp.ascontiguousarray(g_in)

    @interpolate.grad_all("x")
    def rule(g: Any, x_like: Any, out_size: Any, scale_tensor: Any, **attrs: Any) -> Any:
        return gradient(x_like, g, out_size, scale_tensor, **attrs)

    @gradient.grad_all("g_in")
    def second(g: Any, out_size: Any, scale_tensor: Any, **attrs: Any) -> Any:
        return interpolate(g, out_size, scale_tensor, **attrs)

    return interpolate


def _require_sizes(where: str, x: Spec, size: Any, out: Any) -> None:
    if any(o == 0 or (o < 0 <= d) for d, o in zip(size, out, strict=True)) or 0 in size:
        raise ShapeError(
            f"{where}: x is {x} and the result would have size {list(out)}: neither may be empty; give a "
            "larger size or scale_factor"
        )


OPERATORS = {
    "linear": _define("linear", 1),
    "bilinear": _define("bilinear", 2),
    "trilinear": _define("trilinear", 3),
    "bicubic": _define("bicubic", 2),
    "nearest": _define("nearest", 0),
}
