"""``StaticRNN``: a step that the user fills within ``with``, repeated over the first dimension of its inputs.

The step is recorded once, aside, and is then the cell of an ``nn.RNN``: its copies stand one after the other
where the number of steps is known, else in a loop of the Program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar

from engine.core.errors import ArgumentError, ShapeError
from engine.core.frames import located, user_frame
from engine.core.values.spec import Spec
from engine.fluid.layers.adapting import sized_like
from engine.fluid.layers.recording import Recorded, drop, recording, static_builder
from engine.nn.layer.rnn import RNN
from engine.program.build.builder import Builder, current_builder
from engine.program.graph.variable import Variable
from engine.tensor import creation


class Memory:
    """A value that goes from step to step."""

    def __init__(self, before: Variable, first: Callable[[], Any] = list) -> None:
        self.before, self.first = before, first
        self.after: Any = None


class RecordedSteps:
    """What ``StaticRNN`` and ``DynamicRNN`` share: a block that is recorded once, its memories and results.

    A subclass says what its inputs are, and repeats the block for each step.
    """

    # The sentences of its errors: for a second block, for results before its end, without an output,
    # and for a method outside of the block, whose name is {}.
    ONCE: ClassVar[str]
    UNREADY: ClassVar[str]
    NO_OUTPUT: ClassVar[str]
    INSIDE: ClassVar[str]

    def __init__(self) -> None:
        static_builder(type(self).__name__)
        self._open: Recorded | None = None
        self._memories: list[Memory] = []
        self._outputs: list[Any] = []
        self._results: list[Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results: one Variable, or a list of them."""
        if self._results is None:
            raise self._wrong("call", self.UNREADY)
        if not self._results:
            raise self._wrong("call", self.NO_OUTPUT)
        return self._results[0] if len(self._results) == 1 else list(self._results)

    @contextmanager
    def _block(self, method: str) -> Iterator[None]:
        """The ``with`` block of ``method``; builds the results at its end."""
        if self._results is not None or self._open is not None:
            raise self._wrong(method, self.ONCE)
        builder = static_builder(type(self).__name__)
        with recording(builder) as recorded:
            self._open = recorded
            yield
            inner = current_builder()
            assert inner is not None, "the block is built in static mode"
            after = [inner.now(memory.after) for memory in self._memories]
            outputs = [inner.now(output) for output in self._outputs]
        self._open = None
        self._results = self._built(builder, recorded, after, outputs)

    def _built(self, builder: Builder, recorded: Recorded, after: list[Any], outputs: list[Any]) -> list[Any]:
        """The results of all steps, from what memories are after the block and its outputs."""
        raise NotImplementedError

    def _inside(self, method: str) -> Recorded:
        if self._open is None:
            raise self._wrong(method, self.INSIDE.format(method))
        return self._open

    def _outside(self, init: Variable) -> Callable[[], Any]:
        """Gives ``init`` outside of the block, where it was computed in it."""
        recorded = self._inside("memory")

        def first() -> Any:
            if init.block is not recorded.block:
                return init
            found = recorded.hoisted(init)
            if found is None:
                sentence = f"init depends on the step: {init.name!r}; compute it of outer values"
                raise self._wrong("memory", sentence)
            return found

        return first

    def _update(self, before: Any, after: Any, names: str) -> None:
        """Let the memory ``before`` be ``after`` in the next step."""
        self._inside("update_memory")
        found = next((memory for memory in self._memories if memory.before is before), None)
        if found is None or not isinstance(after, Variable):
            raise self._wrong("update_memory", names)
        found.after = after

    def _wrong(self, method: str, message: str) -> Exception:
        return located(ArgumentError(f"{type(self).__name__}.{method}: {message}"), user_frame())


def value_of_step(block: Any, base: str, spec: Spec, stop_gradient: bool = False) -> Variable:
    """A Variable of the recorded block that is another value in each step."""
    made = block.create_var(block.program.unique_name(base), spec, stop_gradient=stop_gradient)
    assert isinstance(made, Variable)
    return made


