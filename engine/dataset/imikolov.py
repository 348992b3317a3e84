"""The Penn Treebank as readers of tuples of numbers of words: neighbours, or a sentence and what follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.core.errors import ConditionError
from engine.files.data.archives import lines_of
from engine.reader.decorator import Reader
from engine.text.datasets import imikolov
from engine.text.datasets.sources import present

__all__ = ["DataType", "build_dict", "fetch", "test", "train"]


class DataType:
    """What an item is: ``NGRAM``, n neighbours, or ``SEQ``, a sentence behind its start and before its
    end."""

    NGRAM = 1
    SEQ = 2


_KINDS = {DataType.NGRAM: "NGRAM", DataType.SEQ: "SEQ"}


def _archive() -> str:
    return present("dataset.imikolov", imikolov.SOURCE)


def build_dict(min_word_freq: int = 50) -> dict[Any, int]:
    """The numbers of the words that occur more often, in bytes but for ``'<s>'``, ``'<e>'`` and ``'<unk>'``.

    The archive is looked for as by ``text.Imikolov``; nothing is downloaded. Raises AbsentError where it is
    missing.
    """
    lines = [line for part in imikolov.parts(_archive(), "train", "valid") for line in lines_of(part)]
    return imikolov.word_numbers("dataset.imikolov", lines, min_word_freq)


def train(word_idx: Mapping[Any, int], n: int, data_type: int = DataType.NGRAM) -> Reader:
    """The training part in items of ``n`` words, or of at most ``n`` where that is above 0 for ``SEQ``.

    The archive is read by this call, whose errors are those of ``build_dict``; also ConditionError for an
    ``n`` below 0 with ``NGRAM``, and for another ``data_type``.
    """
    return _reader("train", word_idx, n, data_type)


def test(word_idx: Mapping[Any, int], n: int, data_type: int = DataType.NGRAM) -> Reader:  # noqa: PT028
    """The validation part, as ``train`` gives its own."""
    return _reader("valid", word_idx, n, data_type)


def fetch() -> None:
    """Check that the archive is where the readers look for it."""
    _archive()


def _reader(part: str, word_idx: Mapping[Any, int], n: int, data_type: int) -> Reader:
    if data_type not in _KINDS:
        raise ConditionError(
            f"dataset.imikolov: Unknown data type {data_type!r}; use DataType.NGRAM or DataType.SEQ"
        )
    if data_type == DataType.NGRAM and not n > -1:
        raise ConditionError(f"dataset.imikolov: Invalid gram length {n}; use 0 or more")
    [data] = imikolov.parts(_archive(), part)

    def reader() -> Iterator[tuple[Any, ...]]:
        return imikolov.items("dataset.imikolov", lines_of(data), word_idx, n, _KINDS[data_type])

    return reader
