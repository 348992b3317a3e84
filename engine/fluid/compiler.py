"""Paddle's ``fluid.compiler``: options of how Programs are compiled."""

from engine.static.compiled import CompiledProgram
from engine.static.strategies import BuildStrategy, ExecutionStrategy

__all__ = ["BuildStrategy", "CompiledProgram", "ExecutionStrategy"]
