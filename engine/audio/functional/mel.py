"""Frequencies as they are heard (mel), filter banks, decibels, the cosine transform."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ArgumentError, ConditionError
from engine.nn import functional
from engine.tensor import creation, manipulation
from engine.tensor import math as arithmetic
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.elementwise.exponential import exp, log, log10
from engine.tensor.elementwise.trigonometry import cos
from engine.tensor.tensor_like import AnyTensor

# Slaney's scale: linear below 1,000 Hz, logarithmic above.
_HZ_PER_MEL = 200.0 / 3
_BREAK_HZ = 1000.0
_BREAK_MEL = _BREAK_HZ / _HZ_PER_MEL
_LOG_STEP = math.log(6.4) / 27.0


def hz_to_mel(freq: AnyTensor | float, htk: bool = False) -> Any:
    """Mels of frequencies in Hz, a Tensor or a number, by Slaney's scale or HTK's."""
    if htk:
        ratio = 1.0 + freq / 700.0
        return 2595.0 * (log10(ratio) if is_tensor(freq) else math.log10(ratio))
    mels = freq / _HZ_PER_MEL
    if is_tensor(freq):
        above = (freq > _BREAK_HZ).astype(freq.dtype)
        curve = _BREAK_MEL + log(freq / _BREAK_HZ + 1e-10) / _LOG_STEP
        return curve * above + mels * (1 - above)
    return _BREAK_MEL + math.log(freq / _BREAK_HZ + 1e-10) / _LOG_STEP if freq >= _BREAK_HZ else mels


def mel_to_hz(mel: AnyTensor | float, htk: bool = False) -> Any:
    """Frequencies in Hz of mels, a Tensor or a number, by Slaney's scale or HTK's."""
    if htk:
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    freqs = _HZ_PER_MEL * mel
    if is_tensor(mel):
        above = (mel > _BREAK_MEL).astype(mel.dtype)
        return _BREAK_HZ * exp(_LOG_STEP * (mel - _BREAK_MEL)) * above + freqs * (1 - above)
    return _BREAK_HZ * math.exp(_LOG_STEP * (mel - _BREAK_MEL)) if mel >= _BREAK_MEL else freqs


def mel_frequencies(
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float = 11025.0,
    htk: bool = False,
    dtype: str = "float32",
) -> Any:
    """``n_mels`` frequencies in Hz from ``f_min`` to ``f_max``, evenly spaced in mels."""
    lowest, highest = hz_to_mel(f_min, htk=htk), hz_to_mel(f_max, htk=htk)
    return mel_to_hz(creation.linspace(lowest, highest, n_mels, dtype=dtype), htk=htk)


def fft_frequencies(sr: int, n_fft: int, dtype: str = "float32") -> Any:
    """The n_fft // 2 + 1 frequencies in Hz of a Fourier transform of samples at the rate ``sr``."""
    return creation.linspace(0, float(sr) / 2, int(1 + n_fft // 2), dtype=dtype)


def compute_fbank_matrix(
    sr: int,
    n_fft: int,
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float | None = None,
    htk: bool = False,
    norm: str | float = "slaney",
    dtype: str = "float32",
) -> Any:
    """The weights [n_mels, n_fft // 2 + 1] of triangular filters that take frequencies together to mels.

    ``norm`` 'slaney' gives each filter about the same energy; a number divides it by that norm of it.
    """
    f_max = float(sr) / 2 if f_max is None else f_max
    bins = fft_frequencies(sr=sr, n_fft=n_fft, dtype=dtype)
    centres = mel_frequencies(n_mels + 2, f_min=f_min, f_max=f_max, htk=htk, dtype=dtype)
    gaps = manipulation.unsqueeze(centres[1:] - centres[:-1], 1)
    ramps = manipulation.unsqueeze(centres, 1) - manipulation.unsqueeze(bins, 0)
    rising, falling = -ramps[:-2] / gaps[:-1], ramps[2:] / gaps[1:]
    lower = arithmetic.minimum(rising, falling)
    weights = arithmetic.maximum(creation.zeros_like(lower), lower)
    if norm == "slaney":
        return weights * manipulation.unsqueeze(2.0 / (centres[2 : n_mels + 2] - centres[:n_mels]), 1)
    if isinstance(norm, (int, float)):
        return functional.normalize(weights, p=norm, axis=-1)
    return weights


def power_to_db(
    spect: AnyTensor, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0
) -> Any:
    """10 log10(spect / ref_value), of values of at least ``amin``; none more than ``top_db`` below the peak.

    Raises ArgumentError for amin and ref_value that are not positive, and for a negative top_db.
    """
    for name, value in (("amin", amin), ("ref_value", ref_value)):
        if value <= 0:
            raise ArgumentError(f"power_to_db: {name} must be strictly positive: got {value}")
    ones = creation.ones_like(spect)
    decibels = 10.0 * log10(arithmetic.maximum(ones * amin, spect))
    decibels = decibels - 10.0 * math.log10(max(ref_value, amin))
    if top_db is None:
        return decibels
    if top_db < 0:
        raise ArgumentError(f"power_to_db: top_db must be non-negative: got {top_db}")
    return arithmetic.maximum(decibels, ones * (decibels.max() - top_db))


def create_dct(n_mfcc: int, n_mels: int, norm: str | None = "ortho", dtype: str = "float32") -> Any:
    """The matrix [n_mels, n_mfcc] of the cosine transform that makes cepstral coefficients of mels.

    ``norm`` 'ortho' makes its columns of length 1; None leaves them. Raises ConditionError for another.
    """
    if norm not in (None, "ortho"):
        raise ConditionError(f"create_dct: norm must be 'ortho' or None: got {norm!r}")
    n = creation.arange(n_mels, dtype=dtype)
    k = manipulation.unsqueeze(creation.arange(n_mfcc, dtype=dtype), 1)
    waves = cos(math.pi / float(n_mels) * (n + 0.5) * k)
    if norm is None:
        return (waves * 2.0).t()
    lengths = [math.sqrt((1.0 if row == 0 else 2.0) / n_mels) for row in range(n_mfcc)]
    return (waves * manipulation.unsqueeze(creation.to_tensor(lengths, dtype), 1)).t()
