"""Short-time Fourier transforms, and the frames that they consist of."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ConditionError, DTypeError
from engine.core.operators.infer import part_dtype
from engine.ops.images import padding
from engine.ops.signal import frames, transforms
from engine.program.build.calls import named, takes_name
from engine.tensor import creation, manipulation, math
from engine.tensor.arguments.caught import explain_public as _explain_public
from engine.tensor.arguments.factories import as_complex_values
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.elements import indexing
from engine.tensor.tensor_like import AnyTensor


def frame(x: AnyTensor, frame_length: int, hop_length: int, axis: int = -1, name: str | None = None) -> Any:
    """Overlapping frames of x along its first (``axis`` 0) or last dimension (-1).

    [..., size] gives [..., frame_length, frames]; with ``axis`` 0, [size, ...] gives
    [frames, frame_length, ...].
    Elements after the last frame are dropped. Raises ArgumentError for other arguments, ShapeError where
    x is shorter than a frame.
    """
    if name:
        return named(name, frame, x, frame_length, hop_length, axis)
    _require_tensor("frame", x)
    _require_lengths("frame", axis, frame_length=frame_length, hop_length=hop_length)
    return frames.frame(x, frame_length=frame_length, hop_length=hop_length, axis=axis)


def overlap_add(x: AnyTensor, hop_length: int, axis: int = -1, name: str | None = None) -> Any:
    """The signal that the frames of x, ``hop_length`` apart, add up to.

    [..., frame_length, frames] gives [..., size]; with ``axis`` 0, [frames, frame_length, ...] gives
    [size, ...].
    Raises ArgumentError for other arguments, ShapeError where a hop is longer than a frame.
    """
    if name:
        return named(name, overlap_add, x, hop_length, axis)
    _require_tensor("overlap_add", x)
    _require_lengths("overlap_add", axis, hop_length=hop_length)
    return frames.overlap_add(x, hop_length=hop_length, axis=axis)


def stft(
    x: AnyTensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: AnyTensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool = True,
    name: str | None = None,
) -> Any:
    """The Fourier transforms of overlapping frames of a signal.

    [size] gives [n_fft, frames], [batch, size] gives [batch, n_fft, frames]. Frames of ``n_fft`` elements,
    ``hop_length`` (n_fft // 4) apart, are multiplied by ``window`` (ones), which has ``win_length`` (n_fft)
    elements and zeros around it. With ``center`` the signal has half a frame on
    both sides, its mirror image or zeros (``pad_mode`` 'reflect', 'constant'), so that frames are centered
    where they begin without. ``normalized`` divides by sqrt(n_fft); ``onesided`` keeps the n_fft // 2 + 1
    frequencies that are not negative, and needs a real signal and window. Raises ConditionError.

    Differs from Paddle: one signal has no batch dimension in Programs either, as it has none eagerly.
    """
    _require_tensor("stft", x)
    rank = x.ndim
    _assert(rank in (1, 2), f"stft: x has 1 or 2 dimensions: got {list(x.shape)}; reshape it")
    if rank == 1:
        x = manipulation.unsqueeze(x, 0)
    hop_length = n_fft // 4 if hop_length is None else hop_length
    _assert(hop_length > 0, f"stft: hop_length is at least 1: got {hop_length}")
    size = int(x.shape[-1])
    _assert(
        n_fft > 0 and (n_fft <= size or size < 0),
        f"stft: n_fft is at least 1 and at most the {size} elements of the signal: got {n_fft}",
    )
    window = _window("stft", n_fft, win_length, window, x.dtype.name)
    if center:
        _assert(
            pad_mode in ("constant", "reflect"),
            f"stft: pad_mode {pad_mode!r} is neither constant nor reflect",
        )
        x = _padded(x, n_fft // 2, pad_mode)
    cut = manipulation.transpose(frame(x, n_fft, hop_length), [0, 2, 1])
    cut = math.multiply(cut, window)
    norm = "ortho" if normalized else "backward"
    if cut.dtype.is_complex:
        _assert(
            not onesided, "stft: signal or window are complex, so all frequencies differ: use onesided=False"
        )
        out = _named(name, transforms.fft_c2c, cut, axes=[2], normalization=norm, forward=True)
    else:
        out = _named(
            name, transforms.fft_r2c, cut, axes=[2], normalization=norm, forward=True, onesided=onesided
        )
    out = manipulation.transpose(out, [0, 2, 1])
    return manipulation.squeeze(out, 0) if rank == 1 else out


@takes_name
def istft(
    x: AnyTensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: AnyTensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool = True,
    length: int | None = None,
    return_complex: bool = False,
    name: str | None = None,
) -> Any:
    """The inverse of stft with the same arguments.

    [n_fft, frames] gives [size], [batch, n_fft, frames] gives [batch, size].
    ``length`` is that of the signal, which the frames alone do not determine; ``return_complex`` gives a
    complex signal and needs ``onesided=False``. Raises ConditionError for arguments that do not fit, and
    ArgumentError where the squares of overlapping windows add up to 0 somewhere, so that the signal can't be
    known there.

    Differs from Paddle: one signal has no batch dimension in Programs either, as it has none eagerly.
    """
    _require_tensor("istft", x)
    rank = x.ndim
    _assert(rank in (2, 3), f"istft: x has 2 or 3 dimensions: got {list(x.shape)}; reshape it")
    x = as_complex_values(x)
    if rank == 2:
        x = manipulation.unsqueeze(x, 0)
    hop_length = n_fft // 4 if hop_length is None else hop_length
    span = n_fft if win_length is None else win_length
    _assert(0 < hop_length <= span, f"istft: hop_length is from 1 to win_length {span}: got {hop_length}")
    have, want = x.shape[-2], n_fft // 2 + 1 if onesided else n_fft
    _assert(
        have in (want, -1),
        f"istft: n_fft {n_fft} with onesided={onesided} needs {want} frequencies: got {list(x.shape)}",
    )
    window = _window("istft", n_fft, win_length, window, part_dtype(x.dtype).name)
    x = manipulation.transpose(x, [0, 2, 1])
    how = {"axes": [2], "normalization": "ortho" if normalized else "backward", "forward": False}
    if return_complex:
        _assert(not onesided, "istft: a complex signal needs all frequencies: use onesided=False")
        out = transforms.fft_c2c(x, **how)
    else:
        _assert(not window.dtype.is_complex, "istft: window is complex: use return_complex=True")
        if onesided is False:
            x = indexing.getitem(x, (slice(None), slice(None), slice(None, n_fft // 2 + 1)))
        out = transforms.fft_c2r(x, **how, last_dim_size=n_fft if n_fft % 2 else 0)
    out = overlap_add(manipulation.transpose(math.multiply(out, window), [0, 2, 1]), hop_length)
    weights = _overlapping(math.multiply(window, window), x, hop_length)
    start = n_fft // 2 if center else 0
    stop = start + length if length is not None else -start or None
    out = indexing.getitem(out, (slice(None), slice(start, stop)))
    weights = indexing.getitem(weights, (slice(start, stop),))
    if not modes.is_symbolic(weights) and bool((math.abs(weights) < 1e-11).any()):
        raise ArgumentError(
            "istft: the squares of the windows add up to 0 somewhere, so the signal can't be known there "
            f"(NOLA condition): window {list(window.shape)}, hop_length {hop_length}; use a shorter hop or "
            "another window"
        )
    out = out / weights
    return manipulation.squeeze(out, 0) if rank == 2 else out


def _overlapping(squares: Any, x: Any, hop_length: int) -> Any:
    """The sum of the squares of the windows of all frames of x, [batch, frames, n_fft]."""
    row = manipulation.unsqueeze(squares, 0)
    count = x.shape[1] if x.shape[1] >= 0 else manipulation.shape(x)[1]
    return overlap_add(manipulation.transpose(manipulation.tile(row, [count, 1]), [1, 0]), hop_length)


def _window(where: str, n_fft: int, win_length: int | None, window: Any, dtype: str) -> Any:
    """The window with zeros around it, ``n_fft`` elements in all."""
    length = n_fft if win_length is None else win_length
    _assert(0 < length <= n_fft, f"{where}: win_length is from 1 to n_fft {n_fft}: got {length}")
    if window is None:
        window = creation.ones([length], dtype)
    else:
        _require_tensor(where, window, "window")
        _assert(
            window.ndim == 1 and window.shape[0] in (length, -1),
            f"{where}: window has one dimension of win_length {length}: got {list(window.shape)}",
        )
    if length == n_fft:
        return window
    before = (n_fft - length) // 2
    return padding.pad(window, paddings=[before, n_fft - length - before], pad_value=0.0)


def _padded(x: Any, count: int, mode: str) -> Any:
    """[batch, size] with ``count`` more elements on both sides."""
    volume = manipulation.unsqueeze(manipulation.unsqueeze(x, -1), [2, 3])  # a line with one channel first
    volume = padding.pad3d(
        volume, None, paddings=[0, 0, 0, 0, count, count], mode=mode, value=0.0, data_format="NDHWC"
    )
    return manipulation.squeeze(manipulation.squeeze(volume, [2, 3]), -1)


def _named(name: str | None, function: Any, x: Any, **attrs: Any) -> Any:
    return named(name, function, x, **attrs) if name else function(x, **attrs)


def _assert(condition: bool, message: str) -> None:
    if not condition:
        raise ConditionError(message)


def _require_tensor(where: str, x: Any, name: str = "x") -> None:
    if not is_tensor(x):
        raise DTypeError(f"{where}: {name} must be a Tensor: got {type(x).__name__}; use to_tensor()")


def _require_lengths(where: str, axis: Any, **lengths: Any) -> None:
    if axis not in (0, -1):
        raise ArgumentError(f"{where}: axis is 0 or -1: got {axis!r}")
    for name, value in lengths.items():
        if not isinstance(value, int) or value <= 0:
            raise ArgumentError(f"{where}: {name} is an integer of at least 1: got {value!r}")


_explain_public(globals())
