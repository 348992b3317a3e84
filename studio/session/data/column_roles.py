"""The role of a column of a table, as a change of the settings target, exclude and include."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from studio.session.data.data_view import ColumnView
from studio.session.train.run_settings import RunSettings

ROLES = ("input", "target", "excluded")


def with_role(settings: RunSettings, columns: Sequence[ColumnView], name: str, role: str) -> dict[str, Any]:
    """The settings, by name, that give the column this role; the other columns stay as they are.

    A target takes the place of those chosen before.
    """
    targets = [column.name for column in columns if column.role == "target" and column.name != name]
    exclude = _without(settings.exclude, name, columns)
    include = _without(settings.include, name, columns)
    if role == "target":
        return {"label_name": name, "exclude": exclude, "include": include}
    changes: dict[str, Any] = {"label_name": ", ".join(targets)} if targets else {}
    if role == "excluded":
        return {**changes, "exclude": (*exclude, name), "include": include}
    column = next(each for each in columns if each.name == name)
    detected = column.role == "excluded" and not _fits(name, settings.exclude)
    return {**changes, "exclude": exclude, "include": (*include, name) if detected else include}


def _without(patterns: Sequence[str], name: str, columns: Sequence[ColumnView]) -> tuple[str, ...]:
    """The patterns, none of which fits the column: one that did becomes the names of the others it fits."""
    found: list[str] = []
    for pattern in patterns:
        if not _fits(name, (pattern,)):
            found.append(pattern)
        elif pattern != name:
            found += [each.name for each in columns if each.name != name and _fits(each.name, (pattern,))]
    return tuple(dict.fromkeys(found))


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(name == pattern or fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)
