"""Paddle's ``fluid.contrib``: what scripts of 1.x use of it."""

from engine.fluid.contrib import reader

__all__ = ["reader"]
