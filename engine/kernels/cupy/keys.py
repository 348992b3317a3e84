"""Keys of random operators in memory of the GPU: a captured graph draws new numbers at each replay."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import cupy
import numpy as np

from engine.core.errors import UnsupportedError
from engine.core.random.draws import Draws
from engine.core.random.generator import Generator, GPUKey, default_generator
from engine.kernels.cupy.draws import GPUDraws, draws, on_gpu
from engine.kernels.cupy.source import blocks, kernel, of_type

_THREADS = 64
_MOST = (1 << 64) - 1


class DeviceKey:
    """A key of one random operator: ``array`` is uint64 [2], seed and offset, read when a kernel runs.

    It is used in place of a key. An operator that draws on the CPU can't take it: its numbers would be those
    of the capture at every replay. It raises UnsupportedError.
    """

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def draws(self) -> AbstractContextManager[Draws]:
        if not on_gpu():
            raise self._refused()
        return nullcontext(GPUDraws(GPUKey(0, 0), self.array))

    def private(self, seed: int) -> Draws:
        """The numbers of an operator with its own seed, the same at each replay."""
        if not on_gpu():
            raise self._refused()
        return draws(GPUKey(seed, 0))

    def host_draws(self, seed: int = 0) -> Draws:
        raise self._refused()

    @staticmethod
    def _refused() -> UnsupportedError:
        return UnsupportedError(
            "random: a key in memory of the GPU gives no numbers to an operator that draws on the CPU; "
            "run it outside of a captured graph"
        )


class DeviceKeys:
    """The keys of the random operators of one captured plan, in their order: ``keys[n]``.

    ``renew()`` before each replay gives them the keys that ``count`` calls of ``reserve_on_gpu`` would
    return: one launch on the current stream, no copy and no wait.
    """

    def __init__(self, count: int, generator: Generator | None = None) -> None:
        self._generator = generator or default_generator()
        self.array = cupy.zeros((count, 2), np.uint64)
        self.keys = tuple([DeviceKey(self.array[n]) for n in range(count)])

    def renew(self) -> list[GPUKey]:
        """Take the next keys of the generator, which are returned too: others may draw the same numbers."""
        count = len(self.keys)
        first = self._generator.reserve_on_gpu(count)
        kernel("philox", "philox_keys", **of_type(np.float32))(
            (blocks(count, _THREADS),),
            (_THREADS,),
            (self.array, np.uint64(count), np.uint64(first.seed & _MOST), np.uint64(first.offset & _MOST)),
        )
        return [GPUKey(first.seed, first.offset + n) for n in range(count)]
