"""Quantization: networks and Programs whose weights and values are small integers times a scale."""

from engine.core.lazy import lazy
from engine.quantization.base_observer import BaseObserver
from engine.quantization.base_quanter import BaseQuanter
from engine.quantization.config import QuantConfig
from engine.quantization.factory import quanter
from engine.quantization.ptq import PTQ
from engine.quantization.qat import QAT

__all__ = ["PTQ", "QAT", "BaseObserver", "BaseQuanter", "QuantConfig", "quanter"]

__getattr__ = lazy(__name__, modules=("observers", "quanters"))
