"""The Penn Treebank as Mikolov prepared it: sentences for language models."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ConditionError
from engine.files.data.archives import lines_of, tar_file
from engine.io.dataset import Dataset
from engine.text.datasets.imdb import numbered
from engine.text.datasets.sources import Source, chosen, located

_SOURCE = Source(
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
        self.data_file = located("Imikolov", "data_file", data_file, _SOURCE, download)
        names = ("train", "valid", self.mode)
        training, validation, chosen_part = tar_file(self.data_file, *(_FILE.format(n) for n in names))
        counts: Counter[Any] = Counter()
        for line in (*lines_of(training), *lines_of(validation)):
            counts.update([*line.split(), "<s>", "<e>"])
        self.word_idx = numbered("Imikolov", counts, min_word_freq)
        self.data: list[tuple[Any, ...]] = []
        for line in lines_of(chosen_part):
            self._add(line.split())

    def _add(self, words: list[Any]) -> None:
        unknown, size = self.word_idx["<unk>"], self.window_size
        if self.data_type == "NGRAM":
            if not size > -1:
                raise ConditionError(f"Imikolov: window_size must be 0 or more for NGRAM: got {size}; set it")
            ids = [self.word_idx.get(word, unknown) for word in ("<s>", *words, "<e>")]
            self.data += [tuple(ids[i - size : i]) for i in range(size, len(ids) + 1)]
            return
        if "<s>" not in self.word_idx:
            raise ArgumentError(
                f"Imikolov: no more than min_word_freq {self.min_word_freq} sentences; use a lower number"
            )
        ids = [self.word_idx.get(word, unknown) for word in words]
        source = [self.word_idx["<s>"], *ids]
        if not (size > 0 and len(source) > size):
            self.data.append((source, [*ids, self.word_idx["<e>"]]))

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        return tuple(np.array(part) for part in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)
