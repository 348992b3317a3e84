"""Padding with Paddle's signatures."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ConditionError, ShapeError
from engine.core.values.dtype import require_fitting
from engine.nn.functional.windows import Integers, whole
from engine.ops.arrays import creation, index, shape
from engine.ops.elementwise import arithmetic, comparison
from engine.ops.images import padding as ops
from engine.program.build.calls import takes_name
from engine.tensor.tensor_like import AnyTensor

_FORMATS = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


@takes_name
def pad(
    x: AnyTensor,
    pad: Integers,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """``x`` with something around it.

    ``pad`` has a pair for every dimension, first dimension first (mode 'constant' only; negative numbers cut
    off), or pairs for the dimensions of the image only, last dimension first: left, right, top, bottom,
    front, back. ``mode`` says what is there: ``value`` ('constant'), the image mirrored without its edge
    ('reflect'), its edge ('replicate') or the image again ('circular'). ``pad`` may be a Tensor. Raises
    ArgumentError for another form, ShapeError where an image is too small for its mirror.

    Differs from Paddle: a pair for every dimension may be negative too.
    """
    data_format = data_format.upper()
    if mode not in ops.MODES:
        raise ConditionError(f"pad: mode {mode!r} is not one of {list(ops.MODES)}")
    if not any(data_format in both for both in _FORMATS.values()):
        raise ArgumentError(f"pad: data_format {data_format!r} is not NCL, NLC, NCHW, NHWC, NCDHW or NDHWC")
    if modes.is_symbolic(value):
        return _padded_with(x, pad, mode, value, data_format)
    if mode == "constant":
        require_fitting("pad", np.asarray(value), x.dtype)
    if modes.is_symbolic(pad):
        return _padded_by(x, pad, mode, value, data_format)
    numbers = pad.tolist() if hasattr(pad, "tolist") else list(pad)
    numbers = [int(v) if hasattr(v, "item") else v for v in numbers]
    if not all(map(whole, numbers)):
        raise ArgumentError(f"pad: pad must be a list of integers: got {pad!r}")
    numbers = [int(v) for v in numbers]
    if mode == "constant" and len(numbers) == 2 * x.ndim and isinstance(pad, (list, tuple)):
        return ops.pad(x, paddings=numbers, pad_value=float(value))
    _require_format(x, data_format)
    if len(numbers) != 2 * (x.ndim - 2):
        raise ArgumentError(
            f"pad: {len(numbers)} numbers, mode {mode!r} and data_format {data_format!r} for x "
            f"{list(x.shape)}; give {2 * (x.ndim - 2)} (before and after each dimension of the image, the "
            f"last first), or {2 * x.ndim} for all dimensions"
        )
    # A line is a volume whose depth it is; an image is a volume of one slice.
    numbers = [0, 0, 0, 0, *numbers] if x.ndim == 3 else [*numbers, 0, 0][:6]
    axes = _missing_axes(x, data_format)
    out = ops.pad3d(
        shape.unsqueeze(x, axes=axes) if axes else x,
        None,
        paddings=numbers,
        mode=mode,
        value=float(value),
        data_format="NDHWC" if data_format[-1] == "C" else "NCDHW",
    )
    return shape.squeeze(out, axes=axes) if axes else out


def _padded_with(x: Any, pad_: Any, mode: str, value: Any, data_format: str) -> Any:
    """x padded with a number that only the running Program knows."""
    padded = pad(x, pad_, mode, 0.0, data_format)
    inside = pad(creation.fill_like(x, value=1.0), pad_, mode, 0.0, data_format)
    around = arithmetic.cast(shape.reshape(value, shape=[]), out_dtype=x.dtype.name)
    nothing = creation.fill_like(inside, value=0.0)
    return index.where(comparison.not_equal(inside, nothing), padded, arithmetic.add(nothing, around))


def _require_format(x: Any, data_format: str) -> None:
    formats = _FORMATS.get(x.ndim)
    if formats is None or data_format not in formats:
        raise ShapeError(
            f"pad: x has shape {list(x.shape)} and data_format is {data_format!r}; use "
            + (
                " or ".join(map(repr, formats))
                if formats
                else "3 to 5 dimensions, or a pair for each dimension"
            )
        )


def _missing_axes(x: Any, data_format: str) -> list[int]:
    """The dimensions of size 1 that make x a volume."""
    last = data_format[-1] == "C"
    if x.ndim == 3:
        return [2, 3] if last else [3, 4]
    if x.ndim == 4:
        return [1] if last else [2]
    return []


def _padded_by(x: Any, pad: Any, mode: str, value: float, data_format: str) -> Any:
    """Padding by numbers that only the running Program knows."""
    _require_format(x, data_format)
    axes = _missing_axes(x, data_format)
    if axes:
        zeros = creation.fill(shape=[4 if x.ndim == 3 else 2], value=0, dtype=pad.dtype.name)
        pad = shape.concat([zeros, pad] if x.ndim == 3 else [pad, zeros], axis=0)
    out = ops.pad3d(
        shape.unsqueeze(x, axes=axes) if axes else x,
        pad,
        paddings=[],
        mode=mode,
        value=float(value),
        data_format="NDHWC" if data_format[-1] == "C" else "NCDHW",
    )
    return shape.squeeze(out, axes=axes) if axes else out


@takes_name
def zeropad2d(x: AnyTensor, padding: Integers, data_format: str = "NCHW", name: str | None = None) -> Any:
    """``x`` [N, C, H, W] (or [N, H, W, C]) with zeros around it: left, right, top, bottom."""
    return pad(x, padding, mode="constant", value=0.0, data_format=data_format)
