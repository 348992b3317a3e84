"""Observers: layers that find the scale of a tensor by what passes through them."""

from engine.quantization.observers.abs_max import AbsmaxObserver
from engine.quantization.observers.groupwise import GroupWiseWeightObserver

__all__ = ["AbsmaxObserver", "GroupWiseWeightObserver"]
