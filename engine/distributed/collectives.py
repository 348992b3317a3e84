"""Collectives: what every process of a group calls, each with its own tensor.

Eagerly they exchange arrays at once and have no gradients, as in Paddle; while a Program is built they append
operators to it, which have (``in_programs``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.strictness import warn_at_user
from engine.core.values.bfloat import adopt, plain
from engine.distributed import exchange, in_programs, reducing
from engine.distributed.groups import Group, group_of, outside, place_of
from engine.distributed.in_programs import Gathered, Parts, split_sizes
from engine.distributed.reducing import ReduceOp
from engine.eager.tensor import Tensor, write
from engine.tensor.tensor_like import AnyTensor


class Task:
    """Work that ``sync_op=False`` started; ``wait()`` returns when its results are there."""

    def wait(self, timeout: object = None) -> bool:
        """True: the work is done when the call that started it returns."""
        return True

    def is_completed(self) -> bool:
        """Whether the results are there."""
        return True

    def is_sync(self) -> bool:
        """Whether the work was done before the call that started it returned."""
        return True


def host(tensor: AnyTensor, where: str) -> np.ndarray[Any, Any]:
    """The data of a Tensor in contiguous memory of the CPU; the Tensor's own where that is so."""
    if not isinstance(tensor, Tensor):
        raise DTypeError(f"{where}: takes Tensors: got {type(tensor).__name__}; use paddle.to_tensor")
    array = tensor._array
    if array.__class__ is np.ndarray and array.flags.c_contiguous:
        return array
    array = array if isinstance(array, np.ndarray) else array.get()
    return adopt(np.asarray(plain(array), order="C"))  # type: ignore[no-any-return]


def _alike(array: Any, model: Any, where: str) -> Any:
    if array.shape != model.shape:
        raise ShapeError(f"{where}: shapes differ: got {list(array.shape)} and {list(model.shape)}")
    if array.dtype != model.dtype:
        raise DTypeError(f"{where}: dtypes differ: got {array.dtype} and {model.dtype}; cast one")
    return array


def _parts(value: Any, count: int, where: str) -> list[np.ndarray[Any, Any]]:
    """``count`` arrays: those of a list of Tensors of one shape and dtype, or a Tensor cut along axis 0."""
    if isinstance(value, Tensor):
        array = host(value, where)
        if array.ndim == 0 or array.shape[0] % count:
            raise ShapeError(
                f"{where}: the first dimension must be a multiple of the {count} processes: got {value.shape}"
            )
        return np.split(array, count)
    if not isinstance(value, Sequence) or len(value) != count:
        given = f"{len(value)} items" if isinstance(value, Sequence) else type(value).__name__
        raise ArgumentError(
            f"{where}: takes a list with a Tensor for each of the {count} processes: got {given}"
        )
    arrays = [host(each, where) for each in value]
    return [_alike(array, arrays[0], where) for array in arrays]


