"""Random numbers of the basic distributions: from the Mersenne Twister as Paddle's CPU operators generate
them, or from NumPy's Philox.

Paddle 2.6.2 is built with GCC 8.2; the distributions are those of its libstdc++.

Rejection is exact in blocks: a chunk never asks for more accepted numbers than are still needed, and only the
words up to the last accepted one are taken from the stream.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.core.random.logf import logf
from engine.core.random.mersenne import Twister, Words

Array: TypeAlias = NDArray[Any]
Floating: TypeAlias = np.dtype[Any] | type[np.floating[Any]]
"""A floating dtype."""

_MOST = (1 << 64) - 1
_UNIT = 2.0**-64
_STEP = 2.0**-53
_CHUNK = 8192  # words at once: intermediate arrays stay in the cache


class Draws(ABC):
    """A stream of random numbers. Every method continues where the last one ended."""

    @abstractmethod
    def uniform(self, shape: Sequence[int], dtype: Floating) -> Array:
        """Numbers from 0, below 1, of a floating dtype."""

    @abstractmethod
    def normal(self, shape: Sequence[int], dtype: Floating) -> Array:
        """Numbers of the standard normal distribution, of a floating dtype."""

    @abstractmethod
    def integers(self, low: int, high: int, shape: Sequence[int]) -> NDArray[np.int64]:
        """Integers from ``low``, below ``high``."""

    @abstractmethod
    def permutation(self, n: int) -> NDArray[np.int64]:
        """The numbers 0 to n - 1 in random order."""

    @abstractmethod
    def retained(self, shape: Sequence[int], p: float) -> NDArray[np.bool_]:
        """Which elements stay where each is dropped with probability ``p``."""

    @abstractmethod
    def one_by_one(self, dtype: Floating = np.float64) -> Iterator[float]:
        """Numbers from 0, below 1; each is taken from the stream on request."""

    @abstractmethod
    def word(self) -> int:
        """The next 64-bit number."""


class TwisterDraws(Draws):
    """The numbers of ``std::mt19937_64`` through the distributions of libstdc++."""

    def __init__(self, twister: Twister) -> None:
        self._twister = twister

    def uniform(self, shape: Sequence[int], dtype: Floating) -> Array:
        kind = _computed(dtype)
        out: Array = np.empty(shape, kind)
        flat, done = out.reshape(-1), 0
        while done < flat.size:
            words = self._twister.ready(1, min(flat.size - done, _CHUNK))
            _to_unit(words, flat[done : done + len(words)])
            self._twister.skip(len(words))
            done += len(words)
        return out.astype(dtype, copy=False)

    def normal(self, shape: Sequence[int], dtype: Floating) -> Array:
        """By Marsaglia's polar method: pairs (x, y) in the unit circle, y's number first. The second number
        of a last pair that is not needed is lost."""
        kind = _computed(dtype)
        out: Array = np.empty(shape, kind)
        flat, done = out.reshape(-1), 0
        while done < flat.size:
            needed = (flat.size - done + 1) // 2
            words = self._twister.ready(2, min(2 * (int(needed * 1.28) + 6), _CHUNK))
            u = np.empty(len(words) // 2 * 2, kind)
            _to_unit(words[: len(u)], u)
            u *= 2
            u -= 1
            x, y = u[::2], u[1::2]
            r2 = x * x + y * y
            accepted = np.flatnonzero((r2 <= 1) & (r2 != 0))[:needed]
            self._twister.skip(len(u) if len(accepted) < needed else 2 * int(accepted[-1]) + 2)
            pairs: Array = np.empty((len(accepted), 2), kind)
            np.multiply(u.reshape(-1, 2)[accepted, ::-1], _polar_factor(r2[accepted])[:, None], pairs)
            made = pairs.reshape(-1)[: flat.size - done]
            flat[done : done + len(made)] = made
            done += len(made)
        return out.astype(dtype, copy=False)

    def integers(self, low: int, high: int, shape: Sequence[int]) -> NDArray[np.int64]:
        out = np.empty(shape, np.int64)
        flat, done = out.reshape(-1), 0
        scaling = np.uint64(_MOST // (high - low))
        beyond = np.uint64((high - low) * int(scaling))
        while done < flat.size:
            words = self._twister.ready(1, min(flat.size - done, _CHUNK))
            accepted = words[words < beyond]
            self._twister.skip(len(words))
            flat[done : done + len(accepted)] = (accepted // scaling).view(np.int64)
            done += len(accepted)
        flat += low
        return out

    def permutation(self, n: int) -> NDArray[np.int64]:
        """``std::shuffle``, which draws the places of two elements at a time."""
        first = 1 + (n + 1) % 2  # of an even number of elements the second is swapped alone
        at = np.arange(first, n, 2, dtype=np.uint64)
        sizes = (at + np.uint64(1)) * (at + np.uint64(2))
        if n > 1 and n % 2 == 0:
            sizes = np.concatenate([np.array([2], np.uint64), sizes])
        drawn = self._below(sizes)
        order = list(range(n))
        if n > 1 and n % 2 == 0:
            other = int(drawn[0])
            order[1], order[other] = order[other], order[1]
            drawn = drawn[1:]
        divisors = at + np.uint64(2)
        places = zip(
            range(first, n, 2), (drawn // divisors).tolist(), (drawn % divisors).tolist(), strict=True
        )
        for i, a, b in places:
            order[i], order[a] = order[a], order[i]
            order[i + 1], order[b] = order[b], order[i + 1]
        return np.array(order, np.int64)

    def retained(self, shape: Sequence[int], p: float) -> NDArray[np.bool_]:
        """A mask of the elements for which ``uniform`` gives p or more. It compares words: converting them to
        numbers takes longer."""
        stays: NDArray[np.bool_] = np.empty(shape, np.bool_)
        flat, done, least = stays.reshape(-1), 0, _least_word(np.float32(p))
        while done < flat.size:
            words = self._twister.ready(1, min(flat.size - done, _CHUNK))
            if least is None:
                flat[done : done + len(words)] = False
            else:
                np.greater_equal(words, least, out=flat[done : done + len(words)])
            self._twister.skip(len(words))
            done += len(words)
        return stays

    def one_by_one(self, dtype: Floating = np.float64) -> Iterator[float]:
        while True:
            words = self._twister.ready(1, 256)
            unit: Array = np.empty(len(words), dtype)
            _to_unit(words, unit)
            for number in unit.tolist():
                self._twister.skip(1)
                yield number

    def word(self) -> int:
        number = int(self._twister.ready(1, 1)[0])
        self._twister.skip(1)
        return number

    def _below(self, sizes: Words) -> Words:
        """A number from 0, below ``sizes[n]``, for each n."""
        scaling = np.uint64(_MOST) // sizes
        beyond = sizes * scaling
        drawn, done = np.empty_like(sizes), 0
        while done < len(sizes):
            words = self._twister.ready(1, min(len(sizes) - done, _CHUNK))
            rejected = np.flatnonzero(words >= beyond[done : done + len(words)])
            count = int(rejected[0]) if len(rejected) else len(words)
            drawn[done : done + count] = words[:count]
            self._twister.skip(count + (len(rejected) > 0))
            done += count
        result: Words = drawn // scaling
        return result


class PhiloxDraws(Draws):
    """The numbers of one of NumPy's generators."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def uniform(self, shape: Sequence[int], dtype: Floating) -> Array:
        drawn: Array = self._generator.random(tuple(shape))
        return drawn.astype(dtype, copy=False)

    def normal(self, shape: Sequence[int], dtype: Floating) -> Array:
        drawn: Array = self._generator.standard_normal(tuple(shape))
        return drawn.astype(dtype, copy=False)

    def integers(self, low: int, high: int, shape: Sequence[int]) -> NDArray[np.int64]:
        return self._generator.integers(low, high, tuple(shape))

    def permutation(self, n: int) -> NDArray[np.int64]:
        return self._generator.permutation(n)

    def retained(self, shape: Sequence[int], p: float) -> NDArray[np.bool_]:
        stays: NDArray[np.bool_] = self._generator.random(tuple(shape)) < 1.0 - p
        return stays

    def one_by_one(self, dtype: Floating = np.float64) -> Iterator[float]:
        while True:
            yield float(np.dtype(dtype).type(self._generator.random()))

    def word(self) -> int:
        return int(self._generator.integers(0, _MOST, dtype=np.uint64, endpoint=True))


