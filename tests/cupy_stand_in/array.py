"""The array of the stand-in for CuPy: it computes with NumPy, and refuses what CuPy refuses.

Sources: CuPy 14.2's documentation ("Differences between CuPy and NumPy") and ``cupy/_core/core.pyx``,
``_routines_indexing.pyx`` for what is converted, what is refused and when the host waits.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.cupy_stand_in import counts
from tests.cupy_stand_in.recorded import names, require

SCALARS = (bool, int, float, complex, np.generic)
_METHODS: dict[str, Any] = names()["classes"]["ndarray"]


def on_device(host: Any) -> Any:
    """What a NumPy function gave, as it lies on the device: numbers are arrays of no dimensions there."""
    if isinstance(host, np.ndarray):
        return ndarray._of(host)
    if isinstance(host, np.generic):
        return ndarray._of(np.asarray(host))
    if isinstance(host, tuple) and hasattr(host, "_fields"):  # results of linalg have names
        return type(host)(*[on_device(each) for each in host])
    if isinstance(host, (list, tuple)):
        return type(host)([on_device(each) for each in host])
    return host


def on_host(value: Any, where: str) -> Any:
    """An argument of a function of CuPy as NumPy's needs it. Raises TypeError for arrays of NumPy."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {np.ndarray} (in cupy.{where}: move it with cupy.asarray)")
    if type(value) in (list, tuple):
        return type(value)([on_host(each, where) for each in value])
    return value


def _index(key: Any, shape: Sequence[int]) -> Any:
    """An index for NumPy: arrays of numbers wrap around, as CuPy does not check them."""
    parts = list(key) if isinstance(key, tuple) else [key]
    used = sum(_axes(part) for part in parts)
    axis, made = 0, []
    for part in parts:
        if part is Ellipsis:
            axis += len(shape) - used
            made.append(part)
            continue
        if isinstance(part, (list, np.ndarray)) or (isinstance(part, tuple) and isinstance(key, tuple)):
            counts.to_device()
            part = np.asarray(part)
            if part.size == 0 and part.dtype != bool:
                part = part.astype(np.int32)
        elif isinstance(part, ndarray):
            part = part._host
        if isinstance(part, np.ndarray):
            if part.dtype.kind == "b":
                counts.wait()  # how many are True decides the shape
            elif part.dtype.kind in "iu":
                if axis < len(shape) and shape[axis]:
                    part = part % shape[axis]
            else:
                raise IndexError(
                    f"arrays used as indices must be of integer or boolean type. (actual: {part.dtype.type})"
                )
        elif part is not None and not isinstance(part, (slice, int, np.integer, bool, np.bool_)):
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
                "boolean arrays are valid indices"
            )
        made.append(part)
        axis += _axes(part)
    return tuple(made)


