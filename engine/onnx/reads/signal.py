"""Rows of ``engine.ops.signal``: transforms as products with the matrix of their waves."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.reads.elementwise import dtype_name
from engine.onnx.reads.rows import Known, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import NeedsKnown, Unreadable, sizes_of

MOST = 4096  # elements of a transform


def _waves(length: int, count: int, inverse: bool, dtype: str) -> tuple[Any, Any]:
    """Cosines and sines [length, count]."""
    if not 0 < length <= MOST:
        raise Unreadable(f"a transform of {length} elements; 1 to {MOST} are supported")
    turns = np.outer(np.arange(length), np.arange(count)) % length * (2 * np.pi / length)
    share = 1 / length if inverse else 1.0
    sign = 1.0 if inverse else -1.0
    return tuple(T.to_tensor((v * share).astype(dtype)) for v in (np.cos(turns), sign * np.sin(turns)))


def _transformed(real: Any, imaginary: Any, length: int, count: int, inverse: bool) -> tuple[Any, Any]:
    """The transform along the last axis: real and imaginary parts."""
    cosines, sines = _waves(length, count, inverse, real.dtype.name)
    if imaginary is None:
        return T.matmul(real, cosines), T.matmul(real, sines)
    return (
        T.subtract(T.matmul(real, cosines), T.matmul(imaginary, sines)),
        T.add(T.matmul(real, sines), T.matmul(imaginary, cosines)),
    )


@reads("DFT")
def _(
    g: Any, input: Any, dft_length: Known = None, axis: Known = None, *, inverse: int = 0, onesided: int = 0
) -> Any:
    along = int(axis.reshape(-1)[0]) if axis is not None else (1 if g.opset < 20 else -2)
    along %= input.ndim
    parts = int(input.shape[-1])
    order = [n for n in range(input.ndim - 1) if n != along] + [along]
    planes = [T.transpose(input[..., n], order) for n in range(parts)]
    size = int(planes[0].shape[-1])
    if size < 0:
        raise NeedsKnown("the length of the transform must be known")
    given = size if dft_length is None else int(dft_length.reshape(-1)[0])
    back = bool(inverse and onesided)
    length = given
    if back and dft_length is None:
        length = 2 * (size - 1)
    if back:  # the other half mirrors the first
        rest = length - size
        mirrored = [T.flip(p[..., 1 : rest + 1], [-1]) for p in planes]
        planes = [
            T.concat([planes[0], mirrored[0]], axis=-1),
            T.concat([planes[1], T.neg(mirrored[1])], axis=-1),
        ]
    elif length < size:
        planes = [p[..., :length] for p in planes]
    elif length > size:
        filled = [*sizes_of(planes[0])[:-1], length - size]
        planes = [T.concat([p, T.zeros(filled, p.dtype.name)], axis=-1) for p in planes]
    count = length // 2 + 1 if onesided and not inverse else length
    real, imaginary = _transformed(planes[0], planes[1] if parts > 1 else None, length, count, bool(inverse))
    turned = [T.transpose(p, [order.index(n) for n in range(input.ndim - 1)]) for p in (real, imaginary)]
    if back:
        return T.unsqueeze(turned[0], [-1])
    return T.stack(turned, axis=-1)


@reads("STFT")
def _(
    signal: Any, frame_step: Known, window: Any = None, frame_length: Known = None, *, onesided: int = 1
) -> Any:
    size, step = int(signal.shape[1]), int(frame_step.reshape(-1)[0])
    if size < 0 or step < 1:
        raise NeedsKnown("the length of the signal must be known")
    length = int(frame_length.reshape(-1)[0]) if frame_length is not None else int(window.shape[0])
    frames = max((size - length) // step + 1, 0)
    places = (np.arange(frames)[:, None] * step + np.arange(length)[None]).reshape(-1)
    planes = []
    for n in range(int(signal.shape[2])):
        part = T.gather(signal[:, :, n], T.to_tensor(places), axis=1)
        part = T.reshape(part, [sizes_of(signal)[0], frames, length])
        planes.append(part if window is None else T.multiply(part, window))
    count = length // 2 + 1 if onesided else length
    made = _transformed(planes[0], planes[1] if len(planes) > 1 else None, length, count, False)
    return T.stack(list(made), axis=-1)


@reads("MelWeightMatrix")
def _(
    num_mel_bins: Known,
    dft_length: Known,
    sample_rate: Known,
    lower_edge_hertz: Known,
    upper_edge_hertz: Known,
    *,
    output_datatype: int = 1,
) -> Any:
    bins, length, rate = (int(v.reshape(-1)[0]) for v in (num_mel_bins, dft_length, sample_rate))
    low, high = (float(v.reshape(-1)[0]) for v in (lower_edge_hertz, upper_edge_hertz))
    spectrum = length // 2 + 1
    if not (0 < bins <= MOST and 0 < spectrum <= MOST):
        raise Unreadable(f"{bins} bins of {length} elements")
    low_mel, high_mel = (2595 * np.log10(1 + v / 700) for v in (low, high))
    edges = np.arange(bins + 2) * ((high_mel - low_mel) / (bins + 2)) + low_mel
    places = ((length + 1) * (700 * (10 ** (edges / 2595) - 1)) // rate).astype(np.int64)
    made = np.zeros((spectrum, bins))
    for n in range(bins):
        first, middle, last = places[n : n + 3]
        if middle == first:
            made[middle, n] = 1
        else:
            made[first : middle + 1, n] = (np.arange(first, middle + 1) - first) / (middle - first)
        if last > middle:
            made[middle:last, n] = (last - np.arange(middle, last)) / (last - middle)
    return T.to_tensor(made.astype(dtype_name(output_datatype)))
