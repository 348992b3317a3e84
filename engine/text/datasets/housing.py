"""UCI housing: 13 facts about a district of Boston, and the median value of its homes."""

from __future__ import annotations

import os

import numpy as np

from engine.core.errors import FormatError
from engine.core.values.dtype import get_default_dtype
from engine.files.data.archives import file_bytes
from engine.io.dataset import Dataset
from engine.text.datasets.sources import Source, chosen, located

_SOURCE = Source(
    "uci_housing",
    "http://paddlemodels.bj.bcebos.com/uci_housing/housing.data",
    "d4accdce7a25600298819f8e28e8d593",
)
_COLUMNS = 14


class UCIHousing(Dataset):
    """Items are (features [13], value [1]) of the default dtype.

    Features are centred and divided by their range over all districts. The first 80% are for training.

    Args:
        data_file: numbers in text, 14 a district; by default the one on this machine, else a download.
        mode: ``'train'`` or ``'test'``.
        download: fetch the file where it is absent.

    Raises:
        ConditionError: another mode; no file and no download.
        AbsentError, DataError, FormatError: the file is absent, unreadable, not of this form.
    """

    def __init__(
        self, data_file: str | os.PathLike[str] | None = None, mode: str = "train", download: bool = True
    ) -> None:
        self.mode = chosen("UCIHousing", "mode", mode, ("train", "test"))
        self.data_file = located("UCIHousing", "data_file", data_file, _SOURCE, download)
        self._load_data()
        self.dtype = get_default_dtype()

    def _load_data(self, feature_num: int = _COLUMNS, ratio: float = 0.8) -> None:
        words = file_bytes(self.data_file).split()
        if not words or len(words) % feature_num:
            raise FormatError(
                f"{self.data_file}: is not a table of {feature_num} columns: it has {len(words)} numbers; "
                "download it again"
            )
        try:
            data = np.array([float(word) for word in words]).reshape(-1, feature_num)
        except ValueError as cause:
            raise FormatError(
                f"{self.data_file}: holds more than numbers: {cause}; download it again"
            ) from cause
        highest, lowest, mean = data.max(axis=0), data.min(axis=0), data.sum(axis=0) / data.shape[0]
        with np.errstate(all="ignore"):  # a feature that never changes is NaN, as in Paddle
            for i in range(feature_num - 1):
                data[:, i] = (data[:, i] - mean[i]) / (highest[i] - lowest[i])
        offset = int(data.shape[0] * ratio)
        self.data = data[:offset] if self.mode == "train" else data[offset:]

    def __getitem__(self, idx: int) -> tuple[np.ndarray, np.ndarray]:
        row = self.data[idx]
        return row[:-1].astype(self.dtype), row[-1:].astype(self.dtype)

    def __len__(self) -> int:
        return len(self.data)
