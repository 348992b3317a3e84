"""WMT16 as readers of (source, target behind its start, target before its end), lists of numbers of words."""

from __future__ import annotations

from collections.abc import Iterator

from engine.core.errors import ArgumentError
from engine.reader.decorator import Reader
from engine.text.datasets import WMT16

__all__ = ["fetch", "get_dict", "test", "train", "validation"]

_LANGUAGES = ("en", "de")


class _Pairs(WMT16):
    """Sentences whose target language has a dictionary of its own, unlike in ``text.WMT16``."""

    def _target_column(self, column: int) -> int:
        return 1 - column


def train(src_dict_size: int, trg_dict_size: int, src_lang: str = "en") -> Reader:
    """The training part: three lists of the numbers of words, from dictionaries of these sizes.

    The archive is found, or downloaded, as by ``text.WMT16``; its errors are those of this call. Raises
    ArgumentError for a language other than ``'en'`` and ``'de'``.
    """
    return _reader("train", src_dict_size, trg_dict_size, src_lang)


def test(  # the name is Paddle's
    src_dict_size: int,
    trg_dict_size: int,
    src_lang: str = "en",  # noqa: PT028
) -> Reader:
    """The test part, as ``train`` gives its own."""
    return _reader("test", src_dict_size, trg_dict_size, src_lang)


def validation(src_dict_size: int, trg_dict_size: int, src_lang: str = "en") -> Reader:
    """The validation part, as ``train`` gives its own."""
    return _reader("val", src_dict_size, trg_dict_size, src_lang)


def get_dict(lang: str, dict_size: int, reverse: bool = False) -> dict[str, int] | dict[int, str]:
    """The numbers of the words of ``lang``, or with ``reverse`` the words by their numbers."""
    found = _Pairs(mode="test", src_dict_size=dict_size, trg_dict_size=1, lang=_known(lang)).src_dict
    return {number: word for word, number in found.items()} if reverse else found


def fetch() -> None:
    """Put the archive where the readers find it, unless it is there."""
    _Pairs(mode="test", src_dict_size=3, trg_dict_size=3)


def _known(lang: str) -> str:
    if lang not in _LANGUAGES:
        raise ArgumentError(
            f"dataset.wmt16: an error language type: {lang!r}; use 'en' for English, 'de' for German"
        )
    return lang


def _reader(mode: str, source_size: int, target_size: int, lang: str) -> Reader:
    pairs = _Pairs(mode=mode, src_dict_size=source_size, trg_dict_size=target_size, lang=_known(lang))

    def reader() -> Iterator[tuple[list[int], list[int], list[int]]]:
        for index in range(len(pairs)):
            source, target, following = pairs[index]
            yield source.tolist(), target.tolist(), following.tolist()

    return reader
