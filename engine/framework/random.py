"""The seed of all random numbers, and the generator's state."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.core.place import get_device
from engine.core.random.generator import Generator, default_generator
from engine.program.run.executor import default_main_program, default_startup_program


class GeneratorState:
    """Where a generator stands, for ``set_rng_state``."""

    __slots__ = ("values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)

    def current_seed(self) -> int:
        """The seed that the generator was started from."""
        return int(self.values["seed"])


def seed(seed: int, generator: str = "mt19937_64") -> Generator:
    """Start all random numbers of the process over: initial weights, random tensors, dropout.

    The numbers are those of Paddle 2.6.2 on the CPU (the order of shuffled data comes from ``numpy.random``
    there and here). ``generator='philox'``, which Paddle does not have, chooses a counter-based generator
    that is faster, for the order of data too.
    """
    try:
        value = int(seed)
    except (TypeError, ValueError) as error:
        kind = DTypeError if isinstance(error, TypeError) else ArgumentError
        raise kind(f"seed: the seed must be an integer: got {seed!r}; pass e.g. 2026") from None
    counts = sys.modules.get("engine.program.run.eager_kernels")  # imported with the first call that counts
    if counts is not None:
        counts.restart()
    return default_generator().manual_seed(value, generator)


def get_rng_state(device: str | None = None) -> list[GeneratorState]:
    """The generator's whole state, in a list of one. One generator draws for all devices."""
    return [GeneratorState(default_generator().state())]


def set_rng_state(state_list: Sequence[GeneratorState], device: str | None = None) -> None:
    """Go on from a state that ``get_rng_state`` gave. Raises ArgumentError for another number of states."""
    _restore("set_rng_state", state_list, 1)


def _manual_program_seed(seed: int) -> None:
    """The seed of the default Programs (Paddle's own code calls this under its private name)."""
    default_main_program().random_seed = seed
    default_startup_program().random_seed = seed


def get_cuda_rng_state() -> list[GeneratorState]:
    """The state for the GPU in use, in a list; empty on the CPU. One generator draws for all devices."""
    return get_rng_state() if get_device().startswith("gpu") else []


def set_cuda_rng_state(state_list: Sequence[GeneratorState]) -> None:
    """Go on from what ``get_cuda_rng_state`` gave. Raises ArgumentError for another number of states."""
    _restore("set_cuda_rng_state", state_list, len(get_cuda_rng_state()))


def _restore(where: str, states: Sequence[GeneratorState], expected: int) -> None:
    if len(states) != expected:
        raise ArgumentError(f"{where}: takes {expected} state(s) on {get_device()}: got {len(states)}")
    for state in states:
        default_generator().set_state(state.values)
