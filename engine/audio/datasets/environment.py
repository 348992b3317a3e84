"""ESC-50: sounds of the environment, five seconds each."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from engine.audio.datasets.classification import AudioClassificationDataset, folder_of
from engine.core.errors import ConditionError, FormatError
from engine.files.data.archives import file_lines

_COUNTS = re.compile(r"[0-9]{1,4},[0-9]{1,4}")  # not isdigit, which holds for ² too


class ESC50(AudioClassificationDataset):
    """Items are (wave or feature, class): 2,000 sounds of 50 classes, ``label_list``, in five parts.

    Differs from Paddle: nothing is downloaded or unpacked; the folder ``ESC-50-master`` of the archive is
    looked for in ``$MODEL_STUDIO_DATA``, this user's cache and Paddle's.

    Args:
        mode: 'train' has all parts but ``split``; any other has that part.
        split: 1 to 5.
        feat_type: as of ``AudioClassificationDataset``.
        archive: {'url': ...}, what the error names where the folder is absent.
        kwargs: arguments of the feature's layer.

    Raises:
        ConditionError: another part.
        AbsentError: the folder is not on this machine.
        FormatError: its table is not of this form.
    """

    archive: ClassVar[dict[str, str]] = {
        "url": "https://paddleaudio.bj.bcebos.com/datasets/ESC-50-master.zip",
        "md5": "7771e4b9d86d0945acce719c7a59305a",
    }
    label_list: ClassVar[list[str]] = [
        "Dog",
        "Rooster",
        "Pig",
        "Cow",
        "Frog",
        "Cat",
        "Hen",
        "Insects (flying)",
        "Sheep",
        "Crow",
        "Rain",
        "Sea waves",
        "Crackling fire",
        "Crickets",
        "Chirping birds",
        "Water drops",
        "Wind",
        "Pouring water",
        "Toilet flush",
        "Thunderstorm",
        "Crying baby",
        "Sneezing",
        "Clapping",
        "Breathing",
        "Coughing",
        "Footsteps",
        "Laughing",
        "Brushing teeth",
        "Snoring",
        "Drinking, sipping",
        "Door knock",
        "Mouse click",
        "Keyboard typing",
        "Door, wood creaks",
        "Can opening",
        "Washing machine",
        "Vacuum cleaner",
        "Clock alarm",
        "Clock tick",
        "Glass breaking",
        "Helicopter",
        "Chainsaw",
        "Siren",
        "Car horn",
        "Engine",
        "Train",
        "Church bells",
        "Airplane",
        "Fireworks",
        "Hand saw",
    ]

    def __init__(
        self,
        mode: str = "train",
        split: int = 1,
        feat_type: str = "raw",
        archive: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        if split not in range(1, 6):
            raise ConditionError(
                f"ESC50: The selected split should be integer, and 1 <= split <= 5, but got {split}"
            )
        folder = folder_of("ESC50", "ESC-50-master", (archive or self.archive)["url"])
        table = folder / "meta" / "esc50.csv"
        files, labels = [], []
        for line in file_lines(str(table))[1:]:
            parts = line.strip().split(",")
            if len(parts) != 7 or not _COUNTS.fullmatch(f"{parts[1]},{parts[2]}") or "/" in parts[0]:
                raise FormatError(
                    f"{table}: a line is not of the form of ESC-50: {line!r:.80}; unpack it again"
                )
            if (int(parts[1]) != split) == (mode == "train"):
                files.append(str(folder / "audio" / parts[0]))
                labels.append(int(parts[2]))
        super().__init__(files, labels, feat_type, **kwargs)
