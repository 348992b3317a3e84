"""Settings as the words of ``model-studio train``, for child processes and for people to type."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from resources.settings import RUN_SETTINGS, Setting


def setting_words(settings: Mapping[str, Any]) -> list[str]:
    """Options and values for all settings that differ from their defaults."""
    words: list[str] = []
    for name, setting in RUN_SETTINGS.items():
        value = settings[name]
        if value == setting.default:
            continue
        if name == "static":
            words.append("--static" if value else "--eager")
        elif setting.kind == "parameters":
            for parameter, each in value.items():
                words += [setting.flag, f"{parameter}={Setting.write(each)}"]
        else:
            words += [setting.flag, Setting.write(value)]
    return words


def command(settings: Mapping[str, Any], out: str) -> str:
    """The command that trains with these settings alone."""
    return shlex.join(["model-studio", "train", *setting_words(settings), "--out", out])
