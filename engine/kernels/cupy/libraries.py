"""Locations of shared libraries of CUDA: loaded already, in NVIDIA's wheels, in CUDA's folder, in the
system."""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import cupy


def candidates(library: str, wheel: str) -> Iterator[str]:
    """Arguments of ``ctypes.CDLL`` for a library such as ``cublasLt``, best first.

    First its name with the major version of the CUDA that CuPy runs on: the copy that CuPy has loaded itself
    has it. Then files of the wheels nvidia-``wheel``-cu12 and the one of CUDA 13 and later, those of
    ``CUDA_PATH``, and libraries that the system's linker finds.
    """
    major = cupy.cuda.runtime.runtimeGetVersion() // 1000
    names = [f"{library}64_{major}.dll"] if os.name == "nt" else [f"lib{library}.so.{major}"]
    yield names[0]
    folders = []
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        folders += [Path(root) / each / kind for each in (wheel, f"cu{major}") for kind in ("lib", "bin")]
    if os.environ.get("CUDA_PATH"):
        folders += [Path(os.environ["CUDA_PATH"]) / each for each in ("lib64", "lib", "bin")]
    for folder in folders:
        path = folder / names[0]
        if path.exists():
            yield str(path)
    found = ctypes.util.find_library(library)
    if found is not None:
        yield found
