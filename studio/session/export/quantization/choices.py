"""What a user chooses of a quantization on the page Export, and what is wrong with what was typed."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

METHODS: tuple[tuple[str, str], ...] = (
    ("none", "No"),
    ("post_training", "Yes, after training"),
    ("qat", "Yes, with training (QAT)"),
    ("weights_only", "Yes, weights alone"),
)
ALGORITHMS: tuple[tuple[str, str], ...] = (
    ("hist", "hist"),
    ("KL", "KL"),
    ("avg", "avg"),
    ("mse", "mse"),
    ("emd", "emd"),
    ("abs_max", "abs_max"),
    ("min_max", "min_max"),
    ("ptf", "ptf"),
)
WEIGHT_TYPES: tuple[tuple[str, str], ...] = (
    ("channel_wise_abs_max", "of each channel"),
    ("abs_max", "of the whole weight"),
    ("channel_wise_mse", "of each channel, least error"),
    ("mse", "of the whole weight, least error"),
)
# What matters to a method; a setting that is not here matters to all of them.
OF_METHODS: dict[str, tuple[str, ...]] = {
    "algo": ("post_training",),
    "samples": ("post_training",),
    "epochs": ("qat",),
    "activation_bits": ("post_training", "qat"),
}
SETTINGS: dict[str, tuple[str, str]] = {
    "algo": ("Algorithm", "How the range of each value is found from the calibration samples"),
    "samples": ("Calibration samples", "Training samples that are run through the model to see its values"),
    "epochs": ("Epochs", "How long the network is trained on with quantized weights and values"),
    "weight_bits": ("Bits of weights", "8 for int8; fewer make smaller files and larger errors"),
    "activation_bits": ("Bits of values", "8 for int8; those that flow between the layers"),
    "weight_type": ("Range of weights", "One for each channel of a weight is more exact than one for all"),
    "skip": ("Layers in float", "Names or patterns of layers that stay as they are, such as conv1, fc*"),
    "target_drop": (
        "Target drop",
        "Points of accuracy that may be lost: the worst layers stay in float "
        "until it is met. Empty: no target",
    ),
}
"""Title and help of what can be chosen, by name."""
FEWEST_BITS, MOST_BITS = 2, 16
MOST_SAMPLES, MOST_EPOCHS = 1_000_000, 1_000
_SEPARATORS = ", \n\t"


@dataclass(frozen=True)
class QuantizeChoices:
    """``method`` is one of METHODS, ``algo`` of ALGORITHMS, ``weight_type`` of WEIGHT_TYPES.

    ``samples`` calibrate; ``epochs`` are trained with quantization (``qat`` alone). Layers whose names are
    those of ``skip``, or fit its patterns (``fc*``), stay in float. ``target_drop`` is how many points of
    accuracy may be lost: the worst layers stay in float until that is met; None for no such target.
    """

    method: str = "none"
    algo: str = "hist"
    samples: int = 320
    weight_bits: int = 8
    activation_bits: int = 8
    weight_type: str = "channel_wise_abs_max"
    epochs: int = 1
    skip: tuple[str, ...] = ()
    target_drop: float | None = None

    @property
    def wanted(self) -> bool:
        """Whether anything is to be quantized."""
        return self.method != "none"

    def asks(self, setting: str) -> bool:
        """Whether a setting matters to the method."""
        return self.method in OF_METHODS.get(setting, (self.method,))

    @property
    def trains(self) -> bool:
        """Whether the network is trained on with quantization."""
        return self.method == "qat"

    def without(self, layers: Iterable[str]) -> QuantizeChoices:
        """The same with these layers in float too; those that a pattern names already are not named again."""
        new = [name for name in layers if not self.skips(name)]
        return replace(self, skip=(*self.skip, *dict.fromkeys(new)))

    def skips(self, layer: str) -> bool:
        """Whether the layer of this name stays in float."""
        return any(layer == pattern or fnmatch.fnmatchcase(layer, pattern) for pattern in self.skip)

    def as_dict(self) -> dict[str, Any]:
        """The choices as plain values, for a job."""
        return asdict(self)


def read_patterns(text: str) -> tuple[str, ...]:
    """Names and patterns as a person lists them, with commas or spaces between.

    Raises:
        ValueError: one of them has a bracket that is not closed.
    """
    for separator in _SEPARATORS:
        text = text.replace(separator, " ")
    patterns = tuple(dict.fromkeys(text.split()))
    wrong = next((each for each in patterns if each.count("[") != each.count("]")), "")
    if wrong:
        raise ValueError(f"A bracket is not closed in {wrong}; give names or patterns such as fc*")
    return patterns


def read_target(text: str) -> float | None:
    """Points of accuracy that may be lost, 0 to 100; None for an empty text.

    Raises:
        ValueError: it is no such number.
    """
    words = text.strip().removesuffix("%").strip()
    if not words:
        return None
    try:
        points = float(words.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points <= 100:
        raise ValueError("Enter points from 0 to 100, such as 0.5, or nothing")
    return points
