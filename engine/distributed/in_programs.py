"""Collectives while a Program is built: operators are appended, and the Tensors stand for their results.

Unlike eager ones they have gradients. Ranks of processes are places in the group here.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from engine.core.errors import ArgumentError, ShapeError
from engine.distributed.groups import Group
from engine.distributed.reducing import ReduceOp
from engine.ops.arrays import creation
from engine.ops.control import collectives as ops
from engine.ops.elementwise import arithmetic, extremes
from engine.tensor import manipulation
from engine.tensor.members.inplace import replace
from engine.tensor.tensor_like import AnyTensor

# A tensor for each process, or one that is cut along its first axis.
Parts: TypeAlias = AnyTensor | Sequence[AnyTensor]
# What gets a tensor of each process: tensors, an empty list, or one tensor for all along its first axis.
Gathered: TypeAlias = AnyTensor | list[Any] | tuple[AnyTensor, ...]

_ALL_REDUCE = (
    ops.c_allreduce_sum,
    ops.c_allreduce_max,
    ops.c_allreduce_min,
    ops.c_allreduce_prod,
    ops.c_allreduce_avg,
)
_REDUCE = (ops.c_reduce_sum, ops.c_reduce_max, ops.c_reduce_min, ops.c_reduce_prod, ops.c_reduce_avg)
_FOLDS = {ReduceOp.MAX: extremes.maximum, ReduceOp.MIN: extremes.minimum, ReduceOp.PROD: arithmetic.multiply}


def _chosen(of: Sequence[Any], op: Any, where: str) -> Any:
    if op not in range(len(of)):
        raise ArgumentError(f"{where}: op must be one of ReduceOp's SUM, MAX, MIN, PROD, AVG: got {op!r}")
    return of[op]


def _joined(value: Any, count: int, where: str) -> Any:
    """A list with a value for each process as one, along the first axis; a Tensor as it is."""
    if not isinstance(value, (list, tuple)):
        return value
    if len(value) != count:
        raise ArgumentError(
            f"{where}: takes a list with a Tensor for each of the {count} processes: got {len(value)} items"
        )
    return manipulation.concat(value) if value[0].ndim else manipulation.stack(value)


def _parts(joined: Any, count: int, scalar: bool) -> list[Any]:
    """What ``_joined`` put together."""
    if scalar:
        return list(manipulation.unstack(joined))
    return manipulation.split(joined, count) if count > 1 else [joined]


def _deliver(into: Any, joined: Any, count: int, scalar: bool, where: str) -> None:
    """Let the Tensors of a list stand for the parts, fill an empty list, or let a Tensor stand for all."""
    if not isinstance(into, list):
        replace(where, into, joined)
        return
    parts = _parts(joined, count, scalar)
    if not into:
        into.extend(parts)
        return
    if len(into) != count:
        raise ArgumentError(f"{where}: the list must be empty or have {count} Tensors: got {len(into)}")
    for tensor, part in zip(into, parts, strict=True):
        replace(where, tensor, part)


def all_reduce(tensor: AnyTensor, op: int, group: Group, sync_op: bool) -> None:
    operator = _chosen(_ALL_REDUCE, op, "all_reduce")
    replace("all_reduce", tensor, operator(tensor, ring_id=group.id, use_calc_stream=bool(sync_op)))


def reduce(tensor: AnyTensor, root: int, op: int, group: Group, sync_op: bool) -> None:
    operator = _chosen(_REDUCE, op, "reduce")
    found = operator(tensor, ring_id=group.id, root_id=root, use_calc_stream=bool(sync_op))
    replace("reduce", tensor, found)


def broadcast(tensor: AnyTensor, root: int, group: Group, sync_op: bool) -> None:
    found = ops.c_broadcast(tensor, ring_id=group.id, root=root, use_calc_stream=bool(sync_op))
    replace("broadcast", tensor, found)


def all_gather(tensor_list: Gathered, tensor: AnyTensor, group: Group, sync_op: bool) -> None:
    joined = ops.c_allgather(tensor, nranks=group.nranks, ring_id=group.id, use_calc_stream=bool(sync_op))
    _deliver(tensor_list, joined, group.nranks, not tensor.ndim, "all_gather")


def gather(tensor: AnyTensor, gather_list: list[Any] | None, root: int, group: Group, sync_op: bool) -> None:
    """``gather_list`` is None in the processes that are not ``root``."""
    joined = ops.c_gather(
        tensor,
        nranks=group.nranks,
        ring_id=group.id,
        root=root,
        use_calc_stream=bool(sync_op),
        everywhere=False,
    )
    if gather_list is not None:
        _deliver(gather_list, joined, group.nranks, not tensor.ndim, "gather")


def scatter(tensor: AnyTensor, tensor_list: Parts | None, root: int, group: Group, sync_op: bool) -> None:
    """``tensor_list`` is None in the processes that are not ``root``: they take part with values like it."""
    given = [tensor] * group.nranks if tensor_list is None else tensor_list
    found = ops.c_scatter(
        _joined(given, group.nranks, "scatter"),
        nranks=group.nranks,
        ring_id=group.id,
        root=root,
        use_calc_stream=bool(sync_op),
    )
    replace("scatter", tensor, found if tensor.ndim else found[0])


def reduce_scatter(tensor: AnyTensor, tensor_list: Parts, op: int, group: Group, sync_op: bool) -> None:
    joined, count = _joined(tensor_list, group.nranks, "reduce_scatter"), group.nranks
    if op in (ReduceOp.SUM, ReduceOp.AVG):
        found = ops.c_reducescatter(joined, nranks=count, ring_id=group.id, use_calc_stream=bool(sync_op))
        if op == ReduceOp.AVG:
            found = arithmetic.scale(found, scale=1.0 / count)
    else:
        fold = _chosen([None, *_FOLDS.values()], op, "reduce_scatter")
        parts = _parts(ops.alltoall(joined, ring_id=group.id), count, False)
        found = functools.reduce(fold, parts)
    replace("reduce_scatter", tensor, found if tensor.ndim else found[0])


def alltoall(in_tensor_list: Parts, out_tensor_list: Gathered, group: Group, sync_op: bool) -> None:
    joined = _joined(in_tensor_list, group.nranks, "alltoall")
    scalar = isinstance(in_tensor_list, (list, tuple)) and not in_tensor_list[0].ndim
    found = ops.alltoall(joined, ring_id=group.id, use_calc_stream=bool(sync_op))
    _deliver(out_tensor_list, found, group.nranks, scalar, "alltoall")


def split_sizes(given: Iterable[int] | None, shape: Sequence[int], count: int, name: str) -> list[int]:
    """How many rows each of ``count`` processes has of ``alltoall_single``, by default as many."""
    length = shape[0] if shape else 0
    sizes = [length // count] * count if given is None else [int(each) for each in given]
    if len(sizes) != count or min(sizes) < 0 or sum(sizes) != length:
        raise ShapeError(
            f"alltoall_single: {name} must be {count} sizes that add up to the first dimension {length}: "
            f"got {sizes}"
        )
    return sizes


def alltoall_single(
    in_tensor: AnyTensor,
    out_tensor: AnyTensor,
    in_sizes: Iterable[int] | None,
    out_sizes: Iterable[int] | None,
    group: Group,
    sync_op: bool,
) -> None:
    sent: tuple[int, ...] = ()
    taken: tuple[int, ...] = ()
    if in_sizes is not None or out_sizes is not None:
        sent = tuple(split_sizes(in_sizes, in_tensor.shape, group.nranks, "in_split_sizes"))
        taken = tuple(split_sizes(out_sizes, out_tensor.shape, group.nranks, "out_split_sizes"))
    found = ops.alltoall(
        in_tensor, ring_id=group.id, use_calc_stream=bool(sync_op), in_sizes=sent, out_sizes=taken
    )
    replace("alltoall_single", out_tensor, found)


def send(tensor: AnyTensor, peer: int, group: Group) -> None:
    ops.send_v2(tensor, peer=peer, ring_id=group.id)


def recv(tensor: AnyTensor, peer: int, group: Group) -> None:
    if any(size < 0 for size in tensor.shape):
        raise ShapeError(f"recv: the shape must be known: got {list(tensor.shape)}; give all dimensions")
    found = ops.recv_v2(out_shape=list(tensor.shape), dtype=tensor.dtype.name, peer=peer, ring_id=group.id)
    replace("recv", tensor, found)


def barrier(group: Group) -> None:
    ops.barrier(creation.fill(shape=[1], value=1.0, dtype="int32"), ring_id=group.id)
