"""cuBLASLt through ctypes: products of matrices that may be captured into CUDA graphs.

CuPy's own calls of cuBLAS refuse capture. Here the handle is the engine's, the stream is an argument of each
call, and a workspace is an array like any other. float32 is computed as such; with ``CUPY_TF32=1``, the
variable that CuPy's own products follow, in TF32. Splits of k that add in another order each time are
excluded, so the same product gives the same bits on one kind of GPU.

Source: cublasLt.h of CUDA 13.0 and https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api. Its numbers
are the same in CUDA 12.
"""

from __future__ import annotations

import ctypes
import logging
import os
from collections import OrderedDict
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

import cupy
import numpy as np

from engine.core.errors import DeviceError
from engine.kernels.cupy import libraries
from engine.kernels.cupy.linalg import gemm

Array = Any
_log = logging.getLogger(__name__)

# cudaDataType_t, cublasComputeType_t, cublasOperation_t
R_32F, R_64F, R_16F, R_16BF, C_32F, C_64F = 0, 1, 2, 14, 4, 5
COMPUTE_32F, COMPUTE_64F, COMPUTE_32F_FAST_TF32 = 68, 70, 77
OP_N, OP_T = 0, 1
# cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t, cublasLtMatmulPreferenceAttributes_t
DESC_TRANSA, DESC_TRANSB, DESC_EPILOGUE, DESC_BIAS_POINTER = 3, 4, 7, 8
LAYOUT_BATCH_COUNT, LAYOUT_STRIDED_BATCH_OFFSET = 5, 6
PREF_MAX_WORKSPACE_BYTES, PREF_REDUCTION_SCHEME_MASK, PREF_MIN_ALIGNMENT = 1, 3, (5, 6, 7, 8)
EPILOGUE_DEFAULT, EPILOGUE_BIAS = 1, 4
# Parts of k are stored in the computing type and added by a second kernel, or there are none.
REDUCTION_SCHEME_COMPUTE_TYPE = 2

WORKSPACE = 32 << 20  # bytes that an algorithm may ask for, at most
_CACHED = 512  # products whose descriptors are cached

# Elements, computing type, alpha and beta, by dtype.
_KINDS = {
    "float32": (R_32F, COMPUTE_32F, R_32F),
    "float64": (R_64F, COMPUTE_64F, R_64F),
    "float16": (R_16F, COMPUTE_32F, R_32F),
    "uint16": (R_16BF, COMPUTE_32F, R_32F),
    "complex64": (C_32F, COMPUTE_32F, C_32F),
    "complex128": (C_64F, COMPUTE_64F, C_64F),
}
_SCALARS = {R_32F: np.float32, R_64F: np.float64, C_32F: np.complex64, C_64F: np.complex128}

_V, _I, _SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cublasLtCreate": (_V,),
    "cublasLtDestroy": (_V,),
    "cublasLtMatmulDescCreate": (_V, _I, _I),
    "cublasLtMatmulDescDestroy": (_V,),
    "cublasLtMatmulDescSetAttribute": (_V, _I, _V, _SIZE),
    "cublasLtMatrixLayoutCreate": (_V, _I, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int64),
    "cublasLtMatrixLayoutDestroy": (_V,),
    "cublasLtMatrixLayoutSetAttribute": (_V, _I, _V, _SIZE),
    "cublasLtMatmulPreferenceCreate": (_V,),
    "cublasLtMatmulPreferenceDestroy": (_V,),
    "cublasLtMatmulPreferenceSetAttribute": (_V, _I, _V, _SIZE),
    "cublasLtMatmulAlgoGetHeuristic": (_V, _V, _V, _V, _V, _V, _V, _I, _V, _V),
    "cublasLtMatmul": (_V, _V, _V, _V, _V, _V, _V, _V, _V, _V, _V, _V, _V, _V, _SIZE, _V),
}
_STATUS = {
    1: "NOT_INITIALIZED",
    3: "ALLOC_FAILED",
    7: "INVALID_VALUE",
    8: "ARCH_MISMATCH",
    11: "MAPPING_ERROR",
    13: "EXECUTION_FAILED",
    14: "INTERNAL_ERROR",
    15: "NOT_SUPPORTED",
    16: "LICENSE_ERROR",
}


