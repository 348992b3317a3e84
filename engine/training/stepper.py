"""One training step and one evaluation, eager or through to_static; holds the network and its optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.optimizer import LBFGS, Optimizer
from engine.training.layers.watch import LayerReading, LayerWatch, global_norm
from engine.training.measuring.evaluation import Evaluation, check_output, evaluate, evaluate_numbers
from engine.training.network.losses import step_layers, taking_a_list
from engine.training.network.model_inputs import input_specs
from engine.training.randomness import measuring
from engine.training.rules.rate import Rate, Scaled
from engine.training.rules.rules import Schedule
from engine.training.sources.preparing.prepare import Prepare
from engine.training.sources.several_inputs import Samples, samples_in
from engine.training.sources.spec import DataSpec
from resources.operator_keys import layer_name, network_call
from resources.training_events import RankPace

if TYPE_CHECKING:
    from engine.eager.tensor import Tensor
    from engine.jit.concrete_program import ConcreteProgram
    from engine.nn import Layer
    from engine.training.whole_step import WholeStep


class Stepper:
    """Trains ``network`` batch by batch and measures it.

    Args:
        network: a Layer that turns images [N, ...] into scores [N, classes], or samples into [N, k] numbers.
        optimizer: an optimizer over its parameters.
        static: run steps and evaluation through ``jit.to_static``.
        shape: the shape of one image, for the InputSpec.
        schedule: moves the optimizer's learning rate on; None where it is constant.
        loss: what training makes small, see ``loss_of``; what is measured is always cross entropy, or the
            mean squared error of numbers.
        inputs: InputSpecs, for a network that takes a list of Tensors instead of images.
        scale: of the numbers to predict; None for classes.
        class_weights: of the classes in the loss; empty for none.
        spec: of the data, by which the hardest samples are shown.
    """

    def __init__(
        self,
        network: Layer,
        optimizer: Optimizer,
        static: bool,
        shape: tuple[int, ...],
        schedule: Schedule | None = None,
        loss: str = "cross_entropy",
        inputs: list[Any] | None = None,
        scale: Prepare | None = None,
        class_weights: Sequence[float] = (),
        spec: DataSpec | None = None,
    ) -> None:
        from engine import jit
        from engine.jit.input_spec import InputSpec

        self.network = network
        self.optimizer = optimizer
        self.schedule = schedule
        self.rate: Rate | None = None  # what was set by hand
        self.static = static
        self.scale, self._spec = scale, spec
        self.gradient_norm = math.nan  # of the last step, before any clipping
        self._watch: LayerWatch | None = None
        self._reading: LayerReading | None = None
        if spec is not None and spec.feeds:
            inputs = list(input_specs(spec.feeds))
            self._called = taking_a_list(network)
        else:
            self._called = network
        # Around the network: calls of Layers have their paths from it.
        self.layer, self._read = step_layers(self._called, loss, class_weights)
        self._learn: Callable[..., Any] | None = None  # a step that leaves the gradients as well
        if static:
            images: Any = inputs or InputSpec(shape=[None, *shape], dtype="float32", name="x")
            targets, dtype = (1, "int64") if scale is None else (len(scale.target_mean), "float32")
            labels = InputSpec(shape=[None, targets], dtype=dtype, name="label")
            self.layer = jit.to_static(self.layer, input_spec=[images, labels], full_graph=True)
            self._learn = self.layer.forward.with_gradients
            self._read = jit.to_static(self._read, input_spec=[images], full_graph=True)
        self._step: Callable[..., Any] = self.layer
        network.train()

    def train(self, images: Samples, labels: Tensor, go_on: bool = False) -> tuple[float, float | None]:
        """One step; returns its loss and the accuracy on the batch before the update, None for numbers.

        If the loss is not finite, the parameters stay unchanged unless ``go_on``.
        """
        learn = None if isinstance(self.optimizer, LBFGS) else self._learn
        loss, accuracy = self._losses(learn or self._step, images, labels)
        value = float(loss)
        self.gradient_norm = math.nan
        if not math.isfinite(value) and not go_on:
            if learn is not None:
                self.optimizer.clear_grad(set_to_zero=False)
        else:
            if learn is None:
                loss.backward()
            self.gradient_norm = global_norm(self.network.parameters())
            if self._watch is not None:
                self._watch.before()
            self._update(loss, images, labels)
            if self._watch is not None:
                self._reading, self._watch = self._watch.after(images), None
                self._reading.places = self._layer_places
            # Not to zeros: they would move a parameter without a gradient, and no checkpoint has them.
            self.optimizer.clear_grad(set_to_zero=False)
            if self.schedule is not None:
                self.schedule.after_batch()
        return value, None if accuracy is None else float(accuracy)

    def _losses(self, step: Callable[..., Any], images: Any, labels: Any) -> tuple[Any, Any]:
        """Loss and accuracy of a batch; no accuracy where numbers are predicted."""
        return step(images, labels) if self.scale is None else (step(images, labels), None)

    def _update(self, loss: Any, images: Any, labels: Any) -> None:
        """Let the optimizer use the gradients of ``loss``; L-BFGS computes more of them at other weights."""
        if not isinstance(self.optimizer, LBFGS):
            self.optimizer.step()
            return
        known = [loss]

        def closure() -> Any:
            if known:  # the first call is about the current weights, whose loss is there already
                return known.pop()
            self.optimizer.clear_grad()
            again, _ = self._losses(self._step, images, labels)
            again.backward()
            return again

        self.optimizer.step(closure)

    @property
    def network_call(self) -> str:
        """The path of the network's call in a step."""
        return "network" if self._called is self.network else "network.network"

    def traced(self) -> ConcreteProgram | None:
        """The ConcreteProgram of a step; None for one that runs eagerly."""
        return self.layer.forward.concrete_program if self.static else None

    def whole_step(self, images: Samples, labels: Tensor) -> WholeStep:
        """The step that it would make with a batch, operator by operator; nothing is trained.

        Raises ConversionError where the network can't be converted to a Program.
        """
        from engine.training.whole_step import WholeStep  # few trainings are debugged

        return WholeStep(self.layer, self.optimizer, (images, labels), network=self.network)

    def end_epoch(self, measured: Mapping[str, float]) -> None:
        """An epoch is over and was measured: a schedule that counts epochs, or follows a value, moves on."""
        if self.schedule is not None:
            self.schedule.after_epoch(measured)

    @cached_property
    def _layer_places(self) -> dict[str, tuple[str, int]]:
        """The user's file and line that calls each layer first; empty for steps that run eagerly."""
        concrete, root = self.traced(), self.network_call
        found: dict[str, tuple[str, int]] = {}
        for block in () if concrete is None else concrete.main_program.blocks:
            for operator in block.ops:
                place = operator.position
                if place is not None:
                    name = layer_name(network_call(operator.layer, root))
                    found.setdefault(name, place)
        return found

    def watch_layers(self) -> None:
        """Look at what the next step does to each layer."""
        self._watch = LayerWatch(self.network, self._called)

    def take_layers(self) -> LayerReading | None:
        """What was seen of the layers since the last call; None for nothing."""
        reading, self._reading = self._reading, None
        return reading

    def take_paces(self) -> list[RankPace] | None:
        """How fast each of the processes was that share the training; None in one process."""
        return None

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return float(self.optimizer.get_lr())

    def rate_for(self, learning_rate: float) -> Rate:
        """What makes this the rate of the next step.

        A schedule whose rate is 0 now can't be multiplied to it: there the rate that it was made with counts.
        """
        if self.schedule is None:
            return Rate(learning_rate, 1.0)
        now = float(self.schedule.scheduler()) or float(self.schedule.scheduler.base_lr)
        return Rate(learning_rate, learning_rate / now)

    def set_rate(self, rate: Rate) -> None:
        """From the next step on this holds, whatever was set before."""
        self.rate = rate
        if self.schedule is None:
            self.optimizer.set_lr(rate.learning_rate)
        else:
            self.optimizer.set_lr_scheduler(Scaled(self.schedule.scheduler, rate.factor))

    def evaluate(
        self, batches: Iterable[Any], classes: int, stopped: Callable[[], bool] = lambda: False
    ) -> Evaluation | None:
        """Measure the network on all ``batches``; modes and random numbers are restored afterwards."""
        from engine.eager.grad_mode import no_grad

        with measuring(self.network), no_grad():
            return self._evaluated(lambda images: self._read(images).numpy(), batches, classes, stopped)

    def _evaluated(
        self, read: Callable[[Any], Any], batches: Iterable[Any], classes: int, stopped: Callable[[], bool]
    ) -> Evaluation | None:
        if self.scale is not None:
            return evaluate_numbers(read, batches, self.scale, stopped, self._spec)
        return evaluate(read, batches, classes, stopped, self._spec)

    def check(self, images: Samples, classes: tuple[str, ...]) -> None:
        """Run the network once, eagerly and without a trace, so that a mistake in it shows before the
        training.

        Raises:
            ArgumentError: its output can't stand for ``classes``, or for the numbers. Its own errors come
                through as they are.
        """
        from engine.eager.grad_mode import no_grad

        with measuring(self.network), no_grad():
            scores = self._called(images)
        targets = 0 if self.scale is None else len(self.scale.target_mean)
        check_output(tuple(getattr(scores, "shape", ())), len(classes), samples_in(images), targets)

    def take_weights(self, weights: dict[str, Any]) -> None:
        """Measure with these weights of the network from here on."""
        self.network.set_state_dict(weights)

    def state_dict(self) -> dict[str, Any]:
        """The network's and the optimizer's state, and ``rate`` where that was set by hand."""
        rate = {} if self.rate is None else {"rate": self.rate.state()}
        return {"model": self.network.state_dict(), "optimizer": self.optimizer.state_dict(), **rate}

    def set_state_dict(self, state: dict[str, Any]) -> None:
        self.network.set_state_dict(state["model"])
        self.optimizer.set_state_dict(state["optimizer"])
        if "rate" in state:
            Stepper.set_rate(self, Rate.of_state(state["rate"]))

    def parameter_count(self) -> int:
        """How many numbers there are to learn."""
        return sum(
            int(np.prod(parameter.shape))
            for parameter in self.network.parameters()
            if not parameter.stop_gradient
        )


def arrays_of(tree: Any) -> Any:
    """``tree`` with every Tensor replaced by a NumPy array of its values, as a file holds them."""
    if isinstance(tree, dict):
        return {name: arrays_of(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(arrays_of(value) for value in tree)
    return tree.numpy() if hasattr(tree, "stop_gradient") else tree
