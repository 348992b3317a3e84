"""Programs that several processes train together, as ``with_data_parallel`` makes them."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, UnsupportedError
from engine.distributed.environment import ParallelEnv
from engine.distributed.groups import init_parallel_env
from engine.distributed.static_training import parallel
from engine.program.graph.program import Program, Variable
from engine.static.strategies import BuildStrategy


class DataParallelProgram:
    """A Program, and the copy of it that this process runs as one of several."""

    def __init__(self, source: Program, loss_name: Any, strategy: BuildStrategy) -> None:
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
