"""The choices of a quantization besides its options, and how it reports progress."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from engine.core.errors import ArgumentError
from engine.quantization.options import QuantizeOptions
from engine.quantization.sensitivity import require_target
from engine.training.events import now
from resources.export_events import QuantizeProgress
from resources.settings.quantize import QuantizeSettings

Emit: TypeAlias = Callable[[QuantizeProgress], None]
Method: TypeAlias = Literal["post_training", "qat", "weights_only"]


@dataclass(frozen=True)
class Choices:
    """The choices of a quantization besides its ``options``.

    Args:
        target_drop: at most so many points of accuracy (0 to 100) may be lost: the layers that cost most
            stay in float until that holds; None quantizes all layers whatever is lost.
        sensitivity: measure what each layer costs alone, where there are test labels.
        weights_only: quantize weights, and leave all values between layers in float.
        epochs: train so many epochs with quantization (QAT) from the checkpoint on; 0 does not train.
        learning_rate: of that training; 0 takes a tenth of the run's.
        data: other data than the run's, as a training takes it, or an NPY file of samples.

    Raises:
        ArgumentError: values that don't fit each other.
    """

    options: QuantizeOptions = field(default_factory=QuantizeOptions)
    target_drop: float | None = None
    sensitivity: bool = True
    weights_only: bool = False
    epochs: int = 0
    learning_rate: float = 0.0
    data: str = ""

    def __post_init__(self) -> None:
        if self.target_drop is not None:
            require_target(self.target_drop)
        if self.epochs < 0:
            raise ArgumentError(f"quantize: epochs must be at least 1: got {self.epochs}; give e.g. 1")
        if self.epochs and self.weights_only:
            raise ArgumentError(
                "quantize: --qat trains with quantized values, --weights-only leaves them in float; give one "
                "of the two"
            )
        plain = self.options.weight_type.endswith("abs_max") and self.options.rounding == "nearest"
        if self.epochs and (not plain or self.options.bias_correction or self.options.equalize):
            raise ArgumentError(
                "quantize: --qat rounds weights to the nearest integer of their largest value; leave another "
                "weight type, rounding, bias correction and equalization out"
            )
        if not 0 <= self.learning_rate < math.inf:
            raise ArgumentError(
                f"quantize: the learning rate must be above 0: got {self.learning_rate:g}; give e.g. 0.0001"
            )

    @classmethod
    def of(cls, settings: QuantizeSettings, data: str = "") -> Choices:
        """The choices that declared settings make. Raises ArgumentError as the constructor."""
        values: dict[str, Any] = dict(vars(settings))
        values["weights_only"] = settings.method == "weights_only"
        values["epochs"] = settings.epochs if settings.method == "qat" else 0
        values["data"] = data
        options = {each.name: values[each.name] for each in fields(QuantizeOptions) if each.name in values}
        own = {each.name: values[each.name] for each in fields(cls) if each.name in values}
        return cls(QuantizeOptions(**options), **own)

    @property
    def method(self) -> Method:
        return "qat" if self.epochs else "weights_only" if self.weights_only else "post_training"


def report_progress(emit: Emit, stage: str, message: str, done: int = 0, total: int = 0) -> None:
    emit(
        QuantizeProgress(
            event="quantize_progress", time=now(), stage=stage, message=message, done=done, total=total
        )
    )


class Pace:
    """Reports progress at most ten times a second, and the end."""

    def __init__(self, emit: Emit, stage: str, message: str) -> None:
        self._emit, self._stage, self._message = emit, stage, message
        self._next = 0.0

    def __call__(self, done: int, total: int) -> None:
        time = now()
        if time >= self._next or done == total:
            self._next = time + 0.1
            report_progress(self._emit, self._stage, self._message, done, total)
