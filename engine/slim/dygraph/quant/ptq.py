"""PaddleSlim's PTQ: a trained network, quantized by what passes through it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError
from engine.nn.layer.layers import Layer
from engine.quantization.imperative.fuse_utils import conv_bn_names
from engine.quantization.imperative.ptq import ImperativePTQ
from engine.quantization.imperative.ptq_config import PTQConfig
from engine.quantization.imperative.ptq_quantizer import (
    SUPPORT_ACT_QUANTIZERS,
    SUPPORT_WT_QUANTIZERS,
    AbsmaxQuantizer,
    BaseQuantizer,
    HistQuantizer,
    KLQuantizer,
    PerChannelAbsmaxQuantizer,
)
from engine.quantization.imperative.utils import require_network

__all__ = ["PTQ", "AbsmaxQuantizer", "HistQuantizer", "KLQuantizer", "PerChannelAbsmaxQuantizer"]


class PTQ:
    """Quantizes trained networks: ``quantize``, a few samples through the network, ``save_quantized_model``.

    Quantizers are given by name: KLQuantizer, HistQuantizer or AbsmaxQuantizer for values, with ``kwargs``
    as parameters, PerChannelAbsmaxQuantizer or AbsmaxQuantizer for weights. Raises ArgumentError for others.
    """

    def __init__(
        self,
        activation_quantizer: str = "KLQuantizer",
        weight_quantizer: str = "PerChannelAbsmaxQuantizer",
        **kwargs: Any,
    ) -> None:
        activation = _chosen("activation_quantizer", activation_quantizer, SUPPORT_ACT_QUANTIZERS)
        weight = _chosen("weight_quantizer", weight_quantizer, SUPPORT_WT_QUANTIZERS)
        self.ptq = ImperativePTQ(PTQConfig(activation(**kwargs), weight()))

    def quantize(
        self,
        model: Layer,
        inplace: bool = False,
        fuse: bool = False,
        fuse_list: Sequence[Sequence[str]] | None = None,
    ) -> Layer:
        """A copy of ``model`` (itself with ``inplace``) whose layers' values are looked at.

        ``fuse`` folds batch norms: of the pairs of names in ``fuse_list``, or of all found.
        """
        return self.ptq.quantize(model, inplace=inplace, fuse=fuse, fuse_list=fuse_list)

    def find_conv_bn_names(self, model: Layer) -> list[list[str]]:
        """The names of each convolution and the batch norm that was defined right after it."""
        return conv_bn_names(model)

    def save_quantized_model(
        self, model: Layer, path: str, input_spec: Sequence[Any] | None = None, **kwargs: Any
    ) -> None:
        """Save ``model``, which samples have passed, for inference; its layers become quantized ones.

        Raises ModeError where no samples have passed.
        """
        require_network("PTQ.save_quantized_model", model)
        training = model.training
        model.eval()
        try:
            self.ptq.save_quantized_model(model, path, input_spec=input_spec, **kwargs)
        finally:
            if training:
                model.train()


def _chosen(name: str, given: Any, known: list[type[BaseQuantizer]]) -> type[BaseQuantizer]:
    for each in known:
        if given == each.__name__:
            return each
    listed = ", ".join(each.__name__ for each in known)
    raise ArgumentError(f"PTQ: {name} is one of {listed}, as text: got {given!r}; choose one of those")
