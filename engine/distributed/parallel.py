"""``paddle.distributed.parallel``: the names of data-parallel training under Paddle's inner path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.core.delegate import delegate
from engine.core.lazy import lazy
from engine.distributed.environment import ParallelEnv
from engine.distributed.groups import get_rank, get_world_size, init_parallel_env

if TYPE_CHECKING:
    from engine.nn.layer.data_parallel import DataParallel

__getattr__ = lazy(__name__, members={"engine.nn.layer.data_parallel": ("DataParallel",)})

__all__ = ["DataParallel", "ParallelEnv", "get_rank", "get_world_size", "init_parallel_env"]


@delegate("engine.nn.layer.data_parallel")
def made_parallel(
    model: Any,
    sync_batch_norm: bool,
    comm_buffer_size: float,
    last_comm_buffer_size: float,
    find_unused_parameters: bool,
) -> Any:
    """``model`` in a DataParallel, with SyncBatchNorm for its batch norms where that is asked for.

    Layers stand above this room.
    """
    raise NotImplementedError
