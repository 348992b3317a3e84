"""``DynamicRNN``: a step that the user fills within ``with``, repeated over sequences of uneven lengths.

As in Paddle the sequences are ordered by length, the longest first, and each step computes the rows of those
that have it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from engine.core.errors import UnreadyError
from engine.core.frames import located, user_frame
from engine.core.values.dtype import as_dtype, int64
from engine.core.values.spec import Spec
from engine.fluid.layers.lod.rank_table import RankTable, first_rows, reordered, rest_of_rows
from engine.fluid.layers.recording import Recorded, drop
from engine.fluid.layers.static_rnn import Memory, RecordedSteps, value_of_step
from engine.fluid.values.variable import result
from engine.nn.layer.rnn import RNN
from engine.program.build.builder import Builder
from engine.program.graph.variable import Variable
from engine.static.nn.sequence_lengths import find_levels, levels_of, with_levels
from engine.tensor import creation, manipulation
from engine.tensor.elements.arranging import slice_
from engine.tensor.reductions import reduction


class _Static:
    """A value that is not cut into steps: the part of it that belongs to the sequences of a step."""

    def __init__(self, whole: Variable, part: Variable, lengths: Variable | None) -> None:
        self.whole, self.part, self.lengths = whole, part, lengths


class DynamicRNN(RecordedSteps):
    """A recurrent network over the rows of sequences that the ``with`` block of ``block()`` describes.

    Calling it gives what ``output`` was given in each step, as sequences of the lengths of the first
    ``step_input``: one Variable, or a list of them. Raises ModeError outside of static mode, ArgumentError
    (a ValueError) for a call of its methods in the wrong place.
    """

    ONCE = "rnn.block() can only be invoked once; make another DynamicRNN"
    UNREADY = "Output of the dynamic RNN can only be visited outside the rnn block."
    NO_OUTPUT = "the block has no output; give one to output()"
    INSIDE = "{} can only be invoked inside rnn block: `with rnn.block():`"

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._lengths: Any = None
        self._inputs: list[tuple[Variable, Variable]] = []
        self._statics: list[_Static] = []
        self._starts: list[Callable[[RankTable], Any]] = []

    def block(self) -> AbstractContextManager[None]:
        """What is done in each step."""
        return self._block("block")

    def step_input(self, x: Any, level: int = 0) -> Any:
        """The rows of a step, of the sequences that have it: [sequences of the step, ...].

        ``x`` has one level of lengths; raises ArgumentError for others. The first ``step_input`` says how
        many steps each sequence has.
        """
        block = self._inside("step_input").block
        (lengths,) = levels_of("DynamicRNN.step_input", "x", x, most=1)
        if self._lengths is None:
            self._lengths = lengths
        part = value_of_step(block, "step_input", x.spec.with_shape((-1, *x.shape[1:])), x.stop_gradient)
        self._inputs.append((x, part))
        return part

    def static_input(self, x: Any) -> Any:
        """All of ``x`` in each step: the rows, or the sequences with their lengths, of the step's sequences.

        Raises UnreadyError, a RuntimeError, before ``step_input``.
        """
        block = self._inside("static_input").block
        if self._lengths is None:
            raise located(
                UnreadyError("DynamicRNN.static_input: static_input() must be called after step_input()."),
                user_frame(),
            )
        if not isinstance(x, Variable):
            raise self._wrong("static_input", f"x is a Variable: got {x!r}")
        part = value_of_step(block, "static_input", x.spec.with_shape((-1, *x.shape[1:])), x.stop_gradient)
        if not find_levels(x):
            self._statics.append(_Static(x, part, None))
            return part
        levels_of("DynamicRNN.static_input", "x", x, most=1)
        lengths = value_of_step(block, "static_input", Spec((-1,), int64), True)
        self._statics.append(_Static(x, part, lengths))
        return result(with_levels(part, [lengths]))

    def memory(
        self,
        init: Any = None,
        shape: Any = None,
        value: float = 0.0,
        need_reorder: bool = False,
        dtype: Any = "float32",
    ) -> Any:
        """A value that goes from step to step: ``init`` at first, or ``value`` in [sequences, *shape].

        Row i of ``init`` belongs to the i-th longest sequence, with ``need_reorder`` to the i-th sequence.
        """
        block = self._inside("memory").block
        if self._lengths is None:
            raise self._wrong(
                "memory", "step_input must be called before memory: it gives the number of rows"
            )
        if init is not None:
            if not isinstance(init, Variable):
                raise self._wrong("memory", f"the init arg of memory() must be a Variable: got {init!r}")
            outer = self._outside(init)
            spec = init.spec.with_shape((-1, *init.shape[1:]))

            def first(table: RankTable) -> Any:
                return table.ranked(outer()) if need_reorder else outer()
        else:
            if shape is None:
                raise self._wrong("memory", "give init, or the shape of a row")
            spec = Spec((-1, *shape), as_dtype(dtype))

            def first(table: RankTable) -> Any:
                return creation.full([table.count(), *shape], value, dtype)

        made = Memory(value_of_step(block, "memory", spec))
        self._memories.append(made)
        self._starts.append(first)
        return made.before

    def update_memory(self, ex_mem: Any, new_mem: Any) -> None:
        """Let ``ex_mem`` be ``new_mem`` in the next step."""
        self._update(ex_mem, new_mem, "ex_mem is what memory() gave, new_mem a Variable")

    def output(self, *outputs: Any) -> None:
        """Let the rows that each has in every step be a result."""
        self._inside("output")
        for each in outputs:
            if not isinstance(each, Variable):
                raise self._wrong("output", f"the output is a Variable: got {each!r}")
            self._outputs.append(each)

    def _built(self, builder: Builder, recorded: Recorded, after: list[Any], outputs: list[Any]) -> list[Any]:
        if self._lengths is None:
            raise self._wrong("block", "the block has no step_input, so the number of steps is not known")
        for memory in self._memories:
            if memory.after is None:
                raise self._wrong("block", f"{memory.before.name} needs an update_memory in the block")
        until = len(builder.program.blocks)
        table = RankTable(self._lengths)
        changed = recorded.before()
        places = [part for _, part in self._inputs] + [memory.before for memory in self._memories]
        fixed = [(each, *reordered(each.whole, table.order)) for each in self._statics]

        def cell(inputs: list[Any], states: list[Any]) -> tuple[list[Any], list[Any]]:
            count, parts = inputs[0], inputs[1:]
            memories, others = states[: len(self._starts)], states[len(self._starts) :]
            given = [*(first_rows(v, count) for v in [*parts, *memories]), *others]
            pairs = list(zip([*places, *changed], given, strict=True))
            for static, rows, lengths in fixed:
                if static.lengths is None:
                    pairs.append((static.part, first_rows(rows, count)))
                    continue
                own = first_rows(lengths, count)
                pairs += [(static.lengths, own), (static.part, first_rows(rows, reduction.sum(own)))]
            read = recorded.copied(pairs)
            new = [
                manipulation.concat([read(value), rest_of_rows(before, count)])
                for value, before in zip(after, memories, strict=True)
            ]
            return [_filled(read(o), count, parts[0]) for o in outputs], [
                *new,
                *(read(v) for v in recorded.after()),
            ]

        first = [*(start(table) for start in self._starts), *changed]
        steps = [table.active(), *(table.steps(x) for x, _ in self._inputs)]
        results, last = RNN(cell, time_major=True)(steps, first)
        recorded.take({id(old): new for old, new in zip(changed, last[len(self._starts) :], strict=True)})
        drop(builder.program, [recorded.block], until)
        return [result(table.rows(each)) for each in results]


def _filled(rows: Any, count: Any, like: Any) -> Any:
    """``rows`` with rows of zeros behind, as many as ``like`` has together."""
    sizes = [d if d >= 0 else manipulation.shape(rows)[n] for n, d in enumerate(rows.shape)]
    rest = manipulation.shape(slice_(like, [0], [count], [2**31 - 1]))[0]
    return manipulation.concat([rows, creation.full([rest, *sizes[1:]], 0, rows.dtype)])
