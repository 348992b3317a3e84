"""Values of a run while two runs are compared: by content, so that equal ones are stored once."""

from __future__ import annotations

import hashlib
import math
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from engine.core.place import Array, fetched
from engine.core.values.bfloat import is_bfloat16, plain, widen

MEMORY = 512 << 20
"""So many bytes of values stay in memory; the others lie in a temporary file."""

TOLERANCES = {
    "float64": 1e-10,
    "complex128": 1e-10,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 5e-3,
    "bfloat16": 3e-2,
}
"""The largest relative difference of two values that agree; those of other dtypes agree if they are equal."""

_UNITS = {"float64": 52, "complex128": 52, "float32": 23, "complex64": 23, "float16": 10, "bfloat16": 7}
_ROUNDING = 4.0  # units in the last place of the largest input: results of this size are what cancels
_CHUNK = 1 << 20  # elements that are compared at once


@dataclass(frozen=True)
class Value:
    """An array that an operator read or wrote: its name, and its content by digest."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    digest: bytes

    def named(self, name: str) -> Value:
        """The same content under another name."""
        return Value(name, self.shape, self.dtype, self.digest)


@dataclass(frozen=True)
class Difference:
    """How far two values are apart: the largest absolute difference, and its share of the largest number of
    the first. Both are infinite where only one has NaN or infinity at some position."""

    absolute: float
    relative: float
    bitwise: bool

    def within(self, tolerance: float, floor: float = 0.0) -> bool:
        """Whether the values agree; an absolute difference of at most ``floor`` is rounding."""
        return self.bitwise or self.relative <= tolerance or self.absolute <= floor


EQUAL = Difference(0.0, 0.0, True)
APART = Difference(math.inf, math.inf, False)


class ValueStore:
    """Stores the content of values; ``close`` it, it may use a temporary file.

    ``memory`` is the number of bytes that stay in memory.
    """

    def __init__(self, memory: int = MEMORY) -> None:
        self._left = memory
        self._arrays: dict[bytes, np.ndarray] = {}
        self._places: dict[bytes, tuple[int, tuple[int, ...], str]] = {}
        self._until = ExitStack()
        self._file: IO[bytes] | None = None
        self._largest: dict[bytes, float] = {}
        self._found: dict[tuple[bytes, bytes], Difference] = {}

    def put(self, name: str, array: Array | np.generic) -> Value:
        """Store a copy of ``array``, which may be on a GPU."""
        given = np.asarray(array) if isinstance(array, np.ndarray | np.generic) else fetched(array)
        dtype = "bfloat16" if is_bfloat16(given) else given.dtype.name
        bits = np.ascontiguousarray(plain(given)).reshape(given.shape)
        digest = hashlib.blake2b(f"{dtype}{bits.shape}".encode(), digest_size=16)
        if bits.size:
            digest.update(bits.reshape(-1).view(np.uint8).data)
        value = Value(name, tuple(bits.shape), dtype, digest.digest())
        self._keep(value.digest, bits)
        return value

    def _keep(self, digest: bytes, bits: np.ndarray) -> None:
        if digest in self._arrays or digest in self._places:
            return
        if bits.nbytes <= self._left:
            self._left -= bits.nbytes
            self._arrays[digest] = bits.copy()
            return
        if self._file is None:
            self._file = self._until.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        self._file.seek(0, 2)
        self._places[digest] = (self._file.tell(), bits.shape, bits.dtype.str)
        bits.tofile(self._file)

    def get(self, value: Value) -> np.ndarray:
        """The content of a value; bfloat16 as float32."""
        found = self.bits(value)
        return widen(np, found) if value.dtype == "bfloat16" else found

    def bits(self, value: Value) -> np.ndarray:
        """The content of a value as it was stored; bfloat16 as its bits."""
        found = self._arrays.get(value.digest)
        if found is None:
            start, shape, dtype = self._places[value.digest]
            assert self._file is not None, "it has places"
            self._file.seek(start)
            size = math.prod(shape) * np.dtype(dtype).itemsize
            found = np.frombuffer(self._file.read(size), dtype).reshape(shape)
        return found

    def largest(self, value: Value) -> float:
        """The largest absolute value among its finite numbers."""
        found = self._largest.get(value.digest)
        if found is None:
            found = self._largest[value.digest] = _largest(self.get(value))
        return found

    def difference(self, a: Value, b: Value) -> Difference:
        """How far two values are apart; infinitely where their shapes differ."""
        if a.digest == b.digest:
            return EQUAL
        if a.shape != b.shape:
            return APART
        key = (a.digest, b.digest)
        if key not in self._found:
            self._found[key] = difference_of(self.get(a), self.get(b), self.largest(a))
        return self._found[key]

    def close(self) -> None:
        """Delete all values."""
        self._arrays.clear()
        self._places.clear()
        self._until.close()
        self._file = None

    def __enter__(self) -> ValueStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def difference_of(a: np.ndarray, b: np.ndarray, largest: float | None = None) -> Difference:
    """How far two arrays of one shape are apart; ``largest`` is that of ``a``, where it is known."""
    absolute, bits = 0.0, a.dtype == b.dtype
    wide: Any = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
    flat, other = np.ascontiguousarray(a).reshape(-1), np.ascontiguousarray(b).reshape(-1)
    for begin in range(0, flat.size, _CHUNK):
        x, y = flat[begin : begin + _CHUNK], other[begin : begin + _CHUNK]
        bits = bits and x.tobytes() == y.tobytes()
        if bits:
            continue
        one, two = x.astype(wide), y.astype(wide)
        finite = np.isfinite(one) & np.isfinite(two)
        if not np.array_equal(one[~finite], two[~finite], equal_nan=True):
            return APART
        absolute = max(absolute, float(np.abs(one[finite] - two[finite]).max(initial=0.0)))
    if bits:
        return EQUAL
    scale = _largest(a) if largest is None else largest
    return Difference(absolute, (absolute / scale if scale else math.inf) if absolute else 0.0, False)


def tolerance_for(values: Sequence[Value], given: float | None) -> float:
    """The relative difference up to which values agree: ``given``, or that of the coarsest dtype."""
    if given is not None:
        return given
    return max((TOLERANCES.get(each.dtype, 0.0) for each in values), default=0.0)


def rounding_of(dtype: str, largest: float) -> float:
    """The difference that rounding alone makes, in results of inputs whose largest number is ``largest``."""
    units = _UNITS.get(dtype)
    return 0.0 if units is None else _ROUNDING * largest * 2.0**-units


def _largest(array: np.ndarray) -> float:
    if not array.size:
        return 0.0
    wide: Any = np.complex128 if array.dtype.kind == "c" else np.float64
    largest = 0.0
    flat = array.reshape(-1)
    for begin in range(0, flat.size, _CHUNK):
        sizes = np.abs(flat[begin : begin + _CHUNK].astype(wide))
        largest = max(largest, float(sizes[np.isfinite(sizes)].max(initial=0.0)))
    return largest
