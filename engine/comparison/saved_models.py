"""A comparison of saved models: of two, or of one before and after passes or on two devices."""

from __future__ import annotations

from dataclasses import dataclass

from engine.comparison.pairs import passes_off_and_on, two_devices, two_steps
from engine.comparison.result import Comparison
from engine.comparison.saved_step import SAMPLES, SavedStep
from engine.comparison.values import ValueStore


@dataclass(frozen=True)
class SavedRequest:
    """``a`` and ``b`` are the paths of models; without ``b`` one is compared with itself after the passes, or
    on two ``devices`` where those are given. The others are as in :class:`Request`."""

    a: str
    b: str = ""
    batch: int = 0
    samples: int = 0
    tolerance: float | None = None
    data: str = ""
    devices: tuple[str, ...] = ()

    def carry_out(self) -> Comparison:
        """Compare, in this process."""
        with ValueStore() as store:
            a = self._step(self.a)
            if self.b:
                b = self._step(self.b)
                b.take_batch(a)
                return two_steps(a, b, store, self.tolerance)
            if self.devices:
                first, second = self.devices
                return two_devices(a, (first, second), store, self.tolerance)
            return passes_off_and_on(a, store, self.tolerance)

    def _step(self, path: str) -> SavedStep:
        return SavedStep(path, self.data, self.batch, self.samples or SAMPLES)