def _axes(part: Any) -> int:
    """How many dimensions of the array a part of an index stands for."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, (ndarray, np.ndarray)):
        return part.ndim if part.dtype.kind == "b" else 1
    return 1


class ndarray:
    """``cupy.ndarray``: memory of the device is a NumPy array that only the stand-in touches."""

    __array_priority__ = 100
    __slots__ = ("__weakref__", "_base", "_host")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None, order: str = "C"
    ) -> None:
        self._base: Any = None
        if memptr is None:
            self._host = np.empty(shape, dtype, order=order)  # type: ignore[call-overload]
        else:
            self._host = memptr.array(shape, np.dtype(dtype), strides)

    @classmethod
    def _of(cls, host: Any, base: Any = None) -> ndarray:
        if host.dtype.kind not in "biufc":
            raise ValueError(f"Unsupported dtype {host.dtype}")
        if host.dtype in (np.longdouble, np.clongdouble) and host.dtype.itemsize > 16:
            raise ValueError(f"Unsupported dtype {host.dtype}")
        made = cls.__new__(cls)
        made._host, made._base = host, base
        return made

    # What the host knows without asking the device.
    shape = property(lambda self: self._host.shape, lambda self, value: setattr(self._host, "shape", value))
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    nbytes = property(lambda self: self._host.nbytes)
    itemsize = property(lambda self: self._host.itemsize)
    strides = property(lambda self: self._host.strides)
    flags = property(lambda self: self._host.flags)
    base = property(lambda self: self._base)
    T = property(lambda self: self._view(self._host.T))
    mT = property(lambda self: self._view(self._host.mT))
    real = property(lambda self: self._view(self._host.real), lambda self, value: self._part("real", value))
    imag = property(lambda self: self._view(self._host.imag), lambda self, value: self._part("imag", value))

    @property
    def device(self) -> Any:
        from tests.cupy_stand_in.cuda import Device

        return Device(0)

    @property
    def data(self) -> Any:
        from tests.cupy_stand_in.cuda import MemoryPointer

        return MemoryPointer(self._host.ctypes.data, self._host)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        found = dict(self._host.__array_interface__)
        found["version"] = 3
        return found

    def _part(self, name: str, value: Any) -> None:
        setattr(self._host, name, on_host(value, name))

    def _view(self, host: Any) -> ndarray:
        return ndarray._of(host, self if self._base is None else self._base)

    # To the host: each of these waits.
    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        if out is not None and (not isinstance(out, np.ndarray) or out.dtype != self.dtype):
            raise TypeError(
                f"{getattr(out, 'dtype', type(out))} array cannot be obtained from {self.dtype} array"
            )
        if out is not None and out.shape != self.shape:
            raise ValueError(f"Shape mismatch. Expected shape: {self.shape}, actual shape: {out.shape}")
        counts.to_host()
        if out is None:
            return np.array(self._host, order=order)  # type: ignore[call-overload]
        out[...] = self._host
        return out

    def item(self) -> Any:
        return self.get().item()

    def tolist(self) -> Any:
        return self.get().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        return bytes(self.get().tobytes(order))

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __complex__(self) -> complex:
        return complex(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __format__(self, spec: str) -> str:
        return format(self.get(), spec)

    def __reduce__(self) -> Any:
        raise TypeError("the stand-in refuses to be pickled: no file of the project is")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy "
            "array explicitly."
        )

    def set(self, arr: Any, stream: Any = None) -> None:
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if arr.dtype != self.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if arr.shape != self.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        counts.to_device()
        self._host[...] = arr

    # NumPy's own functions hand over to the functions of the same name here.
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from tests.cupy_stand_in import module

        if "out" in kwargs:
            if len(kwargs["out"]) != 1:
                raise ValueError("The 'out' parameter must have exactly one array value")
            (kwargs["out"],) = kwargs["out"]
        mine = getattr(module.cupy(), ufunc.__name__, None)
        if method != "__call__" or mine is None:
            return NotImplemented
        return mine(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from tests.cupy_stand_in import module

        place: Any = module.cupy()
        try:
            for part in func.__module__.split(".")[1:]:
                place = getattr(place, part)
            mine = getattr(place, func.__name__)
        except AttributeError:
            return NotImplemented
        if any(not issubclass(kind, (ndarray, np.ndarray)) for kind in types) or np.ndarray in types:
            return NotImplemented
        return mine(*args, **kwargs)

    # Indices.
    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[ndarray]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[n] for n in range(self.shape[0]))

    def __getitem__(self, key: Any) -> Any:
        found = self._host[_index(key, self.shape)]
        if isinstance(found, np.ndarray) and np.shares_memory(found, self._host):
            return self._view(found)
        if isinstance(found, np.generic) and not _has_arrays(key):
            # A single element is a view of no dimensions.
            parts = key if isinstance(key, tuple) else (key,)
            return self._view(self._host[(*parts, Ellipsis)])
        counts.launch()
        return on_device(found)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and not (isinstance(key, slice) and key == slice(None)):
            if not _has_arrays(key) and value.ndim:
                raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
            counts.to_device()
        elif isinstance(value, np.ndarray):
            if (value.dtype, value.shape) != (self.dtype, self.shape):
                raise ValueError(
                    "copying a numpy.ndarray to a cupy.ndarray by empty slice assignment must ensure arrays "
                    "have same shape and dtype"
                )
            counts.to_device()
        elif isinstance(value, (list, tuple)):
            if not _has_arrays(key):
                raise TypeError(f"fill() takes a number, not a {type(value).__name__}")
            counts.to_device()
        counts.launch()
        with np.errstate(all="ignore"):
            self._host[_index(key, self.shape)] = value._host if isinstance(value, ndarray) else value

    def __contains__(self, value: Any) -> bool:
        raise TypeError("cupy.ndarray has no `in`: it would wait for each element")

    def _scatter(self, ufunc: Any, slices: Any, value: Any) -> None:
        if self.dtype.name not in ("int32", "uint32", "uint64", "float16", "float32", "float64"):
            raise TypeError(f"scatter supports int32, float32, ... and not {self.dtype}")
        counts.launch()
        ufunc.at(self._host, _index(slices, self.shape), on_host(value, "scatter_add"))

    def scatter_add(self, slices: Any, value: Any) -> None:
        self._scatter(np.add, slices, value)

    def scatter_max(self, slices: Any, value: Any) -> None:
        self._scatter(np.maximum, slices, value)

    def scatter_min(self, slices: Any, value: Any) -> None:
        self._scatter(np.minimum, slices, value)

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        return self._view(self._host.view() if dtype is None else self._host.view(dtype))

    def fill(self, value: Any) -> None:
        if isinstance(value, (np.ndarray, ndarray)) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        counts.launch()
        with np.errstate(all="ignore"):
            self._host.fill(value._host if isinstance(value, ndarray) else value)

    def __copy__(self) -> ndarray:
        return self.copy()  # type: ignore[attr-defined,no-any-return]

    def __deepcopy__(self, memo: Any) -> ndarray:
        return self.copy()  # type: ignore[attr-defined,no-any-return]

    def __matmul__(self, other: Any) -> Any:
        from tests.cupy_stand_in import module

        return module.cupy().matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        from tests.cupy_stand_in import module

        return module.cupy().matmul(other, self)


ndarray.__module__ = "cupy"


def _has_arrays(key: Any) -> bool:
    parts = key if isinstance(key, tuple) else (key,)
    return any(isinstance(p, (list, tuple, np.ndarray, ndarray)) for p in parts)


_MAY_VIEW = {"reshape", "ravel", "transpose", "swapaxes", "squeeze", "diagonal", "astype"}
_WAITS = {"nonzero", "compress"}


def _method(name: str) -> Any:
    allowed = _METHODS[name]

    @functools.wraps(getattr(np.ndarray, name))
    def call(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        require(f"ndarray.{name}", allowed, args, kwargs)
        given = [on_host(each, name) for each in args]
        named = {key: on_host(each, name) for key, each in kwargs.items()}
        if name in _WAITS:
            counts.wait()
        if name == "take":
            return _take(self, *args, **kwargs)
        with np.errstate(all="ignore"):
            found = getattr(self._host, name)(*given, **named)
        if name in _MAY_VIEW and found is not self._host and np.may_share_memory(found, self._host):
            return self._view(found)
        if found is self._host:
            return self
        counts.launch()
        if "out" in kwargs and kwargs["out"] is not None:
            return kwargs["out"]
        return on_device(found)

    return call


def _take(self: ndarray, indices: Any, axis: Any = None, out: Any = None) -> Any:
    if not isinstance(indices, (ndarray, int, np.integer)):
        counts.to_device()
    counts.launch()
    plain = indices._host if isinstance(indices, ndarray) else np.asarray(indices)
    found = np.take(self._host, plain, axis, mode="wrap")
    if out is None:
        return on_device(found)
    if out.dtype != found.dtype:
        raise TypeError("Output dtype mismatch")
    if out.shape != found.shape:
        raise ValueError("Output shape mismatch")
    out._host[...] = found
    return out


for _name, _allowed in _METHODS.items():
    if (
        not _name.startswith("_")
        and _allowed != "attribute"
        and _name not in vars(ndarray)
        and hasattr(np.ndarray, _name)
    ):
        setattr(ndarray, _name, _method(_name))
