"""Products of matrices on a GPU: the backend of each, chosen by its size and by availability.

Small ones: the engine's own kernel (``gemm.py``). Large ones: cuBLASLt (``cublaslt.py``), which may be
captured into a CUDA graph as the own kernel may. Where cuBLASLt is not found: CuPy's matmul, which no capture
allows, so the own kernel within one. Integers: CuPy's matmul, which has a kernel for them.
"""

from __future__ import annotations

import logging
from functools import cache
from math import prod
from typing import Any

import cupy

from engine.core.values import bfloat
from engine.kernels import choice
from engine.kernels.cupy.defaults import default
from engine.kernels.cupy.linalg import gemm

Array = Any
_log = logging.getLogger(__name__)

# Multiplications up to which the own kernel serves. An estimate, to be timed on a GPU.
OWN = 1 << 21


def product(a: Array, b: Array, out: Array = None) -> Array:
    """matmul(a, b) on arrays of CuPy; uint16 is bfloat16.

    Args:
        a, b: as matmul takes them: vectors, matrices, or matrices with leading dimensions.
        out: the array of the result, with any strides; must not overlap a or b.

    Raises:
        ValueError: shapes that do not fit, as matmul raises it.
    """
    alike = a.dtype == b.dtype and (out is None or out.dtype == a.dtype)
    if choice.kernels.get() == "numpy" or not (alike and a.ndim and b.ndim and gemm.serves(a.dtype)):
        return cupy.matmul(a, b, out=out)
    if not _compiles():
        return _plain(a, b, out)
    left = a[None] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    into = out
    if out is not None and a.ndim == 1:
        into = into[..., None] if b.ndim == 1 else into[..., None, :]
    if out is not None and b.ndim == 1:
        into = into[..., None]
    made = _matrices(left, right, into)
    if out is not None:
        return out
    if a.ndim == 1:
        made = made[..., 0, :]
    return made[..., 0] if b.ndim == 1 else made


def _plain(a: Array, b: Array, out: Array) -> Array:
    """CuPy's matmul, for bfloat16 of the numbers in float32."""
    if a.dtype != "uint16":
        return cupy.matmul(a, b, out=out)
    made = bfloat.narrow(cupy, cupy.matmul(bfloat.widen(cupy, a), bfloat.widen(cupy, b)))
    if out is None:
        return made
    out[...] = made
    return out


def _matrices(a: Array, b: Array, out: Array) -> Array:
    (m, k), n = a.shape[-2:], b.shape[-1]
    if n == 1 and a.ndim == 2 and b.ndim == 2 and b.shape[0] == k and a.strides[1] == a.itemsize:
        # A matrix times a vector: each row is read once, by its own block.
        made = cupy.empty((m, 1), a.dtype) if out is None else out
        if made.shape == (m, 1):
            gemm.dots(a, cupy.broadcast_to(b[:, 0], (m, k)), made[:, 0])
            return made
    work = m * n * k * max(prod(a.shape[:-2]), prod(b.shape[:-2]))
    if work > OWN and 0 not in (m, n, k):
        found = _large(a, b, out)
        if found is not None:
            return found
    return gemm.product(a, b, out)


def _large(a: Array, b: Array, out: Array) -> Array | None:
    """The product by a library; None where the own kernel has to do."""
    from engine.kernels.cupy.linalg import cublaslt

    library = cublaslt.found()
    if library is not None:
        return library.product(a, b, out)
    if a.dtype.name == "uint16" or cupy.cuda.get_current_stream().is_capturing():
        return None
    return cupy.matmul(a, b, out=out)


@cache
def _compiles() -> bool:
    """Whether the own kernel can be compiled here; if not, the reason is logged."""
    try:
        one = cupy.empty((1, 1), "float32")
        gemm.product(one, one)
    except cupy.cuda.compiler.CompileException as error:
        _log.warning(
            "kernels: products were not compiled for the GPU, CuPy's functions compute instead: %s",
            str(error).strip()[:400],
        )
        return False
    return True


def matmul_v2(xp: Any, x: Array, y: Array, *, trans_x: bool = False, trans_y: bool = False) -> Array:
    """Matrix product over the last two dimensions, broadcast over the others."""
    if x.dtype != y.dtype or not (x.ndim and y.ndim):
        return default("matmul_v2")(xp, x, y, trans_x=trans_x, trans_y=trans_y)
    x = x.swapaxes(-1, -2) if trans_x and x.ndim > 1 else x
    y = y.swapaxes(-1, -2) if trans_y and y.ndim > 1 else y
    if y.ndim == 2 and x.ndim > 2 and x.flags.c_contiguous:  # one product of all rows
        return product(x.reshape(-1, x.shape[-1]), y).reshape(*x.shape[:-1], y.shape[1])
    return product(x, y)


# Their default kernels come here for the product itself; as overrides they get bfloat16 as its bits.
bmm, mul, product_of_rows = default("bmm"), default("mul"), default("product_of_rows")


def addmm(xp: Any, input: Array, x: Array, y: Array, *, alpha: float = 1.0, beta: float = 1.0) -> Array:
    """beta * input + alpha * (x @ y), in one launch where the own kernel serves."""
    fits = x.ndim == y.ndim == 2 and input.ndim in (1, 2) and x.shape[1] == y.shape[0]
    alike = input.dtype == x.dtype == y.dtype and gemm.serves(x.dtype)
    shape = (x.shape[0], y.shape[1]) if fits else ()
    pairs = zip(reversed(input.shape), reversed(shape), strict=False)
    if not fits or not alike or any(a not in (1, b) for a, b in pairs):
        return default("addmm")(xp, input, x, y, alpha=alpha, beta=beta)
    if x.size * y.shape[1] > OWN:
        from engine.kernels.cupy.linalg import cublaslt

        library = cublaslt.found()
        if library is None and not cupy.cuda.get_current_stream().is_capturing():
            return default("addmm")(xp, input, x, y, alpha=alpha, beta=beta)
        if library is not None:
            return library.product(x, y, None, alpha, beta, input)
    return gemm.product(x, y, None, alpha, beta, input)


def dot(xp: Any, x: Array, y: Array) -> Array:
    """The sum of products of two vectors, or of corresponding rows."""
    if x.ndim not in (1, 2) or x.shape != y.shape or x.dtype != y.dtype or not gemm.serves(x.dtype):
        return default("dot")(xp, x, y)
    made = cupy.empty(x.shape[:-1], x.dtype)
    a, b, into = (x, y, made) if x.ndim == 2 else (x[None], y[None], made.reshape(1))
    gemm.dots(a, b, into)
    return made


def squared_l2_norm(xp: Any, x: Array) -> Array:
    """Sum of squares over everything, as one element."""
    if not gemm.serves(x.dtype):
        return default("squared_l2_norm")(xp, x)
    flat, made = x.reshape(1, -1), cupy.empty(1, x.dtype)
    return gemm.dots(flat, flat, made)


def mv(xp: Any, x: Array, vec: Array) -> Array:
    """A matrix times a vector."""
    if x.ndim != 2 or vec.ndim != 1 or x.dtype != vec.dtype or x.shape[1] != vec.shape[0]:
        return default("mv")(xp, x, vec)
    return product(x, vec)
