"""The module of the stand-in: every name that CuPy has, with its arguments, and no other."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from tests.cupy_stand_in import cuda, memory, raw
from tests.cupy_stand_in.array import computed, ndarray, on_host
from tests.cupy_stand_in.operators import give_operators
from tests.cupy_stand_in.recorded import names, require
from tests.cupy_stand_in.ufuncs import ufunc
from tests.cupy_stand_in.work import library, spoil, staged, waits, write

# Answered on the host from shapes and types.
_HOST = {
    "shape",
    "ndim",
    "size",
    "result_type",
    "can_cast",
    "promote_types",
    "broadcast_shapes",
    "issubdtype",
    "isscalar",
    "iscomplexobj",
    "isrealobj",
    "isfortran",
    "common_type",
    "min_scalar_type",
    "may_share_memory",
    "shares_memory",
    "typename",
    "mintypecode",
    "base_repr",
    "binary_repr",
    "get_printoptions",
    "set_printoptions",
    "printoptions",
    "array2string",
    "array_repr",
    "array_str",
    "iterable",
}
# The shape of the result depends on values, so the host waits for them.
_WAITS = {
    "nonzero",
    "argwhere",
    "flatnonzero",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "extract",
    "compress",
    "trim_zeros",
    "bincount",
    "histogram",
    "histogram2d",
    "histogramdd",
    "union1d",
    "intersect1d",
    "setdiff1d",
    "setxor1d",
    "delete",
    "array_equiv",
    "matrix_rank",
    "lstsq",
    "tensorinv",
    "tensorsolve",
    "matrix_power",
    "interp",
    "roots",
    "poly",
    "polyfit",
    "unwrap",
}


def _wrapped(path: str, name: str, allowed: Any) -> Any:
    numpy_module: Any = np
    for part in filter(None, path.split(".")):
        numpy_module = getattr(numpy_module, part, None)
    mine = getattr(numpy_module, name, None)
    full = f"{path}.{name}" if path else name

    def call(*args: Any, **kwargs: Any) -> Any:
        require(full, allowed, args, kwargs)
        if mine is None:
            raise NotImplementedError(f"the stand-in has no cupy.{full}: add it to its module.py")
        if name in _HOST:
            return mine(*[_plain(a) for a in args], **{k: _plain(v) for k, v in kwargs.items()})
        given = [on_host(each, full) for each in args]
        named = {key: on_host(each, full) for key, each in kwargs.items()}
        if name in _WAITS or (name == "where" and len(args) == 1):
            waits()
        arrays = [*_devices(args), *_devices(kwargs.values())]
        library(name, arrays, path)
        if kwargs.get("out") is not None:
            write(lambda: mine(*given, **named))
            return kwargs["out"]
        return computed(lambda: mine(*given, **named), arrays)

    call.__name__ = name
    return call


def _devices(values: Iterable[Any]) -> Iterator[ndarray]:
    """The arrays of the device among arguments, lists written out."""
    for value in values:
        if isinstance(value, ndarray):
            yield value
        elif type(value) in (list, tuple):
            yield from _devices(value)


def _plain(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value._host
    return type(value)([_plain(v) for v in value]) if type(value) in (list, tuple) else value


def _array(obj: Any, dtype: Any = None, copy: Any = True, order: str | None = "K", ndmin: int = 0) -> ndarray:
    if isinstance(obj, ndarray):
        host = obj._host
        made = lambda: np.array(host, dtype, copy=True if copy else None, order=order, ndmin=ndmin)  # type: ignore[call-overload]  # noqa: E731
        found = made()
        if found is host:
            return obj
        if np.may_share_memory(found, host):
            return obj._view(found)
        return computed(made)  # type: ignore[no-any-return]
    if isinstance(obj, (list, tuple)) and _has_device(obj):
        plain = _plain(obj)
        return computed(lambda: np.array(plain, dtype, order=order, ndmin=ndmin))  # type: ignore[call-overload,no-any-return]
    found = np.array(obj, dtype, order="C" if order == "K" else order, ndmin=ndmin)  # type: ignore[call-overload]
    if not found.ndim:  # an argument of a kernel that fills
        return _full((), found[()], found.dtype)
    staged()
    return ndarray._of(found)


def _has_device(value: Any) -> bool:
    return isinstance(value, ndarray) or (isinstance(value, (list, tuple)) and any(map(_has_device, value)))


def _asarray(
    a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False
) -> ndarray:
    return _array(a, dtype, bool(copy), order or "K")


def _ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    return _array(a, dtype, False, "C", 1)


def _asfortranarray(a: Any, dtype: Any = None) -> ndarray:
    return _array(a, dtype, False, "F", 1)


def _asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> Any:
    return a.get(stream, order, out, blocking) if isinstance(a, ndarray) else np.asarray(a)


def _full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> ndarray:
    if dtype is None:
        dtype = fill_value.dtype if hasattr(fill_value, "dtype") else np.asarray(fill_value).dtype
    made = ndarray(shape, dtype, order=order)
    made.fill(fill_value)
    return made


def _full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> ndarray:
    made = _empty_like(a, dtype, order, subok, shape)
    made.fill(fill_value)
    return made


def _empty(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    # Memory of the device is not cleared: reads before writes must show.
    made = ndarray(shape, dtype, order=order)
    spoil(made._host)
    return made


def _empty_like(
    prototype: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> ndarray:
    like = np.empty_like(prototype._host, dtype, order, True, shape)  # type: ignore[call-overload]
    place = memory.alloc(like.nbytes)
    made = ndarray(like.shape, like.dtype, place, like.strides)
    spoil(made._host)
    return made


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = None) -> None:
    given = on_host(src, "copyto")
    kind = given.dtype if isinstance(given, (np.ndarray, np.generic)) else None
    if kind is not None and not np.can_cast(kind, dst.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast {kind} to {dst.dtype} in {casting} casting mode")
    chosen = True if where is None else on_host(where, "copyto")
    write(lambda: np.copyto(dst._host, given, "unsafe", chosen))


def _concatenate(
    tup: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    if not isinstance(tup, ndarray) and not all(isinstance(each, ndarray) for each in tup):
        raise TypeError("Only cupy arrays can be concatenated")
    hosts = [each._host for each in tup]
    joined = lambda: np.concatenate(hosts, axis, dtype=dtype, casting=casting)  # type: ignore[call-overload]  # noqa: E731
    if out is None:
        return computed(joined)
    write(lambda: out._host.__setitem__(..., joined()))
    return out


def _take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> Any:
    return a.take(indices, axis, out)


def _take_along_axis(a: Any, indices: Any, axis: Any) -> Any:
    # An index that is out of range wraps around, as in each index of arrays.
    host, places = a._host, on_host(indices, "take_along_axis")
    if axis is None:
        return computed(lambda: np.take_along_axis(host, places % host.size, None), [a, indices])
    return computed(lambda: np.take_along_axis(host, places % host.shape[axis], axis), [a, indices])


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    if isinstance(repeats, (ndarray, np.ndarray)):
        raise ValueError("cupy.repeat: repeats must be an int or a list of int, not an array")
    host = a._host
    return computed(lambda: np.repeat(host, repeats, axis))


def _get_array_module(*args: Any) -> Any:
    return cupy() if any(isinstance(a, ndarray) for a in args) else np


_OWN = {
    "array": _array,
    "asarray": _asarray,
    "asanyarray": _asarray,
    "ascontiguousarray": _ascontiguousarray,
    "asfortranarray": _asfortranarray,
    "asnumpy": _asnumpy,
    "full": _full,
    "full_like": _full_like,
    "empty": _empty,
    "empty_like": _empty_like,
    "copyto": _copyto,
    "concatenate": _concatenate,
    "take": _take,
    "repeat": _repeat,
    "take_along_axis": _take_along_axis,
    "get_array_module": _get_array_module,
    "get_default_memory_pool": lambda: memory.pool,
    "get_default_pinned_memory_pool": lambda: memory.pinned_pool,
    "show_config": lambda: None,
    "is_available": lambda: True,
}


def _cuda() -> Any:
    made = cuda.module()
    made.compiler = types.ModuleType("cupy.cuda.compiler")
    made.compiler.CompileException = raw.CompileException
    return made


@cache
def cupy() -> Any:
    """The module ``cupy``."""
    recorded = names()
    give_operators()
    made: dict[str, Any] = {}
    for path in ("", "linalg", "fft", "random", "lib.stride_tricks"):
        made[path] = types.ModuleType(f"cupy.{path}" if path else "cupy")
        for name, allowed in recorded["modules"][path]["functions"].items():
            own = _OWN.get(name) if not path else None
            setattr(made[path], name, own or _wrapped(path, name, allowed))
    top = made[""]
    for name in recorded["modules"][""]["others"]:
        if hasattr(np, name) and name not in ("lib", "linalg", "fft", "random", "ndarray", "ufunc"):
            setattr(top, name, getattr(np, name))
    for name, facts in recorded["ufuncs"].items():
        setattr(top, name, ufunc(name, facts["nin"], facts["nout"], facts["types"]))
    top.linalg, top.fft, top.random = made["linalg"], made["fft"], made["random"]
    top.lib = types.ModuleType("cupy.lib")
    top.lib.stride_tricks = made["lib.stride_tricks"]
    top.ndarray, top.ufunc, top.cuda, top.__version__ = ndarray, ufunc, _cuda(), recorded["version"]
    top.RawModule, top.RawKernel = raw.RawModule, raw.RawKernel
    for name in ("ElementwiseKernel", "ReductionKernel"):
        setattr(top, name, cuda.refused(name))
    return top


def gpu() -> bool:
    """Whether CuPy is installed and finds a GPU."""
    try:
        import cupy
    except ImportError:
        return False
    try:
        return bool(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


@contextmanager
def replaced(**modules: Any) -> Iterator[None]:
    """``import cupy`` gives ``modules`` within the block; the engine's backend for GPUs is imported anew."""
    import sys

    import engine.kernels

    before = {
        name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] in ("cupy", "cupyx")
    }
    ours = "engine.kernels.cupy"
    backend = {name: sys.modules.pop(name) for name in list(sys.modules) if f"{name}.".startswith(f"{ours}.")}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in modules:
            del sys.modules[name]
        if f"{ours}.overrides" in sys.modules:
            sys.modules[f"{ours}.overrides"].unregister()
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{ours}.")]:
            del sys.modules[name]
        if hasattr(engine.kernels, "cupy"):
            del engine.kernels.cupy
        sys.modules.update(before)
        sys.modules.update(backend)
        if f"{ours}.overrides" in backend:
            backend[f"{ours}.overrides"].register()


@contextmanager
def installed() -> Iterator[Any]:
    """``import cupy`` gives the stand-in within the block, and the engine's GPU is it."""
    top = cupy()
    with replaced(cupy=top, cupyx=cuda.cupyx()):
        try:
            yield top
        finally:
            memory.set_allocator(memory.pool.malloc)
            memory.set_pinned_memory_allocator()
