"""``IfElse``: rows of a batch go through one of two blocks that the user fills within ``with``.

Both blocks are part of the Program; each works on the rows that its side of the condition picks, and the
results are put back into the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.frames import located, user_frame
from engine.fluid.layers.lod.rank_table import reordered
from engine.fluid.layers.recording import static_builder
from engine.fluid.values.variable import result
from engine.static.nn.sequence_lengths import find_levels, with_levels
from engine.tensor import logic, manipulation, search


class IfElse:
    """Rows whose ``cond`` [N, 1], a bool Variable, is true go through one block, others through another;
    sequences where the values have lengths.

    Within ``true_block()`` or ``false_block()``, ``input(x)`` gives the rows of ``x`` [N, ...] that the block
    works on, and ``output(...)`` takes its results, as many rows. Calling the IfElse gives a list of the
    results of all rows. A block computes also where no row is its own: then it has 0 rows. Raises ModeError
    outside of static mode, ShapeError for a condition of several columns, ArgumentError for one that is
    not a bool, a call in the wrong place and unequal numbers of results.
    """

    def __init__(self, cond: Any, name: str | None = None) -> None:
        static_builder("IfElse")
        if getattr(getattr(cond, "dtype", None), "name", None) != "bool":
            raise _wrong(f"cond is a bool Variable [N, 1]: got {cond!r}; compare it, as in x < y")
        if any(d != 1 for d in cond.shape[1:]):
            raise located(
                ShapeError(
                    f"IfElse: cond must have one column, a bool for each row: got shape {list(cond.shape)}"
                ),
                user_frame(),
            )
        own = manipulation.reshape(cond, [-1])
        sides = {True: own, False: logic.logical_not(own)}
        self._rows = {s: manipulation.reshape(search.nonzero(c), [-1]) for s, c in sides.items()}
        self._outputs: dict[bool, list[Any]] = {}
        self._side: bool | None = None

    @contextmanager
    def true_block(self) -> Iterator[None]:
        """What is done with the rows whose condition is true."""
        yield from self._block(True)

    @contextmanager
    def false_block(self) -> Iterator[None]:
        """What is done with the other rows."""
        yield from self._block(False)

    def _block(self, side: bool) -> Iterator[None]:
        if self._side is not None or side in self._outputs:
            raise _wrong("each block stands once, and not within the other one")
        self._side, self._outputs[side] = side, []
        try:
            yield
        finally:
            self._side = None
        if not self._outputs[side]:
            raise _wrong("Must set output inside block: call output() with what the block computes")

    def input(self, x: Any) -> Any:
        """The rows of ``x`` that the block works on."""
        if self._side is None:
            raise _wrong("input must in true/false blocks")
        return _in_order(x, self._rows[self._side])

    def output(self, *outs: Any) -> None:
        """Take results of the block, a row for each of its rows."""
        if self._side is None:
            raise _wrong("output can only be invoked in the sub-block")
        self._outputs[self._side] += outs

    def __call__(self) -> list[Any]:
        """The results of all rows, in their order."""
        if self._side is not None:
            raise _wrong("IfElse::__call__ must be out of sub-block")
        if not self._outputs:
            raise _wrong("Must invoke true_block or false_block before __call__")
        if len(self._outputs) == 1:
            return next(iter(self._outputs.values()))
        one, other = self._outputs[True], self._outputs[False]
        if len(one) != len(other):
            raise _wrong(f"must have equal number of outputs in both blocks: got {len(one)} and {len(other)}")
        order = search.argsort(manipulation.concat([self._rows[True], self._rows[False]]))
        return [_in_order(_joined(list(pair)), order) for pair in zip(one, other, strict=True)]


def _in_order(x: Any, order: Any) -> Any:
    """Rows, or sequences where it has lengths, of these numbers."""
    made, lengths = reordered(x, order)
    return result(made if lengths is None else with_levels(made, [lengths]))


def _joined(parts: list[Any]) -> Any:
    levels = [find_levels(part) for part in parts]
    made = manipulation.concat(parts)
    return with_levels(made, [manipulation.concat([each[-1] for each in levels])]) if all(levels) else made


def _wrong(message: str) -> Exception:
    return located(ArgumentError(f"IfElse: {message}"), user_frame())
