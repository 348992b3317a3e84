"""Paddle's ``fluid.contrib``: what scripts of 1.x use of it."""

from engine.core.alias.absent import refusing
from engine.fluid.contrib import layers, reader

__all__ = ["layers", "reader"]

__getattr__ = refusing(__name__)
