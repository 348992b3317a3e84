"""Functions of sound: windows, mel scales, filter banks, decibels."""

from engine.audio.functional.mel import (
    compute_fbank_matrix,
    create_dct,
    fft_frequencies,
    hz_to_mel,
    mel_frequencies,
    mel_to_hz,
    power_to_db,
)
from engine.audio.functional.window import get_window
from engine.tensor.arguments.caught import explain_public as _explain_public

_explain_public(globals())

__all__ = [
    "compute_fbank_matrix",
    "create_dct",
    "fft_frequencies",
    "hz_to_mel",
    "mel_frequencies",
    "mel_to_hz",
    "power_to_db",
    "get_window",
]