class CounterDraws(Draws):
    """The numbers of a GPU, on the CPU: each is a function of one word, so threads share no state.

    Words are those of NumPy's Philox for (seed, offset). Numbers of ``uniform`` and ``retained`` are those of
    ``PhiloxDraws``; the others are generated without rejection: pairs of normal numbers by G. E. P. Box and
    M. E. Muller, A note on the generation of random normal deviates (1958), integers as the upper half of a
    product, an order by sorting words. ``engine/kernels/cupy/cuda/philox.cu`` computes the same.
    """

    def __init__(self, seed: int, offset: int) -> None:
        self._bits = np.random.Philox(key=seed & _MOST, counter=[0, 0, offset & _MOST, 0])
        self._taken = 0

    def _words(self, count: int) -> Words:
        self._taken += count
        return np.atleast_1d(self._bits.random_raw(count))

    def uniform(self, shape: Sequence[int], dtype: Floating) -> Array:
        return self._unit(math.prod(shape)).reshape(shape).astype(dtype, copy=False)

    def normal(self, shape: Sequence[int], dtype: Floating) -> Array:
        kind, count = _computed(dtype), math.prod(shape)
        self._words(self._taken % 2)  # pairs begin with an even word
        words = self._words(count + count % 2) >> np.uint64(11)
        radius = ((words[::2] + np.uint64(1)) * _STEP).astype(kind)
        angle = (words[1::2] * _STEP).astype(kind) * kind.type(2 * math.pi)
        radius = np.sqrt(kind.type(-2) * np.log(radius))
        made = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)
        return made[:count].reshape(shape).astype(dtype, copy=False)

    def integers(self, low: int, high: int, shape: Sequence[int]) -> NDArray[np.int64]:
        words, size = self._words(math.prod(shape)), np.uint64(high - low)
        half, lower = np.uint64(32), np.uint64(0xFFFFFFFF)
        middle = (words & lower) * (size & lower) >> half
        middle += (words >> half) * (size & lower)
        upper = (middle & lower) + (words & lower) * (size >> half) >> half
        upper += (words >> half) * (size >> half) + (middle >> half)
        made: NDArray[np.int64] = upper.view(np.int64) + low
        return made.reshape(shape)

    def permutation(self, n: int) -> NDArray[np.int64]:
        return np.argsort(self._words(n), kind="stable")

    def retained(self, shape: Sequence[int], p: float) -> NDArray[np.bool_]:
        stays: NDArray[np.bool_] = self._words(math.prod(shape)) >> np.uint64(11) < retained_limit(p)
        return stays.reshape(shape)

    def one_by_one(self, dtype: Floating = np.float64) -> Iterator[float]:
        while True:
            yield float(np.dtype(dtype).type(self._unit(1)[0]))

    def word(self) -> int:
        return int(self._words(1)[0])

    def _unit(self, count: int) -> Array:
        made: Array = (self._words(count) >> np.uint64(11)) * _STEP
        return made


