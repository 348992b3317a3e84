"""Runs each plan once more step by step, and requires the same bits.

``python -m tests.engine.program.run.stepping.shadow SCRIPT`` runs a script in this way, without passes: plans
of its Programs, and each Layer that it calls, traced for this.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

import engine as paddle
from engine.core import mode as modes
from engine.core.containers import nest
from engine.core.errors import EngineError
from engine.core.random.generator import default_generator
from engine.jit.concrete_program import ConcreteProgram
from engine.jit.run_program import ProgramRunner
from engine.jit.static_function import StaticFunction
from engine.jit.stepped import SteppedFunction
from engine.program.passes.pipeline import level
from engine.program.run.plan import Plan
from engine.program.run.stepping.plan import SteppingPlan
from engine.program.run.stepping.stepping import Stepping

Array = Any


def require_same(found: Any, wanted: Any) -> None:
    """Require equal bits of arrays; of all in stored iterations."""
    if isinstance(wanted, (list, tuple)) and not hasattr(wanted, "draws"):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            require_same(one, other)
    elif isinstance(wanted, (np.ndarray, np.generic)):
        found = np.asarray(found)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.tobytes() == wanted.tobytes()


class Shadow:
    """Counts what was compared."""

    def __init__(self) -> None:
        self.plans = self.layers = self.operators = 0
        self._stepping: weakref.WeakKeyDictionary[Plan, SteppingPlan] = weakref.WeakKeyDictionary()
        self._within = False

    def stepped(self, plan: SteppingPlan, values: Sequence[Array], random: Any) -> Stepping:
        """A run step by step, which begins with this random state."""
        default_generator().set_state(random)
        run = plan.begin(values)
        self.operators += sum(1 for _ in run)
        return run

    # -- plans -----------------------------------------------------------------------------------------------
    @contextmanager
    def of_plans(self) -> Iterator[None]:
        """Within the block each run of a plan that is made there is repeated step by step."""
        make, call = Plan.__init__, Plan.__call__

        def made(plan: Plan, *arguments: Any, consumes: bool = False, **more: Any) -> None:
            make(plan, *arguments, consumes=consumes, **more)
            if not self._within and type(plan) is Plan:
                self._stepping[plan] = SteppingPlan(*arguments[:5])

        def called(plan: Plan, values: Any) -> Any:
            stepping = self._stepping.get(plan)
            if stepping is None:
                return call(plan, values)
            random, taken = default_generator().state(), list(values)
            # Only what is written is copied: another layout would be summed up in another order.
            given = [v.copy() if n in stepping.changing else v for n, v in enumerate(values)]
            results = call(plan, values)
            wanted = [_copied(v) for v in results]
            after = default_generator().state()
            run = self.stepped(stepping, given, random)
            require_same(list(run.results), wanted)
            assert _equal_states(default_generator().state(), after)
            place = {v.name: n for n, v in enumerate(stepping.inputs)}
            for name, array in run.changed:
                require_same(array, taken[place[name]])
            self.plans += 1
            return results

        Plan.__init__, Plan.__call__ = made, called  # type: ignore[method-assign]
        try:
            yield
        finally:
            Plan.__init__, Plan.__call__ = make, call  # type: ignore[method-assign]

    # -- functions -------------------------------------------------------------------------------------------
    def check(self, concrete: ConcreteProgram, tensors: Sequence[Any]) -> None:
        """Require the same bits of a function, and of the gradients of its first result, as by the plans of a
        training."""
        random = default_generator().state()
        function = SteppedFunction(concrete, tensors)
        run = function.begin()
        self.operators += sum(1 for _ in run.forward)
        gradients = {}
        if function.backward is not None:
            loss = run.outputs[0]
            self.operators += sum(1 for _ in run.begin_backward(np.full(loss.shape, 0.5, loss.dtype)))
            gradients = {id(tensor): gradient for tensor, gradient in run.gradients}
        default_generator().set_state(random)
        outputs, found = _planned(concrete.runner, tensors)
        require_same(list(run.outputs), list(outputs))
        assert found.keys() == gradients.keys()
        for key, gradient in found.items():
            require_same(gradients[key], gradient)
        default_generator().set_state(random)

    @contextmanager
    def of_layers(self) -> Iterator[None]:
        """Within the block each Layer that is called by eager code with Tensors is checked once."""
        call, seen = paddle.nn.Layer.__call__, weakref.WeakSet[Any]()

        def called(layer: Any, *arguments: Any, **more: Any) -> Any:
            tensors = nest.flatten(list(arguments))
            if (
                not self._within
                and layer not in seen
                and not more
                and all(isinstance(each, paddle.Tensor) for each in tensors)
                and not modes.is_static()
            ):
                seen.add(layer)
                self._within = True
                random = default_generator().state()
                try:
                    function = StaticFunction(type(layer).forward, None, layer)
                    concrete, _ = function.get_concrete_program(*arguments)
                    self.check(concrete, tensors)
                    self.layers += 1
                except EngineError as error:
                    print(f"shadow: {type(layer).__name__}: {error}", file=sys.stderr)
                finally:
                    default_generator().set_state(random)
                    self._within = False
            within, self._within = self._within, True
            try:
                return call(layer, *arguments, **more)
            finally:
                self._within = within

        paddle.nn.Layer.__call__ = called
        try:
            yield
        finally:
            paddle.nn.Layer.__call__ = call


def _planned(runner: ProgramRunner, inputs: Sequence[Any]) -> tuple[Sequence[Array], dict[int, Array]]:
    """The outputs of the plans of a training, and the gradients of the first one, by id of the Tensor."""
    tensors = [*inputs, *(v.tensor for v in runner.bound)]
    arrays = [t._array.copy() for t in tensors]
    wanted, count = tuple(n for n, t in enumerate(tensors) if t._edge is not None), len(runner.outputs)
    make = partial(Plan, passes=runner.passes)
    if not wanted:
        return runner.plan_by(make, arrays, runner.outputs)(arrays), {}
    made = runner.training_plans(make, wanted, arrays, (0,))
    given = [arrays[n].copy() for n in made.given]
    results = made.forward(arrays)
    if not made.fed:
        return results[:count], {}
    saved = results[count : len(results) - len(made.keys)]
    start = np.full(results[0].shape, 0.5, results[0].dtype)
    gradients = made.backward([*saved, *given, start])
    return results[:count], {id(tensors[n]): g for n, g in zip(made.wanted, gradients, strict=True)}


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(each) for each in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def _equal_states(one: Any, other: Any) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


def main(script: str) -> None:
    """Run a script as ``model-studio run`` does, and print what was compared."""
    from studio.cli import main as command

    shadow = Shadow()
    level.set(0)
    sys.argv = ["model-studio", "run", script]
    with shadow.of_plans(), shadow.of_layers():
        try:
            command()
        finally:
            print(
                f"shadow: {shadow.plans} plans, {shadow.layers} layers, {shadow.operators} operators",
                file=sys.stderr,
            )


if __name__ == "__main__":
    main(sys.argv[1])
