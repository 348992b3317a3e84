"""The words of a launch read into options, the script and its arguments; the configuration as text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.core.errors import ArgumentError
from resources.launch_options import ALWAYS_SHOWN, OPTIONS, Option

USAGE = "launch [OPTIONS] SCRIPT [ARGS]"
_BY_NAME = {name: option for option in OPTIONS for name in option.names}
_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass
class Options:
    """What a launch was asked for.

    Attributes:
        values: the value of each option by its first name, defaults included.
        given: the names under which options were given.
        script, arguments: the script, and what it gets.
        module: the script is the name of a module.
    """

    values: dict[str, Any]
    script: str
    arguments: list[str]
    module: bool = False
    given: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(name) from None


def parse(words: Sequence[str]) -> Options:
    """Read the words of a command line: options, then a script (``-m MODULE``) with its own arguments.

    Raises:
        ArgumentError: an unknown option, a value that it does not take, or no script.
    """
    rest, found, given = list(words), {}, []
    while rest and rest[0].startswith("-") and rest[0] != "-m":
        name, equals, value = rest.pop(0).partition("=")
        option = _BY_NAME.get(name)
        if option is None:
            raise ArgumentError(f"launch: there is no option {name}; model-studio launch --help lists them")
        if not equals and option.kind == "yes":
            value = rest.pop(0) if rest and rest[0].lower() in _WORDS else "True"
        elif not equals:
            if not rest:
                raise ArgumentError(f"launch: {name} needs a value: {option.metavar}")
            value = rest.pop(0)
        found[option.name] = _value(name, option, value)
        given.append(name)
    module = rest[:1] == ["-m"]
    rest = rest[1:] if module else rest
    if not rest:
        raise ArgumentError(f"launch: the script is missing: {USAGE}")
    values = {option.name: found.get(option.name, _default(option)) for option in OPTIONS}
    return Options(values, rest[0], rest[1:], module, given)


def _value(name: str, option: Option, text: str) -> Any:
    if option.kind == "yes":
        if text.lower() not in _WORDS:
            raise ArgumentError(f"launch: {name} must be True or False: got {text!r}")
        return _WORDS[text.lower()]
    if option.kind == "count":
        if not text.isdecimal() or int(text) < option.least:
            raise ArgumentError(f"launch: {name} must be an integer >= {option.least}: got {text!r}")
        return int(text)
    if option.choices and text not in option.choices:
        more = f"; {option.instead}" if option.instead else ""
        raise ArgumentError(f"launch: {name}: {text!r} is not known; use {' or '.join(option.choices)}{more}")
    return text


def _default(option: Option) -> Any:
    """The value that the environment gives, else the option's own; ranks have the variables of their job."""
    text = os.environ.get(option.variable) if option.variable else None
    if not text or "PADDLE_LOCAL_RANK" in os.environ:
        return option.default
    return _value(option.variable, option, text)


def unused(options: Options) -> list[str]:
    """A line for each option that was given and does nothing."""
    return [
        f"launch: {name} has no effect: {_BY_NAME[name].unused}"
        for name in dict.fromkeys(options.given)
        if _BY_NAME[name].unused
    ]


def configuration(options: Options) -> str:
    """The block that Paddle 1.6 prints before it starts, with the options that it lacked where given."""
    named = {_BY_NAME[name].name for name in options.given} | set(ALWAYS_SHOWN)
    shown = {name: value for name, value in options.values.items() if name in named}
    shown |= {"training_script": options.script, "training_script_args": options.arguments}
    lines = [f"{name}: {value}" for name, value in sorted(shown.items())]
    return "\n".join(["-----------  Configuration Arguments -----------", *lines, "-" * 48])
