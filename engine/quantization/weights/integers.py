"""Weights as integers: their thresholds, rounded in the way that was chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from engine.program.passes.quantization.freeze import IntegerWeight, to_integers, weight_key
from engine.program.passes.quantization.selection import Layer
from engine.quantization.calibration import bias_correction, weight_thresholds
from engine.quantization.options import QuantizeOptions
from engine.quantization.preparing import Prepared
from engine.quantization.weights.contraction import contraction_of
from engine.quantization.weights.rounding import Correlation, adaptive_rounding, fits

Key: TypeAlias = tuple[str, "int | None", int]
"""What `weight_key` gives."""


def integer_weight(
    weight: np.ndarray[Any, Any],
    layer: Layer,
    options: QuantizeOptions,
    correlation: Correlation | None = None,
) -> IntegerWeight:
    """The weight of ``layer`` as integers; ``correlation`` lets them be rounded adaptively."""
    kind = options.weight_type
    if layer.axis is None:
        kind = kind.removeprefix("channel_wise_")
    thresholds = weight_thresholds(weight, layer.axis, layer.bits, kind)
    if correlation is None:
        integers = to_integers(weight, thresholds, layer.axis, layer.bits, options.round_type)
    else:
        found = adaptive_rounding(weight, thresholds, layer.axis, layer.bits, correlation)
        integers = found.astype(np.int8 if layer.bits <= 8 else np.int16)
    if options.bias_correction:
        integers, thresholds = bias_correction(weight, integers, thresholds, layer.axis, layer.bits)
    return IntegerWeight(integers, thresholds, layer.axis, layer.bits)


class AdaptiveRounding:
    """Collects what layers are fed, where weights are rounded adaptively; else does nothing.

    Layers keep the nearest integers where they are none of those that ``contraction_of`` knows, or too large.
    """

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._layers: dict[Key, Layer] = {}
        self._fed: list[tuple[str, Correlation]] = []
        self._correlations: dict[Key, Correlation] = {}
        if prepared.options.rounding == "adaptive":
            for layer in prepared.layers:
                self._watch(layer)

    def _watch(self, layer: Layer) -> None:
        if not layer.quantized or not layer.weight or len(layer.activations) != 1:
            return
        operator = self._prepared.program.global_block().ops[layer.position]
        if [v.name for v in operator.inputs[:2]] != [*layer.activations, layer.weight]:
            return
        contraction = contraction_of(operator.opdef.name, operator.attrs, operator.inputs[1].spec.shape)
        if contraction is not None and fits(contraction):
            key = weight_key(layer)
            self._layers[key] = layer
            correlation = self._correlations.setdefault(key, Correlation(contraction))
            self._fed.append((layer.activations[0], correlation))

    def collect(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Takes a batch of the values of Variables."""
        by_name = dict(zip(names, values, strict=True))
        for name, correlation in self._fed:
            correlation.collect(by_name[name])

    def weights(self) -> Iterator[tuple[Key, IntegerWeight]]:
        """The weights, each rounded adaptively when it is asked for; a large one takes seconds."""
        for key, layer in self._layers.items():
            weight = self._prepared.weight(layer)
            yield key, integer_weight(weight, layer, self._prepared.options, self._correlations[key])
