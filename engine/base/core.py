"""Paddle's ``base.core``, its C++ side: the names of it that scripts use."""

from types import SimpleNamespace

from engine.core.errors import EOFException
from engine.core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, Place
from engine.core.values.dtype import DType as DataType
from engine.core.values.var_type import VarType
from engine.device import cuda as _cuda
from engine.device import (
    get_cudnn_version,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from engine.eager.tensor import Tensor
from engine.framework.flags import get_flags, set_flags
from engine.program.graph.program import Block as BlockDesc
from engine.program.graph.program import Program as ProgramDesc
from engine.program.run.scope import Scope

__all__ = [
    "BlockDesc",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "DataType",
    "EOFException",
    "Place",
    "ProgramDesc",
    "Scope",
    "VarDesc",
    "eager",
    "get_cuda_device_count",
    "get_cudnn_version",
    "get_flags",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "set_flags",
]

eager = SimpleNamespace(Tensor=Tensor)
get_cuda_device_count = _cuda.device_count


class VarDesc:
    """What Paddle describes variables by; here only the kinds and dtypes."""

    VarType = VarType
