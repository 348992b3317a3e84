"""CompiledProgram, which may train on several processes, and Paddle's compile strategies.

Every Program is compiled by the Executor that runs it: most of the options have no effect.
"""

from __future__ import annotations

from typing import Any

from engine.core.delegate import delegate
from engine.core.errors import ArgumentError, DTypeError
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable


def _option(name: str) -> property:
    """An option as a property, so that the class shows it as Paddle's does."""

    def get(options: _Options) -> Any:
        return options.__dict__[name]

    return property(get, doc=f"The option ``{name}``.")


class _Options:
    """Options as attributes. A name that Paddle does not have is refused: it is probably misspelled."""

    _defaults: dict[str, Any]

    def __init__(self) -> None:
        self.__dict__.update(self._defaults)

    def __init_subclass__(cls) -> None:
        for name in cls._defaults:
            setattr(cls, name, _option(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._defaults:
            raise AttributeError(
                f"{type(self).__name__}: there is no {name!r}; it has {', '.join(sorted(self._defaults))}"
            )
        kind = type(self._defaults[name])
        if kind in (bool, int, str) and not isinstance(value, (kind, int) if kind is not str else str):
            raise DTypeError(f"{type(self).__name__}: {name} is {kind.__name__}: got {type(value).__name__}")
        self.__dict__[name] = value

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({shown})"


class BuildStrategy(_Options):
    """Options of how Paddle builds the graph it runs.

    ``gradient_scale_strategy`` and ``fuse_all_reduce_ops`` say how gradients are reduced over processes,
    ``sync_batch_norm`` that batch norms count over all of them. The others have no effect: see
    ``engine.program.passes.level``.
    """

    fuse_all_reduce_ops: bool
    gradient_scale_strategy: int
    sync_batch_norm: bool

    class ReduceStrategy:
        AllReduce = 0
        Reduce = 1
        NoReduce = 2

    class GradientScaleStrategy:
        CoeffNumDevice = 0
        One = 1
        Customized = 2

    _defaults = {  # noqa: RUF012
        **dict.fromkeys(
            (
                "allow_cuda_graph_capture",
                "async_mode",
                "build_cinn_pass",
                "cache_runtime_context",
                "enable_addto",
                "enable_auto_fusion",
                "enable_sequential_execution",
                "fix_op_run_order",
                "fuse_adamw",
                "fuse_all_optimizer_ops",
                "fuse_bn_act_ops",
                "fuse_elewise_add_act_ops",
                "fuse_gemm_epilogue",
                "fuse_relu_depthwise_conv",
                "fused_attention",
                "fused_feedforward",
                "is_distribution",
                "sequential_run",
                "sync_batch_norm",
                "use_hierarchical_allreduce",
            ),
            False,
        ),
        **dict.fromkeys(
            (
                "enable_backward_optimizer_op_deps",
                "enable_inplace",
                "fuse_all_reduce_ops",
                "fuse_bn_add_act_ops",
                "fuse_broadcast_ops",
                "remove_unnecessary_lock",
            ),
            True,
        ),
        "bkcl_comm_num": 1,
        "debug_graphviz_path": "",
        "gradient_scale_strategy": 0,
        "hierarchical_allreduce_inter_nranks": 0,
        "memory_optimize": None,
        "mkldnn_enabled_op_types": set(),
        "nccl_comm_num": 1,
        "num_trainers": 1,
        "reduce_strategy": 0,
        "trainer_id": 0,
        "trainers_endpoints": [],
    }


class ExecutionStrategy(_Options):
    """Options of how Paddle schedules the graph it runs. They have no effect: a plan runs in order."""

    _defaults = {  # noqa: RUF012
        "allow_op_delay": False,
        "num_iteration_per_drop_scope": 100,
        "num_iteration_per_run": 1,
        "num_threads": 0,
        "use_experimental_executor": True,
        "use_thread_barrier": False,
    }


@delegate("engine.static.data_parallel")
def parallel_program(source: Program, loss_name: str | Variable | None, strategy: BuildStrategy) -> Any:
    """The Program that this process runs as one of several."""
    raise NotImplementedError


class CompiledProgram:
    """A Program to run, which ``with_data_parallel`` makes one that several processes train together.

    Else it changes nothing: Executors compile every Program.
    """

    def __init__(self, program_or_graph: Program, build_strategy: BuildStrategy | None = None) -> None:
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
        loss_name: str | Variable | None = None,
        build_strategy: BuildStrategy | None = None,
        exec_strategy: ExecutionStrategy | None = None,
        share_vars_from: object = None,
        places: object = None,
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
        _checked("build_strategy", build_strategy, BuildStrategy)
        _checked("exec_strategy", exec_strategy, ExecutionStrategy)
        if self._parallel is not None:
            raise ArgumentError("with_data_parallel: was called before: make another CompiledProgram")
        strategy = build_strategy or self._build_strategy or BuildStrategy()
        self._parallel = parallel_program(self._source, loss_name, strategy)
        return self


def _checked(name: str, value: Any, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise DTypeError(f"CompiledProgram: {name} is a {kind.__name__}: got {type(value).__name__}")


def program_of(where: str, value: object) -> Program:
    """The Program itself, also from a CompiledProgram. Raises DTypeError for anything else."""
    found = value._program if isinstance(value, CompiledProgram) else value
    if not isinstance(found, Program):
        raise DTypeError(f"{where}: takes a Program: got {type(value).__name__}; use default_main_program()")
    return found
