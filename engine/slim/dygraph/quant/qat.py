"""PaddleSlim's QAT: a network that is trained with the errors of its quantization, in place."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from engine.core.errors import ConditionError
from engine.nn.functional.activation import relu
from engine.nn.initializer import Constant
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import ParamAttr
from engine.quantization.imperative.qat import ImperativeQuantAware
from engine.quantization.imperative.utils import require_network
from engine.tensor.tensor_like import AnyTensor

__all__ = ["QAT"]

_WEIGHTS = ["abs_max", "channel_wise_abs_max", "range_abs_max", "moving_average_abs_max"]
_ACTIVATIONS = ["abs_max", "range_abs_max", "moving_average_abs_max"]
_PREPROCESS = ["PACT"]

_DEFAULTS: dict[str, Any] = {
    "weight_preprocess_type": None,
    "activation_preprocess_type": None,
    "weight_quantize_type": "channel_wise_abs_max",
    "activation_quantize_type": "moving_average_abs_max",
    "weight_bits": 8,
    "activation_bits": 8,
    "dtype": "int8",
    "window_size": 10000,
    "moving_rate": 0.9,
    "quantizable_layer_type": ["Conv2D", "Linear"],
    "fuse_conv_bn": False,
    "onnx_format": True,
}


class PACT(Layer):
    """Limits its input to [-alpha, alpha]; alpha is learned, a thousand times as fast as other parameters."""

    def __init__(self) -> None:
        super().__init__()
        attr = ParamAttr(f"{self.full_name()}.pact", initializer=Constant(100.0), learning_rate=1000.0)
        self.alpha: Any = self.create_parameter([1], attr=attr, dtype="float32")

    def forward(self, x: AnyTensor) -> Any:
        return x - relu(x - self.alpha) + relu(-self.alpha - x)


class QAT:
    """Puts layers that quantize into networks: ``quantize``, training, ``save_quantized_model``.

    ``config`` names what differs from the defaults: weight_quantize_type channel_wise_abs_max or abs_max,
    activation_quantize_type moving_average_abs_max, weight_bits and activation_bits 8, moving_rate 0.9,
    quantizable_layer_type ['Conv2D', 'Linear'], fuse_conv_bn False, onnx_format True, and
    weight_preprocess_type and activation_preprocess_type 'PACT' or None. Classes of layers that see or
    quantize weight and input come as the other arguments. Raises ConditionError, an AssertionError, for
    other values.
    """

    def __init__(
        self,
        config: dict[str, Any] | None = None,
        weight_preprocess: type | None = None,
        act_preprocess: type | None = None,
        weight_quantize: type | None = None,
        act_quantize: type | None = None,
    ) -> None:
        self.config = _complete(config)
        self.weight_preprocess = weight_preprocess or self._preprocess("weight")
        self.act_preprocess = act_preprocess or self._preprocess("activation")
        self.weight_quantize = weight_quantize
        self.act_quantize = act_quantize
        taken = (
            "weight_bits",
            "activation_bits",
            "weight_quantize_type",
            "activation_quantize_type",
            "moving_rate",
            "quantizable_layer_type",
            "fuse_conv_bn",
            "onnx_format",
        )
        self.imperative_qat = ImperativeQuantAware(
            weight_preprocess_layer=self.weight_preprocess,
            act_preprocess_layer=self.act_preprocess,
            weight_quantize_layer=self.weight_quantize,
            act_quantize_layer=self.act_quantize,
            **{name: self.config[name] for name in taken},
        )

    def _preprocess(self, of: str) -> type | None:
        return PACT if self.config[f"{of}_preprocess_type"] == "PACT" else None

    def quantize(self, model: Layer, inplace: bool = True) -> Layer:
        """``model`` (a copy with ``inplace=False``) with layers that quantize, to be trained."""
        require_network("QAT.quantize", model)
        return self.imperative_qat.quantize(model if inplace else copy.deepcopy(model))

    def save_quantized_model(self, model: Layer, path: str, input_spec: Sequence[Any] | None = None) -> None:
        """Save the quantized ``model`` for inference; it stays as it is and can be trained on.

        Differs from Paddle: what limits values before they are quantized (PACT) is saved too; there it is
        omitted, and the saved network may compute something else than the trained one.
        """
        self.imperative_qat.save_quantized_model(model, path, input_spec=input_spec)


def _complete(config: Any) -> dict[str, Any]:
    """The defaults with ``config`` over them. Raises ConditionError for what is unknown."""
    if not isinstance(config, dict | None):
        raise ConditionError(f"QAT: config must be dict: got {config!r}; pass e.g. {{'weight_bits': 8}}")
    given = config or {}
    unknown = sorted(set(given) - set(_DEFAULTS), key=str)
    if unknown:
        raise ConditionError(f"QAT: config has no {unknown[0]!r}; it has {', '.join(_DEFAULTS)}")
    found = {**copy.deepcopy(_DEFAULTS), **given}
    for name, known in (
        ("weight_preprocess_type", [None, *_PREPROCESS]),
        ("activation_preprocess_type", [None, *_PREPROCESS]),
        ("weight_quantize_type", _WEIGHTS),
        ("activation_quantize_type", _ACTIVATIONS),
        ("dtype", ["int8"]),
    ):
        if found[name] not in known:
            raise ConditionError(f"QAT: Unknown {name}: {found[name]}. only supports {known}")
    for name, kind in (("moving_rate", float), ("quantizable_layer_type", list), ("window_size", int)):
        if not isinstance(found[name], kind):
            raise ConditionError(f"QAT: {name} must be {kind.__name__}: got {found[name]!r}")
    return found
