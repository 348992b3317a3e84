"""WMT14 as readers of (source, target behind its start, target before its end), lists of numbers of words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.reader.decorator import Reader
from engine.text.datasets import WMT14, translation
from engine.text.datasets.sources import present

__all__ = ["fetch", "gen", "get_dict", "test", "train"]


def train(dict_size: int) -> Reader:
    """The training part: three lists of the numbers of words, the first ``dict_size`` of the archive's
    dictionaries.

    The archive is looked for as by ``text.WMT14``; nothing is downloaded. Raises AbsentError where it is
    missing, and the errors of ``text.WMT14``.
    """
    return _reader("train", dict_size)


def test(dict_size: int) -> Reader:
    """The test part, as ``train`` gives its own."""
    return _reader("test", dict_size)


def gen(dict_size: int) -> Reader:
    """The part for generation, as ``train`` gives its own."""
    return _reader("gen", dict_size)


def get_dict(dict_size: int, reverse: bool = True) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """The words of the source and of the target by number, or without ``reverse`` the numbers of the
    words."""
    return _pairs("test", dict_size).get_dict(reverse)


def fetch() -> None:
    """Check that the archive is where the readers look for it."""
    present("dataset.wmt14", translation.WMT14_SOURCE)


def _pairs(mode: str, dict_size: int) -> WMT14:
    return WMT14(present("dataset.wmt14", translation.WMT14_SOURCE), mode, dict_size)


def _reader(mode: str, dict_size: int) -> Reader:
    pairs = _pairs(mode, dict_size)

    def reader() -> Iterator[tuple[list[int], list[int], list[int]]]:
        return zip(pairs.src_ids, pairs.trg_ids, pairs.trg_ids_next, strict=True)

    return reader
