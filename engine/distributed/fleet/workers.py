"""``UtilBase``: small things that the workers of a job do together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.distributed import exchange
from engine.distributed.environment import ParallelEnv
from engine.distributed.groups import group_of
from engine.distributed.objects import all_gather_object
from engine.distributed.reducing import ReduceOp
from engine.tensor.tensor_like import TensorLike

_OPS = {"sum": ReduceOp.SUM, "max": ReduceOp.MAX, "min": ReduceOp.MIN}


def _require_workers(comm_world: str, where: str) -> None:
    if comm_world not in ("worker", "all"):
        raise ArgumentError(f"{where}: comm_world must be 'worker': got {comm_world!r}; there are no servers")


class UtilBase:
    """Reductions of numbers and arrays, lists of files for each worker, and prints of one."""

    def all_reduce(
        self, input: TensorLike, mode: str = "sum", comm_world: str = "worker"
    ) -> np.ndarray[Any, Any]:
        """The sum, max or min of ``input`` (a number, list or array) of all workers, as an array."""
        _require_workers(comm_world, "all_reduce")
        if mode not in _OPS:
            raise ArgumentError(f"all_reduce: mode must be one of {sorted(_OPS)}: got {mode!r}")
        array = np.array(input, order="C")
        return exchange.all_reduced(group_of(None, "all_reduce"), array, _OPS[mode], "all_reduce")

    def all_gather(self, input: object, comm_world: str = "worker") -> list[Any]:
        """``input`` of every worker, in their order: numbers, texts, arrays, and lists and dicts of those."""
        _require_workers(comm_world, "all_gather")
        found: list[Any] = []
        all_gather_object(found, input)
        return found

    def barrier(self, comm_world: str = "worker") -> None:
        """Return when every worker has called it."""
        _require_workers(comm_world, "barrier")
        exchange.barrier(group_of(None, "barrier"))

    def get_file_shard(self, files: Sequence[str]) -> list[str]:
        """The part of ``files`` that is this worker's: all get as many, the first ones one more."""
        if not isinstance(files, list):
            raise DTypeError(f"get_file_shard: files should be a list of file need to be read: got {files!r}")
        env = ParallelEnv()
        size, more = divmod(len(files), env.world_size)
        start = env.rank * size + min(env.rank, more)
        return files[start : start + size + (env.rank < more)]

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Print ``message`` in one worker."""
        if ParallelEnv().rank == rank_id:
            print(message)
