"""The array of the stand-in for CuPy: it computes with NumPy, and refuses what CuPy refuses.

Sources: CuPy 14.2's documentation ("Differences between CuPy and NumPy") and ``cupy/_core/core.pyx``,
``_routines_indexing.pyx`` for conversions, refusals and waits of the host.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.cupy_stand_in import counts, memory, streams
from tests.cupy_stand_in.recorded import names, require
from tests.cupy_stand_in.work import copied, library, spoil, staged, waits, write

SCALARS = (bool, int, float, complex, np.generic)
_METHODS: dict[str, Any] = names()["classes"]["ndarray"]


def on_device(host: Any, inputs: Sequence[Any] = ()) -> Any:
    """The result of a NumPy function as an array of the device: numbers are arrays of no dimensions there.

    Results in the memory of an input are views of it; all others get new memory.
    """
    if isinstance(host, np.ndarray):
        for each in inputs:
            if isinstance(each, ndarray) and np.may_share_memory(host, each._host):
                return each._view(host)
        return ndarray._of(host)
    if isinstance(host, np.generic):
        return ndarray._of(np.asarray(host))
    if isinstance(host, tuple) and hasattr(host, "_fields"):  # results of linalg have names
        return type(host)(*[on_device(each, inputs) for each in host])
    if isinstance(host, (list, tuple)):
        return type(host)([on_device(each, inputs) for each in host])
    return host


def computed(function: Any, inputs: Sequence[Any] = ()) -> Any:
    """The result of a function of NumPy, on the device.

    While the stream captures, the memory is allocated but not written; the graph computes it at each launch.
    """
    counts.launch()
    with np.errstate(all="ignore"):
        found = function()
    made = on_device(found, inputs)
    capture = streams.capture()
    if capture is not None:
        fresh = [array for array in _arrays(made) if array._base is None]
        for array in fresh:
            spoil(array._host)
        if fresh:
            places = [array._host if array._base is None else None for array in _arrays(made)]
            capture.work.append(functools.partial(_again, function, places))
    return made


def _arrays(made: Any) -> list[ndarray]:
    if isinstance(made, (list, tuple)):
        return [array for each in made for array in _arrays(each)]
    return [made] if isinstance(made, ndarray) else []


def _again(function: Any, places: list[Any]) -> None:
    found = function()
    many = found if isinstance(found, (list, tuple)) else [found]
    for place, value in zip(places, many, strict=True):
        if place is not None:
            place[...] = value


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
            staged()
            part = np.asarray(part)
            if part.size == 0 and part.dtype != bool:
                part = part.astype(np.int32)
        elif isinstance(part, ndarray):
            part = part._host
        if isinstance(part, np.ndarray):
            if part.dtype.kind == "b":
                waits()  # how many are True decides the shape
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
    """The number of dimensions of the array that a part of an index covers."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, (ndarray, np.ndarray)):
        return part.ndim if part.dtype.kind == "b" else 1
    return 1


class Flags:
    """``cupy.ndarray.flags``: CuPy's flags of an array, fewer than NumPy's.

    No flag protects an array from writes: all are writable, those of ``broadcast_to`` too.
    """

    __slots__ = ("c_contiguous", "f_contiguous", "fnc", "forc", "owndata")

    def __init__(self, host: Any) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(host, name))

    def __getitem__(self, name: str) -> bool:
        if name not in ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA"):
            raise KeyError(f"{name} is not defined for cupy.ndarray.flags")
        return bool(getattr(self, name.lower()))


