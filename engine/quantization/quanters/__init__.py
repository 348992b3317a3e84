"""Quanters: layers that quantize a tensor and dequantize it again while a network is trained."""

from engine.quantization.quanters.abs_max import FakeQuanterWithAbsMaxObserver

__all__ = ["FakeQuanterWithAbsMaxObserver"]
