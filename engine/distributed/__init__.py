"""Several processes that train together: environment, groups, collectives. MPI carries the values."""

from typing import TYPE_CHECKING

from engine.core.lazy import lazy
from engine.distributed.collectives import (
    all_gather,
    all_reduce,
    alltoall,
    alltoall_single,
    barrier,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    scatter,
    wait,
)
from engine.distributed.communication import stream
from engine.distributed.environment import ParallelEnv
from engine.distributed.groups import (
    destroy_process_group,
    get_backend,
    get_group,
    get_rank,
    get_world_size,
    init_parallel_env,
    is_available,
    is_initialized,
    new_group,
)
from engine.distributed.messages import P2POp, batch_isend_irecv, irecv, isend, recv, send
from engine.distributed.objects import all_gather_object, broadcast_object_list, scatter_object_list
from engine.distributed.processes.spawning import spawn
from engine.distributed.reducing import ReduceOp

if TYPE_CHECKING:
    from engine.distributed import fleet, parallel
    from engine.nn.layer.data_parallel import DataParallel

# A Layer stands above this room; it is looked up when a script asks for it here, as in Paddle.
__getattr__ = lazy(
    __name__, modules=("fleet", "parallel"), members={"engine.nn.layer.data_parallel": ("DataParallel",)}
)

__all__ = [
    "DataParallel",
    "P2POp",
    "ParallelEnv",
    "ReduceOp",
    "all_gather",
    "all_gather_object",
    "all_reduce",
    "alltoall",
    "alltoall_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "fleet",
    "gather",
    "get_backend",
    "get_group",
    "get_rank",
    "get_world_size",
    "init_parallel_env",
    "irecv",
    "is_available",
    "is_initialized",
    "isend",
    "new_group",
    "parallel",
    "recv",
    "reduce",
    "reduce_scatter",
    "scatter",
    "scatter_object_list",
    "send",
    "spawn",
    "stream",
    "wait",
]
