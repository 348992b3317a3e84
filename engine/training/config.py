"""What one training is told to do: TrainingConfig, checked field by field before anything is built."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from engine.core.errors import ArgumentError

OPTIMIZERS = ("adam", "sgd", "momentum", "adamw")
ON_DIVERGENCE = ("stop", "continue")
MAX_SEED = 2**63 - 1
# A continued run must be the same run, so only these fields may differ from what its checkpoint recorded.
CHANGEABLE = ("epochs", "out", "checkpoint_every", "keep", "on_divergence", "device")


@dataclass(frozen=True)
class TrainingConfig:
    """All settings of a training, as plain values.

    Args:
        data: ``digits`` (built in), ``mnist``, or a folder with IDX files.
        model: ``lenet``, ``linear``, ``cnn``, or ``FILE.py:Class``.
        optimizer: one of ``OPTIMIZERS``.
        learning_rate: a positive number.
        batch_size: pictures a step.
        epochs: passes over the training pictures.
        seed: fixes the initial weights, the order of the pictures and every dropout.
        static: True runs the step through ``jit.to_static``; False runs it eagerly. Both give the same
            losses.
        device: ``cpu``, ``gpu`` or ``gpu:0``.
        out: the run's folder; empty writes nothing at all.
        checkpoint_every: steps between checkpoints, beside those at the end of each epoch; 0 for those only.
        keep: how many step checkpoints stay on disk (the best one is kept beside them).
        on_divergence: ``stop`` ends the run when the loss is no number any more; ``continue`` goes on.
        samples: take only the first so many training pictures; 0 takes all.

    Raises:
        ArgumentError: a field is outside what it takes; names the field, the value and what is allowed.
    """

    data: str = "digits"
    model: str = "lenet"
    optimizer: str = "adam"
    learning_rate: float = 0.001
    batch_size: int = 64
    epochs: int = 1
    seed: int = 0
    static: bool = True
    device: str = "cpu"
    out: str = ""
    checkpoint_every: int = 200
    keep: int = 3
    on_divergence: str = "stop"
    samples: int = 0

    def __post_init__(self) -> None:
        for item in fields(self):
            problem = field_problem(item.name, getattr(self, item.name))
            if problem:
                raise ArgumentError(f"TrainingConfig.{item.name}: {problem}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainingConfig:
        """A config from plain values as ``as_dict`` gives them.

        Raises:
            ArgumentError: an unknown name or a value outside what its field takes.
        """
        known = [item.name for item in fields(cls)]
        for name in values:
            if name not in known:
                raise ArgumentError(
                    f"TrainingConfig: no such setting: {name!r}; the settings are {', '.join(known)}"
                )
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain values, for a file or another process."""
        return asdict(self)

    def changed(self, **changes: Any) -> TrainingConfig:
        """A copy with some fields replaced, checked again."""
        return replace(self, **changes)

    def continued(self, **changes: Any) -> TrainingConfig:
        """This config for going on from a checkpoint.

        Raises:
            ArgumentError: a change would make it another run (another model, data, seed, batch size ...).
        """
        for name, value in changes.items():
            if name not in CHANGEABLE and value != getattr(self, name):
                raise ArgumentError(
                    f"TrainingConfig.{name}: a continued run keeps what it was started with: it has "
                    f"{getattr(self, name)!r}, asked for {value!r}; start a new run for that "
                    f"(these may change: {', '.join(CHANGEABLE)})"
                )
        return self.changed(**changes)


def field_problem(name: str, value: Any) -> str:
    """What is wrong with ``value`` for the field ``name``: ``what: value seen; what to do``, or an empty
    text."""
    return _CHECKS[name](value)


def _text(example: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if isinstance(value, str) and value.strip():
            return ""
        return f"must be a name: got {value!r}; give {example}"

    return check


def _integer(lowest: int, highest: int, example: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int):
            return f"must be a whole number: got {value!r}; give {example}"
        if not lowest <= value <= highest:
            return f"must be from {lowest} to {highest}: got {value}; give {example}"
        return ""

    return check


def _choice(allowed: tuple[str, ...]) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        return "" if value in allowed else f"no such choice: got {value!r}; choose {' or '.join(allowed)}"

    return check


def _rate(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return f"must be a number: got {value!r}; give e.g. 0.001"
    if not math.isfinite(value) or value <= 0:
        return f"must be a positive number: got {value}; give e.g. 0.001"
    return ""


def _boolean(value: Any) -> str:
    return "" if isinstance(value, bool) else f"must be True or False: got {value!r}; give True for static"


def _folder(value: Any) -> str:
    return (
        ""
        if isinstance(value, str)
        else f"must be a folder's path as text: got {value!r}; give e.g. 'runs/a'"
    )


def _device(value: Any) -> str:
    if isinstance(value, str):
        name, _, number = value.partition(":")
        if name in ("cpu", "gpu") and (not number or (name == "gpu" and number.isdigit())):
            return ""
    return f"no such device: got {value!r}; choose cpu, gpu or gpu:0"


_CHECKS: dict[str, Callable[[Any], str]] = {
    "data": _text("digits, mnist or a folder with IDX files"),
    "model": _text("lenet, linear, cnn or FILE.py:Class"),
    "optimizer": _choice(OPTIMIZERS),
    "learning_rate": _rate,
    "batch_size": _integer(1, 1_000_000, "e.g. 64"),
    "epochs": _integer(1, 1_000_000, "e.g. 5"),
    "seed": _integer(0, MAX_SEED, "e.g. 2026"),
    "static": _boolean,
    "device": _device,
    "out": _folder,
    "checkpoint_every": _integer(0, 1_000_000_000, "e.g. 200, or 0 for the end of epochs only"),
    "keep": _integer(1, 1_000_000, "e.g. 3"),
    "on_divergence": _choice(ON_DIVERGENCE),
    "samples": _integer(0, 1_000_000_000, "e.g. 1000, or 0 for all"),
}
