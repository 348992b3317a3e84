"""``RawModule`` and ``RawKernel`` of the stand-in: CUDA sources run on the host, launches are checked.

CuPy passes on its arguments unchecked: arguments that are too few, or of another width than the kernel's
parameters, make a GPU read wild memory. Here they are refused, each with a reason.
"""

from __future__ import annotations

import ctypes
import functools
import math
import re
import threading
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from tests.cupy_stand_in import compiler, counts, orders, streams
from tests.cupy_stand_in.array import ndarray
from tests.cupy_stand_in.cuda import CUDADriverError
from tests.cupy_stand_in.memory import MemoryPointer, UnownedMemory

SHARED = 48 << 10
_launching = threading.Lock()  # the options of a launch belong to it
# The kinds that an array's numbers may have where the kernel's parameter points to numbers of a kind.
_FITS = {"f": "f", "i": "iu", "u": "iu", "b": "b", "h": "f", "w": "u"}
_WORDS = {
    "f": "floating-point",
    "i": "integer",
    "u": "integer",
    "b": "bool",
    "h": "half_t",
    "w": "bfloat_t",
    "s": "struct",
    "v": "void",
}


class WouldCrash(AssertionError):
    """CuPy would launch this, and the GPU would read or write wild memory, or hang."""


class CompileException(Exception):
    """``cupy.cuda.compiler.CompileException``: the compiler refuses the source."""

    def __init__(self, msg: str, source: str, name: str, options: Any, backend: str = "nvrtc") -> None:
        super().__init__(msg, source, name, options, backend)
        self._msg, self.source, self.name, self.options, self.backend = msg, source, name, options, backend

    def __str__(self) -> str:
        return self._msg

    def get_message(self) -> str:
        return self._msg


class _Parameter(ctypes.Structure):
    _fields_ = [("pointer", ctypes.c_int), ("kind", ctypes.c_int), ("bytes", ctypes.c_int)]


class RawModule:
    """``cupy.RawModule`` from a source."""

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Any = None,
        jitify: bool = False,
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        if not isinstance(options, tuple):
            raise TypeError(f"Argument 'options' has incorrect type (expected tuple, got {type(options)})")
        if code is None or name_expressions or jitify or enable_cooperative_groups or translate_cucomplex:
            raise NotImplementedError('the stand-in knows sources with extern "C" kernels alone')
        self.code, self.options, self.backend = code, options, backend

    @cached_property
    def _library(self) -> Any:
        reason = compiler.missing()
        if reason:
            pytest.skip(reason)
        try:
            return compiler.loaded(self.code)
        except compiler.Refused as error:
            raise CompileException(str(error), self.code, "source.cu", self.options) from None

    def compile(self, log_stream: Any = None) -> None:
        assert self._library is not None

    def get_function(self, name: str) -> RawKernel:
        if not hasattr(self._library, f"shim_launch_{name}") or not hasattr(self._library, name):
            raise CUDADriverError("CUDA_ERROR_NOT_FOUND: named symbol not found")
        kernel = RawKernel(self.code, name, self.options)
        kernel._module = self
        return kernel


