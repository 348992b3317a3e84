"""One batch of a ``Model`` in eager mode, and its state."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from engine.amp import GradScaler, auto_cast, decorate
from engine.core import mode as modes
from engine.core.containers import nest
from engine.core.errors import UnreadyError
from engine.eager.mode import RECORDING
from engine.hapi import states
from engine.hapi.data import array, listed, tensor
from engine.jit.export import save as save_traced
from engine.jit.input_spec import InputSpec

if TYPE_CHECKING:
    from engine.hapi.model import Model


class DynamicSteps:
    """Trains, evaluates and runs the network of ``model`` eagerly."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.seen: list[InputSpec] | None = None  # what the last batch was like
        self.scaler: GradScaler | None = None  # made at the first batch of a training in mixed precision

    def describing(self) -> AbstractContextManager[None]:
        """The network can be called as it is."""
        return nullcontext()

    def prepare(self) -> None:
        """Make the network and the optimizer ready for mixed precision; there is nothing to build."""
        model = self.model
        self.scaler = None
        if model._precision.level == "O2" and model._optimizer is not None:
            decorate(models=model.network, optimizers=model._optimizer, level="O2")

    def train(self, inputs: list[Any], labels: list[Any], update: bool) -> Any:
        model = self.model
        model.mode = "train"
        model.network.train()
        precision = model._precision
        if precision.on and self.scaler is None:
            self.scaler = GradScaler(**precision.scaling)
        mixed = auto_cast(**precision.lists, level=precision.level) if precision.on else nullcontext()
        with mixed:
            outputs, labels = self._outputs(inputs), [tensor(v) for v in labels]
            losses = listed(model._loss(*outputs, *labels))
            total = losses[0]
            for loss in losses[1:]:
                total = total + loss
        scaled = total if self.scaler is None else self.scaler.scale(total)
        scaled.backward()
        if update:
            if self.scaler is None:
                model._optimizer.step()
            else:
                self.scaler.minimize(model._optimizer, scaled)
            model._optimizer.clear_grad()
        return self._result(losses, outputs, labels)

    def evaluate(self, inputs: list[Any], labels: list[Any]) -> Any:
        model = self.model
        model.mode = "eval"
        model.network.eval()
        with modes.use(RECORDING.with_grad(False)):
            outputs, labels = self._outputs(inputs), [tensor(v) for v in labels]
            losses = listed(model._loss(*outputs, *labels)) if model._loss is not None else []
            return self._result(losses, outputs, labels)

    def predict(self, inputs: list[Any]) -> list[Any]:
        self.model.mode = "test"
        self.model.network.eval()
        with modes.use(RECORDING.with_grad(False)):
            return [array(v) for v in self._outputs(inputs)]

    def _outputs(self, inputs: list[Any]) -> list[Any]:
        tensors = [tensor(v) for v in inputs]
        self.seen = [InputSpec(t.shape, t.dtype, f"input_{n}") for n, t in enumerate(tensors)]
        return nest.flatten(self.model.network(*tensors))

    def _result(self, losses: list[Any], outputs: list[Any], labels: list[Any]) -> Any:
        values = [array(loss) for loss in losses]
        metrics = [
            m.update(*[array(v) for v in listed(m.compute(*outputs, *labels))]) for m in self.model._metrics
        ]
        if metrics:
            return (values, metrics) if self.model._loss is not None else metrics
        return values

    # -- state ---------------------------------------------------------------------------------------------
    def state(self) -> states.State:
        """The state dicts of the network and of the optimizer."""
        return states.of(self.model.network.state_dict(), self.model._optimizer)

    def save(self, path: str) -> None:
        states.write(path, self.state())

    def load(self, path: str, skip_mismatch: bool, reset_optimizer: bool) -> None:
        network, optimizer = self.model.network, self.model._optimizer
        found, state = states.read(path)
        own = network.state_dict()
        fitting = states.matched(own, found, skip_mismatch)
        if optimizer is not None and state and not reset_optimizer:
            states.restore(optimizer, state, own, found)
        for name, value in fitting.items():
            own[name].set_value(value)

    def save_inference(self, path: str) -> None:
        network, specs = self.model.network, self.model._inputs
        if specs is None:
            if self.seen is None:
                raise UnreadyError(
                    "Model.save: saving an inference model needs 'inputs': got none, and no batch has run; "
                    "pass InputSpecs to Model()"
                )
            specs = self.seen
            warnings.warn(
                "Model.save: 'inputs' was not specified when the Model was made, so the saved input shapes "
                f"are those of the last batch: {[list(s.shape) for s in specs]}; pass InputSpecs to Model() "
                "for others",
                stacklevel=3,
            )
        training = [layer for layer in network.sublayers(include_self=True) if layer.training]
        network.eval()
        try:
            save_traced(network, path, input_spec=specs)
        finally:
            for layer in training:
                layer.training = True
