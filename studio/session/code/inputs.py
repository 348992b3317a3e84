"""The input of a dry run as it is typed (``N, 1, 28, 28``, ``N, 10 int64; N, 3, 32, 32``), or by settings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from resources.settings import SETTINGS

if TYPE_CHECKING:
    from studio.session.train.run_settings import RunSettings

# Shape and dtype; None where any size goes.
Input = tuple[tuple[int | None, ...], str]

DTYPES = ("float32", "float64", "float16", "int32", "int64", "bool")
MOST_NUMBERS = 100_000_000
_ANY = ("n", "?", "-1", "none")


def fed_by(settings: RunSettings, model: str) -> dict[str, Any]:
    """The settings that say what is fed, and with what arguments ``model`` is made; what is wrong with others
    is for the page Train."""
    found = {
        name: value
        for name, value in settings.as_dict().items()
        if name == "data" or SETTINGS[name].group == "data"
    }
    # Empty too: choosing the class as the model of the settings does not start another dry run.
    return {**found, "model_params": settings.model_params if settings.model == model else {}}


def parse_inputs(text: str) -> list[Input]:
    """The inputs that a text names, one after another, parted by ``;``; none for an empty text.

    Raises:
        ValueError: what is wrong, with the part that is, in words for the person who typed it.
    """
    return [_input(part.strip()) for part in text.split(";") if part.strip()]


def _input(part: str) -> Input:
    sizes, dtype = part.strip("[]() "), "float32"
    head, _, last = sizes.rpartition(" ")
    if last.strip("]) ").isidentifier() and last.lower() not in _ANY:
        sizes, dtype = head.strip("[](), "), last
    if dtype not in DTYPES:
        raise ValueError(f"{part}: no such dtype: {dtype}; take one of {', '.join(DTYPES)}")
    shape = tuple(_size(word, part) for word in re.split(r"[\s,x\u00d7]+", sizes.strip()) if word)
    numbers = 1
    for size in shape:
        numbers *= size or 1
    if not shape or numbers > MOST_NUMBERS:
        raise ValueError(f"{part}: no shape of at most {MOST_NUMBERS:,} numbers; write it as N, 1, 28, 28")
    return shape, dtype


def _size(word: str, part: str) -> int | None:
    if word.lower() in _ANY:
        return None
    if not word.isdecimal() or not 0 < int(word) <= MOST_NUMBERS:
        raise ValueError(f"{part}: not a size: {word}; write an integer above 0, or N for any")
    return int(word)
