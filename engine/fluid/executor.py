"""Paddle's ``fluid.executor``: runs Programs, in scopes."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ConditionError, ShapeError
from engine.fluid.values.one_element import all_convertible
from engine.program.run import executor as modern
from engine.program.run.executor import default_main_program
from engine.program.run.lod_tensor import LoDTensor
from engine.program.run.scope import Scope, global_scope, scope_guard
from engine.static import data_parallel
from engine.static.compiled import program_of

__all__ = ["Executor", "Scope", "as_numpy", "global_scope", "scope_guard"]


class Executor(modern.Executor):
    """Compiles each Program once for each kind of feed, and runs it; see ``static.Executor``.

    Arrays of one element that are fetched convert to a number: ``float(loss[0])`` for a loss of shape [1].
    """

    def run(self, program: Any = None, feed: Any = None, *args: Any, **kwargs: Any) -> list[Any]:
        """Run a Program; returns the values of ``fetch_list``. Arguments and errors are those of
        ``static.Executor.run``.

        Differs from Paddle: an array without the first dimension, of any size, of a Variable of
        ``layers.data`` is a batch of one; there values are computed without that dimension, if they can be.
        """
        try:
            return all_convertible(super().run(program, feed, *args, **kwargs))
        except ShapeError:
            batched = _batched(program, feed)
            if batched is None:
                raise
        return all_convertible(super().run(program, batched, *args, **kwargs))


class ParallelExecutor(data_parallel.ParallelExecutor):
    """Runs a Program on all processes of the job; see ``static.data_parallel.ParallelExecutor``."""

    def run(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Run once; returns the values of ``fetch_list``, as ``fluid.Executor.run`` does."""
        return all_convertible(super().run(*args, **kwargs))


def _batched(program: Any, feed: Any) -> dict[str, Any] | None:
    """``feed``, the arrays that lack the dimension of the batch with one; None where none does."""
    if not isinstance(feed, dict):
        return None
    variables = program_of("Executor.run", program or default_main_program()).global_block().vars
    found, changed = dict(feed), False
    for name, value in feed.items():
        variable = variables.get(name)
        if variable is None or variable.need_check_feed or isinstance(value, LoDTensor):
            continue
        shape, sizes = variable.spec.shape, np.shape(value)
        if shape[:1] == (-1,) and len(sizes) == len(shape) - 1:
            if all(e in (-1, d) for d, e in zip(sizes, shape[1:], strict=True)):
                found[name], changed = np.asarray(value)[None], True
    return found if changed else None


def _fetch_var(name: str, scope: Scope | None = None, return_numpy: bool = True) -> Any:
    """The value of a variable of ``scope``, by default the one in force."""
    found = (scope or global_scope()).find_var(name)
    if found is None:
        raise ConditionError(
            f"_fetch_var: Cannot find {name} in scope. Perhaps you need to make the variable persistable"
        )
    return as_numpy(found.get_tensor()) if return_numpy else found.get_tensor()


def as_numpy(tensor: Any) -> Any:
    """The array of a fetched value, or those of a list of them."""
    return [as_numpy(each) for each in tensor] if isinstance(tensor, list) else np.array(tensor)
