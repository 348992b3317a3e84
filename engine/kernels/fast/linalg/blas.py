"""Products of matrices within generated kernels: the address of the BLAS function that NumPy itself calls."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from threadpoolctl import threadpool_info

from engine.kernels.fast.vectors import F32, I32, I64, POINTER, Builder, Value, constant, element

# CBLAS_ORDER and CBLAS_TRANSPOSE
_ROW_MAJOR, AS_IT_IS, TRANSPOSED = 101, 111, 112

# Names in the OpenBLAS of NumPy's wheels, then in others; those that end in 64_ take integers of 64 bits.
_NAMES = ("scipy_cblas_{}gemm64_", "scipy_cblas_{}gemm", "cblas_{}gemm64_", "cblas_{}gemm")


class Gemm(NamedTuple):
    """``cblas_sgemm`` or ``cblas_dgemm``: its address in this process and the bits of its integers."""

    address: int
    bits: int


@lru_cache(maxsize=4)
def gemm(letter: str) -> Gemm | None:
    """The product of matrices of floats ("s") or doubles ("d"); None where NumPy's BLAS is not OpenBLAS."""
    near = str(Path(np.__file__).resolve().parent.parent / "numpy")
    found = [i for i in threadpool_info() if i["internal_api"] == "openblas"]
    found.sort(key=lambda info: not str(info["filepath"]).startswith(near))
    for info in found[:1]:
        library = ctypes.CDLL(info["filepath"])
        for name in _NAMES:
            function = getattr(library, name.format(letter), None)
            if function is not None:
                address = ctypes.cast(function, ctypes.c_void_p).value
                assert address is not None
                return Gemm(address, 64 if name.endswith("64_") else 32)
    return None


def product(
    builder: Builder,
    function: Value,
    bits: int,
    kind: ir.Type,
    sizes: tuple[Value, Value, Value],
    a: Value,
    b: Value,
    c: Value,
    add: bool,
    apart: Value | None = None,
) -> None:
    """c = a @ b, or c += a @ b with ``add``, of contiguous matrices by rows.

    ``sizes`` are the rows of a, the columns of b and their common dimension, 64-bit integers; ``function`` is
    the address in a kernel's argument, ``kind`` float or double. The rows of a may lie ``apart``: so many
    elements from one to the next.
    """
    _, columns, inner = sizes
    plain = I32(AS_IT_IS), I32(AS_IT_IS)
    steps = (inner if apart is None else apart, columns, columns)
    call(builder, function, bits, kind, plain, sizes, (a, b, c), steps, add)


def call(
    builder: Builder,
    function: Value,
    bits: int,
    kind: ir.Type,
    flags: Sequence[Value],
    sizes: Sequence[Value],
    places: Sequence[Value],
    steps: Sequence[Value],
    add: bool = False,
    factor: Value | None = None,
) -> None:
    """The same for matrices a, b, c at ``places`` with ``steps`` elements from one row to the next; the
    product is multiplied with ``factor`` where there is one.

    ``flags`` mark for a and b whether they are transposed (CBLAS_TRANSPOSE, 32 bits): then the step is that
    from one column to the next.
    """
    whole = I64 if bits == 64 else I32
    numbers = [n if bits == 64 else builder.trunc(n, I32) for n in (*sizes, *steps)]
    rows, columns, inner, of_a, of_b, of_c = numbers
    one = element(kind)
    sort = ir.FunctionType(
        ir.VoidType(),
        [I32, I32, I32, whole, whole, whole, one, POINTER, whole, POINTER, whole, one, POINTER, whole],
    )
    builder.call(
        builder.inttoptr(function, sort.as_pointer()),
        [
            I32(_ROW_MAJOR),
            *flags,
            rows,
            columns,
            inner,
            constant(one, 1.0) if factor is None else factor,
            places[0],
            of_a,
            places[1],
            of_b,
            constant(one, 1.0 if add else 0.0),
            places[2],
            of_c,
        ],
    )


def letter(kind: ir.Type) -> str:
    """How BLAS names float and double."""
    return "s" if element(kind) == F32 else "d"
