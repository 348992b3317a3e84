"""What a caller chooses of a quantization, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from engine.core.errors import ArgumentError
from engine.program.passes.quantization.quantizable import TABLE, WITH_WEIGHTS, types
from engine.quantization.calibration import ALGORITHMS, FEWEST_BITS, MOST_BITS
from engine.quantization.calibration.weights import KINDS

ROUNDINGS = ("nearest", "adaptive")


@dataclass(frozen=True)
class QuantizeOptions:
    """How a model is quantized.

    ``algo``: how the thresholds of values are found, one of ``ALGORITHMS``; ``paddle_KL`` is what Paddle's
    classes use for KL.
    ``samples``: how many samples calibrate them; None takes all that the data gives.
    ``weight_bits``, ``activation_bits``: 2 to 16.
    ``weight_type``: a threshold for each channel of a weight (``channel_wise_abs_max``) or one (``abs_max``),
    or that with the least squared error (``channel_wise_mse``, ``mse``).
    ``round_type``: 0 rounds halves to even, 1 away from zero.
    ``hist_percent``: of ``hist``, the share of values within the threshold.
    ``bias_correction``: corrects mean and deviation of each channel of the integer weights.
    ``rounding``: weights go to the nearest integer, or (``adaptive``) to the one of the two next to them with
    which the layer's results change least on the calibration data.
    ``equalize``: neighbouring layers first share the ranges of their weights (``equalization.py``).
    ``op_types``: the operators to quantize.
    ``skip``: patterns (``fc*``) of layers that stay in float, by name, weight or type of operator; a pattern
    for a layer also holds for those within it.
    ``bits_of``: patterns with the bits of the weights of those layers.

    Raises ArgumentError for a value out of its range.
    """

    algo: str = "hist"
    samples: int | None = None
    weight_bits: int = 8
    activation_bits: int = 8
    weight_type: str = "channel_wise_abs_max"
    round_type: int = 0
    hist_percent: float = 0.99999
    bias_correction: bool = False
    op_types: tuple[str, ...] = WITH_WEIGHTS
    skip: tuple[str, ...] = ()
    bits_of: tuple[tuple[str, int], ...] = ()
    rounding: str = "nearest"
    equalize: bool = False

    def __post_init__(self) -> None:
        for name in ("op_types", "skip"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        object.__setattr__(self, "bits_of", _pairs(self.bits_of))
        _one_of("algo", self.algo, tuple(ALGORITHMS))
        _one_of("weight_type", self.weight_type, KINDS)
        _one_of("round_type", self.round_type, (0, 1))
        _one_of("rounding", self.rounding, ROUNDINGS)
        for name in ("bias_correction", "equalize"):
            if not isinstance(getattr(self, name), bool):
                raise ArgumentError(f"quantize: {name} is True or False: got {getattr(self, name)!r:.80}")
        _bits("weight_bits", self.weight_bits)
        _bits("activation_bits", self.activation_bits)
        for pattern, bits in self.bits_of:
            _bits(f"bits_of {pattern!r}", bits)
        if self.samples is not None and (not _whole(self.samples) or self.samples < 1):
            raise ArgumentError(
                f"quantize: samples must be an integer from 1: got {self.samples!r}; 320 are usual"
            )
        share = self.hist_percent
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
            raise ArgumentError(f"quantize: hist_percent must be above 0 and at most 1: got {share!r}")
        unknown = sorted(types(self.op_types) - set(TABLE) - {"matmul", "lookup_table"})
        if unknown or not self.op_types:
            raise ArgumentError(
                f"quantize: op_types {unknown or '()'}: no such operator can be quantized; choose from "
                f"{', '.join(sorted(TABLE))}"
            )

    def to_plain(self) -> dict[str, Any]:
        """The options as plain values."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        plain |= {"op_types": list(self.op_types), "skip": list(self.skip)}
        return plain | {"bits_of": [list(pair) for pair in self.bits_of]}

    @classmethod
    def from_plain(cls, plain: object) -> QuantizeOptions:
        """Options of plain values. Raises ArgumentError for others."""
        known = {each.name for each in fields(cls)}
        if not isinstance(plain, dict) or not set(plain) <= known:
            raise ArgumentError(f"quantize: options are {sorted(known)}: got {plain!r:.200}")
        return cls(**plain)


def _one_of(name: str, value: Any, allowed: Sequence[Any]) -> None:
    if isinstance(value, bool) or value not in allowed:
        raise ArgumentError(
            f"quantize: {name} {value!r} is unknown; choose from {', '.join(map(str, allowed))}"
        )


def _bits(name: str, value: Any) -> None:
    if not _whole(value) or not FEWEST_BITS <= value <= MOST_BITS:
        raise ArgumentError(f"quantize: {name} must be {FEWEST_BITS} to {MOST_BITS}: got {value!r}; use 8")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, (list, tuple, set, frozenset)):
        raise ArgumentError(f"quantize: {name} must be a list of texts: got {value!r:.80}")
    if not all(isinstance(each, str) for each in value):
        raise ArgumentError(f"quantize: {name} must be a list of texts: got {value!r:.80}")
    return tuple(value)


def _pairs(value: Any) -> tuple[tuple[str, int], ...]:
    pairs = list(value.items()) if isinstance(value, dict) else value
    fits = isinstance(pairs, (list, tuple)) and all(
        isinstance(p, (list, tuple)) and len(p) == 2 and isinstance(p[0], str) for p in pairs
    )
    if not fits:
        raise ArgumentError(f"quantize: bits_of must be pairs of a pattern and bits: got {value!r:.80}")
    return tuple((pattern, bits) for pattern, bits in pairs)
