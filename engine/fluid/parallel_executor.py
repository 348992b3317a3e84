"""``fluid.ParallelExecutor``: runs a Program, here on one device."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.fluid.framework import CPUPlace, CUDAPlace
from engine.program.run.executor import Executor, default_main_program
from engine.static import CompiledProgram

__all__ = ["ParallelExecutor"]


class ParallelExecutor:
    """Runs ``main_program`` (the default one where None) on the GPU with ``use_cuda``, else on the CPU.

    There is one device, so nothing is split and strategies have no effect. A list of feeds, one for each
    device, is joined along the first dimension. Raises ArgumentError for ``num_trainers`` above 1.
    """

    def __init__(
        self, use_cuda: bool, loss_name: str | None = None, main_program: Any = None,
        share_vars_from: Any = None, exec_strategy: Any = None, build_strategy: Any = None,
        num_trainers: int = 1, trainer_id: int = 0, scope: Any = None,
    ) -> None:  # fmt: skip
        if num_trainers != 1:
            raise ArgumentError(
                f"ParallelExecutor: num_trainers is {num_trainers}: one process runs on one device here; "
                "start more and use paddle.distributed"
            )
        program = main_program or default_main_program()
        self._program = CompiledProgram(program)
        self._executor = Executor(CUDAPlace(0) if use_cuda else CPUPlace())
        self._scope = scope

    @property
    def device_count(self) -> int:
        """1."""
        return 1

    def run(self, fetch_list: Any, feed: Any = None, feed_dict: Any = None, return_numpy: bool = True) -> Any:
        """Run once; the values of ``fetch_list``."""
        given = feed if feed is not None else feed_dict
        if isinstance(given, (list, tuple)):
            given = {name: np.concatenate([np.asarray(each[name]) for each in given]) for name in given[0]}
        return self._executor.run(
            self._program, given, fetch_list, scope=self._scope, return_numpy=return_numpy
        )

    def drop_local_exe_scopes(self) -> None:
        """Nothing to do: a run keeps nothing of its own."""
