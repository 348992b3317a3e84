"""Paddle's ``fluid.parallel_executor``: static training on several processes."""

from __future__ import annotations

from typing import Any

from engine.fluid.one_element import all_convertible
from engine.static import data_parallel as modern
from engine.static.compiled import BuildStrategy, ExecutionStrategy

__all__ = ["BuildStrategy", "ExecutionStrategy", "ParallelExecutor"]


class ParallelExecutor(modern.ParallelExecutor):
    """Runs a Program on all processes of the job; see ``static.data_parallel.ParallelExecutor``."""

    def run(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Run once; returns the values of ``fetch_list``, as ``fluid.Executor.run`` does."""
        return all_convertible(super().run(*args, **kwargs))
