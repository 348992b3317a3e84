"""The titles of columns of runs, in the language that holds now."""

from __future__ import annotations

from resources.words import tr
from studio.session.runs.table.columns import TITLE_TO_BEST


def column_title(title: str) -> str:
    """What a table, a list or an axis calls the column of an English ``title``."""
    measure = title.removesuffix(TITLE_TO_BEST)
    return tr(title) if measure == title else tr("{0}, to best").format(tr(measure))
