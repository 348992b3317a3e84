"""``Fleet``: sets up collective training, and gives networks and optimizers for it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Protocol

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ModeError
from engine.distributed import exchange
from engine.distributed.delegates import made_parallel
from engine.distributed.environment import ParallelEnv, number
from engine.distributed.exchange import Array
from engine.distributed.fleet.roles import PaddleCloudRoleMaker, require_worker
from engine.distributed.fleet.strategy import DistributedStrategy
from engine.distributed.fleet.workers import UtilBase
from engine.distributed.groups import group_of, init_parallel_env
from engine.distributed.static_training import parallelize
from engine.program.backward.append_backward import with_checkpoints
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.run.executor import default_startup_program
from engine.tensor.tensor_like import TensorLike


class SupportsMinimize(Protocol):
    """An optimizer: those of ``engine.optimizer``, which stands above this room, and their wrappers."""

    def minimize(self, *args: Any, **kwargs: Any) -> Any: ...


class Fleet:
    """The workers of this job: ``paddle.distributed.fleet`` has one, whose methods are its functions."""

    def __init__(self) -> None:
        self._user_defined_strategy: DistributedStrategy | None = None

    def init(
        self,
        role_maker: PaddleCloudRoleMaker | None = None,
        is_collective: bool = False,
        strategy: DistributedStrategy | None = None,
        log_level: int | str = "INFO",
    ) -> Fleet:
        """Join the other processes of the job. With one process it does nothing else.

        Differs from Paddle: training is collective also where ``is_collective`` is not set; ``log_level`` has
        no effect.

        Raises:
            UnsupportedError: this process is meant to be a parameter server.
            ArgumentError: a role maker of another class.
        """
        if role_maker is not None and not isinstance(role_maker, PaddleCloudRoleMaker):
            raise ArgumentError(
                f"fleet.init: role_maker must be a PaddleCloudRoleMaker or UserDefinedRoleMaker: got "
                f"{type(role_maker).__name__}"
            )
        require_worker(None)
        self._user_defined_strategy = copy.deepcopy(strategy) if strategy else DistributedStrategy()
        if ParallelEnv().world_size > 1:
            init_parallel_env()
        return self

    def _strategy(self, where: str) -> DistributedStrategy:
        if self._user_defined_strategy is None:
            raise ModeError(f"fleet.{where}: call fleet.init(is_collective=True) first")
        return self._user_defined_strategy

    # -- who is there --------------------------------------------------------------------------------------
    def is_first_worker(self) -> bool:
        """Whether this is process 0."""
        return self.worker_index() == 0

    def worker_index(self) -> int:
        """Which process this is, from 0."""
        return ParallelEnv().rank

    def worker_num(self) -> int:
        """How many processes there are."""
        return ParallelEnv().world_size

    def local_rank(self) -> int:
        """Which process of this machine this is, from 0."""
        return number(("PADDLE_RANK_IN_NODE", "PADDLE_LOCAL_RANK"), 0, 0)

    def node_num(self) -> int:
        """How many machines there are, by the endpoints of the processes."""
        return len({each.rpartition(":")[0] for each in ParallelEnv().trainer_endpoints})

    def worker_endpoints(self, to_string: bool = False) -> str | list[str]:
        """``host:port`` of every process, as a list or with commas between."""
        found = ParallelEnv().trainer_endpoints
        return ",".join(found) if to_string else found

    def is_worker(self) -> bool:
        """True: every process trains."""
        return True

    def is_server(self) -> bool:
        """False: there are no parameter servers."""
        return False

    def server_num(self) -> int:
        """0: there are no parameter servers."""
        return 0

    def server_endpoints(self, to_string: bool = False) -> str | list[str]:
        """None: there are no parameter servers."""
        return "" if to_string else []

    # -- together ------------------------------------------------------------------------------------------
    def barrier_worker(self) -> None:
        """Return when every worker has called it."""
        exchange.barrier(group_of(None, "barrier_worker"))

    def all_reduce(self, input: TensorLike, mode: str = "sum") -> Array:
        """The sum, max or min of ``input`` of all workers, as an array."""
        return UtilBase().all_reduce(input, mode)

    def init_worker(self, scopes: object = None) -> None:
        """Nothing: workers of collective training are ready after ``init``."""

    def stop_worker(self) -> None:
        """Nothing: workers of collective training end by themselves."""

    # -- training ------------------------------------------------------------------------------------------
    def distributed_model(self, model: Any) -> Any:
        """``model`` in a ``paddle.DataParallel`` with the strategy's settings; itself for one process.

        Raises:
            ModeError: ``init`` was not called.
        """
        strategy = self._strategy("distributed_model")
        if self.worker_num() < 2:
            return model
        sizes = (strategy.fuse_grad_size_in_MB, strategy.last_comm_group_size_MB)
        return made_parallel(model, strategy.sync_batch_norm, *sizes, strategy.find_unused_parameters)

    def distributed_optimizer(
        self, optimizer: SupportsMinimize, strategy: DistributedStrategy | None = None
    ) -> Any:
        """``optimizer`` itself; while Programs are built one whose ``minimize`` reduces the gradients.

        Differs from Paddle: what it gives for eager training is the optimizer itself.

        Raises:
            ModeError: ``init`` was not called.
        """
        self._strategy("distributed_optimizer")
        if strategy is not None:
            self._user_defined_strategy = copy.deepcopy(strategy)
        if not modes.is_static():
            return optimizer
        made = DistributedOptimizer(optimizer, self._strategy("distributed_optimizer"))
        self._optimizer = made
        return made

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Iterable[Any] | None = None,
        no_grad_set: Iterable[Any] | None = None,
    ) -> Any:
        """``minimize`` of what ``distributed_optimizer`` gave while Programs are built."""
        if not hasattr(self, "_optimizer"):
            raise ModeError(
                "fleet.minimize: call fleet.distributed_optimizer(optimizer) in static mode first"
            )
        return self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)


class DistributedOptimizer:
    """An optimizer of a Program; ``minimize`` also lets the processes of the job train together."""

    def __init__(self, optimizer: SupportsMinimize, strategy: DistributedStrategy) -> None:
        self.inner_opt = optimizer
        self._settings = strategy

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["inner_opt"], name)

    def minimize(
        self, loss: Variable, startup_program: Program | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """That of the optimizer; then the Program's gradients are reduced over all processes.

        The startup Program gives all processes the values of rank 0.
        """
        settings = self._settings
        checkpoints = settings.recompute_configs["checkpoints"] if settings.recompute else None
        with with_checkpoints(checkpoints or None):
            found = self.inner_opt.minimize(loss, startup_program, *args, **kwargs)
        average = settings.gradient_scale_configs["scale_strategy"] != "sum"
        parallelize(
            loss.block.program,
            startup_program or default_startup_program(),
            average,
            bool(settings.fuse_all_reduce_ops),
            bool(settings.sync_batch_norm),
        )
        return found
