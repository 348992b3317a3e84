"""The parameters of a sweep: ``lr=0.1,0.01``, ``lr=log:1e-4..1e-1``, by the names of train's options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from resources.settings import RULES_OF, RUN_SETTINGS, Setting, rule_of

Value: TypeAlias = bool | int | FiniteFloat | str | list[int] | list[FiniteFloat]
_RANGE = re.compile(r"(log:)?([^,:]+?)\.\.([^,]+)")
_LISTS = ("integers", "numbers")
MOST_VALUES = 10_000


class Parameter(BaseModel):
    """What varies: the name of a setting, or ``optimizer_params.beta1``; its values, or a range of numbers.

    ``values`` is empty where there is a range from ``low`` to ``high``, drawn from evenly, or evenly in its
    logarithm (``log``); ``whole`` draws integers.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str = Field(max_length=200)
    values: list[Value] = Field(default_factory=list, max_length=MOST_VALUES)
    low: FiniteFloat = 0.0
    high: FiniteFloat = 0.0
    log: bool = False
    whole: bool = False


def parse_parameter(word: str, settings: Mapping[str, Any], others: Sequence[str] = ()) -> Parameter:
    """The parameter that ``NAME=VALUES`` declares.

    Args:
        settings: the settings that do not vary; they say whose parameters ``optimizer-param.NAME`` are.
        others: the other words, which may vary the optimizer or the schedule.

    Raises:
        ValueError: no such setting, or a value that it does not take; names both and what it takes.
    """
    given, separator, text = word.partition("=")
    if not separator or not given.strip() or not text.strip():
        raise ValueError(f"must be NAME=VALUES: got {word!r}; give e.g. lr=0.1,0.01 or lr=log:1e-4..1e-1")
    name, setting = _setting(given.strip(), settings, others)
    found = _RANGE.fullmatch(text.strip()) if setting.kind in ("int", "float") else None
    try:
        if found is not None:
            return _range(name, setting, found)
        if text.strip().startswith("log:"):
            raise ValueError(f"log: needs a range of numbers: got {text.strip()!r}; give e.g. log:1e-4..1e-1")
        parts = text.split(";" if setting.kind in _LISTS else ",")
        values: list[Any] = [setting.parse(part) for part in parts]
    except ValueError as error:
        raise ValueError(f"{given.strip()}: {error}") from None
    for place, value in enumerate(values):
        if value in values[:place]:
            raise ValueError(
                f"{given.strip()}: a value is given twice: got {setting.write(value)}; give it once"
            )
    return Parameter(name=name, values=values)


def _range(name: str, setting: Setting, found: re.Match[str]) -> Parameter:
    low, high = setting.parse(found[2]), setting.parse(found[3])
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    if not low < high:
        raise ValueError(f"a range goes from less to more: got {found[0]!r}; give e.g. 1e-4..1e-1")
    if found[1] and low <= 0:
        raise ValueError(f"a logarithmic range begins above 0: got {found[0]!r}; give e.g. log:1e-4..1e-1")
    return Parameter(
        name=name, low=float(low), high=float(high), log=bool(found[1]), whole=setting.kind == "int"
    )


def _setting(given: str, settings: Mapping[str, Any], others: Sequence[str]) -> tuple[str, Setting]:
    """The setting that a name stands for: its own, that of its option, or an unambiguous beginning."""
    whole, dot, parameter = given.lstrip("-").replace("-", "_").partition(".")
    names = {
        setting.option.replace("-", "_"): name for name, setting in RUN_SETTINGS.items() if setting.option
    }
    names |= {name: name for name in RUN_SETTINGS}
    begun = {name for known, name in names.items() if known.startswith(whole)}
    name = names.get(whole) or (begun.pop() if len(begun) == 1 else "")
    if not name or (dot and name not in RULES_OF):
        options = [setting.flag.removeprefix("--") for setting in RUN_SETTINGS.values()]
        near = difflib.get_close_matches(given, options, 3, 0.5) or options
        raise ValueError(f"no such setting: got {given!r}; did you mean {' or '.join(near[:3])}?")
    if name not in RULES_OF:
        return name, RUN_SETTINGS[name]
    flag = RUN_SETTINGS[name].flag.removeprefix("--")
    if not parameter:
        raise ValueError(f"{flag} needs the parameter's name: got {given!r}; give e.g. {flag}.NAME=0.9,0.99")
    chooser = RULES_OF[name][0]
    rules = [rule_of(name, chosen) for chosen in (*_chosen(chooser, others), settings.get(chooser))]
    known = {each.name: each for rule in rules if rule is not None for each in rule.parameters}
    if parameter not in known:
        who = " and ".join(dict.fromkeys(rule.name for rule in rules if rule is not None))
        there = ", ".join(known) or "no parameters"
        raise ValueError(f"{who} has no such parameter: got {parameter!r}; it takes {there}")
    return f"{name}.{parameter}", known[parameter]


def _chosen(chooser: str, others: Sequence[str]) -> list[str]:
    """The optimizers or schedules among the values of the other words."""
    parts = (other.partition("=") for other in others)
    return [value.strip() for name, _, text in parts if name.strip() == chooser for value in text.split(",")]


def short_name(name: str) -> str:
    """The name as people write it: ``lr``, ``batch-size``, ``optimizer-param.beta1``."""
    whole, dot, parameter = name.partition(".")
    setting = RUN_SETTINGS.get(whole)
    flag = setting.flag.removeprefix("--") if setting is not None else whole
    return f"{flag}{dot}{parameter}"


def short_text(choices: Mapping[str, Any]) -> str:
    """What a trial chose, in a few words: ``lr=0.1, batch-size=32``."""
    return ", ".join(f"{short_name(name)}={Setting.write(value)}" for name, value in choices.items())


def with_choices(settings: Mapping[str, Any], choices: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with what a trial chose in their place. Raises KeyError for a name of none."""
    values = {**settings, **{name: dict(settings[name]) for name in RULES_OF}}
    for name, value in choices.items():
        whole, dot, parameter = name.partition(".")
        if whole not in values:
            raise KeyError(name)
        if dot:
            values[whole][parameter] = value
        else:
            values[name] = value
    return values
