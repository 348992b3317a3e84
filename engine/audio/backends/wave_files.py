"""Sound in WAV files of 16-bit samples."""

from __future__ import annotations

import io
import os
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from engine.core.errors import (
    AbsentError,
    ArgumentError,
    ConditionError,
    DTypeError,
    FormatError,
    UnsupportedError,
)
from engine.eager.tensor import Tensor
from engine.files.atomic import atomic_file
from engine.files.reading import read_error
from engine.tensor import creation, manipulation
from resources.regular_files import open_regular

_FULL_SCALE = 2**15


class AudioInfo:
    """What a file of sound says of itself."""

    def __init__(
        self, sample_rate: int, num_samples: int, num_channels: int, bits_per_sample: int, encoding: str
    ) -> None:
        self.sample_rate = sample_rate
        self.num_samples = num_samples
        self.num_channels = num_channels
        self.bits_per_sample = bits_per_sample
        self.encoding = encoding


@contextmanager
def _opened(where: str, filepath: Any) -> Iterator[wave.Wave_read]:
    """The file, which is closed at the end, also where it is a file object."""
    with (
        filepath if hasattr(filepath, "read") else _file(where, filepath) as file,
        _wave(where, filepath, file) as sound,
    ):
        yield sound


def _file(where: str, path: Any) -> IO[bytes]:
    try:
        return open_regular(path)
    except FileNotFoundError as cause:
        raise AbsentError(f"{where}: {path}: does not exist; check the path") from cause
    except OSError as cause:
        raise read_error(f"{where}: {path}", cause) from cause


def _wave(where: str, filepath: Any, file: Any) -> wave.Wave_read:
    try:
        sound = wave.Wave_read(file)
    except (wave.Error, EOFError, RuntimeError) as cause:  # RuntimeError: a part ends beyond the file
        said = str(cause) or "it is empty or cut off"
        raise UnsupportedError(
            f"{where}: {filepath}: only PCM16 WAV files are read: {said}; convert it"
        ) from cause
    return sound


def info(filepath: str | os.PathLike[str] | IO[bytes]) -> AudioInfo:
    """Rate, length, channels and sample size of a WAV file (a path, or a file object, which is closed).

    Raises UnsupportedError (a NotImplementedError) for other files.
    """
    with _opened("info", filepath) as sound:
        return AudioInfo(
            sound.getframerate(), sound.getnframes(), sound.getnchannels(), sound.getsampwidth() * 8, "PCM_S"
        )


def load(
    filepath: str | os.PathLike[str] | IO[bytes],
    frame_offset: int = 0,
    num_frames: int = -1,
    normalize: bool = True,
    channels_first: bool = True,
) -> tuple[Any, int]:
    """The samples of a WAV file as float32 [channels, time], and their rate.

    Args:
        filepath: a path, or a file object, which is closed.
        frame_offset: where to begin; it counts only together with ``num_frames``, as in Paddle.
        num_frames: how many samples of a channel; -1 for all.
        normalize: from -1 to 1; else from -32,768 to 32,767.
        channels_first: else [time, channels].

    Raises:
        UnsupportedError: no WAV file.
        FormatError: samples of another size than 16 bits, or fewer than the file says.
    """
    with _opened("load", filepath) as sound:
        channels, rate, width = sound.getnchannels(), sound.getframerate(), sound.getsampwidth()
        frames = sound.getnframes()
        content = sound.readframes(frames)
    if width != 2 or len(content) != frames * channels * 2:
        raise FormatError(
            f"load: {filepath}: only whole files of 16-bit samples are read: got {width * 8} bits, "
            f"{len(content)} bytes for {frames} samples of {channels} channels; convert it"
        )
    samples = np.frombuffer(content, "<i2").astype(np.float32).reshape(frames, channels)
    if normalize:
        samples /= _FULL_SCALE
    if num_frames != -1:
        samples = samples[frame_offset : frame_offset + num_frames]
    wave_form = creation.to_tensor(samples)
    return manipulation.transpose(wave_form, [1, 0]) if channels_first else wave_form, rate


def save(
    filepath: str | os.PathLike[str],
    src: Tensor,
    sample_rate: int,
    channels_first: bool = True,
    encoding: str | None = None,
    bits_per_sample: int | None = 16,
) -> None:
    """Write samples to a WAV file of 16 bits.

    Differs from Paddle: all floating dtypes are taken as from -1 to 1 and what is beyond is cut off; there
    float32 wraps around and the bytes of other dtypes are written as they are.

    Args:
        filepath: the file, which appears whole or not at all.
        src: [channels, time], floating from -1 to 1 or int16.
        sample_rate: samples a second.
        channels_first: else ``src`` is [time, channels].
        encoding: has no effect.
        bits_per_sample: 16 or None.

    Raises:
        ConditionError: ``src`` has not two dimensions.
        ArgumentError: another size of samples.
        DTypeError: integers other than int16.
    """
    if src.ndim != 2:
        raise ConditionError(f"save: Expected 2D tensor: got {list(src.shape)}; reshape it")
    if bits_per_sample not in (None, 16):
        raise ArgumentError(f"save: Invalid bits_per_sample, only support 16 bit: got {bits_per_sample}")
    samples = src.numpy()
    if src.is_floating_point():
        scaled = samples.astype(np.float64) * _FULL_SCALE
        samples = np.clip(np.nan_to_num(scaled), -_FULL_SCALE, _FULL_SCALE - 1)
    elif samples.dtype != np.int16:
        raise DTypeError(f"save: src must be floating or int16: got {src.dtype}; cast it")
    samples = samples.astype("<i2")
    if channels_first:
        samples = samples.T
    packed = io.BytesIO()
    with wave.open(packed, "wb") as sound:
        sound.setnchannels(samples.shape[1])
        sound.setsampwidth(2)
        sound.setframerate(sample_rate)
        sound.writeframes(np.ascontiguousarray(samples).tobytes())
    with atomic_file(os.fspath(filepath)) as file:
        file.write(packed.getbuffer())
