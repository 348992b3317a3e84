"""QAT and PTQ of PaddleSlim, over Paddle's dynamic-graph quantization of 2.0 to 2.4."""

from engine.slim.dygraph.quant.ptq import (
    PTQ,
    AbsmaxQuantizer,
    HistQuantizer,
    KLQuantizer,
    PerChannelAbsmaxQuantizer,
)
from engine.slim.dygraph.quant.qat import QAT

__all__ = [
    "PTQ",
    "QAT",
    "AbsmaxQuantizer",
    "HistQuantizer",
    "KLQuantizer",
    "PerChannelAbsmaxQuantizer",
]
