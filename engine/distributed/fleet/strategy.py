"""``DistributedStrategy``: the settings of fleet, and which of them mean something here."""

from __future__ import annotations

from typing import Any

from engine.core.errors import DTypeError, UnsupportedError

# Settings that ``fleet`` follows, with Paddle's defaults.
FOLLOWED: dict[str, Any] = {
    "find_unused_parameters": False,
    "fuse_all_reduce_ops": True,
    "fuse_grad_size_in_MB": 32,
    "gradient_scale_configs": {"scale_strategy": "avg"},
    "last_comm_group_size_MB": 1.0,
    "recompute": False,
    "recompute_configs": {"checkpoints": [], "enable_offload": False, "checkpoint_shape": []},
    "sync_batch_norm": False,
}
# Settings about how Paddle reaches the same results, or of features that are off: only stored.
STORED: dict[str, Any] = {
    "a_sync": True,
    "adam_d2sum": False,
    "auto_search": False,
    "build_strategy": None,
    "conv_workspace_size_limit": 512,
    "cudnn_batchnorm_spatial_persistent": False,
    "cudnn_exhaustive_search": False,
    "elastic": False,
    "execution_strategy": None,
    "fp16_allreduce": False,
    "fs_client_param": None,
    "fuse_grad_merge": False,
    "fuse_grad_size_in_num": 8,
    "hierarchical_allreduce_inter_nranks": 1,
    "nccl_comm_num": 1,
    "split_data": True,
    "sync_nccl_allreduce": True,
    "trainer_desc_configs": None,
    "use_hierarchical_allreduce": False,
    "without_graph_optimization": True,
    **dict.fromkeys(
        (
            "a_sync_configs",
            "adaptive_localsgd_configs",
            "amp_configs",
            "dgc_configs",
            "gradient_merge_configs",
            "lamb_configs",
            "lars_configs",
            "localsgd_configs",
            "pipeline_configs",
            "qat_configs",
            "sharding_configs",
            "tensor_parallel_configs",
        )
    ),
}
_HYBRID = "only data-parallel training is there, each process has the whole network"
# Settings that change what is computed: False only.
REFUSED: dict[str, str] = {
    "adaptive_localsgd": "processes average at every step",
    "amp": "use paddle.amp.auto_cast and paddle.amp.GradScaler",
    "asp": "use paddle.incubate.asp",
    "auto": _HYBRID,
    "dgc": "gradients travel whole",
    "gradient_merge": "call backward() several times before step(), with no_sync()",
    "heter_ccl_mode": "all processes use MPI",
    "lamb": "use paddle.optimizer.Lamb",
    "lars": "use fluid.optimizer.LarsMomentumOptimizer",
    "localsgd": "processes average at every step",
    "pipeline": _HYBRID,
    "qat": "the engine trains in floating point",
    "semi_auto": _HYBRID,
    "sharding": _HYBRID,
    "tensor_parallel": _HYBRID,
}
_DEGREES = {"dp_degree": -1, "mp_degree": 1, "pp_degree": 1, "sharding_degree": 1, "sep_degree": 1}


class _Setting:
    """One setting: a value of its own in each strategy."""

    def __init__(self, default: Any, refusal: str | None = None) -> None:
        self._default, self._refusal = default, refusal

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        default = dict(self._default) if isinstance(self._default, dict) else self._default
        return instance.__dict__.setdefault(self._name, default)

    def __set__(self, instance: Any, value: Any) -> None:
        if value and self._refusal is not None:
            raise UnsupportedError(f"DistributedStrategy: {self._name} is not supported: {self._refusal}")
        if isinstance(self._default, dict):
            value = self._default | dict(value)
            if "checkpoints" in value:  # names, since fleet copies the strategy
                value["checkpoints"] = [getattr(each, "name", each) for each in value["checkpoints"]]
        instance.__dict__[self._name] = value


class DistributedStrategy:
    """How fleet trains.

    ``find_unused_parameters``, ``fuse_grad_size_in_MB`` and ``last_comm_group_size_MB`` are those of
    ``paddle.DataParallel``; ``sync_batch_norm`` lets batch norms count over all processes;
    ``gradient_scale_configs["scale_strategy"]`` is "avg" or "sum" and ``fuse_all_reduce_ops`` is for static
    training. ``recompute`` with ``recompute_configs["checkpoints"]`` (Variables or names), for static
    training too, lets backward keep these values only, see ``append_backward``; without checkpoints it does
    nothing, as in Paddle.

    Differs from Paddle: settings of speed are stored without effect; those of other ways to train (pipeline,
    sharding, tensor_parallel, amp ...) raise UnsupportedError where they are switched on.
    """

    # Those of FOLLOWED, which ``_declare`` makes attributes of the class.
    find_unused_parameters: bool
    fuse_all_reduce_ops: bool
    fuse_grad_size_in_MB: int
    gradient_scale_configs: dict[str, Any]
    last_comm_group_size_MB: float
    recompute: bool
    recompute_configs: dict[str, Any]
    sync_batch_norm: bool

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            raise DTypeError(f"{name} is not a attribute of {type(self).__name__}")
        object.__setattr__(self, name, value)

    @property
    def hybrid_configs(self) -> dict[str, Any]:
        """How many parts training is cut into in each way: data-parallel only."""
        found: dict[str, Any] = self.__dict__.setdefault("hybrid_configs", dict(_DEGREES))
        return found

    @hybrid_configs.setter
    def hybrid_configs(self, configs: dict[str, Any]) -> None:
        for name in _DEGREES:
            if name != "dp_degree" and configs.get(name, 1) > 1:
                raise UnsupportedError(
                    f"DistributedStrategy: hybrid_configs: {name}={configs[name]} is not supported: {_HYBRID}"
                )
        self.__dict__["hybrid_configs"] = self.hybrid_configs | dict(configs)


def _declare(settings: dict[str, _Setting]) -> None:
    for name, setting in settings.items():
        setting.__set_name__(DistributedStrategy, name)
        setattr(DistributedStrategy, name, setting)


_declare({name: _Setting(default) for name, default in (FOLLOWED | STORED).items()})
_declare({name: _Setting(False, refusal) for name, refusal in REFUSED.items()})
