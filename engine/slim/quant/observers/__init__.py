"""Observers of PaddleSlim: thresholds of inputs and weights for ``paddle.quantization.PTQ``."""

from engine.quantization.observers.abs_max import AbsmaxObserver
from engine.quantization.observers.groupwise import GroupWiseWeightObserver
from engine.slim.quant.observers.abs_max_weight import AbsMaxChannelWiseWeightObserver
from engine.slim.quant.observers.avg import AVGObserver
from engine.slim.quant.observers.emd import EMDObserver
from engine.slim.quant.observers.hist import HistObserver
from engine.slim.quant.observers.kl import KLObserver
from engine.slim.quant.observers.mse import MSEObserver
from engine.slim.quant.observers.mse_weight import MSEChannelWiseWeightObserver

__all__ = [
    "AVGObserver",
    "AbsMaxChannelWiseWeightObserver",
    "AbsmaxObserver",
    "EMDObserver",
    "GroupWiseWeightObserver",
    "HistObserver",
    "KLObserver",
    "MSEChannelWiseWeightObserver",
    "MSEObserver",
]
