"""Paddle's ``fluid.transpiler``: Programs for training on several processes, without parameter servers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ProgramError, UnsupportedError
from engine.distributed.environment import ParallelEnv
from engine.distributed.groups import init_parallel_env
from engine.distributed.static_training import parallelize
from engine.program.graph.program import Program
from engine.program.run.executor import default_main_program, default_startup_program

__all__ = ["DistributeTranspiler", "DistributeTranspilerConfig"]


class DistributeTranspilerConfig:
    """How processes train together: ``mode`` is "nccl2" or "collective".

    In "collective" the Program itself is changed; in "nccl2" a ParallelExecutor or CompiledProgram runs a
    changed copy. The other fields have no effect.
    """

    def __init__(self) -> None:
        self.mode = "pserver"
        self.collective_mode: str | None = None
        self.nccl_comm_num = 1
        self.use_hierarchical_allreduce = False
        self.hierarchical_allreduce_inter_nranks = 0
        self.slice_var_up = True
        self.split_method: Any = None
        self.min_block_size = 8192
        self.print_log = False
        self.sync_mode = True
        self.runtime_split_send_recv = False
        self.wait_port = True


class DistributeTranspiler:
    """Prepares Programs for training on the processes of the job, which the environment says."""

    def __init__(self, config: DistributeTranspilerConfig | None = None) -> None:
        self.config = config or DistributeTranspilerConfig()
        self._program: Program | None = None

    def transpile(
        self,
        trainer_id: int,
        program: Program | None = None,
        pservers: str = "127.0.0.1:6174",
        trainers: int | str = 1,
        sync_mode: bool = True,
        startup_program: Program | None = None,
        current_endpoint: str = "127.0.0.1:6174",
    ) -> None:
        """Join the processes; call it after ``minimize``. ``trainers`` is their number, or their endpoints.

        Raises:
            UnsupportedError: the mode is that of parameter servers, or averages parameters (local_sgd).
            ArgumentError: the job has other processes than ``trainers`` and ``trainer_id`` say.
        """
        config = self.config
        if config.mode not in ("nccl2", "collective") or config.collective_mode == "local_sgd":
            raise UnsupportedError(
                f"DistributeTranspiler: mode {config.collective_mode or config.mode!r} does not exist here; "
                'set config.mode = "nccl2" or "collective"'
            )
        env = ParallelEnv()
        count = len(trainers.split(",")) if isinstance(trainers, str) else trainers
        if (trainer_id, count) != (env.rank, env.world_size):
            raise ArgumentError(
                f"DistributeTranspiler: trainer {trainer_id} of {count}: this is process {env.rank} of "
                f"{env.world_size}; start the script with model-studio launch"
            )
        if count > 1:
            init_parallel_env()
        self._program = program or default_main_program()
        if config.mode == "collective":
            parallelize(self._program, startup_program or default_startup_program())

    def get_trainer_program(self, wait_port: bool = True) -> Program:
        """The Program that each process runs. Raises ProgramError before ``transpile``."""
        if self._program is None:
            raise ProgramError("DistributeTranspiler: call transpile() first")
        return self._program
