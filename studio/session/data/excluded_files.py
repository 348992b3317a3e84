"""Files of a folder of images as patterns of the setting ``exclude``."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence


def with_files(exclude: Sequence[str], files: Iterable[str]) -> tuple[str, ...]:
    """The patterns, and one for each of the files.

    What would separate patterns where they are typed, or can't be shown, becomes a ``?``.
    """
    patterns = (
        "".join(
            "?" if each.isspace() or each == "," or not each.isprintable() else each
            for each in glob.escape(file)
        )
        for file in files
    )
    return tuple(dict.fromkeys((*exclude, *patterns)))
