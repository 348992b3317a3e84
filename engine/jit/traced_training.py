"""Backward, gradients and optimizer steps inside a converted function: part of its Program.

``loss.backward()`` appends the gradients of the leaves, ``optimizer.step()`` the operators that update
parameters and state in place. What each leaf's ``grad`` is when the function begins and ends is that of the
eager Tensors, so steps inside and outside of converted functions can take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, cast

from engine.core import mode as modes
from engine.core.containers.identity import IdentityMap
from engine.core.errors import ConversionError, GradientError
from engine.core.frames import located, user_frame
from engine.core.operators.operator import Leaf, Operator
from engine.core.place import array_module
from engine.core.strictness import tolerate
from engine.core.values.spec import Spec
from engine.eager import backward as eager
from engine.eager.mode import connect
from engine.eager.tensor import Tensor, counter_of
from engine.jit.run_program import RUN_PROGRAM, ProgramRunner
from engine.ops.arrays import creation
from engine.program.backward.compute_again import compute_again
from engine.program.backward.inline_gradients import inline_gradients
from engine.program.build.builder import Builder
from engine.program.graph.program import Program, Variable
from engine.tensor.tensor_like import AnyTensor


class Mark(Enum):
    """What the gradient of a leaf is at a point of the trace, where it is not a Variable."""

    BEGUN = "as it was when the function was called"
    CLEARED = "zeros where the leaf had a gradient when the function was called, else none"
    ZERO = "zeros"
    NONE = "none"


# What the trace needs to know of the gradient that a leaf begins with.
NOTHING, WHETHER, KIND = 0, 1, 2


def kind_of(tensor: Tensor) -> str:
    """Whether a leaf has a gradient now: 'value', 'zeros' or 'none'."""
    leaf = _leaf_of(tensor)
    if leaf is None or (leaf.grad is None and leaf.cleared is None):
        return "none"
    return "zeros" if leaf.cleared is not None else "value"


def _leaf_of(tensor: Tensor) -> Any:
    edge = tensor._edge or getattr(tensor, "_parked", None)
    return edge if isinstance(edge, Leaf) else None


class LeafGradient:
    """The gradient of one leaf while a function is traced."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.begins = kind_of(tensor)
        self.needed = NOTHING
        self.now: Any = Mark.BEGUN

    @property
    def state(self) -> str:
        """What the trace took for granted; a call that begins otherwise needs another trace."""
        if self.needed == NOTHING:
            return ""
        kind = kind_of(self.tensor)
        return "none" if self.needed == WHETHER and kind == "zeros" else kind

    def put(self, gradient: Tensor | None) -> None:
        """Leave in the Tensor what the function left; ``gradient`` is the value where there is one."""
        leaf = None if self.now is Mark.BEGUN else _leaf_of(self.tensor)
        if leaf is None:
            return
        if gradient is not None:
            if leaf.grad is not None and leaf.cleared is None and leaf.shown:
                leaf.grad._array[...] = gradient._array
                counter_of(leaf.grad).count += 1
            else:
                leaf.grad, leaf.cleared, leaf.shown = gradient, None, False
        elif self.now is Mark.NONE:
            leaf.grad = leaf.cleared = None
        else:
            if leaf.grad is not None:
                eager.clear_gradient(self.tensor)
            if self.now is Mark.ZERO and leaf.cleared is None:
                array = self.tensor._array
                leaf.cleared = (array_module(array).zeros, array.dtype)


