"""``fluid.dygraph.jit``: functions and Layers as Programs, under the names of 1.7 and 1.8."""

from __future__ import annotations

from engine.core.alias.absent import refusing
from engine.fluid.dygraph.traced_layer import TracedLayer
from engine.jit import load, save
from engine.jit import to_static as declarative
from engine.jit.dy2static import ProgramTranslator

__all__ = ["ProgramTranslator", "TracedLayer", "declarative", "dygraph_to_static_func", "load", "save"]

dygraph_to_static_func = declarative

__getattr__ = refusing(__name__)
