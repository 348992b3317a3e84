"""Data sets of sounds with classes: waves, or features of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from engine.audio.backends import wave_files
from engine.audio.features import MFCC, LogMelSpectrogram, MelSpectrogram, Spectrogram
from engine.core.errors import AbsentError, ArgumentError
from engine.io.dataset import Dataset
from engine.tensor import creation
from engine.vision.datasets.locate import data_folders
from resources.user_folders import home_folder

_FEATURES: dict[str, Any] = {
    "raw": None,
    "melspectrogram": MelSpectrogram,
    "mfcc": MFCC,
    "logmelspectrogram": LogMelSpectrogram,
    "spectrogram": Spectrogram,
}


class AudioClassificationDataset(Dataset):
    """Items are (wave or feature, class), read from WAV files as they are asked for.

    Args:
        files: their paths.
        labels: their classes.
        feat_type: 'raw', 'spectrogram', 'melspectrogram', 'logmelspectrogram' or 'mfcc'.
        sample_rate: has no effect: each file has its own.
        kwargs: arguments of the feature's layer.
    """

    def __init__(
        self,
        files: list[str],
        labels: list[int],
        feat_type: str = "raw",
        sample_rate: int | None = None,
        **kwargs: Any,
    ) -> None:
        if feat_type not in _FEATURES:
            raise ArgumentError(
                f"{type(self).__name__}: Unknown feat_type: {feat_type}, it must be one in {list(_FEATURES)}"
            )
        self.files = files
        self.labels = labels
        self.feat_type = feat_type
        self.sample_rate = sample_rate
        self.feat_config = kwargs

    def __getitem__(self, idx: int) -> tuple[Any, int]:
        samples, self.sample_rate = wave_files.load(self.files[idx])
        wave_form = creation.to_tensor(samples.squeeze(0), dtype="float32")
        feature = _FEATURES[self.feat_type]
        if feature is not None:
            rate = {} if self.feat_type == "spectrogram" else {"sr": self.sample_rate}
            wave_form = feature(**rate, **self.feat_config)(wave_form.unsqueeze(0)).squeeze(0)
        return wave_form, self.labels[idx]

    def __len__(self) -> int:
        return len(self.files)


def folder_of(where: str, name: str, url: str) -> Path:
    """The folder ``name`` of an unpacked data set. Raises AbsentError, which says what to get."""
    places = [*data_folders(""), home_folder() / ".cache" / "paddle" / "dataset"]
    for place in places:
        if (place / name).is_dir():
            return place / name
    raise AbsentError(
        f"{where}: the folder {name} is in none of {', '.join(map(os.fspath, places))}: get {url} and unpack "
        "it in one of them (MODEL_STUDIO_DATA names the first)"
    )
