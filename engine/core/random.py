"""Counter-based random numbers: every draw is a pure function of a key (seed, offset).

One generator hands out keys; eager and static execution ask for them in the same order, so both draw the same
numbers. A replay reuses the random keys of the first run.
"""

from __future__ import annotations

import threading
from typing import TypeAlias

import numpy as np

from engine.core.errors import ArgumentError

Key: TypeAlias = tuple[int, int]

_MASK = (1 << 64) - 1


class Generator:
    """Hands out random keys. Its whole state is two integers, so a checkpoint resumes it exactly."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = int(seed)
        self._offset = 0
        self._lock = threading.Lock()

    def seed(self, value: int) -> Generator:
        """Start over from ``value``; the next key is ``(value, 0)``."""
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise ArgumentError(f"seed: the seed must be an integer: got {value!r}; pass e.g. 2026")
        with self._lock:
            self._seed, self._offset = int(value), 0
        return self

    manual_seed = seed

    def initial_seed(self) -> int:
        return self._seed

    def reserve(self) -> Key:
        """Take the next key."""
        with self._lock:
            key = (self._seed, self._offset)
            self._offset += 1
        return key

    def state(self) -> dict[str, int]:
        return {"seed": self._seed, "offset": self._offset}

    def set_state(self, state: dict[str, int]) -> None:
        with self._lock:
            self._seed, self._offset = int(state["seed"]), int(state["offset"])


def numpy_generator(key: Key) -> np.random.Generator:
    """The random numbers that belong to ``key`` (Philox 4x64, the offset in the counter's upper half)."""
    seed, offset = key
    return np.random.Generator(np.random.Philox(key=seed & _MASK, counter=[0, 0, offset & _MASK, 0]))


_default = Generator(seed=int(np.random.SeedSequence().entropy) & 0x7FFFFFFF)  # type: ignore[arg-type]


def default_generator() -> Generator:
    """The generator of this process; ``seed()`` sets it."""
    return _default
