"""What a step does to each layer: histograms of weights and gradients, sizes of updates, dead units."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.operators.operator import Leaf
from engine.core.place import array_module, is_cupy
from engine.eager.backward import leaf_gradient
from engine.nn.layer.attention import MultiHeadAttention
from engine.training.layers.forward import ForwardLook, look_forward
from engine.training.sources.several_inputs import Samples, samples_in
from resources.training_events import Histogram, ParameterState, UnitState

if TYPE_CHECKING:
    from engine.eager.tensor import Tensor
    from engine.nn import Layer

BINS = 32


@dataclass
class LayerReading:
    """What one step did: a state for each parameter that has a gradient, and for each ReLU of the network.

    ``detached``: parameters that are trained and that the network's output depends on, without a gradient.
    ``unavoidable``: key biases of attention layers, which have no effect and can't be omitted alone.
    ``places``: the user's file and line that calls each layer first, where a traced step shows it.
    """

    parameters: list[ParameterState] = field(default_factory=list)
    units: list[UnitState] = field(default_factory=list)
    detached: list[str] = field(default_factory=list)
    unavoidable: list[str] = field(default_factory=list)
    places: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    seconds: float = 0.0


class LayerWatch:
    """Looks at one step of ``network``: ``before`` its update and ``after`` it.

    The weights are copied meanwhile, and the batch goes through the network once more, eagerly, in evaluation
    mode: that is what a look costs.

    Args:
        called: takes a list of inputs for a network that takes several as arguments of their own.
    """

    def __init__(self, network: Layer, called: Callable[[Any], Any] | None = None) -> None:
        self._network, self._called = network, called
        self._weights: dict[str, np.ndarray] = {}
        self._gradients: dict[str, np.ndarray] = {}
        self._seconds = 0.0

    def before(self) -> None:
        """The gradients are there, the weights are not yet changed."""
        begin = time.perf_counter()
        for name, parameter in self._network.named_parameters():
            gradient = parameter.grad
            if gradient is not None and not parameter.stop_gradient:
                self._weights[name] = _values(parameter)
                self._gradients[name] = _values(gradient)
        self._seconds = time.perf_counter() - begin

    def after(self, images: Samples | None) -> LayerReading:
        """The update is done. ``images``: those of the step, or a list of several inputs; None skips dead
        units."""
        reading, begin = LayerReading(), time.perf_counter()
        for name, parameter in self._network.named_parameters():
            before = self._weights.get(name)
            if before is not None:
                after, gradient = _values(parameter), self._gradients[name]
                norm = _norm(before)
                reading.parameters.append(
                    ParameterState(
                        name=name,
                        size=int(before.size),
                        matrix=before.ndim > 1,
                        norm=norm,
                        gradient_norm=_norm(gradient),
                        ratio=_norm(after - before) / norm if norm else math.nan,
                        weights=histogram(after),
                        gradients=histogram(gradient),
                    )
                )
        reading.unavoidable = [
            f"{name}.k_proj.bias"
            for name, layer in self._network.named_sublayers()
            if isinstance(layer, MultiHeadAttention)
        ]
        if images is not None and samples_in(images):
            found: ForwardLook = look_forward(self._network, images, self._called)
            reading.units = found.units
            reading.detached = [name for name in found.used if name not in self._weights]
        reading.seconds = self._seconds + time.perf_counter() - begin
        return reading


def global_norm(parameters: Iterable[Tensor]) -> float:
    """The 2-norm of all gradients together, before any clipping; NaN where there is none."""
    flats = []
    for parameter in parameters:
        edge = parameter._edge
        if edge is None:
            continue
        gradient = leaf_gradient(edge) if edge.__class__ is Leaf else parameter.grad
        if gradient is not None:
            flat = gradient._array.reshape(-1)
            flats.append(flat.astype("float32") if flat.dtype.itemsize < 4 else flat)  # half would overflow
    if not flats:
        return math.nan
    total = 0.0
    if is_cupy(flats[0]):
        total = _on_gpu(flats)
    else:
        for flat in flats:
            total += float(flat @ flat)
    return math.sqrt(total) if total >= 0 else math.nan


# On a GPU gradients of fewer numbers are put side by side: a launch costs more than to copy them.
_SMALL = 1 << 14


def _on_gpu(flats: list[Any]) -> float:
    """The sum of the squares in arrays of a GPU, which is waited for once."""
    xp = array_module(flats[0])
    parts = [flat for flat in flats if flat.size >= _SMALL]
    small = [flat for flat in flats if flat.size < _SMALL]
    if small:
        parts.append(xp.concatenate(small))
    return float(xp.stack([part @ part for part in parts]).sum(dtype="float64"))


def histogram(values: np.ndarray) -> Histogram:
    """Counts of the finite values in ``BINS`` equal bins from the least to the greatest; how many others."""
    finite = values[np.isfinite(values)]
    bad = int(values.size - finite.size)
    if not finite.size:
        return Histogram(low=math.nan, high=math.nan, counts=[], bad=bad)
    low, high = float(finite.min()), float(finite.max())
    if high <= low:
        return Histogram(low=low, high=high, counts=[int(finite.size)], bad=bad)
    # Four times as fast as np.histogram, which checks every value against the borders of its bin.
    places = ((finite.reshape(-1) - low) * (BINS / (high - low))).astype(np.int32)
    counts = np.bincount(np.minimum(places, BINS - 1), minlength=BINS)
    return Histogram(low=low, high=high, counts=counts.tolist(), bad=bad)


def _values(tensor: Any) -> np.ndarray:
    values: np.ndarray = tensor.numpy()
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float32)


def _norm(values: np.ndarray) -> float:
    flat = values.reshape(-1)
    return math.sqrt(float(flat @ flat))
