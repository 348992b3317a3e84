"""Paddle's ``utils.cpp_extension``: operators written in C++, which the engine does not take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from engine.core.errors import UnsupportedError

__all__ = ["CUDAExtension", "CppExtension", "get_build_directory", "load", "setup"]


def _refused(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"cpp_extension.{name}: compiled extensions are not loaded here: they are built against Paddle's "
        "C++; write the operator as a PyLayer, or with static.py_func"
    )


def CppExtension(sources: Sequence[str], *args: Any, **kwargs: Any) -> NoReturn:
    """Raises UnsupportedError: compiled extensions are not loaded."""
    raise _refused("CppExtension")


def CUDAExtension(sources: Sequence[str], *args: Any, **kwargs: Any) -> NoReturn:
    """Raises UnsupportedError: compiled extensions are not loaded."""
    raise _refused("CUDAExtension")


def setup(**attr: Any) -> NoReturn:
    """Raises UnsupportedError: compiled extensions are not loaded."""
    raise _refused("setup")


def load(
    name: str,
    sources: Sequence[str],
    extra_cxx_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    extra_library_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
) -> NoReturn:
    """Raises UnsupportedError: compiled extensions are not loaded."""
    raise _refused("load")


def get_build_directory(verbose: bool = False) -> NoReturn:
    """Raises UnsupportedError: compiled extensions are not loaded."""
    raise _refused("get_build_directory")
