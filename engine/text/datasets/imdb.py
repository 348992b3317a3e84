"""IMDB: reviews of films that praise or blame."""

from __future__ import annotations

import os
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.files.data.archives import tar_files
from engine.io.dataset import Dataset
from engine.text.datasets.sources import Source, chosen, located

SOURCE = Source(
    "imdb", "https://dataset.bj.bcebos.com/imdb%2FaclImdb_v1.tar.gz", "7c2ac02c03563afcf9b574c7e56c153a"
)
_REVIEW = re.compile(r"aclImdb/(train|test)/(pos|neg)/.*\.txt$")
_PUNCTUATION = string.punctuation.encode("ascii")


def numbered(where: str, counts: Mapping[Any, int], cutoff: int) -> dict[Any, int]:
    """Words that occur more than ``cutoff`` times, numbered from the most frequent one, then ``'<unk>'``."""
    frequent = [(word, count) for word, count in counts.items() if count > cutoff]
    if not frequent:
        raise ArgumentError(
            f"{where}: no word occurs more than {cutoff} times, of {len(counts)} words; use a lower number"
        )
    frequent.sort(key=lambda pair: (-pair[1], pair[0] if isinstance(pair[0], bytes) else pair[0].encode()))
    found = {word: n for n, (word, _) in enumerate(frequent)}
    found["<unk>"] = len(frequent)
    return found


class Imdb(Dataset):
    """Items are (numbers of the words [length], label [1]), where 0 praises and 1 blames.

    Args:
        data_file: the archive ``aclImdb_v1.tar.gz``; by default the one on this machine, else a download.
        mode: ``'train'`` or ``'test'``.
        cutoff: words that occur more often, in both parts, have numbers; all others have the last one.
        download: fetch the archive where it is absent.

    ``word_idx`` has the number of each word, in bytes.

    Raises:
        ConditionError: another mode; no file and no download.
        ArgumentError: no word occurs more than ``cutoff`` times.
        AbsentError, DataError, FormatError: the archive is absent, unreadable, damaged.
    """

    def __init__(
        self,
        data_file: str | os.PathLike[str] | None = None,
        mode: str = "train",
        cutoff: int = 150,
        download: bool = True,
    ) -> None:
        self.mode = chosen("Imdb", "mode", mode, ("train", "test"))
        self.data_file = located("Imdb", "data_file", data_file, SOURCE, download)
        reviews = [
            (match[1], match[2], words)
            for name, words in documents(self.data_file, _REVIEW)
            if (match := _REVIEW.match(name))
        ]
        counts = Counter(word for _, _, words in reviews for word in words)
        self.word_idx = numbered("Imdb", counts, cutoff)
        unknown = self.word_idx["<unk>"]
        self.docs: list[list[int]] = []
        self.labels: list[int] = []
        for label, wanted in enumerate(("pos", "neg")):
            for part, kind, words in reviews:
                if part == self.mode and kind == wanted:
                    self.docs.append([self.word_idx.get(word, unknown) for word in words])
                    self.labels.append(label)

    def __getitem__(self, idx: int) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.docs[idx]), np.array([self.labels[idx]])

    def __len__(self) -> int:
        return len(self.docs)


def documents(data_file: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, list[bytes]]]:
    """Names and words, without punctuation, of the texts in the archive whose names match ``pattern``."""
    for name, text in tar_files(data_file, lambda name: bool(pattern.match(name))):
        yield name, text.rstrip(b"\n\r").translate(None, _PUNCTUATION).lower().split()
