"""``paddle.distributed.parallel``: the names of data-parallel training under Paddle's inner path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.lazy import lazy
from engine.distributed.environment import ParallelEnv
from engine.distributed.groups import get_rank, get_world_size, init_parallel_env

if TYPE_CHECKING:
    from engine.nn.layer.data_parallel import DataParallel

__getattr__ = lazy(__name__, members={"engine.nn.layer.data_parallel": ("DataParallel",)})

__all__ = ["DataParallel", "ParallelEnv", "get_rank", "get_world_size", "init_parallel_env"]
