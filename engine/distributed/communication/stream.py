"""The collectives with ``use_calc_stream``, as Paddle's ``paddle.distributed.stream``.

There are no streams here: what is started is done when the call returns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core.errors import ModeError
from engine.distributed import collectives, messages
from engine.distributed.collectives import Task
from engine.distributed.groups import Group
from engine.distributed.in_programs import Gathered, Parts
from engine.distributed.reducing import ReduceOp
from engine.tensor.tensor_like import AnyTensor


def _checked(sync_op: bool, use_calc_stream: bool) -> None:
    if use_calc_stream and not sync_op:
        raise ModeError("use_calc_stream can only be true in sync op behavior: pass sync_op=True")


def all_reduce(
    tensor: AnyTensor,
    op: int = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """``paddle.distributed.all_reduce``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.all_reduce(tensor, op, group, sync_op)


def all_gather(
    tensor_or_tensor_list: Gathered,
    tensor: AnyTensor,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """``paddle.distributed.all_gather``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.all_gather(tensor_or_tensor_list, tensor, group, sync_op)


def alltoall(
    out_tensor_or_tensor_list: Gathered,
    in_tensor_or_tensor_list: Parts,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """``paddle.distributed.alltoall`` with the results first.

    Raises ModeError for ``use_calc_stream`` without sync_op.
    """
    _checked(sync_op, use_calc_stream)
    return collectives.alltoall(in_tensor_or_tensor_list, out_tensor_or_tensor_list, group, sync_op)


def alltoall_single(
    out_tensor: AnyTensor,
    in_tensor: AnyTensor,
    out_split_sizes: Iterable[int] | None = None,
    in_split_sizes: Iterable[int] | None = None,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """``paddle.distributed.alltoall_single`` with the result first.

    Raises ModeError for ``use_calc_stream`` without sync_op.
    """
    _checked(sync_op, use_calc_stream)
    return collectives.alltoall_single(in_tensor, out_tensor, in_split_sizes, out_split_sizes, group, sync_op)


def broadcast(
    tensor: AnyTensor,
    src: int,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """``paddle.distributed.broadcast``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.broadcast(tensor, src, group, sync_op)


def gather(
    tensor: AnyTensor,
    gather_list: list[Any] | None = None,
    dst: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """``paddle.distributed.gather``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.gather(tensor, gather_list, dst, group, sync_op)


def reduce(
    tensor: AnyTensor,
    dst: int = 0,
    op: int = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """``paddle.distributed.reduce``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.reduce(tensor, dst, op, group, sync_op)


def reduce_scatter(
    tensor: AnyTensor,
    tensor_or_tensor_list: Parts,
    op: int = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """``paddle.distributed.reduce_scatter``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.reduce_scatter(tensor, tensor_or_tensor_list, op, group, sync_op)


def scatter(
    tensor: AnyTensor,
    tensor_or_tensor_list: Parts | None = None,
    src: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """``paddle.distributed.scatter``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.scatter(tensor, tensor_or_tensor_list, src, group, sync_op)


def send(
    tensor: AnyTensor,
    dst: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """``paddle.distributed.send``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return messages.send(tensor, dst, group, sync_op)


def recv(
    tensor: AnyTensor,
    src: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """``paddle.distributed.recv``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return messages.recv(tensor, src, group, sync_op)
