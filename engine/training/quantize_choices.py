"""What is chosen of a quantization beside its options, and how it tells of its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from engine.quantization.options import QuantizeOptions
from engine.quantization.sensitivity import require_target
from engine.training.events import QuantizeProgress, now

Emit: TypeAlias = Callable[[QuantizeProgress], None]
Method: TypeAlias = Literal["post_training", "qat", "weights_only"]


@dataclass(frozen=True)
class Choices:
    """What is chosen of a quantization beside its ``options``.

    Args:
        target_drop: at most so many points of accuracy (0 to 100) may be lost: the layers that cost most
            stay in float until that holds; None quantizes all layers whatever is lost.
        sensitivity: measure what each layer costs alone, where there are test labels.
        weights_only: quantize weights, and leave all values between layers in float.
        data: other data than the run's, as a training takes it, or an NPY file of samples.

    Raises:
        ArgumentError: values that don't fit each other.
    """

    options: QuantizeOptions = field(default_factory=QuantizeOptions)
    target_drop: float | None = None
    sensitivity: bool = True
    weights_only: bool = False
    data: str = ""

    def __post_init__(self) -> None:
        if self.target_drop is not None:
            require_target(self.target_drop)

    @property
    def method(self) -> Method:
        return "weights_only" if self.weights_only else "post_training"


def tell(emit: Emit, stage: str, message: str, done: int = 0, total: int = 0) -> None:
    emit(
        QuantizeProgress(
            event="quantize_progress", time=now(), stage=stage, message=message, done=done, total=total
        )
    )


class Pace:
    """Tells of progress at most ten times a second, and of the end."""

    def __init__(self, emit: Emit, stage: str, message: str) -> None:
        self._emit, self._stage, self._message = emit, stage, message
        self._next = 0.0

    def __call__(self, done: int, total: int) -> None:
        time = now()
        if time >= self._next or done == total:
            self._next = time + 0.1
            tell(self._emit, self._stage, self._message, done, total)
