"""ImperativeQuantAware: a network whose layers quantize while it is trained, in place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engine.core.errors import ConditionError
from engine.nn.layer.layers import Layer
from engine.nn.quant import quant_layers
from engine.nn.quant.functional_layers import FloatFunctionalLayer
from engine.quantization.imperative import fuse_utils, utils
from engine.quantization.imperative.deploy import save_deployed

_WEIGHTS = ("abs_max", "channel_wise_abs_max", "lsq_weight", "channel_wise_lsq_weight")
_ACTIVATIONS = ("moving_average_abs_max", "lsq_act")
_LAYERS = ("Conv2D", "Linear", "Conv2DTranspose")
_PARALLEL = ("ColumnParallelLinear", "RowParallelLinear")


class ImperativeQuantAware:
    """Replaces layers of ``quantizable_layer_type`` (names or classes) by such that quantize.

    ``weight_quantize_type`` is abs_max, channel_wise_abs_max, lsq_weight or channel_wise_lsq_weight, and
    ``activation_quantize_type`` moving_average_abs_max or lsq_act. ``weight_preprocess_layer`` and
    ``act_preprocess_layer`` are classes of layers that see weight and input before they are quantized,
    ``weight_quantize_layer`` and ``act_quantize_layer`` classes that quantize instead. ``fuse_conv_bn`` folds
    each batch norm that was defined right after a convolution. Layers whose ``skip_quant`` is True are left
    out. Raises ConditionError, an AssertionError, for other values.
    """

    def __init__(
        self,
        quantizable_layer_type: Iterable[str | type[Layer]] = (*_LAYERS, *_PARALLEL),
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "moving_average_abs_max",
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        fuse_conv_bn: bool = False,
        weight_preprocess_layer: type | None = None,
        act_preprocess_layer: type | None = None,
        weight_quantize_layer: type | None = None,
        act_quantize_layer: type | None = None,
        onnx_format: bool = False,
    ) -> None:
        where = "ImperativeQuantAware"
        self.fuse_conv_bn = fuse_conv_bn
        self._onnx_format = onnx_format
        self._moving_rate = moving_rate
        named: list[Any] = [each for each in quantizable_layer_type if each not in _PARALLEL]
        self._layer_types = tuple(utils.layer_name_map.get(each, each) for each in named)
        for each in self._layer_types:
            if each not in utils.fake_quant_input_layers:
                raise ConditionError(
                    f"{where}: {each} is unspported to be quantized.; layers are {', '.join(_LAYERS)}"
                )
        for name, given, known in (
            ("weight_quantize_type", weight_quantize_type, _WEIGHTS),
            ("activation_quantize_type", activation_quantize_type, _ACTIVATIONS),
        ):
            if given not in known:
                listed = ", ".join(known)
                raise ConditionError(f"{where}: Unsupported {name}: {given}. It can only be {listed}")
        for name, bits in (("weight_bits", weight_bits), ("activation_bits", activation_bits)):
            if isinstance(bits, bool) or not isinstance(bits, int) or not 2 <= bits <= 16:
                raise ConditionError(f"{where}: {name} should be 2, 3,... or 16.: got {bits!r}")
        made: dict[str, Any] = {
            "weight_pre_layer": weight_preprocess_layer,
            "act_pre_layer": act_preprocess_layer,
            "weight_quant_layer": weight_quantize_layer,
            "act_quant_layer": act_quantize_layer,
        }
        for name, each in made.items():
            if each is not None and not (isinstance(each, type) and issubclass(each, Layer)):
                raise ConditionError(f"{where}: {name} should be nn.Layer.: got {each!r}; pass a class")
        self._options: dict[str, Any] = {
            "weight_quantize_type": weight_quantize_type,
            "activation_quantize_type": activation_quantize_type,
            "weight_bits": weight_bits,
            "activation_bits": activation_bits,
            "moving_rate": moving_rate,
            **made,
        }

    def quantize(self, model: Layer) -> Layer:
        """Put layers that quantize into ``model``, which is given back.

        Unless ``onnx_format``, further layers keep a moving average of every other layer's largest output.
        """
        utils.require_network("ImperativeQuantAware.quantize", model)
        if self.fuse_conv_bn:
            fuse_utils.fuse_conv_bn(model)
        for name, layer in list(model.named_sublayers()):
            if isinstance(layer, self._layer_types) and getattr(layer, "skip_quant", False) is not True:
                utils.put(model, name, utils.quantized_form(layer, **self._options))
        for name, layer in list(model.named_sublayers()):
            if "_preprocess" not in name and self._is_watched(layer):
                utils.put(model, name, self._watched(layer))
        return model

    def save_quantized_model(
        self, layer: Layer, path: str, input_spec: Sequence[Any] | None = None, **config: Any
    ) -> None:
        """Save the quantized ``layer``, a network, for inference; it stays as it is and can be trained on.

        Differs from Paddle: with either ``onnx_format`` the files hold quantize_linear and dequantize_linear
        and weights as integers.
        """
        utils.require_network("ImperativeQuantAware.save_quantized_model", layer)
        save_deployed(layer, path, input_spec, **config)

    def _is_watched(self, layer: Layer) -> bool:
        if isinstance(layer, tuple(utils.fake_quant_wrap_layers)):
            return True
        if self._onnx_format:
            return False
        quanter = isinstance(layer, tuple(utils.fake_quant_leaf_layers))
        return isinstance(layer, FloatFunctionalLayer) or (utils.is_leaf_layer(layer) and not quanter)

    def _watched(self, layer: Layer) -> Layer:
        if isinstance(layer, tuple(utils.fake_quant_output_layers)):
            return quant_layers.FakeQuantMAOutputScaleLayer(layer, moving_rate=self._moving_rate)
        return quant_layers.MAOutputScaleLayer(layer, self._moving_rate)