def _stacked(arrays: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    return np.stack([plain(array) for array in arrays])


def _deliver(into: Any, arrays: list[Any], where: str) -> None:
    """Write ``arrays`` into the Tensors of a list, or append Tensors to an empty one."""
    if not into:
        into.extend(Tensor(array.copy()) for array in arrays)
        return
    if len(into) != len(arrays):
        raise ArgumentError(f"{where}: the list must be empty or have {len(arrays)} Tensors: got {len(into)}")
    for tensor, array in zip(into, arrays, strict=True):
        write(tensor, _alike(array, host(tensor, where), where))


def all_reduce(
    tensor: AnyTensor, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Task | None:
    """Replace ``tensor`` in place by the reduction of those of all processes: the same bits in all of them.

    Differs from Paddle: what ``sync_op=False`` starts is done when the call returns; AVG works on a CPU too.
    """
    if outside(group):
        return None
    group = group_of(group, "all_reduce")
    if modes.is_static():
        in_programs.all_reduce(tensor, op, group, sync_op)
        return Task()
    array = host(tensor, "all_reduce")
    if not array.flags.writeable:
        array = array.copy()
    write(cast(Tensor, tensor), exchange.all_reduced(group, array, op, "all_reduce"))
    return Task()


def reduce(
    tensor: AnyTensor, dst: int, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Task | None:
    """Replace ``tensor`` of the process ``dst`` by the reduction of those of all; the others keep theirs.

    Differs from Paddle: what ``sync_op=False`` starts is done when the call returns.
    """
    if outside(group):
        return None
    group = group_of(group, "reduce")
    root = place_of(dst, group, "reduce")
    if modes.is_static():
        in_programs.reduce(tensor, root, op, group, sync_op)
        return Task()
    found = exchange.reduced(group, host(tensor, "reduce"), op, root, "reduce")
    if found is not None:
        write(cast(Tensor, tensor), found)
    return Task()


def broadcast(tensor: AnyTensor, src: int, group: Group | None = None, sync_op: bool = True) -> Task | None:
    """Replace ``tensor`` in place by that of the process ``src``.

    Differs from Paddle: what ``sync_op=False`` starts is done when the call returns.
    """
    if outside(group):
        return None
    group = group_of(group, "broadcast")
    root = place_of(src, group, "broadcast")
    if modes.is_static():
        in_programs.broadcast(tensor, root, group, sync_op)
        return Task()
    array = exchange.broadcast(group, host(tensor, "broadcast"), root)
    if group.rank != root:
        write(cast(Tensor, tensor), array)
    return Task()


def all_gather(
    tensor_list: Gathered, tensor: AnyTensor, group: Group | None = None, sync_op: bool = True
) -> Task | None:
    """Collect ``tensor`` of every process in ``tensor_list``, in the order of the ranks.

    An empty list gets new Tensors, those of a full one are written; a Tensor gets the values one behind the
    other along its first axis.

    Differs from Paddle: what ``sync_op=False`` starts is done when the call returns.
    """
    if outside(group):
        return None
    group = group_of(group, "all_gather")
    if modes.is_static():
        in_programs.all_gather(tensor_list, tensor, group, sync_op)
        return Task()
    rows = exchange.gathered(group, host(tensor, "all_gather"))
    assert rows is not None  # every process has them
    if isinstance(tensor_list, Tensor):
        write(tensor_list, _alike(exchange.joined(rows), host(tensor_list, "all_gather"), "all_gather"))
    else:
        _deliver(tensor_list, reducing.rows_of(rows), "all_gather")
    return Task()


def gather(
    tensor: AnyTensor,
    gather_list: list[Any] | None = None,
    dst: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
) -> Task | None:
    """Collect ``tensor`` of every process in ``gather_list`` of the process ``dst``.

    Differs from Paddle: what ``sync_op=False`` starts is done when the call returns.
    """
    if outside(group):
        return None
    group = group_of(group, "gather")
    root = place_of(dst, group, "gather")
    here = group.rank == root
    if here and gather_list is None:
        raise ArgumentError("gather: gather_list must not be None in the process dst: pass a list")
    if not here and gather_list is not None:
        warn_at_user("Specific `gather_list` is meaningless for rank which is not dst.", UserWarning)
    if modes.is_static():
        in_programs.gather(tensor, gather_list if here else None, root, group, sync_op)
        return Task()
    rows = exchange.gathered(group, host(tensor, "gather"), root)
    if rows is not None:
        _deliver(gather_list, reducing.rows_of(rows), "gather")
    return Task()


def scatter(
    tensor: AnyTensor,
    tensor_list: Parts | None = None,
    src: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
) -> Task | None:
    """Replace ``tensor`` of each process by its one of the ``tensor_list`` of the process ``src``.

    Differs from Paddle: what ``sync_op=False`` starts is done when the call returns.
    """
    if outside(group):
        return None
    group = group_of(group, "scatter")
    root = place_of(src, group, "scatter")
    here, rows = group.rank == root, None
    if not here and tensor_list is not None:
        warn_at_user(
            "Specific `tensor_or_tensor_list` is meaningless for rank which is not src.", UserWarning
        )
    if modes.is_static():
        in_programs.scatter(tensor, tensor_list if here else None, root, group, sync_op)
        return Task()
    array = host(tensor, "scatter")
    if here:
        parts = _parts(tensor_list, group.nranks, "scatter")
        _alike(parts[0], array, "scatter")
        rows = _stacked(parts)
    write(cast(Tensor, tensor), exchange.scattered(group, rows, array, root))
    return Task()


def reduce_scatter(
    tensor: AnyTensor,
    tensor_list: Parts,
    op: int = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
) -> Task | None:
    """Replace ``tensor`` of process i by the reduction of item i of the ``tensor_list`` of all processes.

    ``tensor_list`` may also be a Tensor, which is cut along its first axis.

    Differs from Paddle: it works on a CPU too; what ``sync_op=False`` starts is done when the call returns.
    """
    if outside(group):
        return None
    group = group_of(group, "reduce_scatter")
    if modes.is_static():
        in_programs.reduce_scatter(tensor, tensor_list, op, group, sync_op)
        return Task()
    array = host(tensor, "reduce_scatter")
    parts = _parts(tensor_list, group.nranks, "reduce_scatter")
    _alike(parts[0], array, "reduce_scatter")
    write(cast(Tensor, tensor), exchange.reduce_scattered(group, _stacked(parts), op, "reduce_scatter"))
    return Task()


def alltoall(
    in_tensor_list: Parts, out_tensor_list: Gathered, group: Group | None = None, sync_op: bool = True
) -> Task | None:
    """Item i of ``in_tensor_list`` goes to process i; ``out_tensor_list`` gets what the others sent here.

    Both may also be Tensors, which are cut along their first axis.

    Differs from Paddle: it works on a CPU too; what ``sync_op=False`` starts is done when the call returns.
    """
    if outside(group):
        return None
    group = group_of(group, "alltoall")
    if isinstance(in_tensor_list, (list, tuple)) != isinstance(out_tensor_list, (list, tuple)):
        raise ArgumentError("alltoall: the output and input should be both tensor or tensor list")
    if modes.is_static():
        in_programs.alltoall(in_tensor_list, out_tensor_list, group, sync_op)
        return Task()
    parts = _parts(in_tensor_list, group.nranks, "alltoall")
    got = reducing.rows_of(exchange.exchanged(group, _stacked(parts)))
    if isinstance(out_tensor_list, Tensor):
        joined = adopt(np.concatenate([plain(row) for row in got]))
        write(out_tensor_list, _alike(joined, host(out_tensor_list, "alltoall"), "alltoall"))
    else:
        _deliver(out_tensor_list, got, "alltoall")
    return Task()


def alltoall_single(
    in_tensor: AnyTensor,
    out_tensor: AnyTensor,
    in_split_sizes: Iterable[int] | None = None,
    out_split_sizes: Iterable[int] | None = None,
    group: Group | None = None,
    sync_op: bool = True,
) -> Task | None:
    """``alltoall`` of rows of one Tensor: ``in_split_sizes[i]`` go to process i, by default as many to each.

    Differs from Paddle: it works on a CPU too; what ``sync_op=False`` starts is done when the call returns.
    """
    if outside(group):
        return None
    group = group_of(group, "alltoall_single")
    if modes.is_static():
        in_programs.alltoall_single(in_tensor, out_tensor, in_split_sizes, out_split_sizes, group, sync_op)
        return Task()
    source, target = host(in_tensor, "alltoall_single"), host(out_tensor, "alltoall_single")
    sent = split_sizes(in_split_sizes, source.shape, group.nranks, "in_split_sizes")
    taken = split_sizes(out_split_sizes, target.shape, group.nranks, "out_split_sizes")
    _alike(source[:0], target[:0], "alltoall_single")
    got = exchange.exchanged_parts(group, source, sent, taken)
    write(cast(Tensor, out_tensor), _alike(got, target, "alltoall_single"))
    return Task()


def barrier(group: Group | None = None) -> None:
    """Return when every process of the group has called it."""
    if group is not None and not group.is_member():
        return
    group = group_of(group, "barrier")
    if modes.is_static():
        in_programs.barrier(group)
    else:
        exchange.barrier(group)


def wait(tensor: AnyTensor, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Nothing: the results of a collective are there when it returns."""
