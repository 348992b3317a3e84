"""IMDB as readers of (numbers of the words of a review, 0 for praise or 1 for blame)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from engine.reader.decorator import Reader
from engine.text.datasets import imdb
from engine.text.datasets.sources import present

__all__ = ["build_dict", "fetch", "test", "tokenize", "train", "word_dict"]

_CUTOFF = 150


def _archive() -> str:
    return present("dataset.imdb", imdb.SOURCE)


def tokenize(pattern: re.Pattern[str]) -> Iterator[list[bytes]]:
    """The words of each review in the archive whose name matches ``pattern``, without punctuation.

    The archive is looked for as by ``text.Imdb``; nothing is downloaded. Raises AbsentError where it is
    missing.
    """
    for _, words in imdb.documents(_archive(), pattern):
        yield words


def build_dict(pattern: re.Pattern[str], cutoff: int) -> dict[Any, int]:
    """The numbers of the words that occur more than ``cutoff`` times, in bytes, and of ``'<unk>'``, the
    last one."""
    counts = Counter(word for words in tokenize(pattern) for word in words)
    return imdb.numbered("dataset.imdb", counts, cutoff)


def word_dict() -> dict[Any, int]:
    """``build_dict`` of all reviews, for words that occur more than 150 times."""
    return build_dict(re.compile(r"aclImdb/((train)|(test))/((pos)|(neg))/.*\.txt$"), _CUTOFF)


def train(word_idx: Mapping[Any, int]) -> Reader:
    """The reviews of the training part, those of praise first, with the numbers ``word_idx``.

    The archive is read by this call, whose errors are those of ``tokenize``.
    """
    return _reader("train", word_idx)


def test(word_idx: Mapping[Any, int]) -> Reader:
    """The reviews of the test part, as ``train`` gives its own."""
    return _reader("test", word_idx)


def fetch() -> None:
    """Check that the archive is where the readers look for it."""
    _archive()


def _reader(part: str, word_idx: Mapping[Any, int]) -> Reader:
    unknown = word_idx["<unk>"]
    found = [
        ([word_idx.get(word, unknown) for word in words], label)
        for label, kind in enumerate(("pos", "neg"))
        for words in tokenize(re.compile(rf"aclImdb/{part}/{kind}/.*\.txt$"))
    ]
    return lambda: iter(found)
