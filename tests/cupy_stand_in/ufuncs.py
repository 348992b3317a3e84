"""The elementwise functions of the stand-in: NumPy's loops where CuPy has them, its refusals elsewhere."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tests.cupy_stand_in.array import SCALARS, computed, ndarray
from tests.cupy_stand_in.work import write

_BY_REDUCE = {"add": "sum", "multiply": "prod"}
_BY_ACCUMULATE = {"add": "cumsum", "multiply": "cumprod"}
_COMPARISONS = {"equal", "greater", "greater_equal", "less", "less_equal", "not_equal"}
_AT = {"add": "scatter_add", "maximum": "scatter_max", "minimum": "scatter_min"}


class ufunc:
    """``cupy.ufunc``: takes arrays of the device and numbers, with the types that CuPy's has."""

    def __init__(self, name: str, nin: int, nout: int, types: list[str]) -> None:
        self.__name__ = self.name = name
        self.nin, self.nout, self.nargs, self.types = nin, nout, nin + nout, types
        self._loop: Any = getattr(np, name, None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        dtype = kwargs.pop("dtype", None)
        casting = kwargs.pop("casting", "same_kind")
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs} (cupy.{self.name} takes out, dtype and casting)")
        if len(args) > self.nin:
            if out is not None or len(args) > self.nargs:
                raise TypeError(f"Wrong number of arguments for {self.name}")
            out = args[self.nin] if self.nout == 1 else tuple(args[self.nin :])
            args = args[: self.nin]
        if len(args) != self.nin:
            raise TypeError(f"Wrong number of arguments for {self.name}")
        for value in args:
            if not isinstance(value, (ndarray, *SCALARS)):
                raise TypeError(f"Unsupported type {type(value)} (in cupy.{self.name})")
        for value in out if isinstance(out, tuple) else [out]:
            if value is not None and not isinstance(value, ndarray):
                raise TypeError(
                    f"Return arrays of cupy.{self.name} must be of cupy.ndarray, not {type(value)}"
                )
        return self._computed(args, out, dtype, casting)

    def _computed(self, args: Any, out: Any, dtype: Any, casting: str) -> Any:
        if self._loop is None:
            raise NotImplementedError(f"the stand-in has no cupy.{self.name}")
        given = [value._host if isinstance(value, ndarray) else value for value in args]
        ins, outs = self._types(given, dtype)
        given = [_Argument(g, t) for g, t in zip(given, ins, strict=True)]
        loop = functools.partial(self._values, given, outs)
        targets = out if isinstance(out, tuple) else (out,) + (None,) * (self.nout - 1)
        if not any(isinstance(target, ndarray) for target in targets):
            return computed(loop if self.nout > 1 else lambda: loop()[0])
        shape = np.broadcast_shapes(*(g.shape for g in given))
        for kind, target in zip(outs, targets, strict=True):
            if target is not None:
                self._check(kind, shape, target, casting)
        results = tuple(
            ndarray(shape, kind) if target is None else target
            for kind, target in zip(outs, targets, strict=True)
        )
        places = [each._host for each in results]

        def store() -> None:
            for place, value in zip(places, loop(), strict=True):
                place[...] = value

        write(store)
        return results[0] if self.nout == 1 else results

    def _values(self, given: list[Any], outs: list[Any]) -> tuple[Any, ...]:
        """The results of the loop, each in its type."""
        found = self._loop(*[g.now() for g in given])
        many = found if isinstance(found, tuple) else (found,)
        return tuple(np.asarray(v).astype(k, copy=False) for v, k in zip(many, outs, strict=True))

    def _check(self, kind: Any, shape: Any, target: ndarray, casting: str) -> None:
        if not np.can_cast(kind, target.dtype, casting):  # type: ignore[arg-type]
            raise TypeError(
                f"output (typecode '{kind.char}') could not be coerced to provided output "
                f"parameter (typecode '{target.dtype.char}') according to the casting rule \"{casting}\""
            )
        if np.broadcast_shapes(shape, target.shape) != target.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {target.shape} doesn't match the "
                f"broadcast shape {shape}"
            )

    def _types(self, given: list[Any], dtype: Any) -> tuple[list[np.dtype[Any]], list[np.dtype[Any]]]:
        """Types of the loop: the first of CuPy's that the arguments cast to safely.

        Python's numbers give way to arrays of their own kind or above; with others they are 64 bits wide.
        """
        kinds = [g.dtype if isinstance(g, (np.ndarray, np.generic)) else type(g) for g in given]
        strong = [kind for kind in kinds if isinstance(kind, np.dtype) or kind is bool]
        weak = [kind for kind in kinds if kind in (int, float, complex)]
        stay = not strong or max(map(_score, strong), default=-1) < max(map(_score, weak), default=-1)
        for n, kind in enumerate(kinds):
            whole = kind is int and self.name in _COMPARISONS and any(_is_whole(k) for k in strong)
            if kind is bool or stay or whole:
                kinds[n] = np.dtype("u8") if kind is int and given[n] >= 1 << 63 else np.dtype(kind)
        return self._types_of(tuple(kinds), None if dtype is None else np.dtype(dtype))

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - they live as long as the module
    def _types_of(self, kinds: Any, wanted: Any) -> tuple[list[np.dtype[Any]], list[np.dtype[Any]]]:
        for each in self.types:
            ins, outs = each.split("->")
            if wanted is not None:
                if np.dtype(outs[0]) == wanted:
                    return [np.dtype(c) for c in ins], [np.dtype(c) for c in outs]
                continue
            if all(_fits(kind, np.dtype(c)) for kind, c in zip(kinds, ins, strict=True)):
                return [np.dtype(c) for c in ins], [np.dtype(c) for c in outs]
        names = [k.name if isinstance(k, np.dtype) else k.__name__ for k in kinds]
        raise TypeError(f"Wrong type ({names}) of arguments for cupy_{self.name}")

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        if self.name not in _BY_REDUCE:
            raise NotImplementedError(f"`{self.name}.reduce` is not supported yet")
        return getattr(array, _BY_REDUCE[self.name])(axis, dtype, out, keepdims)

    def accumulate(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        if self.name not in _BY_ACCUMULATE:
            raise NotImplementedError(f"`{self.name}.accumulate` is not supported yet")
        return getattr(array, _BY_ACCUMULATE[self.name])(axis, dtype, out)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        if self.name != "add":
            raise NotImplementedError(f"`{self.name}.reduceat` is not supported yet")
        host, plain = array._host, indices._host if isinstance(indices, ndarray) else np.asarray(indices)
        return computed(lambda: np.add.reduceat(host, plain, axis, dtype))

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        if self.name not in _AT:
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        getattr(a, _AT[self.name])(indices, b)

    def outer(self, A: Any, B: Any, **kwargs: Any) -> Any:
        return self(A.reshape(A.shape + (1,) * B.ndim), B, **kwargs)


ufunc.__module__ = "cupy"


class _Argument:
    """An argument of a loop, whose values are read when the loop runs."""

    __slots__ = ("kind", "shape", "value")

    def __init__(self, value: Any, kind: np.dtype[Any]) -> None:
        if type(value) is int:
            value = np.array(value, kind)  # OverflowError for values that the type can't hold, as in CuPy
        self.value, self.kind, self.shape = value, kind, np.shape(value)

    def now(self) -> Any:
        return np.asarray(self.value).astype(self.kind)


def _score(kind: Any) -> int:
    """The rank of the kind of a type: truths, integers, all others."""
    return {"b": 0, "u": 1, "i": 1, "f": 2, "c": 2}[np.dtype(kind).kind]


def _is_whole(kind: Any) -> bool:
    return kind is not bool and kind.kind in "iu"


def _fits(kind: Any, to: np.dtype[Any]) -> bool:
    """Whether an argument enters a loop: Python's numbers do where they do not change its type."""
    if isinstance(kind, np.dtype):
        return bool(np.can_cast(kind, to, "safe"))
    return bool(np.result_type(kind(0), to) == to)
