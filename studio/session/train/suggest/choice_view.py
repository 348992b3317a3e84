"""ChoiceView: a suggested setting with its reason, as the window shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from resources.settings import SETTINGS, Setting
from studio.session.train.run_settings import RunSettings, title_of


@dataclass(frozen=True)
class ChoiceView:
    """A setting that was chosen, its value, and why."""

    setting: str
    value: Any
    reason: str

    @property
    def text(self) -> str:
        """The value in words."""
        return value_words(self.setting, self.value)


def value_words(name: str, value: Any) -> str:
    """A value of the setting ``name`` for people: the title of a choice, or numbers."""
    if isinstance(value, dict):
        return ", ".join(f"{each} {Setting.write(part)}" for each, part in value.items())
    for choice, title in SETTINGS[name].choices if name in SETTINGS else ():
        if value == choice:
            return str(title)
    return title_of(value) if isinstance(value, str) else Setting.write(value)


def with_choices(settings: RunSettings, choices: Iterable[ChoiceView]) -> RunSettings:
    """``settings`` with what is suggested for them."""
    # A parameter means something with its optimizer, schedule or network only: those come first.
    for each in sorted(choices, key=lambda each: each.setting.endswith("_params")):
        settings = settings.changed(each.setting, each.value)
    return settings