class StaticRNN(RecordedSteps):
    """A recurrent network over steps that the ``with`` block of ``step()`` describes; only in static mode.

    Calling it gives what ``step_output`` was given in each step, stacked along a new first dimension: one
    Variable, or a list of them. Raises ModeError outside of static mode, and ArgumentError for a call of its
    methods in the wrong place, without inputs or outputs, or with a memory that no ``update_memory`` follows.
    """

    ONCE = "a StaticRNN has one block; make another one"
    UNREADY = "RNN output can only be retrieved after rnn block"
    NO_OUTPUT = "RNN has no output; give one to step_output"
    INSIDE = "You must invoke {} in rnn block: within `with rnn.step():`"

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._sequences: list[tuple[Variable, Variable]] = []

    def step(self) -> AbstractContextManager[None]:
        """What is done in each step."""
        return self._block("step")

    def step_input(self, x: Any) -> Any:
        """The part of ``x`` [steps, ...] that belongs to a step: its shape has no first dimension."""
        block = self._inside("step_input").block
        if not isinstance(x, Variable) or not x.shape or x.block is block:
            raise self._wrong("step_input", f"x is a Variable [steps, ...] from outside: got {x!r}")
        known = {seq.shape[0] for seq, _ in self._sequences} | {x.shape[0]}
        if len(known - {-1}) > 1:
            raise located(
                ShapeError(
                    f"StaticRNN.step_input: Static RNN only take fix seq_len input: got "
                    f"{sorted(known)} steps; "
                    "give inputs of one length"
                ),
                user_frame(),
            )
        part = value_of_step(block, "step_input", x.spec.with_shape(x.shape[1:]), x.stop_gradient)
        self._sequences.append((x, part))
        return part

    def memory(
        self,
        init: Any = None,
        shape: Any = None,
        batch_ref: Any = None,
        init_value: float = 0.0,
        init_batch_dim_idx: int = 0,
        ref_batch_dim_idx: int = 1,
    ) -> Any:
        """A value that goes from step to step: ``init`` at first.

        ``init`` may be computed within the block, of values from outside. Without it the value is
        ``init_value`` in ``shape`` and the dtype of ``batch_ref``, where dimension ``init_batch_dim_idx`` is
        ``ref_batch_dim_idx`` of ``batch_ref``: a Variable from outside, or an input of the step, which stands
        for its whole sequence [steps, batch, ...].
        """
        block = self._inside("memory").block
        first: Callable[[], Any]
        if init is not None:
            if not isinstance(init, Variable):
                raise self._wrong("memory", f"init is a Variable: got {init!r}")
            spec, first = init.spec, self._outside(init)
        else:
            if shape is None or batch_ref is None:
                raise self._wrong("memory", "if init is None, memory at least need shape and batch_ref")
            whole = next((seq for seq, part in self._sequences if part is batch_ref), batch_ref)
            if not isinstance(whole, Variable) or whole.block is block:
                raise self._wrong("memory", "batch_ref is an input of the step or a Variable from outside")
            dims = list(shape)
            dims[init_batch_dim_idx] = whole.shape[ref_batch_dim_idx]
            spec = Spec(dims, whole.dtype)

            def first() -> Any:
                sizes = sized_like(whole, shape, ref_batch_dim_idx, init_batch_dim_idx)
                return creation.full(sizes, init_value, whole.dtype)

        made = Memory(value_of_step(block, "memory", spec), first)
        self._memories.append(made)
        return made.before

    def update_memory(self, mem: Any, var: Any) -> None:
        """Let ``mem`` be ``var`` in the next step."""
        self._update(mem, var, "mem is what memory() gave, var a Variable")

    def step_output(self, o: Any) -> None:
        """Let the values that ``o`` has in each step be a result."""
        self._inside("step_output")
        if not isinstance(o, Variable):
            raise self._wrong("step_output", f"the output is a Variable: got {o!r}")
        self._outputs.append(o)

    def output(self, *outputs: Any) -> None:
        """``step_output`` of each."""
        for each in outputs:
            self.step_output(each)

    def _built(self, builder: Builder, recorded: Recorded, after: list[Any], outputs: list[Any]) -> list[Any]:
        if not self._sequences:
            raise self._wrong("step", "the block has no step_input, so the number of steps is not known")
        for memory in self._memories:
            if memory.after is None:
                raise self._wrong(
                    "step", f"{memory.before.name} should be updated in every step: update_memory"
                )
        until = len(builder.program.blocks)
        parts = [part for _, part in self._sequences]
        places = [memory.before for memory in self._memories]
        changed = recorded.before()

        def cell(inputs: list[Any], states: list[Any]) -> tuple[list[Any], list[Any]]:
            read = recorded.copied(zip([*parts, *places, *changed], [*inputs, *states], strict=True))
            return [read(o) for o in outputs], [read(v) for v in [*after, *recorded.after()]]

        first = [*(memory.first() for memory in self._memories), *changed]
        results, last = RNN(cell, time_major=True)([seq for seq, _ in self._sequences], first)
        recorded.take({id(old): new for old, new in zip(changed, last[len(places) :], strict=True)})
        drop(builder.program, [recorded.block], until)
        return list(results)
