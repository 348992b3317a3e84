"""The seed of all random numbers, and the generator's state."""

from __future__ import annotations

from engine.core.random import Generator, default_generator
from engine.program.executor import default_main_program


def seed(seed: int) -> Generator:
    """Start all random numbers of the process over: initial weights, shuffling, dropout."""
    return default_generator().seed(seed)


def get_rng_state(device: str | None = None) -> dict[str, int]:
    """The generator's whole state: two integers."""
    return default_generator().state()


def set_rng_state(state_list: dict[str, int], device: str | None = None) -> None:
    """Go on from a state that ``get_rng_state`` gave."""
    default_generator().set_state(state_list)


def _manual_program_seed(seed: int) -> None:
    """The seed of the default Programs (Paddle's own code calls this under its private name)."""
    default_main_program().random_seed = seed
