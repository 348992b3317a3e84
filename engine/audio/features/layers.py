"""Layers that turn waves into spectrograms, mel spectrograms and cepstral coefficients."""

from __future__ import annotations

from typing import Any

from engine.audio.functional import compute_fbank_matrix, create_dct, get_window, power_to_db
from engine.core.errors import ConditionError
from engine.nn.layer.layers import Layer
from engine.tensor import linalg, manipulation, math
from engine.tensor.short_time import stft
from engine.tensor.tensor_like import AnyTensor


class Spectrogram(Layer):
    """The size of the short-time Fourier transform of waves [batch, time]: [batch, n_fft // 2 + 1, frames].

    Args:
        n_fft: samples of a transform.
        hop_length: samples from frame to frame; None is a quarter of ``n_fft``.
        win_length: samples of the window; None is ``n_fft``.
        window: its name, or (name, parameters...); see ``get_window``.
        power: what the size is raised to; above 0.
        center: frames are centred; then the wave is padded at both ends.
        pad_mode: 'reflect' or 'constant'.
        dtype: of the window.
    """

    def __init__(
        self,
        n_fft: int = 512,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: str = "hann",
        power: float = 1.0,
        center: bool = True,
        pad_mode: str = "reflect",
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        if not power > 0:
            raise ConditionError(f"Spectrogram: Power of spectrogram must be > 0.: got {power}")
        self.power = power
        win_length = n_fft if win_length is None else win_length
        self.register_buffer("fft_window", get_window(window, win_length, fftbins=True, dtype=dtype))
        self._frames: dict[str, Any] = {
            "n_fft": n_fft,
            "hop_length": hop_length,
            "win_length": win_length,
            "center": center,
            "pad_mode": pad_mode,
        }

    def forward(self, x: AnyTensor) -> Any:
        """The spectrogram of ``x`` [batch, time]."""
        spectrum = stft(x, window=self.fft_window, **self._frames)
        return math.pow(math.abs(spectrum), self.power)


class MelSpectrogram(Layer):
    """Spectrograms with frequencies taken together by ear: [batch, n_mels, frames].

    Args:
        sr: samples a second.
        n_fft, hop_length, win_length, window, power, center, pad_mode, dtype: as of ``Spectrogram``.
        n_mels: how many bands.
        f_min: the lowest frequency in Hz.
        f_max: the highest one; None is half of ``sr``.
        htk: HTK's mel scale.
        norm: of a band, 'slaney' or the order of a norm; see ``compute_fbank_matrix``.
    """

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 2048,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: str = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._spectrogram = Spectrogram(n_fft, hop_length, win_length, window, power, center, pad_mode, dtype)
        self.n_mels = n_mels
        self.f_min = f_min
        self.f_max = f_max
        self.htk = htk
        self.norm = norm
        f_max = sr // 2 if f_max is None else f_max
        matrix = compute_fbank_matrix(sr, n_fft, n_mels, f_min, f_max, htk, norm, dtype)
        self.register_buffer("fbank_matrix", matrix)

    def forward(self, x: AnyTensor) -> Any:
        """The mel spectrogram of ``x`` [batch, time]."""
        return linalg.matmul(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """Mel spectrograms in decibels: [batch, n_mels, frames].

    Args:
        sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm,
            dtype: as of ``MelSpectrogram``.
        ref_value, amin, top_db: as of ``power_to_db``.
    """

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: str = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._melspectrogram = MelSpectrogram(
            sr,
            n_fft,
            hop_length,
            win_length,
            window,
            power,
            center,
            pad_mode,
            n_mels,
            f_min,
            f_max,
            htk,
            norm,
            dtype,
        )
        self.ref_value = ref_value
        self.amin = amin
        self.top_db = top_db

    def forward(self, x: AnyTensor) -> Any:
        """The mel spectrogram of ``x`` [batch, time] in decibels."""
        return power_to_db(self._melspectrogram(x), self.ref_value, self.amin, self.top_db)


class MFCC(Layer):
    """Mel-frequency cepstral coefficients: [batch, n_mfcc, frames].

    Args:
        n_mfcc: how many coefficients, at most ``n_mels``.
        sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm,
            ref_value, amin, top_db, dtype: as of ``LogMelSpectrogram``.
    """

    def __init__(
        self,
        sr: int = 22050,
        n_mfcc: int = 40,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: str = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        if n_mfcc > n_mels:
            raise ConditionError(f"MFCC: n_mfcc cannot be larger than n_mels: {n_mfcc} vs {n_mels}")
        self._log_melspectrogram = LogMelSpectrogram(
            sr,
            n_fft,
            hop_length,
            win_length,
            window,
            power,
            center,
            pad_mode,
            n_mels,
            f_min,
            f_max,
            htk,
            norm,
            ref_value,
            amin,
            top_db,
            dtype,
        )
        self.register_buffer("dct_matrix", create_dct(n_mfcc=n_mfcc, n_mels=n_mels, dtype=dtype))

    def forward(self, x: AnyTensor) -> Any:
        """The coefficients of ``x`` [batch, time]."""
        bands = manipulation.transpose(self._log_melspectrogram(x), [0, 2, 1])
        return manipulation.transpose(linalg.matmul(bands, self.dct_matrix), [0, 2, 1])
