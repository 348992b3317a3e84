"""What the methods give: activations of operators, and attributions to the values of an input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Progress = Callable[[float, Array | None], None]
"""Called with the share that was computed, and the values so far where they can be shown: NaN where nothing
was computed yet."""

METHODS = ("activations", "saliency", "integrated", "occlusion")


def no_progress(share: float, values: Array | None) -> None:
    """Show no progress."""


def never() -> bool:
    """Not cancelled."""
    return False


@dataclass(frozen=True)
class Value:
    """An input or an output of a model: its name, its shape (-1 for any size) and its dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, eq=False)
class Activation:
    """What one operator computed for a sample.

    ``block`` and ``op`` are its numbers in the Program, as ``serialize.to_plain`` counts them. ``layer`` is
    the path of the layer call it belongs to, empty where that is unknown. ``zeros`` is the share of zeros.
    ``low`` and ``high`` are of the finite elements, None where there are none. Of a wanted variable there
    are some of its ``channels``, float32 [channels, rows, columns] and smaller where they are large, with the
    number of all; of one without rows and columns ``counts``: how many elements are in equal bins from
    ``low`` to ``high``.
    """

    block: int
    op: int
    operator: str
    variable: str
    layer: str
    shape: tuple[int, ...]
    dtype: str
    zeros: float
    not_finite: int = 0
    low: float | None = None
    high: float | None = None
    channels: Array | None = None
    all_channels: int = 0
    counts: tuple[int, ...] = ()

    def plain(self) -> dict[str, Any]:
        """As JSON has it, without ``channels``."""
        found = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "channels"}
        return {**found, "shape": list(self.shape), "counts": list(self.counts)}

    @staticmethod
    def of_plain(plain: Mapping[str, Any], channels: Array | None = None) -> Activation:
        """The activation that ``plain()`` wrote. Raises KeyError, TypeError, ValueError for other values."""
        low, high = (None if plain[name] is None else float(plain[name]) for name in ("low", "high"))
        return Activation(
            int(plain["block"]),
            int(plain["op"]),
            str(plain["operator"]),
            str(plain["variable"]),
            str(plain["layer"]),
            tuple(int(size) for size in plain["shape"]),
            str(plain["dtype"]),
            float(plain["zeros"]),
            int(plain["not_finite"]),
            low,
            high,
            channels,
            int(plain["all_channels"]),
            tuple(int(each) for each in plain["counts"]),
        )


@dataclass(frozen=True, eq=False)
class Attribution:
    """How much each value of an input has to do with one number of an output.

    ``values`` are float32 of the input's shape as it was fed: of ``saliency`` the gradient, of ``integrated``
    the share of each value in the difference, of ``occlusion`` the mean drop of the score where it was
    covered (NaN where it was not covered yet). ``target`` is the number's place in the flat output of the
    sample, ``score`` its value. ``share`` is below 1 where it was cancelled before its end.
    ``difference`` is that of the score to the score of the baseline, ``gap`` how far the sum of the values is
    from it; None for other methods. ``settings`` are those that were used.
    """

    method: str
    values: Array
    target: int
    score: float
    seconds: float
    input: int = 0
    output: int = 0
    share: float = 1.0
    difference: float | None = None
    gap: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_partial(self) -> bool:
        """Whether it was cancelled before its end."""
        return self.share < 1.0

    @property
    def gap_share(self) -> float | None:
        """The gap as a share of the difference; None where there is none."""
        if self.gap is None or not self.difference:
            return None
        return abs(self.gap / self.difference)
