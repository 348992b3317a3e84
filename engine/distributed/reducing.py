"""Reductions over processes, in the order of the ranks, so that all hold the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.core.values.bfloat import adopt, is_bfloat16, narrow, plain, widen
from engine.core.values.dtype import bfloat16
from engine.distributed.mpi import bytes_of, library


class ReduceOp:
    """How values of several processes become one."""

    SUM = 0
    MAX = 1
    MIN = 2
    PROD = 3
    AVG = 4


_FOLDS: dict[int, Any] = {0: np.add, 1: np.maximum, 2: np.minimum, 3: np.multiply, 4: np.add}
_SMALL = 16 * 1024  # bytes: below, sending everything to everyone takes fewer messages


@lru_cache(maxsize=256)
def way(op: int, dtype: np.dtype[Any], count: int, where: str) -> str | None:
    """The name of MPI's operation that gives the bits of a reduction in the order of ``count`` ranks, if any.

    Two processes, or integers, give the same bits in any order, so MPI may reduce them.

    Raises:
        ArgumentError: ``op`` is not one of ReduceOp's.
        DTypeError: it is not defined for ``dtype``.
    """
    if op not in _FOLDS:
        raise ArgumentError(f"{where}: op must be one of ReduceOp's SUM, MAX, MIN, PROD, AVG: got {op!r}")
    low = dtype == bfloat16.np
    kind = "f" if low else dtype.kind
    if (op == ReduceOp.AVG and kind not in "fc") or (op in (ReduceOp.MAX, ReduceOp.MIN) and kind == "c"):
        name = next(name for name, value in vars(ReduceOp).items() if value == op)
        raise DTypeError(f"{where}: {name} is not defined for {dtype}; cast the tensor, or use SUM")
    paired = count == 2 and kind in "fc" and dtype.itemsize > 2 and op not in (ReduceOp.MAX, ReduceOp.MIN)
    return ("SUM", "MAX", "MIN", "PROD", "SUM")[op] if paired or kind in "iu" else None


def fold(rows: Sequence[np.ndarray[Any, Any]], op: int) -> np.ndarray[Any, Any]:
    """The reduction of ``rows``, arrays of one shape and dtype in the order of the ranks.

    float16 and bfloat16 are computed in float32 and rounded once.
    """
    count, first = len(rows), rows[0]
    narrowed = is_bfloat16(first)
    wide = first.dtype == np.float16

    def up(row: Any) -> Any:
        return widen(np, row) if narrowed else row.astype(np.float32) if wide else row

    total = np.array(up(first))
    for row in rows[1:]:
        _FOLDS[op](total, up(row), out=total)
    if op == ReduceOp.AVG:
        np.divide(total, np.asarray(count, total.real.dtype), out=total)
    return narrow(np, total) if narrowed else total.astype(first.dtype, copy=False)


def rows_of(stacked: np.ndarray[Any, Any]) -> list[Any]:
    """The rows of an array, one from each process, as arrays; 0-D ones too."""
    return [adopt(stacked[each, ...]) for each in range(len(stacked))]


def all_reduced(comm: Any, array: np.ndarray[Any, Any], op: int, where: str) -> np.ndarray[Any, Any]:
    """The reduction of the contiguous ``array`` of each process, in all of them; done in place where MPI can.

    Else each process reduces its part of the elements in the order of the ranks.
    """
    mpi, count = library(), comm.size
    direct = way(op, array.dtype, count, where)
    if direct is not None:
        comm.Allreduce(mpi.IN_PLACE, array, getattr(mpi, direct))
        if op == ReduceOp.AVG:
            np.divide(array, np.asarray(count, array.real.dtype), out=array)
        return array
    flat = plain(array).reshape(-1)
    if flat.nbytes <= _SMALL:
        rows = np.empty((comm.size, flat.size), flat.dtype)
        comm.Allgather(bytes_of(flat), bytes_of(rows))
        array = adopt(plain(fold(rows_of(rows), op)).reshape(array.shape))
        return array
    array = _by_parts(comm, array, flat, op)
    return array


def _by_parts(comm: Any, array: Any, flat: np.ndarray[Any, Any], op: int) -> Any:
    """Each process gets its part of the elements of all, reduces it and sends the result to all."""
    edges = np.linspace(0, flat.size, comm.size + 1).astype(np.int64)
    lengths = np.diff(edges).tolist()
    sizes = [length * flat.itemsize for length in lengths]
    rows = np.empty((comm.size, lengths[comm.rank]), flat.dtype)
    memory, byte = bytes_of(rows)
    comm.Alltoallv([flat.view(np.uint8), sizes, byte], [memory, [sizes[comm.rank]] * comm.size, byte])
    part = plain(fold(rows_of(rows), op))
    result = np.empty_like(flat)
    comm.Allgatherv(bytes_of(part), [result.view(np.uint8), sizes, byte])
    return adopt(result.reshape(array.shape))
