"""A network with Quantized... layers as it is saved: fixed scales, and integers for weights."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from engine.eager.grad_mode import no_grad
from engine.jit.export import save
from engine.nn.layer.layers import Layer
from engine.nn.quant import quant_layers
from engine.nn.quant.format import LinearDequanter, LinearQuanter, LinearQuanterDequanter
from engine.quantization.imperative.utils import fake_quant_wrap_layers, put


def save_deployed(model: Layer, path: str, input_spec: Sequence[Any] | None, **config: Any) -> None:
    """Save ``model`` in evaluation mode with quantize_linear and dequantize_linear; it stays as it is."""
    save(deployed(model), path, input_spec=input_spec, **config)


def deployed(model: Layer) -> Layer:
    """A copy of ``model`` that computes what it computes in evaluation mode, to the last bit.

    Layers that only watch outputs are skipped. Quanters that users made stay what they are.
    """
    made = copy.deepcopy(model)
    made.eval()
    for name, layer in reversed(list(made.named_sublayers())):
        if isinstance(layer, quant_layers.MAOutputScaleLayer):
            put(made, name, layer._layer)
        elif isinstance(layer, quant_layers.FakeQuantMAOutputScaleLayer):
            layer._fake_quant_output = _fixed(layer._fake_quant_output)
        elif isinstance(layer, tuple(fake_quant_wrap_layers)):
            layer._fake_quant_input = _fixed(layer._fake_quant_input)
            _integers_for_weight(layer)
    return made


def _fixed(quanter: Any) -> Any:
    """``quanter`` with the scale that it has now, where it stores one."""
    if not isinstance(quanter, quant_layers.FakeQuantMovingAverageAbsMax):
        return quanter
    options = {"quant_axis": -1, "bit_length": quanter._quant_bits, "round_type": 1}
    pair = LinearQuanterDequanter(
        LinearQuanter(quanter._scale, **options), LinearDequanter(quanter._scale, **options)
    )
    pair._dequanter._scales = pair._quanter._scales  # one parameter, in files too
    return pair


def _integers_for_weight(layer: Any) -> None:
    quanter = layer._fake_quant_weight
    if isinstance(quanter, quant_layers.FakeQuantChannelWiseAbsMax):
        axis = quanter._quant_axis
    elif isinstance(quanter, quant_layers.FakeQuantAbsMax):
        axis = -1
    else:
        return
    with no_grad():
        weight = layer.weight if layer._weight_preprocess is None else layer._weight_preprocess(layer.weight)
        others = [n for n in range(weight.ndim) if n != axis]
        scales = weight.abs().max(axis=others).reshape([-1])
        options = {"quant_axis": axis, "bit_length": quanter._quant_bits, "round_type": 1}
        layer.weight.set_value(LinearQuanter(scales, **options)(weight))
    layer._weight_preprocess = None
    layer._fake_quant_weight = LinearQuanterDequanter(None, LinearDequanter(scales, **options))
