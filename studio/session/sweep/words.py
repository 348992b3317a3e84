"""Settings as the words of ``model-studio train``, for child processes and for people to type."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from resources.settings import RUN_SETTINGS
from resources.settings.setting import words_of


def setting_words(settings: Mapping[str, Any]) -> list[str]:
    """Options and values for all settings that differ from their defaults."""
    return words_of(RUN_SETTINGS, settings)


def command(settings: Mapping[str, Any], out: str) -> str:
    """The command that trains with these settings alone."""
    return shlex.join(["model-studio", "train", *setting_words(settings), "--out", out])
