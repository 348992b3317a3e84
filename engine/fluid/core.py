"""Paddle's ``fluid.core``, its C++ side: the names of it that scripts use."""

from types import SimpleNamespace

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
from engine.core.place import Place, redirected
from engine.device import synchronize
from engine.eager.tensor import Parameter as ParamBase
from engine.fluid.dygraph.base import VarBase

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
    "is_compiled_with_cuda",
    "op_proto_and_checker_maker",
]

Tensor = LoDTensor

op_proto_and_checker_maker = SimpleNamespace(
    OpRole=SimpleNamespace(Forward=0, Backward=1, Optimize=2, RPC=4, Dist=8, LRSched=16, Loss=256),
    kOpRoleAttrName=lambda: "op_role",
    kOpRoleVarAttrName=lambda: "op_role_var",
)


def get_cuda_device_count() -> int:
    """The number of GPUs; one where the CPU stands for them (``model-studio run --device cpu``)."""
    return 1 if redirected() else _gpus()


def _cuda_synchronize(place: Place) -> None:
    """Wait for the work of a GPU."""
    synchronize(place)
