"""Reads the words of the command train where they are plain, without typer.

Typer needs as long to build and read fifty options as NumPy's import takes. Whatever is not plain is left to
it: help, mistakes, abbreviations, an option given twice, numbers in another form than Python's ordinary one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from resources.settings import RUN_SETTINGS

# The options of train that are not settings: flag, name, kind, default. A test compares them with typer's.
OWN = (
    ("--out", "out", "str", ""),
    ("--resume", "resume", "flag", False),
    ("--stop-after", "stop_after", "count", 0),
    ("--trust", "trust", "flag", False),
    ("--json", "as_json", "flag", False),
)
_SETTINGS = [setting for setting in RUN_SETTINGS.values() if setting.group != "window"]
_LISTS = ("parameters", "patterns")
_NUMBERS = {
    "int": re.compile(r"-?[0-9]{1,18}"),
    "count": re.compile(r"[0-9]{1,18}"),
    "float": re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?(e-?[0-9]{1,2})?"),
}


def read_words(words: Sequence[str]) -> dict[str, Any] | None:
    """What :func:`studio.cli.train.train_command.carry_out` takes; None where typer must read ``words``."""
    kinds: dict[str, tuple[str, str, Any]] = {flag: (name, kind, True) for flag, name, kind, _ in OWN}
    for setting in _SETTINGS:
        if setting.kind == "bool":
            kinds[setting.flag] = setting.name, "flag", True
            kinds[setting.off_flag] = setting.name, "flag", False
        else:
            for flag in filter(None, (setting.flag, setting.alias and f"--{setting.alias}")):
                kinds[flag] = setting.name, setting.kind, None
    given: dict[str, Any] = {}
    rest = list(words)
    while rest:
        flag, equals, value = rest.pop(0).partition("=")
        name, kind, meant = kinds.get(flag, ("", "", None))
        if not name or (kind == "flag" and equals) or (name in given and kind not in _LISTS):
            return None
        if kind == "flag":
            given[name] = meant
            continue
        if not equals:
            if not rest or rest[0].startswith("-"):
                return None
            value = rest.pop(0)
        if kind in _NUMBERS and not _NUMBERS[kind].fullmatch(value):
            return None
        if kind in _LISTS:
            given.setdefault(name, []).append(value)
        else:
            given[name] = float(value) if kind == "float" else int(value) if kind in _NUMBERS else value
    own = {name: given.pop(name, default) for _, name, _, default in OWN}
    settings = {
        setting.name: given.get(setting.name, [] if setting.kind in _LISTS else setting.default)
        for setting in _SETTINGS
    }
    return {"settings": settings, "given": given, **own}
