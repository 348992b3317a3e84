"""Quanters of PaddleSlim: weights and inputs for ``paddle.quantization.QAT``."""

from engine.slim.quant.quanters.channel_wise_abs_max import FakeQuanterChannelWiseAbsMaxObserver
from engine.slim.quant.quanters.lsq_act import ActLSQplusQuanter
from engine.slim.quant.quanters.lsq_weight import WeightLSQplusQuanter
from engine.slim.quant.quanters.pact import PACTQuanter

__all__ = [
    "ActLSQplusQuanter",
    "FakeQuanterChannelWiseAbsMaxObserver",
    "PACTQuanter",
    "WeightLSQplusQuanter",
]
