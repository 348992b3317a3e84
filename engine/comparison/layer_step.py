"""A step of a Layer, eagerly or as a Program: its results, the gradients of the first, and the update."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.comparison.eager_side import record_eager
from engine.comparison.program_step import BUILT, ProgramStep, computing_on
from engine.comparison.recorded import Applied, Side, Updated
from engine.comparison.static_side import record_program
from engine.comparison.values import ValueStore
from engine.core.containers.nest import flatten
from engine.core.layer_calls import names_of
from engine.eager.tensor import Tensor, wrap
from engine.jit.at_once import AtOnce
from engine.jit.concrete_program import ConcreteProgram
from engine.jit.run_program import ProgramRunner
from engine.jit.static_function import StaticFunction
from engine.kernels.choice import kernels
from engine.optimizer import LBFGS, Optimizer
from engine.program.passes.pipeline import EXACT
from engine.training.randomness import random_state, set_random_state
from resources.operator_keys import LOSS, network_call

if TYPE_CHECKING:
    from engine.nn import Layer


class LayerStep(ProgramStep):
    """A call of ``layer`` with ``arguments``, in the modes that its Layers have now.

    The gradients are those of the first Tensor of its result, where it has some. ``network`` is the path of
    the call from which layer calls have their paths, ``optimizer`` uses the gradients. Weights, the
    optimizer's state and random numbers are afterwards as they were.
    """

    level = EXACT

    def __init__(
        self,
        layer: Layer,
        arguments: Sequence[Any],
        label: str = "",
        network: str = "",
        optimizer: Optimizer | None = None,
    ) -> None:
        self.layer, self.arguments, self.optimizer = layer, arguments, optimizer
        self.label, self.network = label or type(layer).__name__, network
        self._modes = [(each, each.training) for each in layer.sublayers(include_self=True)]
        self._random = random_state()
        if optimizer is not None:
            optimizer.create_states()
        self._state = self._current()

    @property
    def tensors(self) -> list[Tensor]:
        return [each for each in flatten(self.arguments) if isinstance(each, Tensor)]

    def concrete(self) -> ConcreteProgram:
        """The Program of the call. Raises ConversionError where the forward can't be converted."""
        forward: Any = self.layer.forward
        if not isinstance(forward, StaticFunction):
            forward = StaticFunction(forward.__func__, None, self.layer)
        found: ConcreteProgram = forward.get_concrete_program(*self.arguments)[0]
        return found

    def take_batch(self, other: ProgramStep) -> None:
        assert isinstance(other, LayerStep), "a step of the same kind"
        self.arguments, self._random = other.arguments, other._random

    # -- sides -----------------------------------------------------------------------------------------------
    def eager(self, store: ValueStore, label: str = "eager") -> Side:
        """The call as written, operator by operator."""
        with self._repeatable():
            operators, results = record_eager(
                lambda: self.layer(*self.arguments), store, names_of(self.layer), self._weights()
            )
            self._clean(operators)
            return Side(label, operators, self._updates(store), results)

    def planned(self, store: ValueStore, compiled: bool = False) -> Side:
        """The call by the plan that a training runs, fused, with NumPy's kernels or ``compiled`` ones.

        Only its results, gradients and updates are known.
        """
        return self._by_plan(store, self.tensors, "fast" if compiled else "numpy")

    def disturbed(self, store: ValueStore) -> Side:
        """As ``planned``, with inputs that are larger by one unit in the last place: what rounding does."""
        arrays = [each._array for each in self.tensors]
        larger = [np.nextafter(each, np.inf) if each.dtype.kind == "f" else each for each in arrays]
        return self._by_plan(store, [Tensor(each) for each in larger], "numpy")

    def _by_plan(self, store: ValueStore, tensors: list[Tensor], computing: str) -> Side:
        runner = self.runner(self.level)
        with self._repeatable(computing):
            found = AtOnce(runner)(tensors)
            if found is None:
                found = runner(tensors)
                if found[0]._edge is not None:
                    found[0].backward()
            values = [store.put(f"result {n}", each._array) for n, each in enumerate(found)]
            return Side("plan", [], self._updates(store), values)

    def runner(self, passes: int = BUILT) -> ProgramRunner:
        with self._repeatable():
            concrete = self.concrete()
        outputs = [v for v in concrete.outputs if v is not None]
        return ProgramRunner(concrete.main_program, concrete.inputs, outputs, passes=passes)

    def of_program(
        self,
        store: ValueStore,
        label: str,
        runner: ProgramRunner,
        device: str = "",
        drawn: Sequence[Applied] = (),
    ) -> Side:
        with self._repeatable():
            weights = self._weights()
            with computing_on(device) as xp:
                found = record_program(runner, self.tensors, store, weights, True, xp, drawn)
            self._clean(found.operators)
            parameters = dict(self.layer.named_parameters())
            for name, value in found.gradients.items():
                if name in parameters:
                    array = store.get(value)
                    parameters[name].grad = wrap(array.astype(parameters[name]._array.dtype))
            return Side(label, found.operators, self._updates(store), found.results, found.inputs)

    @contextmanager
    def _repeatable(self, computing: str = "numpy") -> Iterator[None]:
        """Begin with the state of the step, and come back to it; ``computing`` are the kernels."""
        before = random_state()
        self._reset()
        try:
            with kernels.guard(computing):
                yield
        finally:
            self._reset()
            set_random_state(before)

    def _current(self) -> dict[str, Any]:
        made = {"layer": _arrays_of(self.layer.state_dict())}
        if self.optimizer is not None:
            made["optimizer"] = _arrays_of(self.optimizer.state_dict())
        return made

    def _reset(self) -> None:
        for parameter in self.layer.parameters():
            if not parameter.stop_gradient:
                parameter.clear_gradient(False)
        self.layer.set_state_dict(_arrays_of(self._state["layer"]))
        if self.optimizer is not None:
            self.optimizer.set_state_dict(_arrays_of(self._state["optimizer"]))
        for layer, trains in self._modes:
            layer.training = trains
        set_random_state(self._random)

    def _updates(self, store: ValueStore) -> list[Updated]:
        """What the optimizer does to each parameter with the gradients; nothing for L-BFGS, which computes
        gradients itself."""
        optimizer = self.optimizer
        if isinstance(optimizer, LBFGS):
            return []
        trained = {self._name(n): p for n, p in self.layer.named_parameters() if not p.stop_gradient}
        before = {n: store.put(n, p._array) for n, p in trained.items()}
        gradients = {
            n: None if p.grad is None else store.put(f"gradient of {n}", p.grad._array)
            for n, p in trained.items()
        }
        if optimizer is None:
            return [Updated(n, before[n], gradients[n], None) for n in trained]
        optimizer.step()
        return [Updated(n, before[n], gradients[n], store.put(n, p._array)) for n, p in trained.items()]

    def _weights(self) -> dict[int, str]:
        named = {**dict(self.layer.named_parameters()), **dict(self.layer.named_buffers())}
        return {id(tensor): name for name, tensor in named.items()}

    def _name(self, name: str) -> str:
        return name.removeprefix(f"{self.network}.") if self.network else name

    def _clean(self, operators: Sequence[Applied]) -> None:
        """Let paths begin at the network, and mark what the loss is computed with."""
        for each in operators:
            each.weights = [value.named(self._name(value.name)) for value in each.weights]
            each.layer = network_call(each.layer, self.network)
            if each.layer == LOSS:
                each.file, each.line = "", 0


def can_compile() -> bool:
    """Whether compiled kernels are wanted and can be made here."""
    from engine.kernels.fast.compiler import load

    return kernels.get() != "numpy" and not load()


def _arrays_of(tree: Any) -> Any:
    """A copy of nested state whose arrays are copies."""
    if isinstance(tree, dict):
        return {name: _arrays_of(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(_arrays_of(value) for value in tree)
    if isinstance(tree, Tensor):
        return wrap(tree._array.copy())
    return tree.copy() if isinstance(tree, np.ndarray) else tree
