"""Suggested settings as lines and as a command line."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from resources.settings import RUN_SETTINGS, Setting
from resources.settings.setting import words_of

if TYPE_CHECKING:
    from engine.training.suggesting.suggest import Suggestion


def suggested_settings(found: Suggestion) -> list[str]:
    """One line for each setting that was chosen: its value and the reason."""
    return [
        f"{each.setting.replace('_', ' ')}: {_written(each.value)} ({each.reason})" for each in found.choices
    ]


def train_command(found: Suggestion) -> str:
    """The command that trains with the suggested settings."""
    return shlex.join(["model-studio", "train", *words_of(RUN_SETTINGS, found.config.as_dict())])


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={Setting.write(each)}" for name, each in value.items())
    return Setting.write(value)
