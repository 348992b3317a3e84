"""Random inputs for a Program, and how far apart two results are: whether two forms of a model agree."""

from __future__ import annotations

import numpy as np

from engine.core.errors import FormatError
from engine.program.graph.program import Program, Variable
from engine.program.run.executor import Executor

SIZES = (2, 3)  # of unknown dimensions, in the two runs
TOLERANCE = 1e-5  # of the largest result

Feed = dict[str, np.ndarray]


def random_feeds(program: Program, seed: int = 0, batch: int | None = None) -> list[Feed]:
    """Inputs of two sizes, by name; with ``batch`` that is the size of an unknown first dimension."""
    return [random_feed(program, size, batch or size, seed) for size in SIZES]


def random_feed(program: Program, size: int, batch: int, seed: int = 0) -> Feed:
    """Inputs by name, whose unknown dimensions are ``size`` long, and ``batch`` if they are the first."""
    block = program.global_block()
    return {
        name: _drawn(block.var(name), size, batch, np.random.default_rng((seed, size)))
        for name in program.inputs
    }


def outputs_of(program: Program, feeds: list[Feed]) -> list[list[np.ndarray]]:
    """The results of a Program with bound weights, for each of the feeds."""
    return [Executor().run(program, feed=feed, fetch_list=list(program.outputs)) for feed in feeds]


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


def _drawn(variable: Variable, size: int, batch: int, random: np.random.Generator) -> np.ndarray:
    """Normal numbers, or integers 0 and 1, which every index and length can be."""
    shape = [d if d >= 0 else size if axis else batch for axis, d in enumerate(variable.spec.shape)]
    kind = variable.spec.dtype.np
    if np.dtype(kind).kind in "fc":
        return random.standard_normal(shape).astype(kind)
    return random.integers(0, 2, shape).astype(kind)
