"""Which trials a sweep has (a grid, or random draws) and which of them continue after each rung (halving)."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

from studio.session.sweep.parameters import Parameter, Value, short_name

MOST_TRIALS = 5_000
_DIGITS = 4  # of a number that is drawn, so that a command with it is readable


def grid(parameters: Sequence[Parameter]) -> list[dict[str, Any]]:
    """Every combination of the values, the last parameter changing first.

    Raises:
        ValueError: a range among them, or too many combinations.
    """
    for parameter in parameters:
        if not parameter.values:
            raise ValueError(
                f"{short_name(parameter.name)}: a range has no end of values; say how many trials to draw, "
                "e.g. --trials 20, or give a list"
            )
    count = math.prod(len(parameter.values) for parameter in parameters)
    if count > MOST_TRIALS:
        raise ValueError(
            f"the grid is too large: {count} trials, at most {MOST_TRIALS}; give fewer values, or draw some "
            "with --trials"
        )
    names = [parameter.name for parameter in parameters]
    lists = [parameter.values for parameter in parameters]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*lists)]


def drawn(parameters: Sequence[Parameter], count: int, seed: int) -> list[dict[str, Any]]:
    """``count`` different combinations drawn at random, the same for a seed; fewer if no more exist."""
    numbers = random.Random(seed)
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    for _ in range(20 * count + 1000):
        if len(found) == count:
            break
        choices = {parameter.name: _draw(parameter, numbers.random()) for parameter in parameters}
        if repr(choices) not in seen:
            seen.add(repr(choices))
            found.append(choices)
    return found


def _draw(parameter: Parameter, share: float) -> Value:
    """The value at ``share`` (from 0, below 1) of a parameter."""
    if parameter.values:
        return parameter.values[int(share * len(parameter.values))]
    low, high = parameter.low, parameter.high
    if parameter.log:
        number = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
    elif parameter.whole:
        number = math.floor(low + share * (high - low + 1))
    else:
        number = low + share * (high - low)
    return readable(parameter, number)


def readable(parameter: Parameter, number: float) -> Value:
    """A number of a range with few digits, or an integer; within the range."""
    found = round(number) if parameter.whole else float(f"{number:.{_DIGITS}g}")
    if parameter.low <= found <= parameter.high:
        return found
    end = min(max(number, parameter.low), parameter.high)
    return round(end) if parameter.whole else end


def combinations(parameters: Sequence[Parameter]) -> int | None:
    """How many different combinations there are; None for a range of floating point."""
    counts = [
        len(each.values) or (round(each.high) - round(each.low) + 1 if each.whole else 0)
        for each in parameters
    ]
    return math.prod(counts) if all(counts) else None


def rungs(min_epochs: int, eta: int, epochs: int) -> list[int]:
    """Epochs at which a successive halving looks at the trials, the last one being ``epochs``.

    Jamieson and Talwalkar, Non-stochastic best arm identification and hyperparameter optimization (2016).
    """
    found = []
    while min_epochs < epochs:
        found.append(min_epochs)
        min_epochs *= eta
    return [*found, epochs]


def survivors(count: int, eta: int) -> int:
    """How many of ``count`` trials go on from a rung."""
    return max(1, count // eta)
