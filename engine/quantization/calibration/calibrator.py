"""What every way of calibrating shares: the values that it takes, and what it says of those it can't use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from engine.core.errors import ArgumentError, ModeError, NotFiniteError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Values: TypeAlias = np.ndarray[Any, np.dtype[Any]]

FEWEST_BITS, MOST_BITS = 2, 16


def levels(bits: int) -> int:
    """The largest integer that a value is quantized to: 127 for 8 bits.

    Raises ArgumentError outside 2..16 bits.
    """
    if isinstance(bits, bool) or not isinstance(bits, int) or not FEWEST_BITS <= bits <= MOST_BITS:
        raise ArgumentError(
            f"quantization: {bits!r} bits can't be used; choose an integer from {FEWEST_BITS} to {MOST_BITS}"
        )
    return int(2 ** (bits - 1) - 1)


def floating(array: ArrayLike) -> Values:
    """An array of any numbers as one of floating numbers, float16 as float32."""
    values = np.asarray(array)
    if values.dtype in (np.float32, np.float64):
        return values
    return values.astype(np.float32)


def finite_peak(values: Values) -> float:
    """The largest absolute value, of one or more. Raises NotFiniteError where one is nan or infinite."""
    peak = max(-float(values.min()), float(values.max()))  # nan and infinity reach it
    if not np.isfinite(peak):
        raise NotFiniteError(
            f"calibration: {int((~np.isfinite(values)).sum())} of {values.size} values of a batch "
            "are nan or infinite; remove such samples from the calibration data"
        )
    return peak


class Calibrator(ABC):
    """Finds the threshold of one tensor while its values come by, batch after batch; no batch is stored.

    ``threshold()`` is what Paddle calls the scale: the absolute value that becomes the largest integer,
    ``levels(bits)``. A calibrator with ``passes`` 2 wants to see all batches again: first each by
    ``collect``, then each by ``collect_again``.
    """

    passes: ClassVar[int] = 1

    def __init__(self, bits: int = 8) -> None:
        self.levels = levels(bits)
        self.bits = bits
        self._peak: float | None = None  # largest absolute value so far

    def collect(self, array: ArrayLike) -> None:
        """Takes a batch of the tensor's values, any shape with samples first; an empty one changes nothing.

        Raises NotFiniteError where it holds nan or infinity.
        """
        values = floating(array)
        if not values.size:
            return
        peak = finite_peak(values)
        self._take(values, peak)
        self._peak = peak if self._peak is None else max(self._peak, peak)

    def collect_again(self, array: ArrayLike) -> None:
        """Takes a batch in the second pass. Raises ModeError where one pass is enough."""
        raise ModeError(f"calibration: {type(self).__name__} has one pass; give every batch to collect only")

    def threshold(self) -> float:
        """The threshold, 0.0 for a tensor of zeros. Raises ArgumentError where no values were collected."""
        if self._peak is None:
            raise ArgumentError(
                "calibration: no values were collected, so there is no threshold; give at least one sample"
            )
        return self._found() if self._peak > 0.0 else 0.0

    def _take(self, values: Values, peak: float) -> None:
        """Takes finite values, at least one, whose largest absolute value is `peak`."""
        del values, peak  # stored by `collect` already: enough for most algorithms

    @abstractmethod
    def _found(self) -> float:
        """The threshold of a tensor that has a value other than 0."""
