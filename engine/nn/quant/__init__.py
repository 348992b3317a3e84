"""Layers that quantize, and layers that compute with quantized weights and inputs."""

from engine.nn.quant import qat
from engine.nn.quant.stub import Stub

__all__ = ["Stub", "qat"]
