"""``paddle.signal``: short-time Fourier transforms."""

from engine.tensor.short_time import frame as frame
from engine.tensor.short_time import istft as istft
from engine.tensor.short_time import overlap_add as overlap_add
from engine.tensor.short_time import stft as stft

__all__ = ["istft", "stft"]
