"""Fourier transforms written out as sums, and rows of their operators for the tests of complex values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.operators.opdef import OPS


def _scale(norm: str, forward: bool, count: int) -> float:
    if norm == "ortho":
        return 1 / math.sqrt(count)
    return 1 / count if norm == ("forward" if forward else "backward") else 1.0


def _waves(size: int, forward: bool) -> Any:
    at = np.arange(size)
    return np.exp((-2j if forward else 2j) * np.pi * np.outer(at, at) / size)


def _sums(x: Any, axes: list[int], forward: bool) -> Any:
    for axis in axes:
        x = np.moveaxis(np.tensordot(x, _waves(x.shape[axis], forward), ([axis], [0])), -1, axis)
    return x


def c2c(x: Any, axes: list[int], normalization: str, forward: bool) -> Any:
    count = math.prod(x.shape[a] for a in axes)
    return _sums(x + 0j, axes, forward) * _scale(normalization, forward, count)


def r2c(x: Any, axes: list[int], normalization: str, forward: bool, onesided: bool) -> Any:
    found = c2c(x, axes, normalization, forward)
    return found.take(range(x.shape[axes[-1]] // 2 + 1), axes[-1]) if onesided else found


def c2r(x: Any, axes: list[int], normalization: str, forward: bool, last_dim_size: int = 0) -> Any:
    last = axes[-1]
    size = last_dim_size or 2 * (x.shape[last] - 1)
    half = np.moveaxis(_sums(x, axes[:-1], forward), last, -1)
    waves = _waves(size, forward)[: half.shape[-1]]
    weights = np.array([1.0 if n == 0 or 2 * n == size else 2.0 for n in range(half.shape[-1])])
    count = size * math.prod(x.shape[a] for a in axes[:-1])
    made = np.moveaxis(((half * weights) @ waves).real, -1, last)
    return made * _scale(normalization, forward, count)


def _r2c_grad(x: Any, g: Any, **attrs: Any) -> Any:
    found = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        unit = np.zeros(x.shape)
        unit[place] = 1.0
        found[place] = (r2c(unit, **attrs).conj() * g).sum().real
    return found


def _c2r_grad(g: Any, axes: list[int], last_dim_size: int = 0, **attrs: Any) -> Any:
    size = last_dim_size or g.shape[axes[-1]]
    found = np.zeros([size // 2 + 1 if n == axes[-1] % g.ndim else d for n, d in enumerate(g.shape)], complex)
    for place in np.ndindex(found.shape):
        for part in (1.0, 1j):
            unit = np.zeros(found.shape, complex)
            unit[place] = part
            found[place] += part * (c2r(unit, axes=axes, last_dim_size=size, **attrs) * g).sum()
    return found


def _complex(*shape: int) -> Any:
    rng = np.random.default_rng(shape)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def _real(*shape: int) -> Any:
    return np.random.default_rng(shape).standard_normal(shape)


Row = tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]


def _row(name: str, want: Callable[..., Any], x: Any, **attrs: Any) -> Row:
    def apply(value: Any) -> Any:
        return OPS[name].namespace["__apply__"](value, **attrs)

    return apply, lambda value: want(value, **attrs), (x,)


def _row_of_grad(x: Any, g: Any, **attrs: Any) -> Row:
    """fft_r2c_grad as a function of the gradient; of x it reads the shape."""

    def apply(value: Any) -> Any:
        like = (
            value.real()
            if attrs["onesided"] is False
            else OPS["fft_c2r"].namespace["__apply__"](
                value, axes=[-1], normalization="ortho", forward=True, last_dim_size=x.shape[-1]
            )
        )
        return OPS["fft_r2c_grad"].namespace["__apply__"](like.detach(), value, **attrs)

    return apply, lambda value: _r2c_grad(x, value, **attrs), (g,)


def _how(axes: list[int], norm: str, forward: bool, **more: Any) -> dict[str, Any]:
    return {"axes": axes, "normalization": norm, "forward": forward, **more}


TRANSFORMS: dict[str, Row] = {
    "fft_c2c": _row("fft_c2c", c2c, _complex(2, 4), **_how([1], "backward", True)),
    "fft_c2c inverse": _row("fft_c2c", c2c, _complex(2, 3), **_how([1], "backward", False)),
    "fft_c2c of two axes": _row("fft_c2c", c2c, _complex(2, 2, 3), **_how([1, 2], "forward", True)),
    "fft_c2c ortho": _row("fft_c2c", c2c, _complex(3, 2), **_how([0, 1], "ortho", False)),
    "fft_r2c": _row("fft_r2c", r2c, _real(2, 4), **_how([1], "backward", True, onesided=True)),
    "fft_r2c odd": _row("fft_r2c", r2c, _real(2, 5), **_how([1], "ortho", False, onesided=True)),
    "fft_r2c inverse": _row("fft_r2c", r2c, _real(2, 4), **_how([1], "backward", False, onesided=True)),
    "fft_r2c both sides": _row("fft_r2c", r2c, _real(2, 3), **_how([1], "forward", False, onesided=False)),
    "fft_r2c axes": _row("fft_r2c", r2c, _real(2, 3, 4), **_how([2, 1], "forward", True, onesided=True)),
    "fft_c2r": _row("fft_c2r", c2r, _complex(2, 3), **_how([1], "backward", False)),
    "fft_c2r odd": _row("fft_c2r", c2r, _complex(2, 3), **_how([1], "backward", True, last_dim_size=5)),
    "fft_c2r of one": _row("fft_c2r", c2r, _complex(2, 1), **_how([1], "ortho", False, last_dim_size=1)),
    "fft_c2r axes": _row(
        "fft_c2r", c2r, _complex(2, 3, 2), **_how([0, 1], "forward", False, last_dim_size=4)
    ),
    "fft_r2c_grad": _row_of_grad(_real(2, 4), _complex(2, 3), **_how([1], "backward", True, onesided=True)),
    "fft_r2c_grad odd": _row_of_grad(_real(2, 5), _complex(2, 3), **_how([1], "ortho", False, onesided=True)),
    "fft_r2c_grad both sides": _row_of_grad(
        _real(2, 3), _complex(2, 3), **_how([0, 1], "forward", True, onesided=False)
    ),
    "fft_c2r_grad": _row("fft_c2r_grad", _c2r_grad, _real(2, 4), **_how([1], "backward", False)),
    "fft_c2r_grad odd": _row(
        "fft_c2r_grad", _c2r_grad, _real(3, 2), **_how([1, 0], "forward", True, last_dim_size=3)
    ),
}
