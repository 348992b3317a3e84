"""Random inputs for a Program, and how far apart two results are: whether two forms of a model agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from engine.core.errors import EngineError, FormatError
from engine.program.graph.program import Program, Variable
from engine.program.run.executor import Executor

SIZES = (2, 3)  # of unknown dimensions, in the two runs
TOLERANCE = 1e-5  # of the largest result

Feed = dict[str, np.ndarray]
T = TypeVar("T")


def answered_feeds(
    program: Program, run: Callable[[Feed], T], seed: int = 0, batch: int | None = None
) -> tuple[list[Feed], list[T]]:
    """Random inputs of two sizes, by name, with what ``run`` makes of them; with ``batch`` that is the size
    of an unknown first dimension.

    Normal numbers, or numbers from 0 to 1 if the model takes no others, as where it looks up rows for the
    words of a column. Raises what ``run`` raises for these.
    """
    try:
        feeds = [random_feed(program, size, batch or size, seed) for size in SIZES]
        return feeds, [run(feed) for feed in feeds]
    except EngineError:
        feeds = [random_feed(program, size, batch or size, seed, unit=True) for size in SIZES]
        return feeds, [run(feed) for feed in feeds]


def random_feed(program: Program, size: int, batch: int, seed: int = 0, unit: bool = False) -> Feed:
    """Inputs by name, whose unknown dimensions are ``size`` long, and ``batch`` if they are the first; with
    ``unit`` numbers from 0 to 1."""
    block = program.global_block()
    return {
        name: _drawn(block.var(name), size, batch, np.random.default_rng((seed, size)), unit)
        for name in program.inputs
    }


def outputs_of(program: Program, feed: Feed) -> list[np.ndarray]:
    """The results of a Program with bound weights."""
    found: list[np.ndarray] = Executor().run(program, feed=feed, fetch_list=list(program.outputs))
    return found


def difference(found: np.ndarray, wanted: np.ndarray, where: str) -> float:
    """The largest difference as a share of the largest result. Raises FormatError for another shape."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        raise FormatError(
            f"{where} is {found.dtype}{list(found.shape)}, not {wanted.dtype}{list(wanted.shape)}; report "
            "this with the model's code"
        )
    if not wanted.size or np.array_equal(found, wanted):
        return 0.0
    if wanted.dtype.kind not in "fc":
        return float("inf")
    finite = np.isfinite(wanted)
    if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return float("inf")
    largest = np.abs(wanted[finite]).max(initial=1e-30)
    return float(np.abs(found[finite].astype(np.float64) - wanted[finite]).max(initial=0.0) / largest)


def _drawn(variable: Variable, size: int, batch: int, random: np.random.Generator, unit: bool) -> np.ndarray:
    """Numbers, or integers 0 and 1, which every index and length can be."""
    shape = [d if d >= 0 else size if axis else batch for axis, d in enumerate(variable.spec.shape)]
    kind = variable.spec.dtype.np
    if np.dtype(kind).kind in "fc":
        return (random.random(shape) if unit else random.standard_normal(shape)).astype(kind)
    return random.integers(0, 2, shape).astype(kind)
