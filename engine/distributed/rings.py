"""The groups of this process as the operators of a Program find them: by number.

Nothing in a Program says where the other processes are: it acts in what this process has joined itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from engine.core.errors import ArgumentError, ModeError
from engine.distributed import exchange
from engine.distributed.environment import ParallelEnv
from engine.distributed.exchange import Array
from engine.distributed.groups import Group, alone, known_groups
from engine.distributed.messages import received, sent
from engine.distributed.reducing import ReduceOp
from engine.ops.control import collectives

_OPS = {
    "sum": ReduceOp.SUM,
    "max": ReduceOp.MAX,
    "min": ReduceOp.MIN,
    "prod": ReduceOp.PROD,
    "avg": ReduceOp.AVG,
}


@final
class Ring:
    """A group as the kernels of collectives use it. Arrays of a GPU pass through the CPU's memory."""

    def __init__(self, group: Group, where: str) -> None:
        self._group, self._where = group, where
        self.rank, self.nranks = group.rank, group.nranks

    def all_reduced(self, array: Any, word: str) -> Array:
        return exchange.all_reduced(self._group, _copy(array), self._op(word), self._where)

    def reduced(self, array: Any, word: str, root: int) -> Array:
        given = _host(array)
        found = exchange.reduced(self._group, given, self._op(word), self._member(root), self._where)
        return given.copy() if found is None else found

    def broadcast(self, array: Any, root: int) -> Array:
        given = _host(array)
        got = exchange.broadcast(self._group, given, self._member(root))
        return got.copy() if got is given else got

    def gathered(self, array: Any, root: int | None = None) -> Array:
        given = _host(array)
        rows = exchange.gathered(self._group, given, None if root is None else self._member(root))
        return np.zeros((self.nranks, *given.shape), given.dtype) if rows is None else rows

    def joined(self, array: Any, root: int | None = None) -> Array:
        return exchange.joined(self.gathered(array, root))

    def reduce_scattered(self, array: Any, word: str) -> Array:
        return exchange.reduce_scattered(self._group, self._rows(array), self._op(word), self._where)

    def scattered(self, array: Any, root: int) -> Array:
        rows = self._rows(array)
        given = rows if self.rank == self._member(root) else None
        return exchange.scattered(self._group, given, rows[0], root).copy()

    def exchanged(self, array: Any, sent: Sequence[int], taken: Sequence[int]) -> Array:
        given = _host(array)
        got = exchange.exchanged_parts(self._group, given, sent, taken)
        return got.copy() if got is given else got

    def send(self, array: Any, peer: int) -> None:
        sent(_copy(array), self._member(peer), self._group, self._where)

    def received(self, shape: Sequence[int], dtype: np.dtype[Any], peer: int) -> Array:
        return received(np.empty(shape, dtype), self._member(peer), self._group, self._where)

    def barrier(self) -> None:
        exchange.barrier(self._group)

    def _rows(self, array: Any) -> Array:
        return _host(array).reshape(self.nranks, array.shape[0] // self.nranks, *array.shape[1:])

    def _op(self, word: str) -> int:
        if word not in _OPS:
            raise ArgumentError(f"{self._where}: there is no reduction {word!r}; use one of {list(_OPS)}")
        return _OPS[word]

    def _member(self, place: int) -> int:
        if not 0 <= place < self.nranks:
            raise ArgumentError(
                f"{self._where}: process {place} is not in group {self._group.id}, which has {self.nranks}; "
                "run the Program with as many processes as it was built for"
            )
        return place


@collectives.ring.define
def ring(number: int, where: str, nranks: int | None = None) -> Ring:
    """See ``engine.ops.control.collectives.ring``."""
    known = known_groups()
    group = known.get(number)
    if group is None:
        size = ParallelEnv().world_size
        if size > 1:
            raise ModeError(
                f"{where}: this process has no group {number}, it has {sorted(known)}: {size} processes; "
                "call paddle.distributed.init_parallel_env() or new_group() before the Program runs"
            )
        group = alone()
    if group.rank < 0:
        raise ModeError(f"{where}: this process is not a member of {group}")
    if nranks is not None and nranks != group.nranks:
        raise ArgumentError(
            f"{where}: the Program was built for {nranks} processes, group {number} has {group.nranks}; run "
            "it with as many, or build it again"
        )
    return Ring(group, where)


def _host(array: Any) -> Array:
    """The values in contiguous memory of the CPU: the array's own where that is so."""
    return np.asarray(array.get() if hasattr(array, "get") else array, order="C")


def _copy(array: Any) -> Array:
    return np.array(array.get() if hasattr(array, "get") else array, order="C")
