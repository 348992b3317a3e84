"""The collectives with ``use_calc_stream``, as Paddle's ``paddle.distributed.stream``.

There are no streams here: what is started is done when the call returns.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ModeError
from engine.distributed import collectives, messages
from engine.distributed.groups import Group
from engine.distributed.reducing import ReduceOp


def _checked(sync_op: bool, use_calc_stream: bool) -> None:
    if use_calc_stream and not sync_op:
        raise ModeError("use_calc_stream can only be true in sync op behavior: pass sync_op=True")


def all_reduce(
    tensor: Any,
    op: int = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Any:
    """``paddle.distributed.all_reduce``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.all_reduce(tensor, op, group, sync_op)


def all_gather(
    tensor_or_tensor_list: Any,
    tensor: Any,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Any:
    """``paddle.distributed.all_gather``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.all_gather(tensor_or_tensor_list, tensor, group, sync_op)


def alltoall(
    out_tensor_or_tensor_list: Any,
    in_tensor_or_tensor_list: Any,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Any:
    """``paddle.distributed.alltoall`` with the results first.

    Raises ModeError for ``use_calc_stream`` without sync_op.
    """
    _checked(sync_op, use_calc_stream)
    return collectives.alltoall(in_tensor_or_tensor_list, out_tensor_or_tensor_list, group, sync_op)


def alltoall_single(
    out_tensor: Any,
    in_tensor: Any,
    out_split_sizes: Any = None,
    in_split_sizes: Any = None,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Any:
    """``paddle.distributed.alltoall_single`` with the result first.

    Raises ModeError for ``use_calc_stream`` without sync_op.
    """
    _checked(sync_op, use_calc_stream)
    return collectives.alltoall_single(in_tensor, out_tensor, in_split_sizes, out_split_sizes, group, sync_op)


def broadcast(
    tensor: Any, src: int, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Any:
    """``paddle.distributed.broadcast``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.broadcast(tensor, src, group, sync_op)


def gather(
    tensor: Any,
    gather_list: Any = None,
    dst: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Any:
    """``paddle.distributed.gather``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.gather(tensor, gather_list, dst, group, sync_op)


def reduce(
    tensor: Any,
    dst: int = 0,
    op: int = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Any:
    """``paddle.distributed.reduce``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.reduce(tensor, dst, op, group, sync_op)


def reduce_scatter(
    tensor: Any,
    tensor_or_tensor_list: Any,
    op: int = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Any:
    """``paddle.distributed.reduce_scatter``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.reduce_scatter(tensor, tensor_or_tensor_list, op, group, sync_op)


def scatter(
    tensor: Any,
    tensor_or_tensor_list: Any = None,
    src: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Any:
    """``paddle.distributed.scatter``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return collectives.scatter(tensor, tensor_or_tensor_list, src, group, sync_op)


def send(
    tensor: Any, dst: int = 0, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Any:
    """``paddle.distributed.send``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return messages.send(tensor, dst, group, sync_op)


def recv(
    tensor: Any, src: int = 0, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Any:
    """``paddle.distributed.recv``. Raises ModeError for ``use_calc_stream`` without sync_op."""
    _checked(sync_op, use_calc_stream)
    return messages.recv(tensor, src, group, sync_op)