class _Found(ctypes.Structure):
    """``cublasLtMatmulHeuristicResult_t``."""

    _fields_ = (
        ("algo", ctypes.c_uint64 * 8),
        ("workspace", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


class Operand(NamedTuple):
    """A matrix as cuBLASLt sees it, columns first: ``turned`` ones are multiplied transposed.

    ``step`` is the distance of the matrices of a batch in elements, 0 for one that all have in common.
    """

    rows: int
    columns: int
    distance: int
    turned: bool
    step: int


def operand(rows: int, columns: int, strides: tuple[int, int], step: int) -> Operand | None:
    """The layout of a matrix of ``rows`` and ``columns``, with strides in elements; None if neither its rows
    nor its columns are contiguous. A matrix by rows is its transposed by columns."""
    down, across = strides
    if (across == 1 or columns == 1) and (down >= columns or rows == 1):
        return Operand(columns, rows, max(columns, down if rows > 1 else 1, 1), False, step)
    if (down == 1 or rows == 1) and (across >= rows or columns == 1):
        return Operand(rows, columns, max(rows, across if columns > 1 else 1, 1), True, step)
    return None


class _Key(NamedTuple):
    """The properties that select a product's algorithm: equal keys run the same one."""

    device: int
    dtype: str
    a: Operand
    b: Operand
    out: Operand
    batches: int
    alignments: tuple[int, ...]
    bias: bool


class _Product:
    """The descriptors of a product and the algorithm for it; freed with it."""

    def __init__(self, library: Library, handle: Any, key: _Key, tf32: bool) -> None:
        self._library, self._made = library, list[tuple[str, Any]]()
        kind, compute, scale = _KINDS[key.dtype]
        if tf32 and compute == COMPUTE_32F and kind in (R_32F, C_32F):
            compute = COMPUTE_32F_FAST_TF32
        self.number = _SCALARS[scale]
        try:
            self.operation = self._create("MatmulDesc", compute, scale)
            for attribute, each in ((DESC_TRANSA, key.a), (DESC_TRANSB, key.b)):
                self.set(attribute, ctypes.c_int32(OP_T if each.turned else OP_N))
            if key.bias:
                self.set(DESC_EPILOGUE, ctypes.c_uint32(EPILOGUE_BIAS))
            self.layouts = [self._layout(kind, each, key.batches) for each in (key.a, key.b, key.out)]
            self.found = self._choose(handle, key)
        except BaseException:
            self.free()
            raise

    def set(self, attribute: int, value: Any) -> None:
        """Set an attribute of the operation."""
        self._library.set("MatmulDesc", self.operation, attribute, value)

    def _create(self, what: str, *values: Any) -> Any:
        made = ctypes.c_void_p()
        self._library.call(f"cublasLt{what}Create", ctypes.byref(made), *values)
        self._made.append((what, made))
        return made

    def _layout(self, kind: int, each: Operand, batches: int) -> Any:
        made = self._create("MatrixLayout", kind, each.rows, each.columns, each.distance)
        if batches > 1:
            self._library.set("MatrixLayout", made, LAYOUT_BATCH_COUNT, ctypes.c_int32(batches))
            self._library.set("MatrixLayout", made, LAYOUT_STRIDED_BATCH_OFFSET, ctypes.c_int64(each.step))
        return made

    def _choose(self, handle: Any, key: _Key) -> _Found | None:
        """The algorithm that cuBLASLt thinks best; None where it has none."""
        preference = self._create("MatmulPreference")
        values = {
            PREF_MAX_WORKSPACE_BYTES: ctypes.c_uint64(WORKSPACE),
            PREF_REDUCTION_SCHEME_MASK: ctypes.c_uint32(REDUCTION_SCHEME_COMPUTE_TYPE),
        }
        for attribute, least in zip(PREF_MIN_ALIGNMENT, (*key.alignments, key.alignments[-1]), strict=True):
            values[attribute] = ctypes.c_uint32(least)
        for attribute, value in values.items():
            self._library.set("MatmulPreference", preference, attribute, value)
        found, count = _Found(), ctypes.c_int()
        a, b, out = self.layouts
        status = self._library.status(
            "cublasLtMatmulAlgoGetHeuristic",
            handle,
            self.operation,
            a,
            b,
            out,
            out,
            preference,
            1,
            ctypes.byref(found),
            ctypes.byref(count),
        )
        return found if status == 0 and count.value and found.state == 0 else None

    def free(self) -> None:
        """Destroy the created objects, last first."""
        while self._made:
            what, made = self._made.pop()
            self._library.status(f"cublasLt{what}Destroy", made)


class Library:
    """cuBLASLt as it was loaded: a handle for each GPU, and the descriptors of the last products."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._functions = ctypes.CDLL(path)
        for name, arguments in _SIGNATURES.items():
            function = getattr(self._functions, name)
            function.argtypes, function.restype = arguments, ctypes.c_int
        self.tf32 = os.environ.get("CUPY_TF32", "0") not in ("", "0")
        self._handles: dict[int, Any] = {}
        self._products: OrderedDict[_Key, _Product] = OrderedDict()
        self._lock = Lock()  # descriptors are changed by a product with a bias
        self._logged = False

    def status(self, name: str, *values: Any) -> int:
        """The status that a function returns, 0 for success."""
        return int(getattr(self._functions, name)(*values))

    def call(self, name: str, *values: Any) -> None:
        """Call a function. Raises DeviceError for any status but success."""
        status = self.status(name, *values)
        if status:
            raise DeviceError(
                f"matmul: {name} of {self.path} answers {status} ({_STATUS.get(status, 'unknown')}); check "
                "that its CUDA version fits the driver with nvidia-smi, or set MODEL_STUDIO_KERNELS=numpy"
            )

    def set(self, what: str, made: Any, attribute: int, value: Any) -> None:
        """Set an attribute of a descriptor to a number of ctypes."""
        self.call(f"cublasLt{what}SetAttribute", made, attribute, ctypes.byref(value), ctypes.sizeof(value))

    def product(
        self,
        a: Array,
        b: Array,
        out: Array = None,
        alpha: float = 1.0,
        beta: float = 0.0,
        other: Array = None,
    ) -> Array:
        """As :func:`gemm.product`: alpha * a @ b + beta * other."""
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        if a.shape[-1] != b.shape[-2]:
            raise ValueError(f"product: {list(a.shape)} @ {list(b.shape)}: inner dimensions differ")
        if out is not None and out.shape != shape:
            raise ValueError(f"product: out is {list(out.shape)}; it must be {list(shape)}")
        if out is None:
            out = cupy.empty(shape, a.dtype)
        if 0 in (*shape, a.shape[-1]):
            out[...] = 0 if other is None else beta * other  # nothing to add up
            return out
        target = out if _is_operand(out) else cupy.empty(shape, a.dtype)
        bias = None
        if other is not None and beta == 1 and other.size == shape[-1] and other.shape[-1:] == shape[-1:]:
            bias = cupy.ascontiguousarray(other)
            beta = 0.0
        elif other is not None:
            target[...] = other
        else:
            beta = 0.0
        if not self._run(a, b, target, alpha, beta, bias):
            self._tell(a, b)
            return gemm.product(a, b, out, alpha, 1.0 if bias is not None else beta, other)
        if target is not out:
            out[...] = target
        return out

    def _run(self, a: Array, b: Array, out: Array, alpha: float, beta: float, bias: Array) -> bool:
        """out = alpha * a @ b + beta * out, plus a bias; False where cuBLASLt has no algorithm for it."""
        if _operand(out, out.shape[:-2]).turned:
            if bias is not None:
                raise ValueError("product: a bias needs a result in row-major order")
            a, b, out = b.swapaxes(-1, -2), a.swapaxes(-1, -2), out.swapaxes(-1, -2)
        lead = out.shape[:-2]
        a, b = _fitted(a, lead), _fitted(b, lead)
        device = cupy.cuda.runtime.getDevice()
        # By columns everything is transposed: out.T = b.T @ a.T.
        key = _Key(
            device,
            a.dtype.name,
            _operand(b, lead),
            _operand(a, lead),
            _operand(out, lead),
            int(np.prod(lead, dtype=np.int64)),
            tuple(_alignment(each) for each in (b, a, out)),
            bias is not None,
        )
        with self._lock:
            handle = self._handle(device)
            made = self._prepared(handle, key)
            if made.found is None:
                return False
            if bias is not None:
                made.set(DESC_BIAS_POINTER, ctypes.c_void_p(bias.data.ptr))
            scale = np.array([alpha, beta], made.number)
            room = cupy.empty(made.found.workspace, "uint8") if made.found.workspace else None
            first, second = scale.ctypes.data, scale.ctypes.data + scale.itemsize
            of_b, of_a, of_out = made.layouts
            self.call(
                "cublasLtMatmul",
                handle,
                made.operation,
                first,
                b.data.ptr,
                of_b,
                a.data.ptr,
                of_a,
                second,
                out.data.ptr,
                of_out,
                out.data.ptr,
                of_out,
                ctypes.byref(made.found),
                0 if room is None else room.data.ptr,
                made.found.workspace,
                cupy.cuda.get_current_stream().ptr,
            )
        return True

    def _handle(self, device: int) -> Any:
        if device not in self._handles:
            made = ctypes.c_void_p()
            self.call("cublasLtCreate", ctypes.byref(made))
            self._handles[device] = made
        return self._handles[device]

    def _prepared(self, handle: Any, key: _Key) -> _Product:
        made = self._products.get(key)
        if made is None:
            made = self._products[key] = _Product(self, handle, key, self.tf32)
            if len(self._products) > _CACHED:
                self._products.popitem(last=False)[1].free()
        else:
            self._products.move_to_end(key)
        return made

    def _tell(self, a: Array, b: Array) -> None:
        if not self._logged:
            self._logged = True
            _log.warning(
                "kernels: cuBLASLt has no algorithm for %s %s @ %s; the engine's own kernel computes it",
                a.dtype,
                list(a.shape),
                list(b.shape),
            )

    def close(self) -> None:
        """Free all descriptors and handles."""
        with self._lock:
            while self._products:
                self._products.popitem()[1].free()
            while self._handles:
                self.status("cublasLtDestroy", self._handles.popitem()[1])


def _step(x: Array, lead: tuple[int, ...]) -> int | None:
    """The distance of the matrices of a batch in elements; None if it is not one number."""
    walks = gemm.walks(lead, gemm.leading(x.shape, x.strides, lead))
    if len(walks) > 1:
        return None
    return int(walks[0][1] // x.itemsize) if walks else 0


def _operand(x: Array, lead: tuple[int, ...]) -> Any:
    """The layout of the matrices of an array; None if they have to be copied."""
    step = _step(x, lead)
    strides = (x.strides[-2] // x.itemsize, x.strides[-1] // x.itemsize)
    return None if step is None else operand(x.shape[-2], x.shape[-1], strides, step)


def _is_operand(x: Array) -> bool:
    return _operand(x, x.shape[:-2]) is not None


def _fitted(x: Array, lead: tuple[int, ...]) -> Array:
    """x, or a copy of it in a layout that cuBLASLt takes."""
    if _operand(x, lead) is not None:
        return x
    whole = cupy.ascontiguousarray(x)
    if _operand(whole, lead) is not None:
        return whole
    return cupy.ascontiguousarray(cupy.broadcast_to(whole, (*lead, *x.shape[-2:])))


def _alignment(x: Array) -> int:
    """The largest power of two up to 16, which the widest loads need, that an array's address divides by."""
    return int(min(16, x.data.ptr & -x.data.ptr))


@cache
def found() -> Library | None:
    """cuBLASLt of the CUDA version that CuPy runs on; None if it is not found, which is logged once."""
    tried = []
    for path in libraries.candidates("cublasLt", "cublas"):
        try:
            return Library(path)
        except (OSError, AttributeError) as error:
            tried.append(f"{path}: {error}")
    _log.warning(
        "kernels: cuBLASLt was not found, so large products are CuPy's, and the engine's own within a CUDA "
        "graph; install nvidia-cublas-cu12 or set CUDA_PATH (%s)",
        "; ".join(tried) or "no file of its name",
    )
    return None
