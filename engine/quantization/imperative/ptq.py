"""ImperativePTQ: a trained network whose layers' values are looked at, and that is saved quantized."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ConditionError, ModeError
from engine.nn.layer.layers import Layer
from engine.quantization.imperative import fuse_utils
from engine.quantization.imperative.deploy import save_deployed
from engine.quantization.imperative.ptq_config import PTQConfig, default_ptq_config
from engine.quantization.imperative.ptq_hooks import quant_forward_post_hook
from engine.quantization.imperative.ptq_quantizer import AbsmaxQuantizer
from engine.quantization.imperative.ptq_registry import PTQRegistry
from engine.quantization.imperative.utils import is_leaf_layer, put, quantized_form, require_network


class ImperativePTQ:
    """Quantizes trained networks: ``quantize``, a few samples through the network, ``save_quantized_model``.

    Layers whose ``skip_quant`` is True are skipped.
    """

    def __init__(self, quant_config: PTQConfig = default_ptq_config) -> None:
        if not isinstance(quant_config, PTQConfig):
            raise ConditionError(f"ImperativePTQ: takes a PTQConfig: got {quant_config!r}; make one")
        self._quant_config = quant_config

    def quantize(
        self,
        model: Layer,
        inplace: bool = False,
        fuse: bool = False,
        fuse_list: Sequence[Sequence[str]] | None = None,
    ) -> Layer:
        """A copy of ``model`` (itself with ``inplace``) whose layers' inputs and outputs are looked at.

        ``fuse`` sets evaluation mode and folds batch norms: of ``fuse_list``, pairs of names, or of all that
        were defined right after a convolution.
        """
        require_network("ImperativePTQ.quantize", model)
        made = model if inplace else copy.deepcopy(model)
        if fuse:
            made.eval()
            names = fuse_utils.conv_bn_names(made) if fuse_list is None else fuse_list
            fuse_utils.fuse_layers(made, names, inplace=True)
        for layer in made.sublayers():
            skipped = getattr(layer, "skip_quant", False) is True
            if not skipped and PTQRegistry.is_supported_layer(layer) and is_leaf_layer(layer):
                config: Any = copy.deepcopy(self._quant_config)
                config.enable_in_act_quantizer = PTQRegistry.is_simulated_quant_layer(layer)
                layer._quant_config = config
                config.quant_hook_handle = layer.register_forward_post_hook(quant_forward_post_hook)
                layer._forward_post_hooks.move_to_end(config.quant_hook_handle._hook_id, last=False)
        return made

    def save_quantized_model(
        self, model: Layer, path: str, input_spec: Sequence[Any] | None = None, **config: Any
    ) -> None:
        """Replace the layers of ``model`` that have weights by quantized ones, and save it for inference.

        Raises ModeError where no samples have passed.

        Differs from Paddle: the files hold quantize_linear and dequantize_linear and weights as integers;
        there, operators that quantize and dequantize, float weights, and thresholds as attributes.
        """
        require_network("ImperativePTQ.save_quantized_model", model)
        self._convert(model)
        save_deployed(model, path, input_spec, **config)

    def _convert(self, model: Layer) -> None:
        for name, layer in list(model.named_sublayers()):
            config: Any = getattr(layer, "_quant_config", None)
            if config is None:
                continue
            hooks = layer._forward_post_hooks
            for key in [key for key, hook in hooks.items() if hook is quant_forward_post_hook]:
                del hooks[key]
            if not config.out_act_quantizer.abs_max_vals:
                raise ModeError(
                    f"ImperativePTQ: no values have passed {name!r} yet; run samples through the "
                    "quantized network first, and set skip_quant = True on layers that are not called"
                )
            config.out_act_quantizer.cal_thresholds()
            if config.enable_in_act_quantizer:
                config.in_act_quantizer.cal_thresholds()
                config.wt_quantizer.sample_data(layer, (layer.weight,))
                config.wt_quantizer.cal_thresholds()
                put(model, name, self._quantized(layer, config))

    def _quantized(self, layer: Layer, config: Any) -> Layer:
        per_tensor = isinstance(config.wt_quantizer, AbsmaxQuantizer)
        made: Any = quantized_form(
            layer,
            weight_quantize_type="abs_max" if per_tensor else "channel_wise_abs_max",
            activation_quantize_type="moving_average_abs_max",
            weight_bits=config.wt_quantizer.quant_bits,
            activation_bits=config.in_act_quantizer.quant_bits,
        )
        if not layer.training:
            made.eval()
        threshold = np.asarray(config.in_act_quantizer.thresholds[:1], np.float32)
        made._fake_quant_input._scale.set_value(threshold)
        weight = np.asarray(config.wt_quantizer.thresholds[0], np.float32).reshape(-1)
        made._fake_quant_weight._scale.set_value(weight)
        form: Layer = made
        return form
