"""The CUDA graph of a plan: arguments that are read in place, arguments that are copied, and results on loan.

A graph holds the addresses of everything it reads and writes. Arrays that a plan changes in place, and arrays
that are the same as in the call before, are read in place, and their addresses are checked before each
replay; all others are copied into an array of the graph. Results are arrays of the graph: as long as the
caller has one, the graph is not launched again. Random operators read keys from an array that is written
before.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from engine.core.operators.operator import Operator
from engine.core.random.generator import default_generator
from engine.kernels import choice


class Refused(Exception):
    """A plan can't be recorded; ``operator`` is the one that forbids it, None for none."""

    def __init__(self, reason: str, operator: Operator | None = None) -> None:
        super().__init__(reason)
        self.operator = operator


class _Handing(threading.local):
    """The keys that a recording of this thread gives to random operators; None where nothing records."""

    keys: Iterator[Any] | None = None


_handing = _Handing()


def next_key() -> Any:
    """The next key of a random operator of a plan on a GPU: in a recording one that the graph reads from
    memory."""
    keys = _handing.keys
    return default_generator().reserve_on_gpu() if keys is None else next(keys)


class Recorded:
    """The graph of a plan's ``function`` for arguments like ``values``.

    ``fixed`` marks those that are read in place; ``copied`` results are returned as copies.
    ``draws`` is how many keys the function takes. Raises Refused for arguments and results that are not
    arrays, and the errors of ``engine.kernels.cupy.device.graphs.Graph``.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        values: Sequence[Any],
        fixed: Sequence[bool],
        copied: Collection[int],
        draws: int,
    ) -> None:
        from engine.kernels.cupy.device import graphs
        from engine.kernels.cupy.keys import DeviceKey, DeviceKeys

        if not all(isinstance(value, graphs.Array) for value in values):
            raise Refused("it draws the random numbers of an earlier call again")
        self._stream = graphs.stream_key()
        self._kernels = choice.kernels.get()
        self._memory = graphs.arena()
        with self._memory.lock:
            self._fixed = [(n, v.data.ptr, v.strides) for n, v in enumerate(values) if fixed[n]]
            fed = [n for n in range(len(values)) if not fixed[n]]
            self._fed = list(zip(fed, self._memory.like([values[n] for n in fed]), strict=True))
            given = list(values)
            for n, place in self._fed:
                given[n] = place
            stays = [values[n] for n, _, _ in self._fixed]
            self._keys = DeviceKeys(draws) if draws else None
            keys = () if self._keys is None else self._keys.keys
            _handing.keys = iter(keys)
            try:
                self._graph = graphs.Graph(self._memory, lambda: function(given), stays)
            finally:
                _handing.keys = None
        self._results = list(self._graph.result)
        self._graph.result = ()
        self.count = len(self._results)
        # The count for an array that only the list holds, which depends on the version of Python.
        self._free = _holders(self._memory.one(), 0)
        places = range(self.count)
        # Keys that the plan drew, for operators that draw the same numbers again.
        self._drawn = {
            n: keys.index(self._results[n]) for n in places if isinstance(self._results[n], DeviceKey)
        }
        if not all(n in self._drawn or isinstance(self._results[n], graphs.Array) for n in places):
            raise Refused("one of its results is not an array")
        self._copied = {n for n in places if n in copied or (n not in self._drawn and self._is_shared(n))}

    def _is_shared(self, n: int) -> bool:
        """Whether more than the list holds a result, or its memory; or most callers keep it: a number."""
        return (
            self._results[n].ndim == 0
            or self._results[n].base is not None
            or _is_held(self._results, n, self._free)
        )

    def fits(self, values: Sequence[Any]) -> bool:
        """Whether the graph holds for these arguments, on the current stream."""
        from engine.kernels.cupy.device import graphs

        return (
            graphs.stream_key() == self._stream
            and choice.kernels.get() == self._kernels
            and all(values[n].data.ptr == at and values[n].strides == s for n, at, s in self._fixed)
            and all(values[n].shape == place.shape for n, place in self._fed)
        )

    def replay(self, values: Sequence[Any]) -> tuple[Any, ...] | None:
        """The results for these arguments; None, without any work, if an array has moved or
        the caller still has an earlier result."""
        with self._memory.lock:
            if not self.fits(values) or self.lent():
                return None
            for n, place in self._fed:
                place[...] = values[n]
            keys = [] if self._keys is None else self._keys.renew()
            self._graph.launch()
            return tuple(
                [
                    keys[self._drawn[n]]
                    if n in self._drawn
                    else result.copy("K")
                    if n in self._copied
                    else result
                    for n, result in enumerate(self._results)
                ]
            )

    def lent(self) -> set[int]:
        """The results of earlier calls that the caller still has, of those that are not copied."""
        own = [n for n in range(self.count) if n not in self._copied and n not in self._drawn]
        return {n for n in own if _is_held(self._results, n, self._free)}


def _holders(results: list[Any], n: int) -> tuple[int, int, int]:
    """How many hold a result, its pointer, and its memory: some views hold the result, others its memory."""
    pointer = results[n].data
    return sys.getrefcount(results[n]), sys.getrefcount(pointer), sys.getrefcount(pointer.mem)


def _is_held(results: list[Any], n: int, free: tuple[int, int, int]) -> bool:
    """Whether there are more holders than of an array that the list alone holds."""
    return any(count > at_rest for count, at_rest in zip(_holders(results, n), free, strict=True))
