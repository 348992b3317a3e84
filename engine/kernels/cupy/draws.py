"""Random numbers that the GPU makes where they are used: nothing is copied to it, and nothing waits."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import cupy
import numpy as np

from engine.core.draws import Draws, retained_limit
from engine.core.errors import UnsupportedError
from engine.core.random import GPUKey
from engine.kernels import choice
from engine.kernels.cupy.source import blocks, kernel, of_type

_log = logging.getLogger(__name__)

_THREADS = 256
_IN_A_BLOCK = 4  # words that one thread makes
_MOST = (1 << 64) - 1


class GPUDraws(Draws):
    """A stream of random numbers as ``CounterDraws`` makes it, in arrays of the GPU.

    ``stored`` is an array of seed and offset, uint64 [2], that comes before those of the key: what a kernel
    finds there when it runs decides. One number after the other (``one_by_one``, ``word``) is not made here.
    """

    def __init__(self, key: GPUKey, stored: Any = None) -> None:
        self._key = (stored, np.uint64(key.seed & _MOST), np.uint64(key.offset & _MOST))
        self._taken = 0

    def uniform(self, shape: Sequence[int], dtype: Any) -> Any:
        return self.uniform_between(shape, dtype, 0.0, 1.0)

    def uniform_between(self, shape: Sequence[int], dtype: Any, low: Any, width: Any) -> Any:
        """Numbers from ``low``, below ``low + width``, computed in float32, in float64 for that dtype."""
        out, number = cupy.empty(shape, dtype), _number(dtype)
        self._launch("philox_uniform", dtype, out.size, out, (), (number(low), number(width)))
        return out

    def normal(self, shape: Sequence[int], dtype: Any) -> Any:
        return self.normal_around(shape, dtype, 0.0, 1.0)

    def normal_around(self, shape: Sequence[int], dtype: Any, mean: Any, std: Any) -> Any:
        """Normal numbers of this mean and standard deviation."""
        out, number = cupy.empty(shape, dtype), _number(dtype)
        self._taken += self._taken % 2  # pairs begin with an even word
        self._launch("philox_normal", dtype, out.size, out, (), (number(mean), number(std)))
        self._taken += self._taken % 2
        return out

    def integers(self, low: int, high: int, shape: Sequence[int]) -> Any:
        out = cupy.empty(shape, np.int64)
        self._launch("philox_integers", None, out.size, out, (), (np.int64(low), np.uint64(high - low)))
        return out

    def permutation(self, n: int) -> Any:
        out = cupy.empty(n, np.uint64)
        self._launch("philox_words", None, n, out, (), ())
        return cupy.argsort(out, kind="stable")

    def retained(self, shape: Sequence[int], p: float) -> Any:
        out = cupy.empty(shape, np.bool_)
        self._launch("philox_retained", None, out.size, out, (), (retained_limit(p),))
        return out

    def dropout(self, x: Any, p: float, share: Any, factor: Any) -> tuple[Any, Any]:
        """x / ``share`` where an element stays, else 0, and the mask: ``factor`` there. x is contiguous."""
        out, mask, number = cupy.empty(x.shape, x.dtype), cupy.empty(x.shape, x.dtype), _number(x.dtype)
        self._launch(
            "philox_dropout",
            x.dtype,
            x.size,
            out,
            (mask, x),
            (retained_limit(p), number(share), number(factor)),
        )
        return out, mask

    def one_by_one(self, dtype: Any = np.float64) -> Iterator[float]:
        raise self._refused()

    def word(self) -> int:
        raise self._refused()

    @staticmethod
    def _refused() -> UnsupportedError:
        return UnsupportedError(
            "random: a GPU does not draw one number after the other; ask for host_draws_of(key)"
        )

    def _launch(
        self, name: str, dtype: Any, count: int, out: Any, arrays: tuple[Any, ...], numbers: tuple[Any, ...]
    ) -> None:
        """Fill ``out`` with ``count`` elements, one for each word from where the last draw ended."""
        made = kernel("philox", name, **of_type(np.float32 if dtype is None else dtype))
        first = self._taken
        grid = blocks(blocks(first % _IN_A_BLOCK + count, _IN_A_BLOCK), _THREADS) if count else 0
        sizes = (np.uint64(count), np.uint64(first))
        made((grid,), (_THREADS,), (out, *arrays, *sizes, *self._key, *numbers))
        self._taken += count


def _number(dtype: Any) -> Any:
    """The type that is computed in."""
    return np.float64 if np.dtype(dtype) == np.float64 else np.float32


def draws(key: GPUKey) -> Draws:
    """The numbers of a key: made by the GPU, or by the CPU where kernels are switched off (``numpy``) or
    can't be compiled, which is logged once."""
    return GPUDraws(key) if on_gpu() else key.host_draws()


def on_gpu() -> bool:
    """Whether the GPU makes random numbers."""
    return choice.kernels.get() != "numpy" and _compiles()


@cache
def _compiles() -> bool:
    try:
        GPUDraws(GPUKey(0, 0)).retained((1,), 0.5)
    except cupy.cuda.compiler.CompileException as error:
        _log.warning(
            "kernels: philox was not compiled for the GPU, random numbers are made by the CPU: %s",
            str(error).strip()[:400],
        )
        return False
    return True
