"""The optimizers and learning rate schedules that a run can use, with their parameters, from rules.json.

The file is made from the constructors of the engine by ``python -m docs.settings``; a test compares the two.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from resources.settings.setting import Setting
from resources.words import marked

CONSTANT = "constant"
FILE = Path(__file__).with_name("rules.json")


@dataclass(frozen=True)
class Rule:
    """An optimizer or a schedule: its name in settings, its class in the engine, and what it can be given.

    Args:
        rate: the parameter that takes the learning rate of the run; empty where there is none.
        each: how often a schedule moves on where that is left open: ``batch`` or ``epoch``.
        clips: whether an optimizer can clip gradients.
        measures: whether a schedule follows a value that is measured at the end of an epoch.
    """

    name: str
    title: str
    class_name: str
    help: str
    parameters: tuple[Setting, ...]
    rate: str = "learning_rate"
    each: Literal["batch", "epoch"] = "epoch"
    clips: bool = True
    measures: bool = False

    def parameter(self, name: str) -> Setting | None:
        """The parameter of that name; None where there is none."""
        return next((setting for setting in self.parameters if setting.name == name), None)

    def starting_values(self) -> dict[str, Any]:
        """A value for each required parameter, to start from."""
        return {setting.name: setting.default for setting in self.parameters if setting.required}


NO_SCHEDULE = Rule(CONSTANT, marked("Constant"), "", marked("The learning rate stays as it is."), ())


@cache
def optimizers() -> dict[str, Rule]:
    """The optimizers by name."""
    return {rule.name: rule for rule in _read("optimizers")}


@cache
def schedules() -> dict[str, Rule]:
    """The learning rate schedules by name; ``constant`` is the first."""
    return {rule.name: rule for rule in (NO_SCHEDULE, *_read("schedules"))}


def _read(sort: str) -> list[Rule]:
    return [
        Rule(**{**plain, "parameters": tuple(map(Setting.from_plain, plain["parameters"]))})
        for plain in json.loads(FILE.read_text(encoding="utf-8"))[sort]
    ]
