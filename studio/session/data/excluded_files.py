"""Files of a folder of images as patterns of the setting ``exclude``."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase


def with_files(exclude: Sequence[str], files: Iterable[str]) -> tuple[str, ...]:
    """The patterns, and one for each of the files.

    What would separate patterns where they are typed, or can't be shown, becomes a ``?``.
    """
    return tuple(dict.fromkeys((*exclude, *map(_pattern, files))))


def without_files(exclude: Sequence[str], files: Iterable[str]) -> tuple[str, ...]:
    """The patterns without those that exclude one of the files."""
    names = [(file, _pattern(file)) for file in files]
    return tuple(
        pattern
        for pattern in exclude
        if not any(pattern in pair or fnmatchcase(pair[0], pattern) for pair in names)
    )


def _pattern(file: str) -> str:
    return "".join(
        "?" if each.isspace() or each == "," or not each.isprintable() else each for each in glob.escape(file)
    )
