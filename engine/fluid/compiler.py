"""Paddle's ``fluid.compiler``: options of how Programs are compiled."""

from engine.static.compiled import BuildStrategy, CompiledProgram, ExecutionStrategy

__all__ = ["BuildStrategy", "CompiledProgram", "ExecutionStrategy"]
