"""One batch of a ``Model`` in static mode, and its state: a Program each to train, evaluate and predict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.containers import nest
from engine.core.errors import UnreadyError
from engine.core.place import current_place
from engine.hapi import states
from engine.hapi.data import array, listed
from engine.jit.input_spec import InputSpec
from engine.nn import Layer
from engine.program.build.builder import variable as data_variable
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.prune import pruned
from engine.program.run.executor import Executor, default_main_program, default_startup_program, program_guard
from engine.program.run.scope import give_value, global_scope, value_of
from engine.static.amp import AutoMixedPrecisionLists, decorate
from engine.static.inference_files import save_inference_model

if TYPE_CHECKING:
    from engine.hapi.model import Model


@dataclass(frozen=True)
class _Built:
    """A Program that trains, evaluates or predicts, and its Variables."""

    program: Program
    inputs: list[Variable]
    labels: list[Variable]
    outputs: list[Variable]
    losses: list[Variable]
    metrics: list[list[Variable]]


class StaticSteps:
    """Trains, evaluates and runs the network of ``model`` with Programs, which are built when first needed.

    They are copies of the main Program in which the network was made, so that this one stays as it is.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._main, self._startup = default_main_program(), default_startup_program()
        self._executor = Executor()
        self._programs: dict[str, _Built] = {}
        self.seen = None  # InputSpecs say what is fed

    @contextmanager
    def describing(self) -> Iterator[None]:
        """Within the block the network can be called in a Program that nothing runs."""
        program = self._main.clone()
        with program_guard(program, Program()), _variables_of(program, [self.model.network]):
            yield

    def prepare(self) -> None:
        """Build anew, at once what trains: it makes the optimizer's state, which ``load`` fills."""
        self._programs.clear()
        self._give_first_values()
        if self.model._optimizer is not None and self.model._loss is not None:
            self._built("train")

    def train(self, inputs: list[Any], labels: list[Any], update: bool) -> Any:
        if not update:
            raise UnreadyError(
                "train_batch: Does not support `update == False` in static graph mode by now: leave it out, "
                "and accumulate_grad_batches too, or train in eager mode"
            )
        self.model.mode = "train"
        return self._measured("train", inputs, labels)

    def evaluate(self, inputs: list[Any], labels: list[Any]) -> Any:
        self.model.mode = "eval"
        return self._measured("eval", inputs, labels)

    def predict(self, inputs: list[Any]) -> list[Any]:
        self.model.mode = "test"
        built = self._built("predict")
        return self._run(built, inputs, [], built.outputs)

    def _measured(self, kind: str, inputs: list[Any], labels: list[Any]) -> Any:
        built = self._built(kind)
        measured = [v for each in built.metrics for v in each]
        found = self._run(built, inputs, labels, [*built.losses, *measured])
        losses, rest = found[: len(built.losses)], iter(found[len(built.losses) :])
        metrics = [
            metric.update(*[next(rest) for _ in own])
            for metric, own in zip(self.model._metrics, built.metrics, strict=True)
        ]
        if metrics:
            return (losses, metrics) if self.model._loss is not None else metrics
        return losses

    def _run(self, built: _Built, inputs: list[Any], labels: list[Any], wanted: list[Variable]) -> list[Any]:
        feeds = zip([*built.inputs, *built.labels], [*inputs, *labels], strict=False)
        feed = {variable.name: array(value) for variable, value in feeds}
        return list(self._executor.run(built.program, feed=feed, fetch_list=wanted))

    # -- building ------------------------------------------------------------------------------------------
    def _built(self, kind: str) -> _Built:
        if kind not in self._programs:
            self._programs[kind] = self._build(kind)
        return self._programs[kind]

    def _build(self, kind: str) -> _Built:
        model, program, startup = self.model, self._main.clone(), Program()
        if kind == "train":
            model.network.train()
        else:
            model.network.eval()
        layers = [layer for layer in (model.network, model._loss) if isinstance(layer, Layer)]
        with program_guard(program, startup), _variables_of(program, layers):
            inputs = [_fed(program, s) for s in model._inputs or ()]
            labels, losses, metrics = [], [], []
            if kind != "predict":
                labels = [_fed(program, s) for s in model._labels or ()]
            outputs = nest.flatten(model.network(*inputs))
            if kind != "predict":
                losses = listed(model._loss(*outputs, *labels)) if model._loss is not None else []
                metrics = [listed(m.compute(*outputs, *labels)) for m in model._metrics]
            if kind == "train":
                total = losses[0]
                for loss in losses[1:]:
                    total = total + loss
                optimizer, precision = model._optimizer, model._precision
                if precision.on:
                    lists = AutoMixedPrecisionLists(**precision.lists) if precision.lists else None
                    optimizer = decorate(
                        optimizer,
                        lists,
                        use_pure_fp16=precision.level == "O2",
                        use_fp16_guard=precision.use_fp16_guard,
                        **precision.scaling,
                    )
                optimizer.minimize(total)
        self._give_first_values()
        self._executor.run(startup)
        if kind == "train" and model._precision.level == "O2":
            optimizer.amp_init(current_place())
        return _Built(program, inputs, labels, outputs, losses, metrics)

    def _give_first_values(self) -> None:
        """Run those initializers whose parameters have no value yet."""
        scope = global_scope()
        block = self._startup.global_block()
        missing = [
            block.vars[v.name]
            for v in self.model.network.to_static_state_dict().values()
            if isinstance(v, Variable) and scope.find_var(v.name) is None and v.name in block.vars
        ]
        if missing:
            self._executor.run(pruned(self._startup, [], missing, "Model"))

    # -- state ---------------------------------------------------------------------------------------------
    def state(self) -> states.State:
        """The state dicts of the network and of the optimizer."""
        self._give_first_values()
        state = self.model.network.state_dict()
        values = {name: value_of(v) if isinstance(v, Variable) else v for name, v in state.items()}
        return states.of(values, self.model._optimizer)

    def save(self, path: str) -> None:
        states.write(path, self.state())

    def load(self, path: str, skip_mismatch: bool, reset_optimizer: bool) -> None:
        optimizer = self.model._optimizer
        found, state = states.read(path)
        own = self.model.network.state_dict()
        fitting = states.matched(own, found, skip_mismatch)
        if optimizer is not None and state and not reset_optimizer:
            states.restore(optimizer, state, own, found)
        for name, value in fitting.items():
            if isinstance(own[name], Variable):
                give_value(own[name], np.asarray(value))
            else:
                own[name].set_value(value)

    def save_inference(self, path: str) -> None:
        self._give_first_values()
        built = self._built("predict")
        save_inference_model(path, built.inputs, built.outputs, self._executor, program=built.program)


def _fed(program: Program, spec: InputSpec) -> Variable:
    assert spec.name is not None, "specs_of has seen to it"
    return data_variable(program, spec.name, spec.to_spec())


@contextmanager
def _variables_of(program: Program, layers: Iterable[Layer]) -> Iterator[None]:
    """Let the layers use Variables of ``program`` of the same names as their parameters and buffers."""
    block = program.global_block()
    replaced: list[tuple[dict[str, Any], str, Variable]] = []
    for layer in layers:
        for each in layer.sublayers(include_self=True):
            holders: tuple[Any, Any] = each._parameters, each._buffers
            for fields in holders:
                replaced += [
                    (fields, name, value) for name, value in fields.items() if isinstance(value, Variable)
                ]
    try:
        for fields, name, value in replaced:
            fields[name] = block.var(value.name)
        yield
    finally:
        for fields, name, value in replaced:
            fields[name] = value
