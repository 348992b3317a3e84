"""Pairs of sentences in two languages: WMT 2014 (English, French) and WMT 2016 (English, German)."""

from __future__ import annotations

import os
from collections import Counter
from itertools import islice
from typing import Any

import numpy as np

from engine.core.errors import ConditionError, FormatError
from engine.files.data.archives import lines_of, tar_file, tar_files, text_lines
from engine.io.dataset import Dataset
from engine.text.datasets.sources import Source, chosen, located

WMT14_SOURCE = Source(
    "wmt14", "http://paddlemodels.bj.bcebos.com/wmt/wmt14.tgz", "0791583d57d5beb693b9414c5b36798c"
)
_WMT16 = Source(
    "wmt16", "http://paddlemodels.bj.bcebos.com/wmt/wmt16.tar.gz", "0c38be43600334966403524a40dcd81e"
)
_START, _END, _UNKNOWN = "<s>", "<e>", "<unk>"
_UNKNOWN_14 = 2
_LONGEST_14 = 80
_WORDS_16 = {"en": 11250, "de": 19220}  # in the whole data set


class _Pairs(Dataset):
    """Items are numbers of words: the source, the target behind its start, the target before its end."""

    def __init__(self) -> None:
        self.src_ids: list[list[int]] = []
        self.trg_ids: list[list[int]] = []
        self.trg_ids_next: list[list[int]] = []

    def _add(self, source: list[int], target: list[int], start: int, end: int) -> None:
        self.src_ids.append(source)
        self.trg_ids.append([start, *target])
        self.trg_ids_next.append([*target, end])

    def __getitem__(self, idx: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.array(self.src_ids[idx]), np.array(self.trg_ids[idx]), np.array(self.trg_ids_next[idx])

    def __len__(self) -> int:
        return len(self.src_ids)


class WMT14(_Pairs):
    """Items are (source, target behind its start, target before its end), as numbers of words.

    Pairs with a sentence of more than 80 words (start and end of the source count) are skipped.

    Args:
        data_file: the archive ``wmt14.tgz`` that Paddle made; by default the one on this machine, else a
            download.
        mode: ``'train'``, ``'test'`` or ``'gen'``.
        dict_size: words that have numbers, the first of the archive's dictionaries; above 0.
        download: fetch the archive where it is absent.

    Raises:
        ConditionError: another mode or size; no file and no download.
        AbsentError, DataError, FormatError: the archive is absent, unreadable, not the right one.
    """

    def __init__(
        self,
        data_file: str | os.PathLike[str] | None = None,
        mode: str = "train",
        dict_size: int = -1,
        download: bool = True,
    ) -> None:
        super().__init__()
        self.mode = chosen("WMT14", "mode", mode, ("train", "test", "gen"))
        self.data_file = located("WMT14", "data_file", data_file, WMT14_SOURCE, download)
        _positive("WMT14", dict_size=dict_size)
        self.dict_size = dict_size
        ends = ("src.dict", "trg.dict", f"{self.mode}/{self.mode}")
        files = tar_files(self.data_file, lambda name: name.endswith(ends))
        self.src_dict, self.trg_dict = (self._dictionary(files, end) for end in ends[:2])
        for mark in (_START, _END):
            if mark not in self.trg_dict:
                raise FormatError(
                    f"{self.data_file}: {mark} is not among the first {dict_size} words of trg.dict; use a "
                    "larger dict_size"
                )
        for name, data in files:
            if name.endswith(ends[2]):
                for line in text_lines(self.data_file, data):
                    self._read(line)

    def _dictionary(self, files: list[tuple[str, bytes]], end: str) -> dict[str, int]:
        found = [data for name, data in files if name.endswith(end)]
        if len(found) != 1:
            raise FormatError(f"{self.data_file}: has {len(found)} files {end}, not 1; download it again")
        lines = text_lines(self.data_file, b"".join(islice(lines_of(found[0]), self.dict_size)))
        return {line.strip(): n for n, line in enumerate(lines)}

    def _read(self, line: str) -> None:
        parts = line.strip().split("\t")
        if len(parts) != 2:
            return
        source = [self.src_dict.get(w, _UNKNOWN_14) for w in (_START, *parts[0].split(), _END)]
        target = [self.trg_dict.get(w, _UNKNOWN_14) for w in parts[1].split()]
        if max(len(source), len(target)) <= _LONGEST_14:
            self._add(source, target, self.trg_dict[_START], self.trg_dict[_END])

    def get_dict(self, reverse: bool = False) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The numbers of the source's and of the target's words; with ``reverse`` the words of numbers."""
        if reverse:
            return _reversed(self.src_dict), _reversed(self.trg_dict)
        return self.src_dict, self.trg_dict


class WMT16(_Pairs):
    """Items are (source, target behind its start, target before its end), as numbers of words.

    The dictionaries are counted in the training part: start, end, unknown, then words by frequency. As in
    Paddle, both count the words of the column of the source language.

    Args:
        data_file: the archive ``wmt16.tar.gz``; by default the one on this machine, else a download.
        mode: ``'train'``, ``'test'`` or ``'val'``.
        src_dict_size: words of the source language that have numbers; above 0.
        trg_dict_size: those of the target language.
        lang: the source language, ``'en'`` or ``'de'``.
        download: fetch the archive where it is absent.

    Raises:
        ConditionError: another mode or size; no file and no download.
        AbsentError, DataError, FormatError: the archive is absent, unreadable, not the right one.
    """

    def __init__(
        self,
        data_file: str | os.PathLike[str] | None = None,
        mode: str = "train",
        src_dict_size: int = -1,
        trg_dict_size: int = -1,
        lang: str = "en",
        download: bool = True,
    ) -> None:
        super().__init__()
        self.mode = chosen("WMT16", "mode", mode, ("train", "test", "val"))
        self.data_file = located("WMT16", "data_file", data_file, _WMT16, download)
        self.lang = lang
        _positive("WMT16", src_dict_size=src_dict_size, trg_dict_size=trg_dict_size)
        words = (_WORDS_16["en"], _WORDS_16["de"])
        most_source, most_target = words if lang == "en" else words[::-1]
        self.src_dict_size = min(src_dict_size, most_source)
        self.trg_dict_size = min(trg_dict_size, most_target)
        column = 0 if lang == "en" else 1
        training, part = tar_file(self.data_file, "wmt16/train", f"wmt16/{self.mode}")
        pairs = self._pairs(training)
        self.src_dict = _numbered(pairs, column, self.src_dict_size)
        self.trg_dict = _numbered(pairs, self._target_column(column), self.trg_dict_size)
        start, end, unknown = (self.src_dict[mark] for mark in (_START, _END, _UNKNOWN))
        for pair in self._pairs(part):
            source = [self.src_dict.get(w, unknown) for w in pair[column].split()]
            target = [self.trg_dict.get(w, unknown) for w in pair[1 - column].split()]
            self._add([start, *source, end], target, start, end)

    def _pairs(self, data: bytes) -> list[list[str]]:
        split = [line.strip().split("\t") for line in text_lines(self.data_file, data)]
        return [pair for pair in split if len(pair) == 2]

    def _target_column(self, column: int) -> int:
        """The column whose words the dictionary of the target language counts: that of the source."""
        return column

    def get_dict(self, lang: str, reverse: bool = False) -> dict[str, int]:
        """The numbers of the words of ``lang``; ``reverse`` has no effect, as in Paddle."""
        return dict(self.src_dict if lang == self.lang else self.trg_dict)


def _numbered(pairs: list[list[str]], column: int, size: int) -> dict[str, int]:
    """The numbers of the marks, then of the words of a column by frequency, at most ``size`` in all."""
    counts = Counter(word for pair in pairs for word in pair[column].split())
    words = sorted(counts, key=lambda word: counts[word], reverse=True)
    # The three marks are always there: a size below three takes all words, as in Paddle.
    return {
        w: n for n, w in enumerate((_START, _END, _UNKNOWN, *(words[: size - 3] if size >= 3 else words)))
    }


def _positive(where: str, **sizes: int) -> None:
    for name, size in sizes.items():
        if not size > 0:
            raise ConditionError(f"{where}: {name} should be set as positive number: got {size}")


def _reversed(numbers: dict[str, int]) -> dict[int, str]:
    return {n: word for word, n in numbers.items()}
