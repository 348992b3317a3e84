"""CUDA sources of the engine: read, specialised by macros, compiled at the first launch, launched.

``cuda/NAME.cu`` holds kernels of one subject; ``cuda/prelude.cuh`` precedes each. NVRTC compiles them,
in the process, when a kernel is launched for the first time; CuPy keeps the code on disk.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import cupy
import numpy as np

FOLDER = Path(__file__).parent / "cuda"
OPTIONS = ("-std=c++17", "--fmad=true")
# A product and a sum stay two operations, each rounded, as in NumPy.
EXACT = ("-std=c++17", "--fmad=false")
# Kernels that are cached, each with its macros.
_CACHED = 1024

# The types of elements that kernels know, by the name of the engine's dtype: in memory, and computed in.
TYPES: Mapping[str, tuple[str, str]] = {
    "float32": ("float", "float"),
    "float64": ("double", "double"),
    "float16": ("half_t", "float"),
    "uint16": ("bfloat_t", "float"),  # bfloat16 is stored as its bits
    "int8": ("signed char", "signed char"),
    "uint8": ("u8", "u8"),
    "int16": ("short", "short"),
    "int32": ("int", "int"),
    "int64": ("i64", "i64"),
    "bool": ("bool", "bool"),
}
FLOATING = ("float32", "float64", "float16", "uint16")


_INCLUDED = re.compile(r'^#include "(\w+\.cuh)"$', re.MULTILINE)


@lru_cache(maxsize=_CACHED)
def text(file: str) -> str:
    """The source ``cuda/file.cu``; ``#include "NAME.cuh"`` is replaced by that file of the same folder."""
    found = (FOLDER / f"{file}.cu").read_text(encoding="utf-8")
    return _INCLUDED.sub(lambda line: (FOLDER / line[1]).read_text(encoding="utf-8"), found)


@cache
def prelude() -> str:
    """The beginning of every source."""
    return (FOLDER / "prelude.cuh").read_text(encoding="utf-8")


def whole(source: str, macros: Mapping[str, Any]) -> str:
    """A source as NVRTC gets it: macros, prelude, the source itself."""
    defined = "".join(f"#define {name} {_written(value)}\n" for name, value in sorted(macros.items()))
    return f'{defined}{prelude()}\n#line 1 "source.cu"\n{source}'


def _written(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def of_type(dtype: Any) -> dict[str, str]:
    """The macros ``T`` and ``A`` for elements of a NumPy dtype."""
    stored, computed = TYPES[np.dtype(dtype).name]
    return {"T": stored, "A": computed}


class _Recording(threading.local):
    """Receives the arrays of each launch while this thread records a CUDA graph; else None."""

    note: Callable[[Sequence[Any]], None] | None = None


recording = _Recording()


class Kernel:
    """A ``extern "C" __global__`` function of a source, compiled at its first launch.

    Arguments are arrays of CuPy (contiguous where the source says so) and NumPy scalars of the parameter's
    own type (``np.int32``, ``np.int64``, ``np.float32``): Python's numbers are refused, because their width
    would be guessed. None is a pointer to nothing.
    """

    __slots__ = ("_function", "_options", "code", "name")

    def __init__(self, code: str, name: str, options: tuple[str, ...] = OPTIONS) -> None:
        self.code, self.name, self._options = code, name, options
        self._function: Any = None

    def __call__(
        self, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], shared: int = 0
    ) -> None:
        """Launch ``grid`` blocks of ``block`` threads on the current stream; ``shared`` bytes of dynamic
        shared memory each. An empty grid launches nothing."""
        if 0 in grid:
            return
        for value in arguments:
            if value is not None and not isinstance(value, (cupy.ndarray, np.generic)):
                raise TypeError(f"{self.name}: an argument is {value!r}; give an array or a NumPy scalar")
        if self._function is None:
            module = cupy.RawModule(code=self.code, options=self._options)
            self._function = module.get_function(self.name)
        if recording.note is not None:
            recording.note([value for value in arguments if isinstance(value, cupy.ndarray)])
        self._function(tuple(grid), tuple(block), tuple(arguments), shared_mem=shared)


@lru_cache(maxsize=_CACHED)
def _kernel(file: str, name: str, macros: tuple[tuple[str, Any], ...]) -> Kernel:
    return Kernel(whole(text(file), dict(macros)), name)


def kernel(file: str, name: str, **macros: Any) -> Kernel:
    """The kernel ``name`` of ``cuda/file.cu`` compiled with these macros; cached."""
    return _kernel(file, name, tuple(sorted(macros.items())))


@lru_cache(maxsize=_CACHED)
def generated(source: str, name: str, options: tuple[str, ...] = OPTIONS) -> Kernel:
    """The kernel ``name`` of a source that was written by a generator; cached."""
    return Kernel(whole(source, {}), name, options)


def blocks(elements: int, threads: int = 256) -> int:
    """The number of blocks whose threads cover the elements, one each."""
    return -(-elements // threads)
