"""Dropout in all its forms, with Paddle's signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.ops.arrays import creation, shape
from engine.ops.elementwise import arithmetic, comparison
from engine.ops.random import draws
from engine.ops.random import dropping as ops
from engine.ops.reductions import reduce
from engine.program.build.calls import named
from engine.program.run.executor import default_main_program
from engine.tensor.arguments.sizes import number_of
from engine.tensor.tensor_like import AnyTensor, NumberLike


def _check_share(where: str, p: Any) -> None:
    """Raise DTypeError where p is not a number, ArgumentError where it is not between 0 and 1."""
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise DTypeError(f"{where}: p is a number: got {type(p).__name__}; pass e.g. 0.5")
    if not 0 <= p <= 1:
        raise ArgumentError(f"{where}: p is the share of elements dropped, 0 to 1: got {p}")


def dropout(
    x: AnyTensor,
    p: NumberLike | np.ndarray[Any, Any] = 0.5,
    axis: int | Sequence[int] | None = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """Set elements to zero with probability ``p`` while training.

    ``upscale_in_train`` divides what stays by 1 - p; ``downscale_in_infer`` multiplies by 1 - p outside
    training instead. ``axis`` names the dimensions along which elements are dropped independently (all by
    default). A ``random_seed`` of the default main Program gives every call with elements dropped one by one
    the same mask.
    """
    if name:
        return named(name, dropout, x, p, axis, training, mode)
    return dropped(x, p, axis, training, mode)


def dropped(
    x: AnyTensor,
    p: NumberLike | np.ndarray[Any, Any],
    axis: int | Sequence[int] | None,
    training: bool,
    mode: str,
    seed: int = 0,
) -> Any:
    """``dropout`` whose mask is always the one of ``seed``, if that is not 0."""
    share = number_of(p)
    later = modes.is_symbolic(share)  # only the running Program knows it
    if not later:
        _check_share("dropout", share)
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ArgumentError(f"dropout: mode {mode!r} is not one of 'upscale_in_train', 'downscale_in_infer'")
    if not later and share == 0:
        return x
    axes = None if axis is None else [axis] if isinstance(axis, int) else [int(a) for a in axis]
    if axes is not None and not all(0 <= a < x.ndim for a in axes):
        raise ArgumentError(
            f"dropout: axis {axis!r} is out of range for {x.ndim} dimensions; use 0 to {x.ndim - 1}"
        )
    if later:
        return _dropout_later(x, share, axes, training, mode)
    if not training and not modes.is_static():  # a Program keeps the operator: clone(for_test) looks for it
        keep = float(np.float32(1) - np.float32(share))
        return shape.assign(x) if mode == "upscale_in_train" else arithmetic.scale(x, scale=keep)
    out, _ = ops.dropout(
        x,
        dropout_prob=float(share),
        is_test=not training,
        dropout_implementation="downgrade_in_infer" if mode == "downscale_in_infer" else mode,
        axis=axes,
        seed=0 if axes else seed or default_main_program().random_seed,
    )
    return out


def _dropout_later(x: Any, p: Any, axes: list[int] | None, training: bool, mode: str) -> Any:
    """Dropout with a share that is a Variable: each element has its own number, and those below p go."""
    p = shape.reshape(arithmetic.cast(p, out_dtype=x.dtype), shape=[])
    stays = arithmetic.scale(p, scale=-1.0, bias=1.0)
    if not training:
        return shape.assign(x) if mode == "upscale_in_train" else arithmetic.multiply(x, stays)
    whole = creation.fill_like(x, value=0.0)
    if axes is not None:  # one number for all elements along the other dimensions
        whole = reduce.sum(whole, axis=[a for a in range(x.ndim) if a not in axes], keepdim=True)
    drawn = draws.uniform_like(whole, min=0.0, max=1.0)
    remaining = arithmetic.multiply(x, arithmetic.cast(comparison.greater_equal(drawn, p), out_dtype=x.dtype))
    if mode == "downscale_in_infer":
        return remaining
    none = comparison.equal(stays, creation.fill_like(stays, value=0.0))
    return arithmetic.divide(remaining, arithmetic.add(stays, arithmetic.cast(none, out_dtype=x.dtype)))


def _whole_maps(
    where: str, x: Any, p: float, training: bool, data_format: str, formats: tuple[str, str]
) -> Any:
    if x.ndim != len(formats[0]):
        raise ShapeError(f"{where}: x has {len(formats[0])} dimensions, {formats[0]}: got {list(x.shape)}")
    if data_format not in formats:
        raise ArgumentError(f"{where}: data_format {data_format!r} is not {formats[0]!r} or {formats[1]!r}")
    channel = 1 if data_format == formats[0] else x.ndim - 1
    return dropout(x, p=p, axis=[0, channel], training=training)


def dropout2d(
    x: AnyTensor, p: float = 0.5, training: bool = True, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """Dropout of whole channels of x [N, C, H, W]: Tompson et al. (2015)."""
    if name:
        return named(name, dropout2d, x, p, training, data_format)
    return _whole_maps("dropout2d", x, p, training, data_format, ("NCHW", "NHWC"))


def dropout3d(
    x: AnyTensor, p: float = 0.5, training: bool = True, data_format: str = "NCDHW", name: str | None = None
) -> Any:
    """Dropout of whole channels of x [N, C, D, H, W]."""
    if name:
        return named(name, dropout3d, x, p, training, data_format)
    return _whole_maps("dropout3d", x, p, training, data_format, ("NCDHW", "NDHWC"))


# What selu gives for minus infinity: the value of a dropped element.
_DROPPED = -1.0507009873554804934193349852946 * 1.6732632423543772848170429916717


def alpha_dropout(x: AnyTensor, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """Dropout that keeps mean and variance of what selu gives: Klambauer et al. (2017).

    A dropped element becomes selu(-inf) before all are scaled and shifted. With p = 1 all become 0.
    """
    if name:
        return named(name, alpha_dropout, x, p, training)
    _check_share("alpha_dropout", p)
    if not training or p == 0:
        return x
    if p == 1:
        return arithmetic.scale(x, scale=0.0)
    a = ((1 - p) * (1 + p * _DROPPED**2)) ** -0.5
    _, remaining = ops.dropout(x, dropout_prob=float(p), dropout_implementation="downgrade_in_infer")
    remaining = shape.detach(remaining)
    dropped = arithmetic.scale(remaining, scale=-_DROPPED, bias=_DROPPED)
    return arithmetic.scale(x * remaining + dropped, scale=a, bias=-a * _DROPPED * p)
