"""Quantization: what QAT and PTQ share: quanters put into a network, and converted for inference."""

from __future__ import annotations

import abc
import copy
from typing import Any

from engine.core.errors import ArgumentError
from engine.nn.layer.layers import Layer
from engine.nn.quant.format import ConvertibleQuantedLayer, LinearQuanterDequanter
from engine.quantization.base_quanter import BaseQuanter
from engine.quantization.config import QuantConfig


class Quantization(metaclass=abc.ABCMeta):
    """Base of QAT and PTQ; ``config`` is copied, what is added to it later does not count."""

    def __init__(self, config: QuantConfig) -> None:
        self._config = copy.deepcopy(config)

    @abc.abstractmethod
    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """``model`` with quanters."""

    def convert(self, model: Layer, inplace: bool = False, remain_weight: bool = False) -> Layer:
        """The quantized ``model`` for inference: scales are fixed, weights are integers stored in their
        dtype.

        A copy, unless ``inplace``. With ``remain_weight`` the weights stay as they are and are quantized at
        each call. It computes exactly what the quantized model computes in evaluation mode, and
        ``jit.save`` writes it with quantize_linear and dequantize_linear.
        """
        converted = model if inplace else copy.deepcopy(model)
        replaced: dict[str, Layer] = {}
        for name, child in converted.named_children():
            if isinstance(child, ConvertibleQuantedLayer):
                quanter: Any = getattr(child, "weight_quanter", None)
                if not child.converted and quanter is not None and quanter.scales() is not None:
                    child._convert(remain_weight=remain_weight)
            elif isinstance(child, BaseQuanter):
                replaced[name] = LinearQuanterDequanter.from_quanter(child)
            else:
                self.convert(child, inplace=True, remain_weight=remain_weight)
        converted._sub_layers.update(replaced)
        return converted

    def _put_in(self, model: Layer) -> None:
        """Put quanters into ``model``, as the configuration says."""
        if not model._sub_layers:
            raise ArgumentError(
                f"{type(self).__name__}.quantize: a {type(model).__name__} has no layers within, and only "
                "those are quantized; wrap it, e.g. in paddle.nn.Sequential"
            )
        self._config._specify(model)
        self._convert_to_quant_layers(model, self._config)
        self._insert_activation_observers(model, self._config)

    def _convert_to_quant_layers(self, model: Layer, config: QuantConfig) -> None:
        replaced: dict[str, Layer] = {}
        for name, child in model.named_children():
            if config._is_quantifiable(child) and type(child) in config.qat_layer_mappings:
                replaced[name] = config._get_qat_layer(child)
            else:
                self._convert_to_quant_layers(child, config)
        model._sub_layers.update(replaced)

    def _insert_activation_observers(self, model: Layer, config: QuantConfig) -> None:
        replaced: dict[str, Layer] = {}
        for name, child in model.named_children():
            if config._need_observe(child):
                if isinstance(child, BaseQuanter | LinearQuanterDequanter):
                    raise ArgumentError(
                        f"{type(self).__name__}.quantize: the model is quantized already: {name!r} of "
                        f"{type(model).__name__} is a {type(child).__name__}; pass the model as it was before"
                    )
                replaced[name] = config._get_observe_wrapper(child)
            else:
                self._insert_activation_observers(child, config)
        model._sub_layers.update(replaced)

    def _details(self) -> str:
        return self._config.details()

    def __str__(self) -> str:
        return self._details()

    def __repr__(self) -> str:
        return str(self)
