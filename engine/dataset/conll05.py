"""CoNLL-2005 as a reader of nine lists over the words of a sentence, for one of its verbs; see
``text.Conll05st``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.reader.decorator import Reader
from engine.text.datasets import Conll05st, conll05
from engine.text.datasets.sources import present

__all__ = ["fetch", "get_dict", "get_embedding", "test"]

_DICTIONARIES = ("word_dict_file", "verb_dict_file", "target_dict_file")


def get_dict() -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """The numbers of words, of verbs and of labels; labels are numbered as they first occur.

    The files are looked for as by ``text.Conll05st``; nothing is downloaded. Raises AbsentError where one is
    missing.
    """
    return conll05.dictionaries(*map(_path, _DICTIONARIES))


def get_embedding() -> str:
    """The path of the file of embeddings."""
    return _path("emb_file")


def test() -> Reader:
    """The test part, which stands for the training part, as that is not free."""
    words, verbs, labels = map(_path, _DICTIONARIES)
    data = Conll05st(_path("data_file"), words, verbs, labels, emb_file="")

    def reader() -> Iterator[tuple[list[Any], ...]]:
        for index in range(len(data)):
            yield tuple(each.tolist() for each in data[index])

    return reader


def fetch() -> None:
    """Check that all files are where the readers look for them."""
    for name in conll05.SOURCES:
        _path(name)


def _path(name: str) -> str:
    return present("dataset.conll05", conll05.SOURCES[name])
