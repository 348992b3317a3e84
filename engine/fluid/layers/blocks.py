"""``While``, ``Switch`` and ``ConditionalBlock``: sub-blocks that the user fills within ``with``.

What stands in such a block is recorded once, aside. When the block ends it is known which values it changed
in place; a loop or a branch over these values is then built, with copies of what was recorded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from engine.core.errors import ArgumentError
from engine.core.frames import located, user_frame
from engine.fluid.layers.recording import Recorded, drop, recording, static_builder
from engine.program.build import control
from engine.program.graph.variable import Variable
from engine.tensor import logic


class While:
    """A loop: the ``with`` block of ``block()`` is run as long as ``cond``, a bool of one element, is true.

    The block has to give ``cond`` its next value, as in ``less_than(i, n, cond=cond)``. Raises ModeError
    outside of static mode, ArgumentError for a condition that is not a bool and for a block that does not
    change it.
    """

    def __init__(self, cond: Any, is_test: bool = False, name: str | None = None) -> None:
        static_builder("While")
        if not isinstance(cond, Variable) or cond.dtype.name != "bool":
            raise ArgumentError(f"While: cond is a bool Variable: got {cond!r}; compare it, as in i < n")
        self._cond = cond

    @contextmanager
    def block(self) -> Iterator[None]:
        """The body of the loop."""
        builder = static_builder("While")
        with recording(builder) as recorded:
            yield
        until = len(builder.program.blocks)
        starts = recorded.before()
        place = next((n for n, (x, _, _) in enumerate(recorded.changes) if x is self._cond), None)
        if place is None:
            raise located(
                ArgumentError(
                    f"While: the block does not change its condition {self._cond.name!r}, "
                    f"so it would never end; "
                    "compute it again within the block, as in less_than(i, n, cond=cond)"
                ),
                user_frame(),
            )

        def step(*values: Any) -> list[Any]:
            results = recorded.replay(list(values))
            return [results[id(start)] for start in starts]

        last = control.while_loop(lambda *values: values[place], step, starts)
        recorded.take({id(start): value for start, value in zip(starts, last, strict=True)})
        drop(builder.program, [recorded.block], until)


class Switch:
    """Branches: the block of the first ``case`` whose condition is true is run, else that of ``default``.

    It is used as a ``with`` block, which holds ``with switch.case(condition):`` and
    ``with switch.default():``. Raises ModeError outside of static mode, ArgumentError for a case after the
    default.
    """

    def __init__(self, name: str | None = None) -> None:
        self._sides: list[tuple[Any, Recorded]] = []
        self._default: Recorded | None = None

    def __enter__(self) -> Switch:
        self._builder = static_builder("Switch")
        return self

    @contextmanager
    def case(self, condition: Any) -> Iterator[None]:
        """What is run where ``condition`` is the first one that is true."""
        if self._default is not None:
            raise ArgumentError("Switch: a case stands after the default; put the default last")
        with recording(self._builder) as recorded:
            yield
        self._sides.append((condition, recorded))

    @contextmanager
    def default(self) -> Iterator[None]:
        """What is run where no condition is true."""
        with recording(self._builder) as recorded:
            yield
        self._default = recorded

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        every = [side for _, side in self._sides] + ([self._default] if self._default else [])
        if error is not None or not every:
            return
        until = len(self._builder.program.blocks)
        starts = {id(start): start for side in every for start in side.before()}

        def chosen(side: Recorded | None) -> list[Any]:
            results = {} if side is None else side.replay()
            return [results.get(key, start) for key, start in starts.items()]

        def either(condition: Any, side: Recorded, rest: Callable[[], Any]) -> Callable[[], Any]:
            return lambda: control.cond(condition, lambda: chosen(side), rest)

        build: Callable[[], Any] = functools.partial(chosen, self._default)
        for condition, side in reversed(self._sides):
            build = either(condition, side, build)
        results = dict(zip(starts, build(), strict=True))
        for side in every:
            side.take(results)
        drop(self._builder.program, [side.block for side in every], until)


class ConditionalBlock:
    """A ``with`` block that is run where ``inputs[0]``, a bool of one element, is true.

    Without ``is_scalar_condition`` it is run where none of the inputs is empty. Raises ModeError outside of
    static mode, ArgumentError without inputs.
    """

    def __init__(self, inputs: Any, is_scalar_condition: bool = False, name: str | None = None) -> None:
        static_builder("ConditionalBlock")
        known = isinstance(inputs, (list, tuple)) and all(isinstance(x, Variable) for x in inputs)
        if not known or not inputs:
            raise ArgumentError(f"ConditionalBlock: inputs is a list of Variables: got {inputs!r}")
        self._inputs, self._is_scalar = list(inputs), is_scalar_condition

    @contextmanager
    def block(self) -> Iterator[None]:
        """What is run under the condition."""
        condition = self._inputs[0]
        if not self._is_scalar:
            there = [logic.logical_not(logic.is_empty(x)) for x in self._inputs]
            condition = functools.reduce(logic.logical_and, there)
        with Switch() as switch, switch.case(condition):
            yield
