"""``While`` and ``Switch``: sub-blocks that the user fills within ``with``.

What stands in such a block is recorded once, aside. When the block ends it is known which values it changed
in place; a loop or a branch over these values is then built, with copies of what was recorded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ModeError
from engine.core.frames import located, user_frame
from engine.core.operator import Operator
from engine.program.build import control
from engine.program.build.builder import Builder, current_builder
from engine.program.graph.program import Block, Program
from engine.program.graph.variable import Variable
from engine.program.passes.inline import Inliner
from engine.tensor.tensor_array import TensorArray, watching


class _Recorded:
    """Operators that stand aside, and the values from outside that they change."""

    def __init__(self, block: Block) -> None:
        self.block = block
        # What a script holds, what it stood for before the block, and what it stands for after it.
        self.changes: list[tuple[Any, Variable, Variable]] = []
        self.arrays: list[tuple[TensorArray, list[Any], list[Any]]] = []

    def before(self) -> list[Any]:
        """The values that are changed, as they are at the beginning."""
        return [old for _, old, _ in self.changes] + [v for _, old, _ in self.arrays for v in old]

    def replay(self, given: list[Any] | None = None) -> dict[int, Any]:
        """Append copies to the current block, with ``given`` for ``before()``.

        Returns the changed values by the ids of what they stood for before.
        """
        builder = current_builder()
        assert builder is not None, "blocks are built in static mode"
        copies = _Copies(builder, self.block)
        copies.mapped.update(zip(self.before(), given or (), strict=given is not None))
        copies.copy_block(self.block, builder.block)
        pairs = [(old, new) for _, old, new in self.changes]
        pairs += [pair for _, olds, news in self.arrays for pair in zip(olds, news, strict=True)]
        return {id(old): copies.read(new) for old, new in pairs}

    def take(self, results: dict[int, Any]) -> None:
        """Let what was changed stand for ``results``, which are by the ids of what they stood for before."""
        builder = current_builder()
        assert builder is not None, "blocks are built in static mode"
        for x, old, _ in self.changes:
            builder.rebind(x, results[id(old)])
        for array, olds, _ in self.arrays:
            array.become([results[id(old)] for old in olds])


class _Copies(Inliner):
    """Copies of recorded operators, their shapes inferred again; values from outside stay themselves."""

    def __init__(self, builder: Builder, recorded: Block) -> None:
        super().__init__(builder)
        outer = recorded.parent
        assert outer is not None, "what is recorded stands in a block of its own"
        self._outer = list(outer.lineage())

    def made(self, variable: Variable, target: Block) -> Variable:
        if any(variable.block is block for block in self._outer):
            return variable
        return super().made(variable, target)

    def copy(self, operator: Operator, target: Block) -> Operator | None:
        copied = super().copy(operator, target)
        if copied is not None and not copied.regions:
            specs = copied.opdef.infer_specs([_spec_of(v) for v in copied.inputs], copied.attrs)
            for variable, spec in zip(copied.outputs, specs, strict=True):
                if isinstance(variable, Variable) and variable.block is target:
                    variable.spec = spec
        return copied


def _spec_of(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_spec_of(v) for v in value]
    return None if value is None else value.spec


def _builder(where: str) -> Builder:
    builder = current_builder()
    if builder is None or builder.startup is None:
        raise ModeError(f"{where}: belongs to a Program, and none is being built; use Python's own statement")
    return builder


@contextmanager
def _recording(builder: Builder) -> Iterator[_Recorded]:
    """Record what is built within the block; the values that it changes are put back."""
    found = _Recorded(builder.program.create_block(builder.block))
    before = dict(builder.rebound)
    with watching() as watch:
        try:
            with modes.use(builder.in_block(found.block)):
                yield found
        finally:
            after = {key: pair for key, pair in builder.rebound.items() if before.get(key) is not pair}
            builder.rebound.clear()
            builder.rebound.update(before)
    held = [(array, array.leaves()) for array in watch.changed()]
    watch.put_back()
    for array, leaves in held:
        if not array.leaves():
            raise located(ArgumentError(
                "array_write: the first element of an array is written within a block; write one before the "
                "block, so that the shape of the elements is known"
            ), user_frame())  # fmt: skip
        found.arrays.append((array, array.leaves(), leaves))
    lineage = list(builder.block.lineage())
    for x, value in after.values():
        if any(getattr(x, "block", None) is block for block in lineage):
            found.changes.append((x, builder.now(x), value))


def _drop(program: Program, recorded: list[Block], until: int) -> None:
    """Take the blocks from the first recorded one to before number ``until`` out of the Program."""
    first = recorded[0].idx
    parents = [block.parent for block in program.blocks]
    kept = [(b, p) for n, (b, p) in enumerate(zip(program.blocks, parents, strict=True))
            if not first <= n < until]  # fmt: skip
    program.blocks = [block for block, _ in kept]
    for number, (block, _) in enumerate(kept):
        block.idx = number
    for block, parent in kept:
        block.parent_idx = -1 if parent is None else parent.idx


class While:
    """A loop: the ``with`` block of ``block()`` is run as long as ``cond``, a bool of one element, is true.

    The block has to give ``cond`` its next value, as in ``less_than(i, n, cond=cond)``. Raises ModeError
    outside of static mode, ArgumentError for a condition that is not a bool and for a block that does not
    change it.
    """

    def __init__(self, cond: Any, is_test: bool = False, name: str | None = None) -> None:
        _builder("While")
        if not isinstance(cond, Variable) or cond.dtype.name != "bool":
            raise ArgumentError(f"While: cond is a bool Variable: got {cond!r}; compare it, as in i < n")
        self._cond = cond

    @contextmanager
    def block(self) -> Iterator[None]:
        """The body of the loop."""
        builder = _builder("While")
        with _recording(builder) as recorded:
            yield
        until = len(builder.program.blocks)
        starts = recorded.before()
        place = next((n for n, (x, _, _) in enumerate(recorded.changes) if x is self._cond), None)
        if place is None:
            raise located(ArgumentError(
                f"While: the block does not change its condition {self._cond.name!r}, so it would never end; "
                "compute it again within the block, as in less_than(i, n, cond=cond)"
            ), user_frame())  # fmt: skip

        def step(*values: Any) -> list[Any]:
            results = recorded.replay(list(values))
            return [results[id(start)] for start in starts]

        last = control.while_loop(lambda *values: values[place], step, starts)
        recorded.take({id(start): value for start, value in zip(starts, last, strict=True)})
        _drop(builder.program, [recorded.block], until)


class Switch:
    """Branches: the block of the first ``case`` whose condition is true is run, else that of ``default``.

    It is used as a ``with`` block, which holds ``with switch.case(condition):`` and
    ``with switch.default():``. Raises ModeError outside of static mode, ArgumentError for a case after the
    default.
    """

    def __init__(self, name: str | None = None) -> None:
        self._sides: list[tuple[Any, _Recorded]] = []
        self._default: _Recorded | None = None

    def __enter__(self) -> Switch:
        self._builder = _builder("Switch")
        return self

    @contextmanager
    def case(self, condition: Any) -> Iterator[None]:
        """What is run where ``condition`` is the first one that is true."""
        if self._default is not None:
            raise ArgumentError("Switch: a case stands after the default; put the default last")
        with _recording(self._builder) as recorded:
            yield
        self._sides.append((condition, recorded))

    @contextmanager
    def default(self) -> Iterator[None]:
        """What is run where no condition is true."""
        with _recording(self._builder) as recorded:
            yield
        self._default = recorded

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        every = [side for _, side in self._sides] + ([self._default] if self._default else [])
        if error is not None or not every:
            return
        until = len(self._builder.program.blocks)
        starts = {id(start): start for side in every for start in side.before()}

        def chosen(side: _Recorded | None) -> list[Any]:
            results = {} if side is None else side.replay()
            return [results.get(key, start) for key, start in starts.items()]

        def either(condition: Any, side: _Recorded, rest: Callable[[], Any]) -> Callable[[], Any]:
            return lambda: control.cond(condition, lambda: chosen(side), rest)

        build: Callable[[], Any] = functools.partial(chosen, self._default)
        for condition, side in reversed(self._sides):
            build = either(condition, side, build)
        results = dict(zip(starts, build(), strict=True))
        for side in every:
            side.take(results)
        _drop(self._builder.program, [side.block for side in every], until)
