"""A network that was trained on normalised samples, as prediction uses it: it normalises what it is given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.core.errors import FormatError


def for_prediction(network: Any, data: Mapping[str, Any]) -> Any:
    """``network``, or a Layer around it that first takes off the mean and divides by the deviation that its
    training used; so images from 0 to 1, and numbers as they are, can be fed to every export.

    Args:
        data: of a checkpoint: the ``shape`` of a sample and, where one was declared, how it is ``prepare``d.

    Raises:
        FormatError: mean and deviation don't fit the shape.
    """
    plain = data.get("prepare")
    if not isinstance(plain, Mapping) or not plain.get("mean"):
        return network
    shape = [int(size) for size in data["shape"]]
    form = [1, shape[0], *[1] * (len(shape) - 1)] if plain.get("picture") else [1, *shape]
    try:
        mean, deviation = (
            np.asarray(plain[name], np.float32).reshape(form) for name in ("mean", "deviation")
        )
        sound = (
            bool(np.isfinite(mean).all()) and float(deviation.min()) > 0 and math.isfinite(deviation.max())
        )
    except (LookupError, TypeError, ValueError) as error:
        raise FormatError(
            f"checkpoint: its mean and deviation don't fit samples of shape {shape}: {error}; choose another"
        ) from error
    if not sound:
        raise FormatError(
            "checkpoint: its mean and deviation are not finite numbers above 0; choose another checkpoint"
        )
    return _normalizing(network, mean, deviation)


def for_callers(data: Mapping[str, Any]) -> dict[str, Any]:
    """``data`` of a checkpoint as written into files for prediction: without the steps that the network does
    itself."""
    plain = data.get("prepare")
    if not isinstance(plain, Mapping):
        return dict(data)
    return {**data, "prepare": {**plain, "mean": [], "deviation": []}}


def own_names(names: Mapping[str, str]) -> dict[str, str]:
    """Structured names of a model's parameters, by anything, as its network calls them itself, whether
    ``for_prediction`` put a Layer around it or not."""
    others = [name for name in names.values() if name not in ("mean", "deviation")]
    wrapped = len(others) < len(names) and all(name.startswith("network.") for name in others)
    return {key: name.removeprefix("network.") if wrapped else name for key, name in names.items()}


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

        def forward(self, x: Any) -> Any:
            return self.network((x - self.mean) / self.deviation)

    layer = Normalizing()
    layer.eval()
    return layer
