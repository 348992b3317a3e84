"""Options of the command line in a message of the engine, replaced by what the window calls them."""

from __future__ import annotations

import re
from functools import cache

from resources.settings import RUN_SETTINGS
from resources.settings.export import EXPORT_SETTINGS
from resources.settings.quantize import QUANTIZE_SETTINGS

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*(?: [A-Z_]+\b)?")


def with_titles(message: str) -> str:
    """``message`` with the title of a setting in place of its option: ``choose it with Target``.

    A command between backticks stays.
    """
    if "--" not in message:
        return message
    pieces = message.split("`")
    pieces[::2] = [_OPTION.sub(_title, piece) for piece in pieces[::2]]
    return "`".join(pieces)


def _title(found: re.Match[str]) -> str:
    option = found.group().split()[0]
    return _titles().get(option) or option.removeprefix("--").replace("-", " ")


@cache
def _titles() -> dict[str, str]:
    titles = {}
    for settings in (EXPORT_SETTINGS, QUANTIZE_SETTINGS, RUN_SETTINGS):
        for each in settings.values():
            titles[each.flag] = each.title
            if each.alias:
                titles[f"--{each.alias}"] = each.title
    return titles
