"""CompiledProgram, which may train on several processes."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.program.graph.program import Program
from engine.static.strategies import BuildStrategy, ExecutionStrategy


class CompiledProgram:
    """A Program to run, which ``with_data_parallel`` makes one that several processes train together.

    Else it changes nothing: Executors compile every Program.
    """

    def __init__(self, program_or_graph: Any, build_strategy: BuildStrategy | None = None) -> None:
        if not isinstance(program_or_graph, Program):
            raise DTypeError(
                f"CompiledProgram: takes a Program: got {type(program_or_graph).__name__}; "
                "pass e.g. static.default_main_program()"
            )
        _checked("build_strategy", build_strategy, BuildStrategy)
        self._source = program_or_graph
        self._build_strategy = build_strategy
        self._parallel: Any = None

    @property
    def _program(self) -> Program:
        """The Program that an Executor runs."""
        if self._parallel is None:
            return self._source
        found: Program = self._parallel.program()
        return found

    def with_data_parallel(
        self,
        loss_name: Any = None,
        build_strategy: BuildStrategy | None = None,
        exec_strategy: ExecutionStrategy | None = None,
        share_vars_from: Any = None,
        places: Any = None,
    ) -> CompiledProgram:
        """Train on all processes of the job: each feeds its part of the batch, gradients are averaged.

        The values of rank 0 are sent to all before the first run. Without ``loss_name`` the Program only
        predicts: each process runs it for itself. ``exec_strategy``, ``share_vars_from`` and ``places`` have
        no effect: one process has one device, and values are shared by the scope. With one process nothing
        changes. Present in Paddle up to 2.4.

        Raises:
            ArgumentError: the Program has no Variable ``loss_name``, or twice called.
            DTypeError: strategies of another class.
        """
        from engine.static.parallel_program import DataParallelProgram  # which needs processes

        _checked("build_strategy", build_strategy, BuildStrategy)
        _checked("exec_strategy", exec_strategy, ExecutionStrategy)
        if self._parallel is not None:
            raise ArgumentError("with_data_parallel: was called before: make another CompiledProgram")
        strategy = build_strategy or self._build_strategy or BuildStrategy()
        self._parallel = DataParallelProgram(self._source, loss_name, strategy)
        return self


def _checked(name: str, value: Any, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise DTypeError(f"CompiledProgram: {name} is a {kind.__name__}: got {type(value).__name__}")


def program_of(where: str, value: Any) -> Program:
    """The Program itself, also from a CompiledProgram. Raises DTypeError for anything else."""
    found = value._program if isinstance(value, CompiledProgram) else value
    if not isinstance(found, Program):
        raise DTypeError(f"{where}: takes a Program: got {type(value).__name__}; use default_main_program()")
    return found
