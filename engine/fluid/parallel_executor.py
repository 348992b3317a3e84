"""Paddle's ``fluid.parallel_executor``: static training on several processes."""

from engine.static.compiled import BuildStrategy, ExecutionStrategy
from engine.static.data_parallel import ParallelExecutor

__all__ = ["BuildStrategy", "ExecutionStrategy", "ParallelExecutor"]
