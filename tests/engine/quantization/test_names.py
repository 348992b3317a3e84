"""Every path of Paddle's and PaddleSlim's dynamic quantization that scripts import from is there."""

from __future__ import annotations

import importlib

import pytest

from engine.core.alias import real_name

PATHS = {
    "paddle.quantization": (
        "QuantConfig BaseQuanter BaseObserver quanter QAT PTQ ImperativeQuantAware ImperativePTQ PTQConfig "
        "default_ptq_config BaseQuantizer AbsmaxQuantizer PerChannelAbsmaxQuantizer KLQuantizer "
        "HistQuantizer SUPPORT_ACT_QUANTIZERS SUPPORT_WT_QUANTIZERS PTQRegistry observers quanters imperative"
    ),
    "paddle.quantization.config": "QuantConfig SingleLayerConfig DEFAULT_QAT_LAYER_MAPPINGS DEFAULT_LEAVES",
    "paddle.quantization.factory": "quanter QuanterFactory ObserverFactory ClassWithArguments",
    "paddle.quantization.base_quanter": "BaseQuanter",
    "paddle.quantization.base_observer": "BaseObserver",
    "paddle.quantization.qat": "QAT",
    "paddle.quantization.ptq": "PTQ",
    "paddle.quantization.quantize": "Quantization",
    "paddle.quantization.wrapper": "ObserveWrapper",
    "paddle.quantization.observers": "AbsmaxObserver GroupWiseWeightObserver",
    "paddle.quantization.observers.abs_max": "AbsmaxObserver AbsmaxObserverLayer",
    "paddle.quantization.observers.groupwise": "GroupWiseWeightObserver GroupWiseWeightObserverLayer",
    "paddle.quantization.quanters": "FakeQuanterWithAbsMaxObserver",
    "paddle.quantization.quanters.abs_max": (
        "FakeQuanterWithAbsMaxObserver FakeQuanterWithAbsMaxObserverLayer"
    ),
    "paddle.quantization.imperative": "ImperativeQuantAware ImperativePTQ ptq qat ptq_config",
    "paddle.quantization.imperative.qat": "ImperativeQuantAware",
    "paddle.quantization.imperative.ptq": "ImperativePTQ",
    "paddle.quantization.imperative.ptq_config": "PTQConfig default_ptq_config",
    "paddle.quantization.imperative.ptq_quantizer": (
        "BaseQuantizer BaseHistQuantizer AbsmaxQuantizer PerChannelAbsmaxQuantizer KLQuantizer HistQuantizer"
    ),
    "paddle.quantization.imperative.ptq_registry": "PTQRegistry LayerInfo",
    "paddle.quantization.imperative.ptq_hooks": "quant_forward_post_hook",
    "paddle.quantization.imperative.fuse_utils": "fuse_conv_bn fuse_layers",
    "paddle.quantization.imperative.utils": "layer_name_map find_parent_layer_and_sub_name is_leaf_layer",
    "paddle.nn.quant": "Stub qat QuantStub weight_quantize weight_dequantize weight_only_linear",
    "paddle.nn.quant.quant_layers": "QuantizedConv2D QuantizedLinear FakeQuantAbsMax MAOutputScaleLayer",
    "paddle.nn.quant.lsq": "FakeQuantActLSQPlus FakeQuantWeightLSQPlus LsqFunc",
    "paddle.nn.quant.functional_layers": "FloatFunctionalLayer add concat matmul",
    "paddle.nn.quant.stub": "Stub QuanterStub",
    "paddle.nn.quant.format": "LinearQuanter LinearDequanter LinearQuanterDequanter ConvertibleQuantedLayer",
    "paddle.nn.quant.qat": "QuantedLinear QuantedConv2D",
    "paddle.nn.quant.qat.conv": "QuantedConv2D",
    "paddle.nn.quant.qat.linear": "QuantedLinear",
    "engine.slim": "QAT PTQ dygraph quant AbsmaxQuantizer HistQuantizer KLQuantizer",
    "engine.slim.dygraph": "QAT PTQ",
    "engine.slim.dygraph.quant": "QAT PTQ KLQuantizer",
    "engine.slim.dygraph.quant.qat": "QAT PACT",
    "engine.slim.dygraph.quant.ptq": "PTQ",
    "engine.slim.quant.observers": (
        "HistObserver KLObserver MSEObserver EMDObserver AVGObserver AbsmaxObserver GroupWiseWeightObserver "
        "MSEChannelWiseWeightObserver AbsMaxChannelWiseWeightObserver"
    ),
    "engine.slim.quant.observers.abs_max_weight": "AbsMaxChannelWiseWeightObserverLayer",
    "engine.slim.quant.observers.uniform": "UniformObserver",
    "engine.slim.quant.observers.channel_wise": "ChannelWiseObserver CHANNEL_AXIS",
    "engine.slim.quant.quanters": (
        "ActLSQplusQuanter WeightLSQplusQuanter PACTQuanter FakeQuanterChannelWiseAbsMaxObserver"
    ),
}


@pytest.mark.parametrize("path", PATHS)
def test_path(path: str) -> None:
    module = importlib.import_module(real_name(path))
    assert [name for name in PATHS[path].split() if not hasattr(module, name)] == []
