"""Layers that quantize, and layers that compute with quantized weights and inputs."""

from engine.nn.quant import qat
from engine.nn.quant.fake_layers import QuantStub
from engine.nn.quant.functional_layers import (
    FloatFunctionalLayer,
    add,
    concat,
    divide,
    flatten,
    matmul,
    multiply,
    reshape,
    subtract,
    transpose,
)
from engine.nn.quant.quantized_linear import (
    llm_int8_linear,
    weight_dequantize,
    weight_only_linear,
    weight_quantize,
)
from engine.nn.quant.stub import Stub

__all__ = [
    "FloatFunctionalLayer",
    "QuantStub",
    "Stub",
    "add",
    "concat",
    "divide",
    "flatten",
    "llm_int8_linear",
    "matmul",
    "multiply",
    "qat",
    "reshape",
    "subtract",
    "transpose",
    "weight_dequantize",
    "weight_only_linear",
    "weight_quantize",
]
