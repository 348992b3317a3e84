"""ExplainViewModel: the method, the score that is explained, and the map that was found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from numpy.typing import NDArray
from psygnal import SignalGroupDescriptor

METHODS = ("saliency", "integrated", "occlusion")
ANSWER = -1


@dataclass(frozen=True)
class ExplainOptions:
    """How an answer is explained.

    ``output`` is the one that is explained, of several; ``target`` is the place of a score in it, ``ANSWER``
    for the highest. ``steps`` and ``baseline`` (empty for what suits the input) belong to integrated
    gradients; ``size`` and ``stride`` (pixels, 0 for what suits the image) and ``color`` to occlusion.
    """

    method: str = "saliency"
    output: int = 0
    target: int = ANSWER
    steps: int = 32
    baseline: str = ""
    size: int = 0
    stride: int = 0
    color: str = "mean"


@dataclass(frozen=True, eq=False)
class Explained:
    """What a method found for what the model was ``fed``.

    ``values`` have the shape of the input that is explained; NaN where nothing was computed yet. ``share`` is
    how much was computed. ``difference`` is that of the score to that of the baseline and ``gap`` how far
    the sum of the values is from it, NaN for other methods. ``fill`` is what the sample was compared with or
    covered by, see ``covering.fill_used``; empty for saliency.
    """

    fed: tuple[Any, ...]
    input: int
    method: str
    values: NDArray[Any]
    target: int
    score: float
    seconds: float
    share: float = 1.0
    difference: float = math.nan
    gap: float = math.nan
    fill: str = ""


@dataclass
class ExplainViewModel:
    """What a panel shows.

    ``outputs`` are the names of the model's outputs and how many numbers each has, 0 where that is open.
    ``targets`` are names of the scores of the first, of ``classes`` or of other numbers. ``reasons`` say of
    methods that can't be used why. ``checkpoint`` is that of a run whose weights answer. ``input`` is the
    one that is explained, of several. ``progress`` is how much is computed of what is asked, 0 to 1, NaN
    while nothing is. ``stopped`` says why there is no map: nan where ``not_finite`` values of the input are
    NaN or infinite, cancelled by the user, limit where the model took more than it may, or failed, both with
    ``message``; else empty.
    """

    options: ExplainOptions = ExplainOptions()
    reasons: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[tuple[str, int], ...] = ()
    targets: tuple[str, ...] = ()
    classes: bool = True
    checkpoint: str = ""
    input: int = 0
    fed: tuple[Any, ...] = ()
    found: Explained | None = None
    progress: float = math.nan
    stopped: str = ""
    message: str = ""
    not_finite: int = 0

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    def stop(self, why: str, message: str = "", not_finite: int = 0) -> None:
        """No map, and why; empty for no reason."""
        self.message, self.not_finite = message, not_finite
        if why:
            self.progress, self.found = math.nan, None
        self.stopped = why

    @property
    def working(self) -> bool:
        """Whether something is being computed."""
        return self.progress == self.progress