class TracedTraining:
    """See ``engine.core.mode.Training``: one for each trace of a function."""

    def __init__(self, program: Program, inputs: Sequence[Variable]) -> None:
        self.program = program
        self.inputs = inputs
        self.used = False  # whether the function trains at all
        self.leaves: IdentityMap[Tensor, LeafGradient] = IdentityMap()
        # Gradients of inputs, and of Tensors of a graph that was recorded outside.
        self.flows: IdentityMap[Variable, Variable] = IdentityMap()
        self.outside: list[Variable] = []
        # In the order of the trace: what a run asks for first, with the Variable that it is fed as.
        self.asked: list[tuple[Variable | None, Callable[[], Any]]] = []
        self._known: IdentityMap[Tensor, Variable] = IdentityMap()  # what was asked since the last effect
        self._retained: list[Variable] = []
        self._backwards: list[Variable] = []

    # -- gradients -----------------------------------------------------------------------------------------
    def backward(self, value: AnyTensor, start: AnyTensor | None = None) -> None:
        """Append the gradients of everything that ``value`` depends on.

        Raises ConversionError in a branch or loop that a Tensor decides.
        """
        builder = self._builder("backward()")
        root = builder.result(value)
        if root is None or root.stop_gradient:
            tolerate(
                GradientError(
                    f"backward: {getattr(root, 'name', value)!r} has stop_gradient=True: it depends on "
                    "nothing that takes gradients; set stop_gradient=False on a parameter or an input"
                )
            )
            return
        ops = tuple(builder.block.ops)
        bound = [v for v in self.program.bound() if v.tensor._edge is not None]
        sources = [*bound, *(v for v in self.inputs if not v.stop_gradient), *self._retained]
        with modes.use(builder.with_grad(False).with_precision(None)):
            begin: Any = creation.fill_like(root, value=1.0) if start is None else builder.result(start)
            found = inline_gradients(ops, [(root, begin)], sources)
            for source, gradient in zip(sources, found, strict=True):
                if gradient is None:
                    continue
                if isinstance(source.tensor, Tensor) and source.tensor._edge.__class__ is Leaf:
                    self._add_to_leaf(source.tensor, gradient)
                else:
                    self._add(source, gradient)
        compute_again(builder.block, len(ops))
        self._backwards.append(root)

    def backward_once(self, value: AnyTensor) -> None:
        root = self._builder("minimize()").result(value)
        if not any(v is root for v in self._backwards):
            self.backward(value)

    def _add_to_leaf(self, tensor: Tensor, gradient: Any) -> None:
        for hook in getattr(tensor._edge, "hooks", None) or ():
            replaced = hook(gradient)
            gradient = gradient if replaced is None else replaced
        leaf = self._leaf(tensor)
        before = leaf.now
        if before is Mark.BEGUN:
            leaf.needed = max(leaf.needed, WHETHER)
            before = self._begun(leaf)
        leaf.now = gradient if isinstance(before, Mark) else before + gradient

    def _add(self, source: Variable, gradient: Any) -> None:
        before = self.flows.get(source)
        self.flows[source] = gradient if before is None else before + gradient
        if source.tensor is not None and not any(v is source for v in self.outside):
            self.outside.append(source)

    def gradient(self, tensor: AnyTensor) -> Any:
        builder = self._builder("grad")
        if isinstance(tensor, Variable):
            return self.flows.get(builder.now(tensor))
        if _leaf_of(tensor) is None:
            return None
        leaf = self._leaf(tensor)
        if leaf.now is Mark.BEGUN:
            leaf.needed, leaf.now = KIND, self._begun(leaf)
        elif leaf.now is Mark.CLEARED:
            leaf.needed, leaf.now = KIND, Mark.NONE if leaf.begins == "none" else Mark.ZERO
        if leaf.now is Mark.ZERO:
            leaf.now = creation.fill(shape=list(tensor.shape), value=0.0, dtype=tensor.dtype)
        return None if leaf.now is Mark.NONE else leaf.now

    def _begun(self, leaf: LeafGradient) -> Any:
        """The gradient that a leaf begins with: a Variable that each run is fed with, ZERO or NONE."""
        if leaf.begins != "value":
            return Mark.ZERO if leaf.begins == "zeros" else Mark.NONE
        tensor = leaf.tensor
        return self.evaluated_each_run(lambda: cast(Tensor, eager.leaf_gradient(_leaf_of(tensor))))

    def clear(self, tensor: AnyTensor, set_to_zero: bool) -> None:
        self._builder("clear_grad()")
        if isinstance(tensor, Variable) or _leaf_of(tensor) is None:
            return
        leaf = self._leaf(tensor)
        if not set_to_zero:
            leaf.now = Mark.NONE
        elif not isinstance(leaf.now, Mark):
            leaf.now = Mark.ZERO
        elif leaf.now is Mark.BEGUN:
            leaf.now = Mark.CLEARED

    def set_gradient(self, tensor: Tensor, value: AnyTensor | None) -> None:
        builder = self._builder("grad")
        self._leaf(tensor).now = Mark.NONE if value is None else builder.result(value)

    def retain(self, value: AnyTensor) -> None:
        now = self._builder("retain_grads()").now(value)
        if not any(v is now for v in self._retained):
            self._retained.append(now)

    def _leaf(self, tensor: Tensor) -> LeafGradient:
        found = self.leaves.get(tensor)
        if found is None:
            found = self.leaves[tensor] = LeafGradient(tensor)
        return found

    # -- what each run asks for ----------------------------------------------------------------------------
    def evaluated_each_run(self, function: Callable[[], Tensor]) -> Variable:
        now = function()
        found = self._known.get(now)
        if found is None:
            spec, name = Spec(now.shape, now.dtype), self.program.unique_name("asked")
            found = self._known[now] = self.program.global_block().create_var(name, spec, is_data=True)
            self.asked.append((found, function))
        return found

    def done_each_run(self, function: Callable[[], Any]) -> None:
        """Call ``function`` at the beginning of each run, between what is asked before and after it."""
        self._builder("step() of a schedule")
        self._known.clear()
        self.asked.append((None, function))

    def _builder(self, what: str) -> Builder:
        self.used = True
        builder = modes.current()
        assert isinstance(builder, Builder), "it is part of the Builder's mode"
        if builder.block is not self.program.global_block():
            raise located(
                ConversionError(
                    f"{what}: it stands in a branch or loop that a Tensor decides; call it behind the branch "
                    "or loop, or decide by a number or bool of Python"
                ),
                user_frame(),
            )
        return builder

    # -- runs ----------------------------------------------------------------------------------------------
    @property
    def fed(self) -> list[Variable]:
        """The Variables that a run is fed with besides its arguments."""
        return [v for v, _ in self.asked if v is not None]

    @property
    def state(self) -> tuple[str, ...]:
        """What the trace took for granted of the gradients of leaves."""
        return tuple([leaf.state for leaf in self.leaves.values()])

    @property
    def left(self) -> list[tuple[LeafGradient, Variable]]:
        """The leaves whose gradient is a value when the function ends."""
        return [(leaf, leaf.now) for leaf in self.leaves.values() if not isinstance(leaf.now, Mark)]

    def ask(self) -> list[Tensor]:
        """The values for ``fed``."""
        return [given for v, given in [(v, function()) for v, function in self.asked] if v is not None]

    def put(self, gradients: Sequence[Tensor]) -> None:
        """Leave the gradients in their leaves; ``gradients`` are those of ``left``."""
        values = iter(gradients)
        for leaf in self.leaves.values():
            leaf.put(None if isinstance(leaf.now, Mark) else next(values))


