"""Reads the constructors of optimizers and schedules as the table in resources/settings/rules.json."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from engine import optimizer
from engine.optimizer import lr
from engine.training.rules.words import (
    EACH_BATCH,
    HELP_OF,
    LEFT_OUT,
    LEFT_OUT_OF,
    MORE_OF,
    NO_CLIPPING,
    NOT_OFFERED,
    RULE_TITLES,
    TITLES,
    WORDS,
    WORDS_OF,
)
from resources.settings import Setting


def table() -> dict[str, list[dict[str, Any]]]:
    """All optimizers and schedules of the engine that a run can use, as plain values."""
    return {
        "optimizers": [
            describe(cls, cls.__name__.lower()) for cls in _classes(optimizer, optimizer.Optimizer)
        ],
        "schedules": [describe(cls, snake(cls.__name__)) for cls in _classes(lr, lr.LRScheduler)],
    }


def _classes(package: Any, base: type[Any]) -> list[type[Any]]:
    """The public classes of ``package`` that derive from ``base`` and that a run can use."""
    found = [getattr(package, name) for name in package.__all__]
    return [
        cls
        for cls in found
        if inspect.isclass(cls)
        and issubclass(cls, base)
        and cls is not base
        and cls.__name__ not in NOT_OFFERED
    ]


def snake(name: str) -> str:
    """A class's name as settings have it: ``CosineAnnealingDecay`` is ``cosine_annealing_decay``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def describe(cls: type[Any], name: str) -> dict[str, Any]:
    """One optimizer or schedule: its name, title, help and the parameters of its constructor."""
    words = inspect.signature(cls, eval_str=True).parameters
    rate = _rate_of(list(words))
    settings = [
        describe_parameter(cls.__name__, parameter)
        for parameter in words.values()
        if parameter.name != rate and is_offered(cls.__name__, parameter)
    ]
    for extra, given in MORE_OF.get(cls.__name__, {}).items():
        settings.append(Setting(title=_title(extra), name=extra, **given))
    plain: dict[str, Any] = {
        "name": name,
        "title": cls.__name__ if issubclass(cls, optimizer.Optimizer) else _rule_title(cls.__name__),
        "class_name": cls.__name__,
        "help": HELP_OF.get(cls.__name__) or str(inspect.getdoc(cls)).partition("\n")[0].replace("``", ""),
        "rate": rate,
        "parameters": [setting.as_plain() for setting in settings],
    }
    if issubclass(cls, lr.LRScheduler):
        plain["each"] = "batch" if cls.__name__ in EACH_BATCH else "epoch"
        plain["measures"] = "metric" in MORE_OF.get(cls.__name__, {})
    else:
        plain["clips"] = "grad_clip" in words and cls.__name__ not in NO_CLIPPING
    return plain


def is_offered(class_name: str, parameter: inspect.Parameter) -> bool:
    """Whether a run offers the parameter: it is a plain value, and nothing else decides it."""
    if parameter.name in LEFT_OUT or (class_name, parameter.name) in LEFT_OUT_OF:
        return False
    return not any(_is_function(kind) for kind in _kinds(parameter.annotation))


def describe_parameter(class_name: str, parameter: inspect.Parameter) -> Setting:
    """The declaration of one parameter: type and default from the constructor, the rest from its words."""
    words = {**WORDS.get(parameter.name, {}), **WORDS_OF.get((class_name, parameter.name), {})}
    kinds = _kinds(parameter.annotation)
    kind: Any = words.pop("kind", "") or (
        "choice" if "choices" in words else _kind(class_name, parameter.name, kinds)
    )
    required = parameter.default is inspect.Parameter.empty
    start = words.pop("default", None)
    if required:
        # A length that is the whole run's, and a parameter with a plain default here, can be omitted after
        # all.
        required = words.get("required", "zero" not in words)
        default = start
    elif parameter.default is None:
        default = "none" if kind == "choice" else 0
        words.setdefault("zero", "none")
    else:
        default = parameter.default
    words["required"] = required
    if kind == "float" and default is not None:
        default = float(default)
    if kind == "choice" and isinstance(parameter.default, str):
        default = parameter.default
    return Setting(
        kind,
        default,
        TITLES.get(parameter.name) or _title(parameter.name),
        words.pop("help", ""),
        name=parameter.name,
        **words,
    )


def _kinds(annotation: Any) -> list[Any]:
    """The alternatives of an annotation, without None."""
    if get_origin(annotation) in (Union, UnionType):
        return [kind for kind in get_args(annotation) if kind is not NoneType]
    return [annotation]


def _is_function(kind: Any) -> bool:
    return kind is Callable or get_origin(kind) is get_origin(Callable[[], None])


def _kind(class_name: str, name: str, kinds: list[Any]) -> Any:
    known: dict[Any, str] = {
        int: "int",
        float: "float",
        bool: "bool",
        Sequence[int]: "integers",
        Sequence[float]: "numbers",
    }
    for kind in kinds:
        if kind in known:
            return known[kind]
    raise TypeError(
        f"{class_name}: {name} is of a type that no setting has: {kinds}; say its kind in "
        "rules.words.WORDS, or why it is omitted"
    )


def _rate_of(names: list[str]) -> str:
    """The parameter that takes the learning rate of the run: the one called so, or else the first such."""
    if "learning_rate" in names:
        return "learning_rate"
    return names[0] if names[0].endswith("learning_rate") else ""


def _title(name: str) -> str:
    words = name.replace("_", " ")
    return words[0].upper() + words[1:]


def _rule_title(class_name: str) -> str:
    """``CosineAnnealingDecay`` is ``Cosine annealing``: in a list of decays the word says nothing."""
    title = _title(snake(class_name)).removesuffix(" lr").removesuffix(" decay")
    return RULE_TITLES.get(class_name, title)
