"""Paddle's compile strategies.

Every Program is compiled by the Executor that runs it: most of the options have no effect.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import DTypeError


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
