"""The losses of trainings by name, and the forwards around a network that a step and an evaluation need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from engine.nn import Layer
    from engine.tensor.tensor_like import AnyTensor

SMOOTHED_SHARE = 0.1
NUMBER_LOSSES = ("mse", "mae", "huber")


def loss_of(name: str, weights: AnyTensor | None = None) -> Callable[[Any, Any], Any]:
    """The mean loss that the setting ``loss`` names: of scores [N, classes] and labels [N, 1], or of outputs
    and scaled targets [N, k].

    Args:
        weights: a Tensor with the weight of each class: the loss of each sample is multiplied by that of its
            class before the mean is taken.
    """
    from engine.nn import functional
    from engine.tensor.elements.scattering import gather

    if name in NUMBER_LOSSES:
        chosen: dict[str, Any] = {
            "mse": functional.mse_loss,
            "mae": functional.l1_loss,
            "huber": functional.smooth_l1_loss,
        }
        return lambda outputs, targets: chosen[name](outputs, targets)
    reduction = "mean" if weights is None else "none"
    if name == "margin":

        def measure(scores: Any, label: Any) -> Any:
            return functional.multi_margin_loss(scores, label.flatten(), reduction=reduction)
    else:
        smoothed = SMOOTHED_SHARE if name == "label_smoothing" else 0.0

        def measure(scores: Any, label: Any) -> Any:
            return functional.cross_entropy(scores, label, label_smoothing=smoothed, reduction=reduction)

    if weights is None:
        return measure
    return lambda scores, label: (measure(scores, label).flatten() * gather(weights, label.flatten())).mean()


def class_weights(labels: np.ndarray, classes: int) -> list[float]:
    """A weight for each class, the larger the rarer it is: over all samples their mean is 1.

    A class without samples has 0.
    """
    counts = np.bincount(labels[labels >= 0].reshape(-1), minlength=classes).astype(np.float64)
    known = counts > 0
    shares = counts.sum() / (known.sum() * np.where(known, counts, 1.0))
    return [float(value) for value in np.where(known, shares, 0.0)]


def step_layers(network: Layer, loss_name: str, weights: Sequence[float] = ()) -> tuple[Any, Any]:
    """The two forwards that a training needs, as Layers around ``network`` so that to_static can convert
    them.

    Args:
        weights: of the classes in the loss; empty for none.
    """
    from engine import metric, nn
    from engine.tensor.creation import to_tensor

    of_classes = to_tensor(np.asarray(weights, np.float32)) if len(weights) else None
    measure = loss_of(loss_name, of_classes)

    class Step(nn.Layer):
        """Images and labels to loss and accuracy."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, x: Any, label: Any) -> Any:
            scores = self.network(x)
            return measure(scores, label), metric.accuracy(scores, label)

    class NumbersStep(nn.Layer):
        """Inputs and scaled targets to loss."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, x: Any, label: Any) -> Any:
            return measure(self.network(x), label)

    class Read(nn.Layer):
        """Images to scores."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, x: Any) -> Any:
            return self.network(x)

    return (NumbersStep() if loss_name in NUMBER_LOSSES else Step()), Read()


def taking_a_list(network: Layer) -> Layer:
    """A Layer that takes a list of inputs and gives each to ``network`` as an argument of its own."""
    from engine import nn

    class Several(nn.Layer):
        """The network behind a list of its inputs."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, inputs: Any) -> Any:
            return self.network(*inputs)

    return Several()
