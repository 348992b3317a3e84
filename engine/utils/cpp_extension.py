"""Paddle's ``utils.cpp_extension``: operators written in C++, which the engine does not take."""

from __future__ import annotations

from typing import Any

from engine.core.errors import UnsupportedError

__all__ = ["CUDAExtension", "CppExtension", "get_build_directory", "load", "setup"]


def _refused(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"cpp_extension.{name}: compiled extensions are not loaded here: they are built against Paddle's "
        "C++; write the operator as a PyLayer, or with static.py_func"
    )


def CppExtension(sources: Any, *args: Any, **kwargs: Any) -> Any:
    """Raises UnsupportedError: compiled extensions are not loaded."""
    raise _refused("CppExtension")


def CUDAExtension(sources: Any, *args: Any, **kwargs: Any) -> Any:
    """Raises UnsupportedError: compiled extensions are not loaded."""
    raise _refused("CUDAExtension")


def setup(**attr: Any) -> Any:
    """Raises UnsupportedError: compiled extensions are not loaded."""
    raise _refused("setup")


def load(
    name: str,
    sources: Any,
    extra_cxx_cflags: Any = None,
    extra_cuda_cflags: Any = None,
    extra_ldflags: Any = None,
    extra_include_paths: Any = None,
    extra_library_paths: Any = None,
    build_directory: Any = None,
    verbose: bool = False,
) -> Any:
    """Raises UnsupportedError: compiled extensions are not loaded."""
    raise _refused("load")


def get_build_directory(verbose: bool = False) -> str:
    """Raises UnsupportedError: compiled extensions are not loaded."""
    raise _refused("get_build_directory")
