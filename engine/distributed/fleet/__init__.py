"""``paddle.distributed.fleet``: collective training set up in one call, without parameter servers."""

from engine.core.alias.absent import refusing
from engine.distributed.fleet import utils
from engine.distributed.fleet.collective import Fleet
from engine.distributed.fleet.roles import PaddleCloudRoleMaker, Role, UserDefinedRoleMaker
from engine.distributed.fleet.strategy import DistributedStrategy
from engine.distributed.fleet.workers import UtilBase

__all__ = [
    "DistributedStrategy",
    "Fleet",
    "PaddleCloudRoleMaker",
    "Role",
    "UserDefinedRoleMaker",
    "UtilBase",
    "all_reduce",
    "barrier_worker",
    "distributed_model",
    "distributed_optimizer",
    "fleet",
    "init",
    "init_worker",
    "is_first_worker",
    "is_server",
    "is_worker",
    "local_rank",
    "minimize",
    "node_num",
    "nranks",
    "rank",
    "server_endpoints",
    "server_num",
    "stop_worker",
    "util",
    "utils",
    "worker_endpoints",
    "worker_index",
    "worker_num",
    "world_size",
]

fleet = Fleet()
util = UtilBase()
init = fleet.init
is_first_worker = fleet.is_first_worker
worker_index = rank = fleet.worker_index
worker_num = nranks = world_size = fleet.worker_num
node_num = fleet.node_num
local_rank = rank_in_node = fleet.local_rank
worker_endpoints = fleet.worker_endpoints
is_worker = fleet.is_worker
is_server = fleet.is_server
server_num = fleet.server_num
server_endpoints = fleet.server_endpoints
barrier_worker = fleet.barrier_worker
all_reduce = fleet.all_reduce
init_worker = fleet.init_worker
stop_worker = fleet.stop_worker
distributed_optimizer = fleet.distributed_optimizer
distributed_model = fleet.distributed_model
minimize = fleet.minimize

__getattr__ = refusing(__name__)
