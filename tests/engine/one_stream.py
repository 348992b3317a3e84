"""Random operators draw on the CPU what they draw on a GPU, so that results of both can be compared."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from engine.core.operators.opdef import OPS
from engine.core.random.draws import CounterDraws
from engine.core.random.generator import GPUKey, default_generator


class _AsOnGPU(GPUKey):
    """A key of the CPU that gives the numbers of the GPU's."""

    def draws(self) -> Any:
        return nullcontext(CounterDraws(*self))

    def private(self, seed: int) -> Any:
        return CounterDraws(seed, 0)


def one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the default generator hand out such keys on the CPU, until the test ends."""
    generator = default_generator()

    def reserve() -> Any:
        return _AsOnGPU(*generator.reserve_on_gpu())

    monkeypatch.setattr(generator, "reserve", reserve)
    for opdef in OPS.values():
        if opdef.random:
            monkeypatch.setitem(opdef.namespace, "reserve", reserve)
