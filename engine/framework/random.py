"""The seed of all random numbers, and the generator's state."""

from __future__ import annotations

from engine.core.errors import ArgumentError
from engine.core.place import get_device
from engine.core.random import Generator, default_generator
from engine.program.run.executor import default_main_program, default_startup_program


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
    default_startup_program().random_seed = seed


def get_cuda_rng_state() -> list[dict[str, int]]:
    """The state for the GPU in use, in a list; empty on the CPU. One generator draws for all devices."""
    return [default_generator().state()] if get_device().startswith("gpu") else []


def set_cuda_rng_state(state_list: list[dict[str, int]]) -> None:
    """Go on from what ``get_cuda_rng_state`` gave. Raises ArgumentError for another number of states."""
    expected = len(get_cuda_rng_state())
    if len(state_list) != expected:
        raise ArgumentError(
            f"set_cuda_rng_state: takes {expected} state(s) on {get_device()}: got {len(state_list)}"
        )
    for state in state_list:
        default_generator().set_state(state)
