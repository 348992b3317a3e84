"""Paddle's ``fluid.core``, its C++ side: the names of it that scripts use."""

from collections.abc import Iterator, MutableMapping
from types import SimpleNamespace
from typing import Any

from engine.base.core import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    EOFException,
    LoDTensor,
    LoDTensorArray,
    Scope,
    VarDesc,
    is_compiled_with_cuda,
)
from engine.base.core import get_cuda_device_count as _gpus
from engine.core.lazy import lazy
from engine.core.place import Place, redirected
from engine.device import synchronize
from engine.eager.tensor import Parameter as ParamBase
from engine.fluid.dygraph.base import VarBase
from engine.framework.flags import get_flags, set_flags

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "EOFException",
    "LoDTensor",
    "LoDTensorArray",
    "ParamBase",
    "Scope",
    "Tensor",
    "VarBase",
    "VarDesc",
    "get_cuda_device_count",
    "globals",
    "is_compiled_with_cuda",
    "op_proto_and_checker_maker",
]

Tensor = LoDTensor

_PREDICTION = (
    "AnalysisConfig",
    "PaddleBuf",
    "PaddleDType",
    "PaddlePredictor",
    "PaddleTensor",
    "create_paddle_predictor",
)
__getattr__ = lazy(__name__, members={"engine.fluid.values.prediction": _PREDICTION})

op_proto_and_checker_maker = SimpleNamespace(
    OpRole=SimpleNamespace(Forward=0, Backward=1, Optimize=2, RPC=4, Dist=8, LRSched=16, Loss=256),
    kOpRoleAttrName=lambda: "op_role",
    kOpRoleVarAttrName=lambda: "op_role_var",
)


class _Globals(MutableMapping[str, Any]):
    """The flags by name: ``core.globals()["FLAGS_cudnn_deterministic"]``."""

    def __getitem__(self, name: str) -> Any:
        return get_flags(name)[name]

    def __setitem__(self, name: str, value: Any) -> None:
        set_flags({name: value})

    def __delitem__(self, name: str) -> None:
        raise KeyError(f"{name}: a flag cannot be deleted; set its value")

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def globals() -> _Globals:
    """The flags as a mapping."""
    return _Globals()


def get_cuda_device_count() -> int:
    """The number of GPUs; one where the CPU stands for them (``model-studio run --device cpu``)."""
    return 1 if redirected() else _gpus()


def _cuda_synchronize(place: Place) -> None:
    """Wait for the work of a GPU."""
    synchronize(place)
