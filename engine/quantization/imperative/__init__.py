"""The dynamic-graph quantization of Paddle 2.0 to 2.4, which PaddleSlim's ``QAT`` and ``PTQ`` are made of."""

from engine.quantization.imperative.ptq import ImperativePTQ
from engine.quantization.imperative.ptq_config import PTQConfig, default_ptq_config
from engine.quantization.imperative.ptq_quantizer import (
    SUPPORT_ACT_QUANTIZERS,
    SUPPORT_WT_QUANTIZERS,
    AbsmaxQuantizer,
    BaseQuantizer,
    HistQuantizer,
    KLQuantizer,
    PerChannelAbsmaxQuantizer,
)
from engine.quantization.imperative.ptq_registry import PTQRegistry
from engine.quantization.imperative.qat import ImperativeQuantAware

__all__ = [
    "SUPPORT_ACT_QUANTIZERS",
    "SUPPORT_WT_QUANTIZERS",
    "AbsmaxQuantizer",
    "BaseQuantizer",
    "HistQuantizer",
    "ImperativePTQ",
    "ImperativeQuantAware",
    "KLQuantizer",
    "PTQConfig",
    "PTQRegistry",
    "PerChannelAbsmaxQuantizer",
    "default_ptq_config",
]
