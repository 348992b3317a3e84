"""Checks settings: each by itself, and the parameters by the optimizer or schedule they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from resources.settings.rules import Rule, optimizers, schedules
from resources.settings.run import RULES_OF, SETTINGS, rule_of
from resources.settings.setting import Setting


def problems(values: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with these settings, by name: ``what: value seen; what to do``.

    A parameter has the name ``optimizer_params.beta1``. Needs no engine; what an optimizer or schedule itself
    objects to (milestones that fall, say) shows only when it is made.
    """
    found = {name: SETTINGS[name].problem(value) for name, value in values.items()}
    found = {name: problem for name, problem in found.items() if problem}
    for name, (chooser, _) in RULES_OF.items():
        rule = rule_of(name, values.get(chooser))
        if rule is not None and name in values and name not in found:
            found.update(_parameter_problems(name, rule, values[name]))
    found.update(_conflicts(values, found))
    return found


def _parameter_problems(name: str, rule: Rule, given: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for parameter, value in given.items():
        setting = rule.parameter(parameter)
        found[f"{name}.{parameter}"] = unknown(rule, parameter) if setting is None else setting.problem(value)
    for setting in rule.parameters:
        if setting.required and setting.name not in given:
            found[f"{name}.{setting.name}"] = (
                f"{rule.name} needs it: got none; give {setting.allowed()}, e.g. "
                f"{setting.write(setting.default)}"
            )
    return {name: problem for name, problem in found.items() if problem}


def unknown(rule: Rule, parameter: str) -> str:
    """The message about a parameter that an optimizer or a schedule does not have."""
    there = ", ".join(setting.name for setting in rule.parameters) or "no parameters"
    return f"{rule.name} has no such parameter: got {parameter!r}; it takes {there}"


def _conflicts(values: Mapping[str, Any], found: Mapping[str, str]) -> dict[str, str]:
    conflicts = {}
    schedule = schedules().get(str(values.get("schedule", "")))
    if schedule is not None and schedule.measures and values.get("schedule_each") == "batch":
        conflicts["schedule_each"] = (
            f"{schedule.name} follows what is measured at the end of an epoch: got 'batch'; choose epoch "
            "or auto"
        )
    optimizer = optimizers().get(str(values.get("optimizer", "")))
    if optimizer is not None and not optimizer.clips and "clip_norm" not in found and values.get("clip_norm"):
        conflicts["clip_norm"] = (
            f"{optimizer.name} takes no clipping, the loss would not fit its gradient: got "
            f"{values['clip_norm']}; give 0"
        )
    workers, batch = values.get("workers", 1), values.get("batch_size")
    if not {"workers", "batch_size"} & found.keys() and batch is not None and workers > batch:
        conflicts["workers"] = (
            f"each needs an image of every batch: got {workers} workers for batches of {batch}; give at "
            f"most {batch}, or a larger batch"
        )
    return conflicts


def parse_parameters(name: str, chosen: str, words: Sequence[str]) -> dict[str, Any]:
    """The parameters that texts such as ``beta1=0.95`` give to the optimizer or schedule ``chosen``.

    Args:
        name: ``optimizer_params`` or ``schedule_params``.

    Raises:
        ValueError: names the parameter, the value and what is allowed.
    """
    rule = rule_of(name, chosen)
    values: dict[str, Any] = {}
    for word in words:
        parameter, separator, text = word.partition("=")
        parameter = parameter.strip()
        if not separator or not parameter:
            raise ValueError(f"must be NAME=VALUE: got {word!r}; give e.g. {_example(rule)}")
        if parameter in values:
            raise ValueError(f"{parameter} is given twice: got {word!r}; give it once")
        if rule is None:  # the check of the choice itself says so
            continue
        setting = rule.parameter(parameter)
        if setting is None:
            raise ValueError(unknown(rule, parameter))
        try:
            values[parameter] = setting.parse(text)
        except ValueError as error:
            raise ValueError(f"{parameter} {error}") from None
    return values


def parse_model_params(words: Sequence[str]) -> dict[str, Any]:
    """The arguments of a network that texts such as ``hidden=128`` give: integers, numbers, true or false,
    else texts; whether the network takes them shows when it is built.

    Raises:
        ValueError: not NAME=VALUE, or a name given twice.
    """
    values: dict[str, Any] = {}
    for word in words:
        name, separator, text = word.partition("=")
        name = name.strip()
        if not separator or not name.isidentifier():
            raise ValueError(f"must be NAME=VALUE: got {word!r}; give e.g. hidden=128")
        if name in values:
            raise ValueError(f"{name} is given twice: got {word!r}; give it once")
        values[name] = _plain_value(text.strip())
    return values


def _plain_value(text: str) -> bool | int | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _example(rule: Rule | None) -> str:
    first: Setting | None = rule.parameters[0] if rule is not None and rule.parameters else None
    return f"{first.name}={first.write(first.default)}" if first is not None else "beta1=0.9"


def moves_each(schedule: str, each: str) -> Literal["batch", "epoch"]:
    """When the schedule moves on: as was chosen, or as is usual for it."""
    chosen = schedules()[schedule].each if each == "auto" else each
    return "batch" if chosen == "batch" else "epoch"