def retained_limit(p: float) -> np.uint64:
    """An element stays where the upper 53 bits of its word are below this: 1 - p of all such numbers."""
    return np.uint64(math.ceil((1.0 - p) * 2.0**53))


def _computed(dtype: Any) -> np.dtype[Any]:
    """The dtype that numbers of ``dtype`` are drawn in: float32 for all but float64."""
    return np.dtype(np.float64 if np.dtype(dtype) == np.float64 else np.float32)


def _to_unit(words: Words, out: Array) -> None:
    """``std::generate_canonical``: words divided by 2^64, below 1."""
    out[...] = words
    out *= out.dtype.type(_UNIT)
    np.minimum(out, np.nextafter(out.dtype.type(1), out.dtype.type(0)), out=out)


@lru_cache(maxsize=64)
def _least_word(p: np.float32) -> np.uint64 | None:
    """The least word that ``_to_unit`` makes ``p`` or more, as float32; None where there is none."""
    number: Array = np.empty(1, np.float32)

    low, high = 0, _MOST + 1
    while low < high:
        middle = (low + high) // 2
        _to_unit(np.array([middle], np.uint64), number)
        low, high = (low, middle) if number[0] >= p else (middle + 1, high)
    return None if low > _MOST else np.uint64(low)


def _polar_factor(r2: Array) -> Array:
    """sqrt(-2 log(r2) / r2), with the C library's logarithm."""
    # NumPy has its own logarithm for float64 too, on processors with AVX-512.
    log = logf(r2) if r2.dtype == np.float32 else np.fromiter(map(math.log, r2.tolist()), np.float64, len(r2))
    log *= -2
    log /= r2
    return np.sqrt(log, log)
