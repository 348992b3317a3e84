"""One training step and one evaluation, eager or through to_static; holds the network and its optimizer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.random import default_generator, numpy_state, set_numpy_state
from engine.core.random_state import entry, python_state
from engine.optimizer import LBFGS
from engine.training.layer_watch import LayerReading, LayerWatch, global_norm
from engine.training.predictions import Predictions, Tally, display_images, image_bytes
from engine.training.rate import Rate, Scaled
from engine.training.rules import Schedule
from engine.training.sources.prepared import Prepared
from resources.training_events import Hard, RankPace

HARDEST = 40


@dataclass(frozen=True)
class Evaluation:
    """How well the network classifies a test split. ``confusion[label, predicted]`` counts images."""

    loss: float
    accuracy: float
    confusion: np.ndarray
    hardest: list[Hard]
    images: np.ndarray
    predictions: Predictions | None = None


class Stepper:
    """Trains ``network`` batch by batch and measures it.

    Args:
        network: a Layer that turns images [N, ...] into scores [N, classes].
        optimizer: an optimizer over its parameters.
        static: run steps and evaluation through ``jit.to_static``.
        shape: the shape of one image, for the InputSpec.
        schedule: moves the optimizer's learning rate on; None where it is constant.
        loss: what training makes small, see ``loss_of``; what is measured is always cross entropy.
        inputs: InputSpecs, for a network that takes a list of Tensors instead of images.
    """

    def __init__(
        self,
        network: Any,
        optimizer: Any,
        static: bool,
        shape: tuple[int, ...],
        schedule: Schedule | None = None,
        loss: str = "cross_entropy",
        inputs: list[Any] | None = None,
    ) -> None:
        from engine import jit
        from engine.jit.input_spec import InputSpec

        self.network = network
        self.optimizer = optimizer
        self.schedule = schedule
        self.rate: Rate | None = None  # what was set by hand
        self.static = static
        self.gradient_norm = math.nan  # of the last step, before any clipping
        self._watch: LayerWatch | None = None
        self._reading: LayerReading | None = None
        self._step, self._read = _layers(network, loss)
        self._learn: Callable[..., Any] | None = None  # a step that leaves the gradients as well
        if static:
            images: Any = inputs or InputSpec(shape=[None, *shape], dtype="float32", name="x")
            labels = InputSpec(shape=[None, 1], dtype="int64", name="label")
            self._step = jit.to_static(self._step, input_spec=[images, labels])
            self._learn = self._step.forward.with_gradients
            self._read = jit.to_static(self._read, input_spec=[images])
        network.train()

    def train(self, images: Any, labels: Any, go_on: bool = False) -> tuple[float, float]:
        """One step; returns its loss and the accuracy on the batch before the update.

        If the loss is not finite, the parameters stay unchanged unless ``go_on``.
        """
        learn = None if isinstance(self.optimizer, LBFGS) else self._learn
        loss, accuracy = (learn or self._step)(images, labels)
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
            # Not to zeros: they would move a parameter without a gradient, and no checkpoint has them.
            self.optimizer.clear_grad(set_to_zero=False)
            if self.schedule is not None:
                self.schedule.after_batch()
        return value, float(accuracy)

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
            again, _ = self._step(images, labels)
            again.backward()
            return again

        self.optimizer.step(closure)

    def traced(self) -> Any:
        """The ConcreteProgram of a step; None for one that runs eagerly."""
        return self._step.forward.concrete_program if self.static else None

    def end_epoch(self, measured: Mapping[str, float]) -> None:
        """An epoch is over and was measured: a schedule that counts epochs, or follows a value, moves on."""
        if self.schedule is not None:
            self.schedule.after_epoch(measured)

    def watch_layers(self) -> None:
        """Look at what the next step does to each layer."""
        self._watch = LayerWatch(self.network)

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
        self, batches: Any, classes: int, stopped: Callable[[], bool] = lambda: False
    ) -> Evaluation | None:
        """Measure the network on all ``batches``; modes and random numbers are restored afterwards."""
        from engine.eager.grad_mode import no_grad

        with measuring(self.network), no_grad():
            return evaluate(lambda images: self._read(images).numpy(), batches, classes, stopped)

    def check(self, images: Any, classes: tuple[str, ...]) -> None:
        """Run the network once, eagerly and without a trace, so that a mistake in it shows before the
        training.

        Raises:
            ArgumentError: its output can't stand for ``classes``. Its own errors come through as they are.
        """
        from engine.eager.grad_mode import no_grad

        with measuring(self.network), no_grad():
            scores = self.network(images)
        check_output(tuple(getattr(scores, "shape", ())), len(classes), int(images.shape[0]))

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


def check_output(shape: tuple[int, ...], classes: int, batch: int) -> None:
    """Refuse a network whose output shape can't stand for so many classes.

    Raises:
        ArgumentError: not [N, at least one score a class].
    """
    if len(shape) != 2 or shape[0] != batch or shape[1] < classes:
        raise ArgumentError(
            f"model: its output does not fit the data: shape {list(shape)} for {batch} images of {classes} "
            f"classes; end the model with {classes} scores an image, e.g. Linear(..., {classes})"
        )


def evaluate(
    scores: Callable[[Any], np.ndarray],
    batches: Any,
    classes: int,
    stopped: Callable[[], bool] = lambda: False,
) -> Evaluation | None:
    """Measure ``scores`` on all ``batches`` of (images, labels); None if ``stopped()`` became true."""
    confusion = np.zeros((classes, classes), np.int64)
    losses: list[np.ndarray] = []
    rows: list[tuple[float, int, int, int, np.ndarray]] = []
    tally, seen = Tally(), 0
    for inputs, labels in batches:
        if stopped():
            return None
        values = scores(inputs).astype(np.float64)
        truth = np.asarray(labels.numpy()).reshape(-1)
        logs = values - values.max(axis=1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        of_truth = logs[np.arange(len(truth)), truth]
        predicted = values.argmax(axis=1)
        width = max(classes, values.shape[1])
        if width > len(confusion):
            confusion = np.pad(confusion, (0, width - len(confusion)))
        np.add.at(confusion, (truth, predicted), 1)
        tally.add(truth, logs)
        losses.append(-of_truth)
        worst = np.argsort(of_truth, kind="stable")[:HARDEST]
        images = np.asarray(inputs.numpy())
        rows += [
            (float(of_truth[i]), seen + int(i), int(truth[i]), int(predicted[i]), images[i]) for i in worst
        ]
        rows = sorted(rows, key=lambda row: row[:2])[:HARDEST]
        seen += len(truth)
    if not seen:
        raise ArgumentError(
            "evaluate: there is nothing to measure: 0 images; give a test split that has some"
        )
    shown = _shown(batches, rows)
    return Evaluation(
        loss=float(np.concatenate(losses).mean()),
        accuracy=float(np.trace(confusion) / seen),
        confusion=confusion,
        hardest=[
            Hard(index=index, label=label, predicted=predicted, probability=math.exp(log))
            for log, index, label, predicted, _ in rows
        ],
        images=shown,
        predictions=tally.result(len(confusion), [index for _, index, *_ in rows], shown),
    )


def _shown(batches: Any, rows: list[tuple[float, int, int, int, np.ndarray]]) -> np.ndarray:
    """The images of these samples (the place is the second value of a row) as people know them."""
    data = getattr(batches, "dataset", None)
    if isinstance(data, Prepared):
        return display_images(data, [row[1] for row in rows])
    return image_bytes(np.stack([row[4] for row in rows]))


@contextmanager
def measuring(network: Any) -> Iterator[None]:
    """Put the network into evaluation mode within the block; restores modes and random numbers."""
    layers = [(layer, layer.training) for layer in network.sublayers(include_self=True)]
    state = random_state()
    network.eval()
    try:
        yield
    finally:
        for layer, training in layers:
            layer.training = training
        set_random_state(state)


def arrays_of(tree: Any) -> Any:
    """``tree`` with every Tensor replaced by a NumPy array of its values, as a file holds them."""
    if isinstance(tree, dict):
        return {name: arrays_of(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(arrays_of(value) for value in tree)
    return tree.numpy() if hasattr(tree, "stop_gradient") else tree


def seed_everything(seed: int) -> None:
    """Seed the engine's, NumPy's and Python's random numbers (a user's model may draw from any of them)."""
    default_generator().manual_seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)


def random_state() -> dict[str, Any]:
    """The state of all three generators as plain values and arrays."""
    version, internal, spare = random.getstate()
    return {
        "engine": default_generator().state(),
        "numpy": numpy_state(),
        "python": {
            "version": int(version),
            "internal": np.array(internal, np.uint64),
            "spare": math.nan if spare is None else float(spare),
        },
    }


def set_random_state(state: dict[str, Any]) -> None:
    """Restore the generators to what ``random_state`` returned. Raises ArgumentError for anything else."""
    where = "set_random_state"
    default_generator().set_state(entry(where, state, "engine"))
    set_numpy_state(entry(where, state, "numpy"))
    random.setstate(python_state(entry(where, state, "python")))


SMOOTHED_SHARE = 0.1


def loss_of(name: str) -> Callable[[Any, Any], Any]:
    """The mean loss of scores [N, classes] and labels [N, 1] that the setting ``loss`` names."""
    from engine.nn import functional

    if name == "margin":
        return lambda scores, label: functional.multi_margin_loss(scores, label.flatten())
    smoothed = SMOOTHED_SHARE if name == "label_smoothing" else 0.0
    return lambda scores, label: functional.cross_entropy(scores, label, label_smoothing=smoothed)


def _layers(network: Any, loss_name: str) -> tuple[Any, Any]:
    """The two forwards that a training needs, as Layers around ``network`` so that to_static can convert
    them."""
    from engine import metric, nn

    measure = loss_of(loss_name)

    class Step(nn.Layer):
        """Images and labels to loss and accuracy."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, x: Any, label: Any) -> Any:
            scores = self.network(x)
            return measure(scores, label), metric.accuracy(scores, label)

    class Read(nn.Layer):
        """Images to scores."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, x: Any) -> Any:
            return self.network(x)

    return Step(), Read()
