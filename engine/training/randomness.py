"""The state of all random numbers that a run may draw, and looks at a network that leave it as it was."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.random.generator import default_generator, numpy_state, set_numpy_state
from engine.core.random.state import entry, python_state

if TYPE_CHECKING:
    from engine.nn import Layer


def seed_everything(seed: int) -> None:
    """Seed the engine's, NumPy's and Python's random numbers (a user's model may draw from any of them)."""
    default_generator().manual_seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)


def random_state() -> dict[str, Any]:
    """The state of all three generators as plain values and arrays."""
    version, internal, spare = random.getstate()
    return {
        "engine": default_generator().state(),
        "numpy": numpy_state(),
        "python": {
            "version": int(version),
            "internal": np.array(internal, np.uint64),
            "spare": math.nan if spare is None else float(spare),
        },
    }


def set_random_state(state: dict[str, Any]) -> None:
    """Restore the generators to what ``random_state`` returned. Raises ArgumentError for anything else."""
    where = "set_random_state"
    default_generator().set_state(entry(where, state, "engine"))
    set_numpy_state(entry(where, state, "numpy"))
    random.setstate(python_state(entry(where, state, "python")))


@contextmanager
def measuring(network: Layer) -> Iterator[None]:
    """Put the network into evaluation mode within the block; restores modes and random numbers."""
    layers = [(layer, layer.training) for layer in network.sublayers(include_self=True)]
    state = random_state()
    network.eval()
    try:
        yield
    finally:
        for layer, training in layers:
            layer.training = training
        set_random_state(state)
