"""Team: how the ranks of one training communicate. Rank 0 gives orders, the others carry them out."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from engine.distributed import mpi
from engine.distributed.groups import Group
from engine.distributed.objects import all_gather_object, broadcast_value
from engine.distributed.reducing import ReduceOp, all_reduced

LEADER = 0
BUILD, STATE, STATISTICS, STEP, EVALUATE, EPOCH, RATE, END = range(8)
"""The orders of rank 0: build the network; take this state, these running statistics; do a step; read
test images; an epoch was measured; the learning rate was changed by hand; the training is over."""

_SPIN_SECONDS = 0.003
_LONGEST_NAP = 0.02


class Team:
    """The ranks of one training.

    MPI waits by asking again and again, with all of a core. A listening rank does so for a few milliseconds,
    as long as a step may take to come; then it sleeps in between, since rank 0 may pause or save, for a tenth
    of the time that it has waited at most.

    Args:
        comm: MPI's communicator of all ranks; the team uses one of its own.

    ``waited`` counts the seconds that this rank has spent waiting for others.
    """

    def __init__(self, comm: Any) -> None:
        self._comm = comm.Dup()
        self.rank: int = comm.rank
        self.size: int = comm.size
        self.group = Group(self.rank, 0, range(self.size), self._comm, "training")
        self.waited = 0.0

    @property
    def leads(self) -> bool:
        """Whether this is rank 0."""
        return self.rank == LEADER

    def order(self, what: int, first: int = 0, second: int = 0) -> None:
        """Send an order of rank 0 to all others, with two numbers."""
        self._comm.Ibcast(np.array([what, first, second], np.int64), LEADER).Wait()

    def hear(self) -> tuple[int, int, int]:
        """Wait for an order of rank 0."""
        begin = time.perf_counter()
        heard = np.zeros(3, np.int64)
        request = self._comm.Ibcast(heard, LEADER)
        while not request.Test():
            waited = time.perf_counter() - begin
            if waited > _SPIN_SECONDS:
                time.sleep(min(waited / 10, _LONGEST_NAP))
        self.waited += time.perf_counter() - begin
        what, first, second = heard.tolist()
        return what, first, second

    def spread(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The array of rank 0 in all ranks; the others give one of its shape and dtype, which is written."""
        self._comm.Bcast(mpi.bytes_of(array), LEADER)
        return array

    def spread_value(self, value: object = None) -> Any:
        """The plain value of rank 0 in all ranks."""
        return broadcast_value(value, LEADER, self.group, "training")

    def sum(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The sum of the ranks' arrays, the same bits in all; may be ``array`` itself."""
        begin = time.perf_counter()
        total: np.ndarray[Any, Any] = all_reduced(self._comm, array, ReduceOp.SUM, "training")
        self.waited += time.perf_counter() - begin
        return total

    def collect(self, value: object) -> list[Any]:
        """The plain values of all ranks, in their order."""
        values: list[Any] = []
        all_gather_object(values, value, self.group)
        return values

    def share(self, items: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """This rank's part of ``items``: all parts differ by one at most, the first are the larger."""
        part: np.ndarray[Any, Any] = np.array_split(items, self.size)[self.rank]
        return part
