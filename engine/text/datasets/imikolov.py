"""The Penn Treebank as Mikolov prepared it: sentences for language models."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ConditionError
from engine.files.data.archives import lines_of, tar_file
from engine.io.dataset import Dataset
from engine.text.datasets.imdb import numbered
from engine.text.datasets.sources import Source, chosen, located

SOURCE = Source(
    "imikolov",
    "https://dataset.bj.bcebos.com/imikolov%2Fsimple-examples.tgz",
    "30177ea32e27c525793142b6bf2c8e2d",
)
_FILE = "simple-examples/data/ptb.{}.txt"


class Imikolov(Dataset):
    """Items are tuples of numbers of words: ``window_size`` neighbours, or a sentence and what follows.

    Args:
        data_file: the archive ``simple-examples.tgz``; by default the one on this machine, else a download.
        data_type: ``'NGRAM'``, or ``'SEQ'``: a sentence behind ``<s>``, and the sentence before ``<e>``.
        window_size: words in an item of ``'NGRAM'``; the most words of ``'SEQ'``, where it is above 0.
        mode: ``'train'`` or ``'test'``.
        min_word_freq: words that occur more often have numbers; all others have the last one.
        download: fetch the archive where it is absent.

    ``word_idx`` has the number of each word, in bytes but for ``'<s>'``, ``'<e>'`` and ``'<unk>'``.

    Raises:
        ConditionError: another mode or type; no window; no file and no download.
        ArgumentError: no word occurs so often.
        AbsentError, DataError, FormatError: the archive is absent, unreadable, not the right one.
    """

    def __init__(
        self,
        data_file: str | os.PathLike[str] | None = None,
        data_type: str = "NGRAM",
        window_size: int = -1,
        mode: str = "train",
        min_word_freq: int = 50,
        download: bool = True,
    ) -> None:
        self.data_type = chosen("Imikolov", "data_type", data_type, ("NGRAM", "SEQ"), upper=True)
        self.mode = chosen("Imikolov", "mode", mode, ("train", "test"))
        self.window_size = window_size
        self.min_word_freq = min_word_freq
        self.data_file = located("Imikolov", "data_file", data_file, SOURCE, download)
        names = ("train", "valid", self.mode)
        training, validation, chosen_part = (lines_of(data) for data in parts(self.data_file, *names))
        self.word_idx = word_numbers("Imikolov", [*training, *validation], min_word_freq)
        self.data = list(items("Imikolov", chosen_part, self.word_idx, window_size, self.data_type))

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        return tuple(np.array(part) for part in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)


def parts(data_file: str, *names: str) -> list[bytes]:
    """The texts ``names`` of the archive, such as ``'train'``: a sentence a line."""
    return tar_file(data_file, *(_FILE.format(name) for name in names))


def word_numbers(where: str, lines: Iterable[bytes], min_word_freq: int) -> dict[Any, int]:
    """The numbers of the words that occur more often; each line also has a start and an end."""
    counts: Counter[Any] = Counter()
    for line in lines:
        counts.update([*line.split(), "<s>", "<e>"])
    return numbered(where, counts, min_word_freq)


def items(
    where: str, lines: Iterable[bytes], word_idx: Mapping[Any, int], size: int, kind: str
) -> Iterator[tuple[Any, ...]]:
    """``size`` neighbours of a sentence with start and end (NGRAM), or the words behind the start and before
    the end (SEQ), at most ``size`` of them where that is above 0.

    Raises ConditionError for neighbours of a negative size, ArgumentError where the start has no number.
    """
    if kind == "NGRAM" and not size > -1:
        raise ConditionError(f"{where}: window_size must be 0 or more for NGRAM: got {size}; set it")
    if kind == "SEQ" and "<s>" not in word_idx:
        raise ArgumentError(f"{where}: the start <s> is too rare to have a number; use a lower min_word_freq")
    unknown = word_idx["<unk>"]
    for line in lines:
        ids = [word_idx.get(word, unknown) for word in line.split()]
        if kind == "NGRAM":
            ids = [word_idx.get("<s>", unknown), *ids, word_idx.get("<e>", unknown)]
            yield from (tuple(ids[i - size : i]) for i in range(size, len(ids) + 1))
        elif not 0 < size < len(ids) + 1:
            yield [word_idx["<s>"], *ids], [*ids, word_idx["<e>"]]
