"""What a user chooses before a training, as typed values for project files, forms and the worker's job."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from pydantic import ConfigDict, model_validator
from pydantic.dataclasses import dataclass
from pydantic_core import ArgsKwargs

from resources import compiling
from resources.processes import missing
from resources.settings import (
    RULES_OF,
    SETTINGS,
    SUGGESTED,
    Settings,
    as_recorded,
    optimizers,
    problems,
    rule_of,
    with_tuples,
)

_PAIRS = (("optimizer", "optimizer_params"), ("schedule", "schedule_params"))


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True))
class RunSettings(Settings):
    """The settings of a training, of the declared types; their ranges are checked by ``setting_problems``.

    Raises:
        ValidationError (a ValueError): a value of the wrong type, or an unknown setting.
    """

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, values: Any) -> Any:
        """Settings of a file that an earlier version wrote keep their meaning."""
        if isinstance(values, dict):
            return as_recorded(values)
        if isinstance(values, ArgsKwargs):
            return ArgsKwargs(values.args, with_tuples(values.kwargs or {}))
        return values

    def as_dict(self) -> dict[str, Any]:
        """All settings as plain values."""
        return asdict(self)

    def as_config(self, out: str) -> dict[str, Any]:
        """The values of a TrainingConfig that writes into ``out``."""
        given = self.given if self.network == "auto" else ()
        return {**self.as_dict(), "given": given, "model": self.network, "out": out}

    @property
    def network(self) -> str:
        """The model, as far as it is known without the data: ``auto`` is LeNet for built-in data."""
        built_in = self.data in dict(SETTINGS["data"].choices)
        return "lenet" if self.model == "auto" and built_in else self.model

    def is_open(self, name: str) -> bool:
        """Whether a suggestion chooses this setting, or this parameter, for the next run."""
        names = next((pair for pair in _PAIRS if name.partition(".")[0] in pair), (name,))
        return self.network == "auto" and all(
            each in SUGGESTED and each not in self.given and getattr(self, each) == SETTINGS[each].default
            for each in names
        )

    def changed(self, name: str, value: Any) -> RunSettings:
        """A copy with one setting, or one parameter such as ``optimizer_params.beta1``, replaced.

        None leaves a setting to the suggestion. A parameter that gets its default is left out, so that it
        follows the optimizer's own. With another optimizer or schedule its parameters begin anew: those that
        have no default get a value to start from.

        Raises:
            ValueError: no such setting, or a value of the wrong type.
        """
        whole, _, parameter = name.partition(".")
        if whole not in SETTINGS:
            raise ValueError(f"settings: no such setting: {name!r}; the settings are {', '.join(SETTINGS)}")
        if parameter:
            name, value = whole, self._with_parameter(whole, parameter, value)
        given = tuple(each for each in self.given if each != whole)
        if whole in SUGGESTED and not parameter:
            if value is None:
                value = SETTINGS[whole].default
            elif self.network == "auto" and value == SETTINGS[whole].default:
                given = (*given, whole)
        changes: dict[str, Any] = {name: value, "given": given}
        for parameters, (chooser, _) in RULES_OF.items():
            if name == chooser and value != getattr(self, name):
                rule = rule_of(parameters, value)
                changes[parameters] = rule.starting_values() if rule is not None else {}
        return replace(self, **changes)

    def _with_parameter(self, whole: str, parameter: str, value: Any) -> dict[str, Any]:
        rule = rule_of(whole, getattr(self, RULES_OF[whole][0]))
        setting = rule.parameter(parameter) if rule is not None else None
        values = {**getattr(self, whole), parameter: value}
        if setting is not None and not setting.required and value == setting.default:
            del values[parameter]
        return values

    @property
    def user_file(self) -> str:
        """The user's own Python file, empty for a built-in model."""
        path, separator, _ = self.model.rpartition(":")
        return path if separator else ""


def setting_problems(settings: RunSettings) -> dict[str, str]:
    """What is wrong, by setting or parameter: ``what: value seen; what to do``.

    Imports the engine where a schedule is chosen: only the schedule knows whether its parameters fit each
    other.
    """
    values = settings.as_dict()
    found = problems(values)
    why = missing() if settings.workers > 1 and "workers" not in found else ""
    if why:
        found["workers"] = f"more than one needs MPI: {why}, or take 1"
    why = compiling.missing() if settings.kernels == "fast" and "kernels" not in found else ""
    if why:
        found["kernels"] = f"compiled ones can't be made: {why}, or choose Automatic"
    if found or not settings.schedule_params:
        return found
    from engine.training.config import setting_problems as thorough

    return thorough(values)


def title_of_setting(name: str) -> str:
    """The title of a setting or parameter, as the form shows it."""
    whole, _, parameter = name.partition(".")
    if parameter:
        return parameter.replace("_", " ").capitalize()
    return SETTINGS[whole].title if whole in SETTINGS else name


@lru_cache(4096)
def title_of(value: str) -> str:
    """The title of a built-in choice, or the last part of a path."""
    for name in ("data", "model", "optimizer", "device"):
        for choice, title in SETTINGS[name].choices:
            if choice == value:
                return title
    return value.replace("\\", "/").rpartition("/")[2] or value


def summary_of_update(config: dict[str, Any]) -> str:
    """Optimizer, rate and schedule of a run in a few words: ``Momentum, 0.01, step_decay``."""
    name = str(config.get("optimizer", ""))
    rule = optimizers().get(name)
    words = [rule.title if rule is not None else name, str(config.get("learning_rate", ""))]
    schedule = str(config.get("schedule", "constant"))
    return ", ".join(words + ([schedule] if schedule != "constant" else []))