class TracedStep:
    """Runs a function that trains: what it asks for, the Program, and the gradients that it leaves."""

    def __init__(
        self,
        training: TracedTraining,
        program: Program,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
    ) -> None:
        self.training = training
        self._program = program
        self._inputs = inputs
        self._outputs = outputs
        self._left = training.left
        self._outside = [(v.tensor, training.flows[v]) for v in training.outside]
        self._flowing = [(n, training.flows[v]) for n, v in enumerate(inputs) if v in training.flows]
        self._runners: dict[tuple[int, ...], ProgramRunner] = {}  # by the inputs that take gradients

    def __call__(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The outputs for input Tensors in order."""
        flowing = [(n, g) for n, g in self._flowing if tensors[n]._edge is not None]
        runner = self._runner(tuple([n for n, _ in flowing]), [g for _, g in flowing])
        with modes.use(modes.current().with_grad(False).with_precision(None)):
            found = runner([*tensors, *self.training.ask()])
            count, left = len(self._outputs), len(self._left)
            results, gradients = found[:count], found[count + left :]
            self.training.put(found[count : count + left])
        targets = [*(x for x, _ in self._outside), *(tensors[n] for n, _ in flowing)]
        if targets:  # they belong to graphs that were recorded outside, where the gradients flow on
            eager.backward(targets, gradients, retain_graph=True)
        self._mark_freed(results)
        return results

    def _runner(self, key: tuple[int, ...], flowing: Sequence[Variable]) -> ProgramRunner:
        found = self._runners.get(key)
        if found is None:
            block = self._program.global_block()
            gradients = [g for _, g in (*self._left, *self._outside)]
            found = self._runners[key] = ProgramRunner(
                self._program,
                [block.var(v.name) for v in (*self._inputs, *self.training.fed)],
                [block.var(v.name) for v in (*self._outputs, *gradients, *flowing)],
            )
        return found

    def _mark_freed(self, results: Sequence[Tensor]) -> None:
        """Let results say what they say eagerly after ``backward()``: they have a graph, which was freed."""
        node = Operator(RUN_PROGRAM.opdef, None, {})
        node.shapes = tuple([r._array.shape for r in results])
        taking = [None if v.stop_gradient else r for r, v in zip(results, self._outputs, strict=True)]
        connect(taking, node)
