"""TESS: words spoken with seven emotions."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.audio.datasets.classification import AudioClassificationDataset, folder_of
from engine.core.errors import ConditionError, FormatError


class TESS(AudioClassificationDataset):
    """Items are (wave or feature, class): 2,800 recordings of the classes ``label_list``.

    Differs from Paddle: nothing is downloaded or unpacked; the folder ``TESS_Toronto_emotional_speech_set``
    of the archive is looked for in ``$MODEL_STUDIO_DATA``, this user's cache and Paddle's. Files are divided
    into parts in the order of their paths; there in the order of the file system.

    Args:
        mode: 'train' has all parts but ``split``; any other has that part.
        n_folds: how many parts.
        split: 1 to ``n_folds``.
        feat_type: as of ``AudioClassificationDataset``.
        archive: {'url': ...}, what the error names where the folder is absent.
        kwargs: arguments of the feature's layer.

    Raises:
        ConditionError: another part.
        AbsentError: the folder is not on this machine.
        FormatError: a file is not called like SPEAKER_WORD_EMOTION.wav.
    """

    archive: ClassVar[dict[str, str]] = {
        "url": "https://bj.bcebos.com/paddleaudio/datasets/TESS_Toronto_emotional_speech_set.zip",
        "md5": "1465311b24d1de704c4c63e4ccc470c7",
    }
    label_list: ClassVar[list[str]] = ["angry", "disgust", "fear", "happy", "neutral", "ps", "sad"]

    def __init__(
        self,
        mode: str = "train",
        n_folds: int = 5,
        split: int = 1,
        feat_type: str = "raw",
        archive: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(n_folds, int) or n_folds < 1 or split not in range(1, n_folds + 1):
            raise ConditionError(
                f"TESS: the n_folds should be integer and n_folds >= 1, and 1 <= split <= n_folds: got "
                f"{n_folds!r} and {split!r}"
            )
        folder = folder_of("TESS", "TESS_Toronto_emotional_speech_set", (archive or self.archive)["url"])
        files, labels = [], []
        for n, path in enumerate(sorted(folder.rglob("*.wav"))):
            parts = path.stem.split("_")
            if len(parts) != 3 or parts[2] not in self.label_list:
                raise FormatError(f"{path}: is not called SPEAKER_WORD_EMOTION.wav; remove it")
            if (n % n_folds + 1 != split) == (mode == "train"):
                files.append(str(path))
                labels.append(self.label_list.index(parts[2]))
        super().__init__(files, labels, feat_type, **kwargs)
