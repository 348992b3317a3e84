"""Programs that several processes train together: ``with_data_parallel`` and ParallelExecutor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.errors import ArgumentError, UnsupportedError
from engine.core.place import CPUPlace, CUDAPlace
from engine.distributed.environment import ParallelEnv
from engine.distributed.groups import init_parallel_env
from engine.distributed.static_training import parallel
from engine.program.graph.program import Program, Variable
from engine.program.run.executor import Executor, default_main_program
from engine.program.run.scope import Scope
from engine.static import compiled
from engine.static.compiled import BuildStrategy, CompiledProgram, ExecutionStrategy


class DataParallelProgram:
    """A Program, and the copy of it that this process runs as one of several."""

    def __init__(self, source: Program, loss_name: str | Variable | None, strategy: BuildStrategy) -> None:
        name = loss_name.name if isinstance(loss_name, Variable) else loss_name
        if name is not None and not (isinstance(name, str) and source.global_block().has_var(name)):
            raise ArgumentError(
                f"with_data_parallel: loss_name must be the name of a Variable of the Program: got {name!r}"
            )
        scale, scales = strategy.gradient_scale_strategy, BuildStrategy.GradientScaleStrategy
        if scale not in (scales.CoeffNumDevice, scales.One):
            raise UnsupportedError(
                "with_data_parallel: gradient_scale_strategy must be CoeffNumDevice or One: got "
                f"{scale!r}; scale the loss in the Program instead of Customized"
            )
        self._source, self._trains = source, name is not None
        self._mean, self._strategy = scale == scales.CoeffNumDevice, strategy
        self._made: Program | None = None
        self._version = -1

    def program(self) -> Program:
        """What to run: the Program itself with one process, or where it only predicts."""
        if not self._trains:
            return self._source
        if self._made is None or self._version != self._source.version:
            if ParallelEnv().world_size > 1:
                init_parallel_env()
            self._version = self._source.version
            self._made = parallel(
                self._source, self._mean, self._strategy.fuse_all_reduce_ops, self._strategy.sync_batch_norm
            )
        return self._made


compiled.parallel_program.define(DataParallelProgram)


class ParallelExecutor:
    """Runs a Program on all processes of the job, as ``CompiledProgram.with_data_parallel``.

    ``scope`` keeps the values, by default the global one. ``share_vars_from`` has no effect: values are
    shared by the scope; nor has ``trainer_id``, which the environment says. Present in Paddle up to 2.4.

    Raises:
        ArgumentError: the Program has no Variable ``loss_name``; ``num_trainers`` is another than the job's.
    """

    def __init__(
        self,
        use_cuda: bool,
        loss_name: str | Variable | None = None,
        main_program: Program | None = None,
        share_vars_from: object = None,
        exec_strategy: ExecutionStrategy | None = None,
        build_strategy: BuildStrategy | None = None,
        num_trainers: int = 1,
        trainer_id: int = 0,
        scope: Scope | None = None,
    ) -> None:
        processes = ParallelEnv().world_size
        if num_trainers not in (1, processes):
            raise ArgumentError(
                f"ParallelExecutor: num_trainers is {num_trainers}: this job has {processes} processes; "
                "start it with as many"
            )
        self._executor = Executor(CUDAPlace(0) if use_cuda else CPUPlace())
        self._compiled = CompiledProgram(main_program or default_main_program()).with_data_parallel(
            loss_name, build_strategy, exec_strategy, share_vars_from
        )
        self._scope = scope

    def run(
        self,
        fetch_list: str | Variable | Sequence[Any] | None = None,
        feed: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        feed_dict: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        return_numpy: bool = True,
    ) -> list[Any]:
        """Run once; returns the values of ``fetch_list``.

        ``feed`` may be a list of dicts, one for each device: they are joined along the first dimension.
        """
        given = feed_dict if feed is None else feed
        return self._executor.run(
            self._compiled, given, fetch_list, scope=self._scope, return_numpy=return_numpy
        )

    @property
    def device_count(self) -> int:
        """The devices of this process: 1."""
        return 1

    def drop_local_exe_scopes(self) -> None:
        """Nothing: plans keep no values between runs."""
