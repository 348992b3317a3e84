"""Paddle's ``fluid.executor``: runs Programs, in scopes."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.fluid.values.one_element import all_convertible
from engine.program.run import executor as modern
from engine.program.run.scope import Scope, global_scope, scope_guard
from engine.static import data_parallel

__all__ = ["Executor", "Scope", "as_numpy", "global_scope", "scope_guard"]


class Executor(modern.Executor):
    """Compiles each Program once for each kind of feed, and runs it; see ``static.Executor``.

    Arrays of one element that are fetched convert to a number: ``float(loss[0])`` for a loss of shape [1].
    """

    def run(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Run a Program; returns the values of ``fetch_list``. Arguments and errors are those of
        ``static.Executor.run``."""
        return all_convertible(super().run(*args, **kwargs))


class ParallelExecutor(data_parallel.ParallelExecutor):
    """Runs a Program on all processes of the job; see ``static.data_parallel.ParallelExecutor``."""

    def run(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Run once; returns the values of ``fetch_list``, as ``fluid.Executor.run`` does."""
        return all_convertible(super().run(*args, **kwargs))


def as_numpy(tensor: Any) -> Any:
    """The array of a fetched value, or those of a list of them."""
    return [as_numpy(each) for each in tensor] if isinstance(tensor, list) else np.array(tensor)
