"""Limits for runs of third-party models: memory, time, iterations of loops.

An untrusted model file is data, but it determines what is computed: an endless loop, or a result that no
memory holds. So its Programs are marked (``Program.foreign``), and each run of one is metered with the limits
in force where it is called (``current()``), enlarged by amounts that the size of the model and of its inputs
explains (``ModelLimits.for_bytes``). Over a limit the run ends with a LimitError. Programs that were built
here, and files that this installation signed, run without any of it.

The limits are raised in a block, ``with engine.model_limits(memory="2 GB", seconds=60):``, or for a whole
process by the environment variable ``MODEL_STUDIO_LIMITS="memory=2 GB, seconds=60"``, which is how a parent
hands them to a child: ``str(limits)`` is such a text and ``parse`` reads it.

They bound the computation of a Program. Only the operating system can stop a single operator that takes too
long, is for a process with its own limits.
"""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from engine.core.context import Setting
from engine.core.errors import ArgumentError

ENVIRONMENT = "MODEL_STUDIO_LIMITS"

_UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
}


# Methods that dataclass would write are compiled at import; a comparison and a text by hand are not.
@dataclass(frozen=True, repr=False, eq=False)
class ModelLimits:
    """Limits of one run of a model that this installation did not write.

    ``memory`` is the most bytes of all values alive at once (a quarter of it the most of one result),
    ``seconds`` the longest time, ``steps`` the most iterations of all its loops together. Raises
    ArgumentError for a value that is not above 0.
    """

    memory: int = 256 << 20
    seconds: float = 3.0
    steps: int = 100_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1e18:
                raise ArgumentError(
                    f"model_limits: {field.name} must be above 0 and at most 1e18: got {value!r}"
                )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModelLimits) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"ModelLimits({self})"

    def raised(self, **changes: float | str | None) -> ModelLimits:
        """These limits with others for some of them; None changes nothing.

        Values may be texts: ``memory="2 GB"``. Raises ArgumentError for an unknown name or a value that is
        not a number above 0.
        """
        unknown = changes.keys() - {f.name for f in fields(self)}
        if unknown:
            names = ", ".join(f.name for f in fields(self))
            raise ArgumentError(f"model_limits: there is no limit {sorted(unknown)[0]!r}; there are {names}")
        given: dict[str, Any] = {k: _number(k, v) for k, v in changes.items() if v is not None}
        return replace(self, **{k: v if k == "seconds" else int(v) for k, v in given.items()})

    def for_bytes(self, count: int) -> ModelLimits:
        """The limits of a run whose weights and inputs have ``count`` bytes: for each, 16 bytes of values, a
        microsecond and a hundredth of an iteration more."""
        return ModelLimits(
            self.memory + 16 * count, self.seconds + count / 1_000_000, self.steps + count // 100
        )

    def __str__(self) -> str:
        return f"memory={self.memory}, seconds={float(self.seconds)!r}, steps={self.steps}"


def parse(text: str, base: ModelLimits | None = None) -> ModelLimits:
    """The limits that a text such as ``"memory=2 GB, seconds=60"`` states; others are those of ``base``.

    Raises ArgumentError for anything else.
    """
    changes: dict[str, float | str | None] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise ArgumentError(
                f"model_limits: {part!r} is not NAME=VALUE; write e.g. memory=2 GB, seconds=60"
            )
        changes[name.strip()] = value.strip()
    return (base or ModelLimits()).raised(**changes)


def _number(name: str, value: float | str) -> float:
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"([0-9.]+(?:e[+-]?[0-9]+)?)\s*([a-z]*)", value.strip().lower())
    units = _UNITS if name == "memory" else {"": 1}
    try:
        if found is None or found[2] not in units:
            raise ValueError
        return float(found[1]) * units[found[2]]
    except ValueError:
        example = "512 MB" if name == "memory" else "60"
        raise ArgumentError(
            f"model_limits: {name} is {value!r}, not a number above 0; write e.g. {name}={example}"
        ) from None


@cache
def _of_environment(text: str) -> ModelLimits:
    return parse(text)


_LIMITS: Setting[ModelLimits | None] = Setting("model_limits", None)


def current() -> ModelLimits:
    """The limits in force here: of the innermost ``with`` block, of the process, of the environment."""
    return _LIMITS.get() or _of_environment(os.environ.get(ENVIRONMENT, ""))


def model_limits(
    memory: float | str | None = None, seconds: float | None = None, steps: int | None = None
) -> AbstractContextManager[Any]:
    """Set the limits for runs of third-party models within the block.

    ``memory`` (bytes, or a text such as "2 GB") is the most that its values take at once, ``seconds`` the
    longest time of a run, ``steps`` the most iterations of its loops; omitted limits stay as they are. Raises
    ArgumentError for a value that is not above 0.
    """
    return _LIMITS.guard(current().raised(memory=memory, seconds=seconds, steps=steps))


def how_to_raise(name: str, value: object) -> str:
    """Advice for a limit ``name`` that is too low: the ways to raise it to ``value``."""
    return (
        "if you trust where the model comes from, raise the limit: with "
        f"engine.model_limits({name}={value!r}), on the command line --{name} {value!r}, in the environment "
        f"{ENVIRONMENT}"
    )