class RawKernel:
    """``cupy.RawKernel``: called with the grid, the block and the arguments."""

    def __init__(
        self,
        code: str,
        name: str,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None:
        self.code, self.name, self.options, self.backend = code, name, options, backend
        self.__name__ = name
        self._module = RawModule(
            code=code,
            options=options,
            backend=backend,
            translate_cucomplex=translate_cucomplex,
            enable_cooperative_groups=enable_cooperative_groups,
            jitify=jitify,
        )

    def compile(self, log_stream: Any = None) -> None:
        self._module.compile(log_stream)

    @cached_property
    def _parameters(self) -> list[_Parameter]:
        signature = getattr(self._module._library, f"shim_signature_{self.name}")
        parameter = (_Parameter * signature(None))()
        signature(parameter)
        return list(parameter)

    @cached_property
    def _most(self) -> int:
        """The most threads of a block: NVRTC gives a kernel without bounds up to 255 registers a thread, of
        which a multiprocessor has 65536."""
        if not re.search(rf"__launch_bounds__[^;{{]*\b{self.name}\s*\(", self.code):
            return 256
        return int(getattr(self._module._library, f"shim_bounds_{self.name}")())

    @property
    def max_threads_per_block(self) -> int:
        return self._most

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0, stream: Any = None) -> None:
        self._module.get_function(self.name)
        grid, block = self._sizes("grid", grid), self._sizes("block", block)
        if block[0] * block[1] * block[2] > self._most or block[2] > 64:
            raise WouldCrash(f"{self.name}: a block of {block} threads; at most {self._most} (64 in z)")
        if grid[0] >= 1 << 31 or grid[1] >= 1 << 16 or grid[2] >= 1 << 16:
            raise WouldCrash(f"{self.name}: a grid of {grid} blocks; at most (2**31 - 1, 65535, 65535)")
        if shared_mem > SHARED:
            raise WouldCrash(f"{self.name}: {shared_mem} bytes of shared memory; at most {SHARED}")
        places = self._places(args)
        pointers = (ctypes.c_void_p * max(1, len(places)))(*[ctypes.addressof(place) for place in places])
        # A graph stores addresses, not arrays; their memory stays for the sake of this process alone.
        given = {
            number: orders.Given(value._host, isinstance(value._mem, UnownedMemory))
            for number, value in enumerate(args)
            if isinstance(value, ndarray)
        }
        arguments = given, places
        sizes = (ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block)
        counts.launch()
        compiler.launched(self.code, self.name)
        streams.work(functools.partial(self._run, arguments, pointers, *sizes, shared_mem))

    def _run(self, arguments: Any, pointers: Any, grid: Any, block: Any, shared: int) -> None:
        launch = getattr(self._module._library, f"shim_launch_{self.name}")
        with _launching:
            orders.ask(self.code, self.name, math.prod(grid) * math.prod(block), arguments[0])
            if launch(pointers, grid, block, shared):
                raise WouldCrash(f"{self.name}: {compiler.runtime().shim_failure().decode()}")

    def _sizes(self, what: str, given: Any) -> tuple[int, int, int]:
        if not isinstance(given, tuple) or not 1 <= len(given) <= 3:
            raise TypeError(f"{self.name}: {what} is {given!r}; give a tuple of one to three numbers")
        sizes = (*(int(size) for size in given), 1, 1)[:3]
        if min(sizes) < 1:
            raise CUDADriverError(f"CUDA_ERROR_INVALID_VALUE: invalid argument ({what} {given})")
        return sizes  # type: ignore[return-value]

    def _places(self, args: Any) -> list[Any]:
        if not isinstance(args, tuple):
            raise TypeError(f"{self.name}: arguments are a tuple, not {type(args).__name__}")
        if len(args) != len(self._parameters):
            raise WouldCrash(
                f"{self.name}: {len(args)} arguments for {len(self._parameters)} parameters of the kernel"
            )
        return [
            self._place(number, parameter, value)
            for number, (parameter, value) in enumerate(zip(self._parameters, args, strict=True))
        ]

    def _place(self, number: int, parameter: _Parameter, value: Any) -> Any:
        kind, where = chr(parameter.kind), f"{self.name}: argument {number}"
        wanted = f"{_WORDS[kind]} of {parameter.bytes} bytes"
        if type(value) in (bool, int, float):  # as CuPy makes them; NumPy's numbers have a width
            value = {bool: np.bool_, int: np.int64, float: np.float64}[type(value)](value)
        if parameter.pointer:
            if isinstance(value, MemoryPointer):
                return ctypes.c_void_p(value.ptr)
            if value is None:
                return ctypes.c_void_p(0)
            if not isinstance(value, ndarray):
                raise WouldCrash(f"{where} is {value!r} where the kernel takes a pointer to {wanted}")
            fits = kind in "vs" or (value.itemsize == parameter.bytes and value.dtype.kind in _FITS[kind])
            if not fits and not (parameter.bytes == 1 and value.itemsize == 1):
                raise WouldCrash(f"{where} is an array of {value.dtype}; the kernel points to {wanted}")
            return ctypes.c_void_p(value._host.ctypes.data)
        if isinstance(value, np.generic):
            if value.itemsize != parameter.bytes or (kind != "s" and value.dtype.kind not in _FITS[kind]):
                raise WouldCrash(f"{where} is {value.dtype} ({value!r}); the kernel takes {wanted}")
            return (ctypes.c_char * parameter.bytes).from_buffer_copy(value.tobytes())
        if isinstance(value, (ndarray, MemoryPointer)):
            raise WouldCrash(f"{where} is an array where the kernel takes {wanted}")
        raise TypeError(f"Unsupported type {type(value)} (in a launch of {self.name})")
