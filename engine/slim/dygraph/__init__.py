"""PaddleSlim's ``dygraph``: quantization of networks of layers."""

from engine.core.alias.absent import refusing
from engine.core.lazy import lazy
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

__getattr__ = lazy(__name__, missing=refusing(__name__))
