"""A network that was trained on normalised samples, as prediction uses it: it normalises what it is given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.errors import FormatError

if TYPE_CHECKING:
    from engine.nn import Layer


def for_prediction(network: Layer, data: Mapping[str, Any]) -> Layer:
    """``network``, or a Layer around it that first takes off the mean and divides by the deviation that its
    training used, and gives numbers in the units of the targets; so images from 0 to 1, and numbers as they
    are, can be fed to every export, and what it predicts can be read.

    Args:
        data: of a checkpoint: the ``shape`` of a sample and, where one was declared, how it is ``prepare``d.

    Raises:
        FormatError: mean and deviation don't fit the shape.
    """
    plain = data.get("prepare")
    if not isinstance(plain, Mapping):
        return network
    made = network
    if plain.get("mean"):
        shape = [int(size) for size in data["shape"]]
        form = [1, *shape]
        if plain.get("picture"):
            form = [1, shape[0], *[1] * (len(shape) - 1)]
        elif isinstance(plain["mean"], Sized) and len(plain["mean"]) == shape[-1]:
            form = [*[1] * len(shape), shape[-1]]  # of each value of a step, or of each column
        made = _normalizing(made, *_scale(plain, "", form))
    if plain.get("target_mean"):
        made = _in_units(made, *_scale(plain, "target_", [1, -1]))
    return made


def _scale(plain: Mapping[str, Any], prefix: str, form: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of this form. Raises FormatError where they don't fit it, or are not numbers."""
    try:
        mean, deviation = (
            np.asarray(plain[f"{prefix}{name}"], np.float32).reshape(form) for name in ("mean", "deviation")
        )
        if mean.shape != deviation.shape:
            raise ValueError(f"{mean.shape} and {deviation.shape}")
        sound = (
            bool(np.isfinite(mean).all()) and float(deviation.min()) > 0 and math.isfinite(deviation.max())
        )
    except (LookupError, TypeError, ValueError) as error:
        raise FormatError(
            f"checkpoint: its mean and deviation don't fit samples of shape {form[1:]}: {error}; "
            "choose another"
        ) from error
    if not sound:
        raise FormatError(
            "checkpoint: its mean and deviation are not finite numbers above 0; choose another checkpoint"
        )
    return mean, deviation


def for_callers(data: Mapping[str, Any]) -> dict[str, Any]:
    """``data`` of a checkpoint as written into files for prediction: without the steps that the network does
    itself. The mean of each column of a table stays known as ``column_mean``."""
    plain = data.get("prepare")
    if not isinstance(plain, Mapping):
        return dict(data)
    scaled = ("mean", "deviation", *(name for name in plain if str(name).startswith("target_")))
    prepare = {**plain, **{name: [] for name in scaled}}
    if plain.get("mean") and not plain.get("picture") and len(data["shape"]) == 1:
        prepare["column_mean"] = np.ravel(plain["mean"]).tolist()
    return {**data, "prepare": prepare}


def own_names(names: Mapping[str, str]) -> dict[str, str]:
    """Structured names of a model's parameters, by anything, as its network calls them itself, whether
    ``for_prediction`` put a Layer around it or not."""
    found = dict(names)
    # A Layer around the network, for its input, its output or both.
    while True:
        others = [name for name in found.values() if name not in _BUFFERS]
        wrapped = len(others) < len(found) and all(name.startswith("network.") for name in others)
        if not wrapped or not others:
            return found
        found = {
            key: name.removeprefix("network.") if name not in _BUFFERS else name
            for key, name in found.items()
        }


_BUFFERS = ("mean", "deviation", "target_mean", "target_deviation")


def _in_units(network: Any, mean: np.ndarray, deviation: np.ndarray) -> Any:
    from engine import nn
    from engine.tensor.creation import to_tensor

    class InUnits(nn.Layer):
        """The network with its numbers in the units of the targets."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network
            self.register_buffer("target_mean", to_tensor(mean))
            self.register_buffer("target_deviation", to_tensor(deviation))

        def forward(self, *inputs: Any) -> Any:
            return self.network(*inputs) * self.target_deviation + self.target_mean

    layer = InUnits()
    layer.eval()
    return layer


def _normalizing(network: Any, mean: np.ndarray, deviation: np.ndarray) -> Any:
    from engine import nn
    from engine.tensor.creation import to_tensor

    class Normalizing(nn.Layer):
        """The network behind its normalisation."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network
            self.register_buffer("mean", to_tensor(mean))
            self.register_buffer("deviation", to_tensor(deviation))

        def forward(self, x: Any, *others: Any) -> Any:
            return self.network((x - self.mean) / self.deviation, *others)

    layer = Normalizing()
    layer.eval()
    return layer
