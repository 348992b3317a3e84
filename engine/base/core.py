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
from engine.program.run.lod_tensor import LoDTensor
from engine.program.run.scope import Scope

__all__ = [
    "BlockDesc",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "DataType",
    "EOFException",
    "LoDTensor",
    "LoDTensorArray",
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


_prim = {"forward": False, "backward": False, "eager": False}


def _set_prim_backward_enabled(enabled: bool) -> None:
    """Store what Paddle decomposes in gradients by. Here all operators have gradients of any order."""
    _prim["backward"] = bool(enabled)


def _set_prim_forward_enabled(enabled: bool) -> None:
    """Store what Paddle decomposes operators by; it changes nothing here."""
    _prim["forward"] = bool(enabled)


def _set_prim_all_enabled(enabled: bool) -> None:
    """Store both; they change nothing here."""
    _prim.update(forward=bool(enabled), backward=bool(enabled))


def set_prim_eager_enabled(enabled: bool) -> None:
    """Store the same for eager mode; it changes nothing here."""
    _prim["eager"] = bool(enabled)


def _is_bwd_prim_enabled() -> bool:
    """What was stored for gradients last."""
    return _prim["backward"]


def _is_fwd_prim_enabled() -> bool:
    """What was stored for operators last."""
    return _prim["forward"]


def _is_eager_prim_enabled() -> bool:
    """What was stored for eager mode last."""
    return _prim["eager"]


class LoDTensorArray(list[LoDTensor]):
    """A list of values."""


class VarDesc:
    """What Paddle describes variables by; here only the kinds and dtypes."""

    VarType = VarType
