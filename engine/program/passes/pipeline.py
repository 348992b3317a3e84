"""The pass pipeline: a Program that computes the same, faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from engine.core.context import Setting
from engine.core.errors import ArgumentError
from engine.program.graph.program import Program
from engine.program.passes.clone import clone
from engine.program.passes.common_subexpressions import merge_common_subexpressions
from engine.program.passes.dead_code import remove_dead_code
from engine.program.passes.fold_batch_norm import fold_batch_norms
from engine.program.passes.fold_constants import fold_constants
from engine.program.passes.fold_weights import fold_integer_weights, fold_weights
from engine.program.passes.fuse_convolution import fuse_convolutions

# Level 1 is valid in training and inference; level 2 uses the present values of the weights; level 3 is for
# Programs that run here and are not saved: quantized products run as integers.
EXACT, INFERENCE, PREDICTION = 1, 2, 3

# The level at which converted functions and Executors optimize Programs before a run: 0 runs them as they
# were built. ``with level.guard(0):`` holds for this context, ``level.set(0)`` for the process.
level: Setting[int] = Setting("level_of_passes", EXACT)


class Pass(NamedTuple):
    """A function that changes the Program it is given, and the level from which it runs."""

    rewrite: Callable[[Program], None]
    level: int


class Later:
    """The pass ``name`` of a module that is imported when the pass first runs: few processes predict."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self.__name__ = f"engine.program.passes.{module}", name

    def load(self) -> Callable[[Program], None]:
        """The function itself."""
        found: Callable[[Program], None] = getattr(import_module(self._module), self.__name__)
        return found

    def __call__(self, program: Program) -> None:
        self.load()(program)


PIPELINE: tuple[Pass, ...] = (
    Pass(remove_dead_code, EXACT),
    Pass(Later("quantization.drop_observers", "drop_observers"), PREDICTION),
    Pass(fold_batch_norms, INFERENCE),
    Pass(fold_constants, EXACT),
    Pass(merge_common_subexpressions, EXACT),
    Pass(Later("move_relus", "move_relus"), PREDICTION),
    Pass(fuse_convolutions, EXACT),
    Pass(Later("drop_unread_gradients", "drop_unread_gradients"), EXACT),
    Pass(Later("quantization.integer_products", "integer_products"), PREDICTION),
    Pass(fold_weights, INFERENCE),
    Pass(fold_integer_weights, PREDICTION),
    Pass(remove_dead_code, EXACT),
)


def optimize(
    program: Program,
    level: int = EXACT,
    outputs: Sequence[str] | None = None,
    after_each: Callable[[Program, Pass], Any] | None = None,
) -> Program:
    """A copy of ``program`` that computes ``outputs`` (names; by default its own) with fewer operators.

    Names of inputs, outputs and parameters stay. Level 0 copies. Level 1 removes dead code, folds constants,
    merges common subexpressions, fuses a convolution with its bias and relu and omits gradients of
    convolutions that nothing reads: results stay the same, and gradients can be built of the optimized
    Program. Level 2 is for inference only: it folds batch norms into convolutions and computes values that
    depend on weights alone, so that later changes of those weights have no effect; results stay the same
    within rounding. Level 3 also runs products of quantized values as products of integers, drops operators
    that only watched values, and pools before a relu; it is for Programs that run and are not saved.
    ``after_each`` is called after every pass with the Program and the pass.

    Raises ArgumentError for another level, or where the Program has no outputs: all of it would be dead code.
    """
    made = copied(program, level, outputs)
    for each in passes_over(made, level):
        if after_each is not None:
            after_each(made, each)
    return made


def without_fusions(program: Program, level: int, outputs: Sequence[str]) -> Program:
    """As :func:`optimize`, but no operators are combined and nothing is folded: they are those of the user.

    Equal ones are one, since gradients add up in the order of the operators.
    """
    made = copied(program, level, outputs)
    for each in PIPELINE:
        if each.level <= level and each.rewrite in (remove_dead_code, merge_common_subexpressions):
            each.rewrite(made)
    return made


def copied(program: Program, level: int, outputs: Sequence[str] | None = None) -> Program:
    """A copy of ``program`` for the passes of a level; raises ArgumentError as :func:`optimize` does."""
    if level not in (0, EXACT, INFERENCE, PREDICTION):
        raise ArgumentError(f"optimize: level {level!r} is unknown; use 0, 1, 2 or 3")
    wanted = list(program.outputs if outputs is None else outputs)
    if not wanted:
        raise ArgumentError("optimize: the Program has no outputs; name the wanted Variables by outputs=")
    made = clone(program)
    made.outputs = wanted
    return made


def passes_over(made: Program, level: int) -> Iterator[Pass]:
    """Run the passes of a level over ``made``, and give each when it has run."""
    clean = -1  # the version without dead code
    for each in PIPELINE:
        if each.level <= level and not (each.rewrite is remove_dead_code and made.version == clean):
            each.rewrite(made)
            clean = made.version if each.rewrite is remove_dead_code else clean
            yield each
