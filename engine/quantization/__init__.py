"""Quantization: networks and Programs whose weights and values are small integers times a scale."""

from engine.core.lazy import lazy
from engine.quantization.base_observer import BaseObserver
from engine.quantization.base_quanter import BaseQuanter
from engine.quantization.config import QuantConfig
from engine.quantization.factory import quanter
from engine.quantization.ptq import PTQ
from engine.quantization.qat import QAT

__all__ = ["PTQ", "QAT", "BaseObserver", "BaseQuanter", "QuantConfig", "quanter"]

# Of the dynamic-graph quantization before 2.5.
_BEFORE = (
    "AbsmaxQuantizer",
    "BaseQuantizer",
    "HistQuantizer",
    "ImperativePTQ",
    "ImperativeQuantAware",
    "KLQuantizer",
    "PTQConfig",
    "PTQRegistry",
    "PerChannelAbsmaxQuantizer",
    "SUPPORT_ACT_QUANTIZERS",
    "SUPPORT_WT_QUANTIZERS",
    "default_ptq_config",
)

__getattr__ = lazy(
    __name__,
    modules=("imperative", "observers", "quanters"),
    members={"engine.quantization.imperative": _BEFORE},
)
