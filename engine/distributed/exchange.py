"""Arrays between the processes of a group: what the collectives of Tensors and those in Programs share.

Each function takes contiguous arrays of the CPU and returns new ones, or what it was given. A process alone
is a group of itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.values.bfloat import adopt, plain
from engine.distributed import reducing
from engine.distributed.groups import Group
from engine.distributed.mpi import bytes_of, library

Array = np.ndarray[Any, Any]


def all_reduced(group: Group, array: Array, op: int, where: str) -> Array:
    """The reduction of ``array`` of all members, the same bits in each; in place if it can be."""
    if group.nranks == 1:
        reducing.way(op, array.dtype, 1, where)
        return array
    return reducing.all_reduced(group.process_group, array, op, where)


def reduced(group: Group, array: Array, op: int, root: int, where: str) -> Array | None:
    """The reduction of ``array`` of all members, in the member ``root``; None in the others."""
    reducing.way(op, array.dtype, group.nranks, where)
    rows = gathered(group, array, root)
    return None if rows is None else reducing.fold(reducing.rows_of(rows), op)


def broadcast(group: Group, array: Array, root: int) -> Array:
    """``array`` of the member ``root``, in all; where it comes from another one it is a new array."""
    if group.nranks == 1:
        return array
    got = array if group.rank == root else adopt(np.empty(array.shape, array.dtype))
    group.process_group.Bcast(bytes_of(got), root)
    return got


def gathered(group: Group, array: Array, root: int | None = None) -> Array | None:
    """``array`` of every member as a row, in the order of the ranks; with ``root`` in that one, else None."""
    here = root is None or group.rank == root
    rows = np.empty((group.nranks if here else 0, *array.shape), array.dtype)
    if group.nranks == 1:
        rows[0] = plain(array)
    elif root is None:
        group.process_group.Allgather(bytes_of(array), bytes_of(rows))
    else:
        group.process_group.Gather(bytes_of(array), bytes_of(rows) if here else None, root)
    return rows if here else None


def joined(rows: Array) -> Array:
    """The rows of ``gathered`` one behind the other along their first axis; numbers in a row."""
    return adopt(rows.reshape(rows.shape[0] * (*rows.shape, 1)[1], *rows.shape[2:]))  # type: ignore[no-any-return]


def scattered(group: Group, rows: Array | None, model: Array, root: int) -> Array:
    """The row of the member ``root`` that is for this one: of the shape and dtype of ``model``."""
    if group.nranks == 1:
        assert rows is not None  # the only process is the root
        return adopt(rows[0, ...])  # type: ignore[no-any-return]
    got = np.empty(model.shape, model.dtype)
    group.process_group.Scatter(None if rows is None else bytes_of(rows), bytes_of(got), root)
    return adopt(got)  # type: ignore[no-any-return]


def exchanged(group: Group, rows: Array) -> Array:
    """Row i of this process goes to process i; the result has that of process i for this one in row i."""
    if group.nranks == 1:
        return rows
    got = np.empty_like(rows)
    group.process_group.Alltoall(bytes_of(rows), bytes_of(got))
    return got


def reduce_scattered(group: Group, rows: Array, op: int, where: str) -> Array:
    """The reduction of row i of all members, in member i."""
    reducing.way(op, rows.dtype, group.nranks, where)
    return reducing.fold(reducing.rows_of(exchanged(group, rows)), op)


def exchanged_parts(group: Group, array: Array, sent: Sequence[int], taken: Sequence[int]) -> Array:
    """``sent[i]`` rows of ``array`` go to process i, one part after the other; ``taken[i]`` come from it."""
    if group.nranks == 1:
        return array
    got = np.empty((sum(taken), *array.shape[1:]), array.dtype)
    row = int(np.prod(array.shape[1:], dtype=np.int64)) * array.itemsize
    out, into = ([size * row for size in sizes] for sizes in (sent, taken))
    byte = library().BYTE
    group.process_group.Alltoallv([bytes_of(array)[0], out, byte], [bytes_of(got)[0], into, byte])
    return adopt(got)  # type: ignore[no-any-return]


def barrier(group: Group) -> None:
    """Return when every member has called it."""
    if group.nranks > 1:
        group.process_group.Barrier()
