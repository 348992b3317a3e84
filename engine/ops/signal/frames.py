"""A signal cut into frames that overlap, and frames added up to a signal.

The signal's axis is the first (0) or the last one (-1). Frames are rows, [frames, frame_length, ...], where
it is the first, and columns, [..., frame_length, frames], where it is the last.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Size
from engine.core.operators.infer import gradient_of
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec


def _check(where: str, x: Spec, axis: int, **lengths: int) -> None:
    if x.dtype.name not in ("int32", "int64", "float32", "float64", "complex64", "complex128"):
        raise DTypeError(
            f"{where}: x must be int32, int64, float32, float64 or complex: got {x}; cast it first"
        )
    if axis not in (0, -1) or min(lengths.values()) < 1:
        seen = " and ".join(f"{name} {length}" for name, length in lengths.items())
        raise ArgumentError(f"{where}: axis is 0 or -1 and lengths are at least 1: got axis {axis}, {seen}")


def _infer_frame(x: Spec, *, frame_length: int, hop_length: int, axis: int = -1) -> Spec:
    _check("frame", x, axis, frame_length=frame_length, hop_length=hop_length)
    if x.ndim < 1:
        raise OutOfRangeError(f"frame: x needs at least one dimension: got {x}; unsqueeze it")
    size = x.shape[axis]
    if 0 <= size < frame_length:
        raise ShapeError(
            f"frame: frame_length {frame_length} is more than the {size} elements of {x} along axis {axis}; "
            "use shorter frames, or pad x"
        )
    frames = size if size < 0 else (size - frame_length) // hop_length + 1
    rest = x.shape[1:] if axis == 0 else x.shape[:-1]
    return x.with_shape((frames, frame_length, *rest) if axis == 0 else (*rest, frame_length, frames))


def _infer_overlap_add(x: Spec, *, hop_length: int, axis: int = -1) -> Spec:
    _check("overlap_add", x, axis, hop_length=hop_length)
    if x.ndim < 2:
        raise ShapeError(
            f"overlap_add: x has at least the dimensions of frames and their length: got {x}; unsqueeze it"
        )
    frames, length = (x.shape[0], x.shape[1]) if axis == 0 else (x.shape[-1], x.shape[-2])
    if 0 <= length < hop_length:
        raise ShapeError(
            f"overlap_add: hop_length {hop_length} is more than the frames' length {length}, x is {x}; "
            "use a shorter hop"
        )
    size = -1 if -1 in (frames, length) else (frames - 1) * hop_length + length
    return x.with_shape((size, *x.shape[2:]) if axis == 0 else (*x.shape[:-2], size))


def _framed(xp: Any, x: Any, frame_length: int, hop_length: int) -> Any:
    """[..., size] as [..., frames, frame_length]."""
    count = (x.shape[-1] - frame_length) // hop_length + 1
    *outer, step = x.strides
    return xp.lib.stride_tricks.as_strided(
        x, shape=(*x.shape[:-1], count, frame_length), strides=(*outer, hop_length * step, step)
    )


def _added(xp: Any, frames: Any, hop_length: int, size: int) -> Any:
    """[..., frames, frame_length] added up to [..., size], zeros behind the last frame.

    A frame is cut into pieces as long as a hop; the pieces at one place of all frames are added at once.
    """
    count, length = frames.shape[-2:]
    hop_length = length if count == 1 else hop_length  # then it matters to nothing but the memory below
    pieces = -(-length // hop_length)
    full = xp.zeros((*frames.shape[:-2], count + pieces, hop_length), frames.dtype)
    for n in reversed(range(pieces)):  # so that earlier frames are added first
        piece = frames[..., n * hop_length : (n + 1) * hop_length]
        full[..., n : n + count, : piece.shape[-1]] += piece
    flat = full.reshape(*frames.shape[:-2], (count + pieces) * hop_length)
    if flat.shape[-1] >= size:
        return flat[..., :size].copy()
    made = xp.zeros((*flat.shape[:-1], size), flat.dtype)
    made[..., : flat.shape[-1]] = flat
    return made


def _with_signal_last(xp: Any, x: Any, axis: int) -> Any:
    return xp.moveaxis(x, 0, -1) if axis == 0 else x


def _as_frames(xp: Any, frames: Any, axis: int) -> Any:
    """[..., frames, frame_length] in the layout of the result."""
    if axis == 0:
        frames = xp.moveaxis(frames, (-2, -1), (0, 1))
    else:
        frames = frames.swapaxes(-1, -2)
    return frames.copy()  # also where one frame is the whole signal: a result never shares its input's memory


def _with_frames_last(xp: Any, x: Any, axis: int) -> Any:
    """Frames of either layout as [..., frames, frame_length]."""
    return xp.moveaxis(x, (0, 1), (-2, -1)) if axis == 0 else x.swapaxes(-1, -2)


@traits.complex_gradient
@op("frame", infer=_infer_frame)
def frame(xp, x, *, frame_length: Size, hop_length: Size, axis=-1):
    """Frames of ``frame_length`` elements, each ``hop_length`` behind the one before it."""
    _infer_frame(Spec.of(x), frame_length=frame_length, hop_length=hop_length, axis=axis)
    return _as_frames(xp, _framed(xp, _with_signal_last(xp, x, axis), frame_length, hop_length), axis)


@traits.complex_gradient
@op(
    "frame_grad",
    infer=gradient_of("frame_grad", _infer_frame),
    outputs=("x_grad",),
    slots={"g_in": "Out@GRAD", "x_grad": "X@GRAD"},
)
def frame_grad(xp, x, g_in, *, frame_length: Size, hop_length: Size, axis=-1):
    """The gradient of each element of the signal, summed over the frames that contain it."""
    frames = _with_frames_last(xp, g_in, axis)
    made = _added(xp, frames, hop_length, x.shape[axis])
    return xp.ascontiguousarray(xp.moveaxis(made, -1, 0)) if axis == 0 else made


frame.grad(x=lambda g, x_like, **attrs: frame_grad(x_like, g, **attrs))
frame_grad.grad(g_in=lambda g, **attrs: frame(g, **attrs))


@traits.complex_gradient
@op("overlap_add", infer=_infer_overlap_add)
def overlap_add(xp, x, *, hop_length: Size, axis=-1):
    """The signal that frames ``hop_length`` apart add up to."""
    size = _infer_overlap_add(Spec.of(x), hop_length=hop_length, axis=axis).shape[axis]
    made = _added(xp, _with_frames_last(xp, x, axis), hop_length, size)
    return xp.ascontiguousarray(xp.moveaxis(made, -1, 0)) if axis == 0 else made


@traits.complex_gradient
@op(
    "overlap_add_grad",
    infer=gradient_of("overlap_add_grad", _infer_overlap_add),
    outputs=("x_grad",),
    slots={"g_in": "Out@GRAD", "x_grad": "X@GRAD"},
)
def overlap_add_grad(xp, x, g_in, *, hop_length: Size, axis=-1):
    """The gradient of each frame, taken from that of the signal."""
    length = x.shape[1] if axis == 0 else x.shape[-2]
    return _as_frames(xp, _framed(xp, _with_signal_last(xp, g_in, axis), length, hop_length), axis)


overlap_add.grad(x=lambda g, x_like, **attrs: overlap_add_grad(x_like, g, **attrs))
overlap_add_grad.grad(g_in=lambda g, **attrs: overlap_add(g, **attrs))