class ndarray:
    """``cupy.ndarray``: memory of the device is a NumPy array that only the stand-in touches."""

    __array_priority__ = 100
    __slots__ = ("__weakref__", "_base", "_host", "_mem")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None, order: str = "C"
    ) -> None:
        kind = np.dtype(dtype)
        if memptr is None:
            strides = np.empty(shape, kind, order=order).strides  # type: ignore[call-overload]
            memptr = memory.alloc(int(np.prod(shape, dtype=np.int64)) * kind.itemsize)
        self._base: Any = None
        self._mem = memptr.mem
        self._host = memptr.array(shape, kind, strides)

    @classmethod
    def _of(cls, host: Any, base: Any = None) -> ndarray:
        """An array with these numbers; a view where it has a base."""
        if host.dtype.kind not in "biufc":
            raise ValueError(f"Unsupported dtype {host.dtype}")
        if host.dtype in (np.longdouble, np.clongdouble) and host.dtype.itemsize > 16:
            raise ValueError(f"Unsupported dtype {host.dtype}")
        made = cls.__new__(cls)
        made._base = base
        if base is not None:
            made._host, made._mem = host, base._mem
            return made
        place = memory.alloc(host.nbytes)
        strides = host.strides if host.flags.forc else np.empty_like(host).strides
        made._host, made._mem = place.array(host.shape, host.dtype, strides), place.mem
        made._host[...] = host
        return made

    # Properties that the host knows without the device.
    shape = property(lambda self: self._host.shape, lambda self, value: setattr(self._host, "shape", value))
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    nbytes = property(lambda self: self._host.nbytes)
    itemsize = property(lambda self: self._host.itemsize)
    strides = property(lambda self: self._host.strides)
    flags = property(lambda self: Flags(self._host.flags))
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
        return memory.MemoryPointer(self._mem, self._host.ctypes.data - self._mem.ptr if self.size else 0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        found = dict(self._host.__array_interface__)
        found["version"] = 3
        return found

    def _part(self, name: str, value: Any) -> None:
        part, given = getattr(self._host, name), on_host(value, name)
        write(lambda: part.__setitem__(..., given))

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
        pinned = out is not None and not blocking and memory.is_pinned(out)
        streams.refuse_transfer("D2H")
        counts.to_host(pinned)
        if pinned:
            streams.copied_later(out, self._host.copy())
            return out
        streams.seen()
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
        copied(self._host, arr)

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
        index, host = _index(key, self.shape), self._host
        return computed(lambda: host[index])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray):
            if not _has_arrays(key) and value.ndim:
                raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
            staged()
        elif isinstance(value, (list, tuple)):
            if not _has_arrays(key):
                raise TypeError(f"fill() takes a number, not a {type(value).__name__}")
            staged()
        index, host = _index(key, self.shape), self._host
        given = value._host if isinstance(value, ndarray) else value
        if isinstance(given, np.ndarray):
            np.broadcast_to(given, host[index].shape)  # raises an error now that the graph would raise later
        write(lambda: host.__setitem__(index, given))

    def __contains__(self, value: Any) -> bool:
        raise TypeError("cupy.ndarray has no `in`: it would wait for each element")

    def _scatter(self, ufunc: Any, slices: Any, value: Any) -> None:
        names = ("int32", "int64", "uint32", "uint64", "float32", "float64")
        if self.dtype.name not in (*names, *(("float16",) if ufunc is np.add else ())):
            raise TypeError(f"cupy.{ufunc.__name__}.at only supports {', '.join(names)}, not {self.dtype}")
        index, host, given = _index(slices, self.shape), self._host, on_host(value, "scatter_add")
        write(lambda: ufunc.at(host, index, given))

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
        host = self._host
        if isinstance(value, ndarray):
            given = value._host
            write(lambda: host.fill(given[()]))
        else:
            write(lambda: host.fill(value))

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
            waits()
        if name == "take":
            return _take(self, *args, **kwargs)
        library(name, (self, *args))
        host = self._host
        if kwargs.get("out") is not None:
            write(lambda: getattr(host, name)(*given, **named))
            return kwargs["out"]
        if name in _IN_PLACE:
            write(lambda: getattr(host, name)(*given, **named))
            return None
        if name in _MAY_VIEW:
            with np.errstate(all="ignore"):
                found = getattr(host, name)(*given, **named)
            if found is host:
                return self
            if np.may_share_memory(found, host):
                return self._view(found)
        return computed(lambda: getattr(host, name)(*given, **named))

    return call


def _take(self: ndarray, indices: Any, axis: Any = None, out: Any = None) -> Any:
    if not isinstance(indices, (ndarray, int, np.integer)):
        staged()
    host, plain = self._host, indices._host if isinstance(indices, ndarray) else np.asarray(indices)
    if out is None:
        return computed(lambda: np.take(host, plain, axis, mode="wrap"))
    found = np.take(host, plain, axis, mode="wrap")
    if out.dtype != found.dtype:
        raise TypeError("Output dtype mismatch")
    if out.shape != found.shape:
        raise ValueError("Output shape mismatch")
    write(lambda: out._host.__setitem__(..., np.take(host, plain, axis, mode="wrap")))
    return out


_IN_PLACE = {"sort", "partition", "fill", "put", "itemset", "resize"}


for _name, _allowed in _METHODS.items():
    if (
        not _name.startswith("_")
        and _allowed != "attribute"
        and _name not in vars(ndarray)
        and hasattr(np.ndarray, _name)
    ):
        setattr(ndarray, _name, _method(_name))
