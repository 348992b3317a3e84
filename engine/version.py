"""Paddle's ``version``: what scripts print of the installation."""

from __future__ import annotations

from engine.core.errors import EngineError
from engine.core.place import CUDAPlace, backend
from engine.core.version import VERSION

__all__ = ["cuda", "cudnn", "show", "xpu", "xpu_xccl"]

full_version = VERSION
major, minor, patch = VERSION.split(".")
rc = "0"
commit = "none"
istaged = True
with_mkl = "OFF"
cuda_version = cudnn_version = xpu_version = xpu_xccl_version = cinn_version = "False"


def cuda() -> str:
    """CuPy's version of CUDA; 'False', as of a Paddle without CUDA, where no GPU can be used."""
    try:
        return str(backend(CUDAPlace(0)).cuda_version())
    except EngineError:
        return cuda_version


def cudnn() -> str:
    """'False': cuDNN is not used."""
    return cudnn_version


def xpu() -> str:
    """'False': XPUs are not used."""
    return xpu_version


def xpu_xccl() -> str:
    """'False': XPUs are not used."""
    return xpu_xccl_version


def cinn() -> str:
    """'False': there is no CINN compiler."""
    return cinn_version


def mkl() -> str:
    """'OFF': NumPy brings its own BLAS."""
    return with_mkl


def show() -> None:
    """Print the version and what the engine computes with."""
    said = {"full_version": full_version, "major": major, "minor": minor, "patch": patch, "rc": rc}
    said |= {"cuda": cuda(), "cudnn": cudnn(), "xpu": xpu(), "xpu_xccl": xpu_xccl(), "cinn": cinn()}
    for name, value in said.items():
        print(f"{name}: {value}")
