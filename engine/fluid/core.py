"""Paddle's ``fluid.core``, its C++ side: the names of it that scripts use."""

from engine.base.core import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    Scope,
    VarDesc,
    get_cuda_device_count,
    is_compiled_with_cuda,
)
from engine.fluid.lod_tensor import LoDTensor, LoDTensorArray

__all__ = [
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "EOFException", "LoDTensor", "LoDTensorArray", "Scope",
    "VarDesc", "get_cuda_device_count", "is_compiled_with_cuda",
]  # fmt: skip


class EOFException(Exception):
    """A reader has no more batches."""
