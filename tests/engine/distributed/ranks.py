"""Checks that each rank of an MPI job runs, against NumPy; test_processes.py starts them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import distributed as dist
from engine.core.errors import ConditionError, DTypeError, ModeError, ShapeError
from engine.eager.tensor import wrap

MAPS = Path("/proc/self/maps")
RANK, SIZE = dist.get_rank(), dist.get_world_size()


def drawn(rank: int, shape: Any = (3, 5), dtype: str = "float32") -> np.ndarray[Any, Any]:
    """The values of a rank, which every rank can compute."""
    values = np.asarray(np.random.RandomState(100 + rank).standard_normal(shape) * 10)
    return values.astype(dtype) if dtype != "bool" else values > 0


def everyones(shape: Any = (3, 5), dtype: str = "float32") -> list[np.ndarray[Any, Any]]:
    return [drawn(rank, shape, dtype) for rank in range(SIZE)]


def same(tensor: Any, expected: Any) -> None:
    np.testing.assert_array_equal(tensor.numpy(), expected)
    assert tensor.numpy().dtype == np.asarray(expected).dtype


def in_order(arrays: list[Any], ufunc: Any) -> Any:
    total = arrays[0]
    for array in arrays[1:]:
        total = ufunc(total, array)
    return total


def before_joining() -> None:
    assert not dist.is_initialized()
    with pytest.raises(ModeError, match="call paddle"):
        dist.all_reduce(paddle.ones([1]))
    group = dist.init_parallel_env()
    assert group is dist.init_parallel_env()
    assert (group.rank, group.nranks, group.id, dist.is_initialized()) == (RANK, SIZE, 0, True)
    env = dist.ParallelEnv()
    assert (env.rank, env.nranks) == (RANK, SIZE)
    assert env.current_endpoint == env.trainer_endpoints[RANK]
    assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"]


def all_reduce_sums_in_rank_order() -> None:
    for shape in ((), (0,), (1,), (3, 5), (4099,), (70_001,)):
        for dtype in ("float32", "float64", "int8", "int64", "complex64"):
            tensor = paddle.to_tensor(drawn(RANK, shape, dtype))
            dist.all_reduce(tensor)
            same(tensor, in_order(everyones(shape, dtype), np.add))


def all_reduce_with_other_reductions() -> None:
    arrays = everyones()
    for op, expected in (
        (dist.ReduceOp.MAX, in_order(arrays, np.maximum)),
        (dist.ReduceOp.MIN, in_order(arrays, np.minimum)),
        (dist.ReduceOp.PROD, in_order(arrays, np.multiply)),
        (dist.ReduceOp.AVG, in_order(arrays, np.add) / np.float32(SIZE)),
    ):
        tensor = paddle.to_tensor(drawn(RANK))
        assert dist.all_reduce(tensor, op, sync_op=False).wait()
        same(tensor, expected)
    flags = paddle.to_tensor(drawn(RANK, dtype="bool"))
    dist.all_reduce(flags, dist.ReduceOp.MIN)
    same(flags, in_order(everyones(dtype="bool"), np.logical_and))
    with pytest.raises(DTypeError, match="AVG is not defined for int64"):
        dist.all_reduce(paddle.to_tensor([1]), dist.ReduceOp.AVG)


def narrow_floats_are_rounded_once() -> None:
    for shape in ((7,), (20_001,)):
        half = paddle.to_tensor(drawn(RANK, shape, "float16"))
        dist.all_reduce(half)
        wide = [each.astype(np.float32) for each in everyones(shape, "float16")]
        same(half, in_order(wide, np.add).astype(np.float16))
        tensor = paddle.to_tensor(drawn(RANK, shape)).astype("bfloat16")
        parts = [paddle.to_tensor(each).astype("bfloat16").astype("float32") for each in everyones(shape)]
        dist.all_reduce(tensor)
        assert tensor.dtype == paddle.bfloat16
        same(
            tensor.astype("float32"), in_order(parts, paddle.add).astype("bfloat16").astype("float32").numpy()
        )


def views_are_reduced_in_place() -> None:
    base = paddle.to_tensor(drawn(RANK))
    column = wrap(base._array[:, 1])  # not contiguous, and in the memory of base
    dist.all_reduce(column)
    expected = drawn(RANK)
    expected[:, 1] = in_order(everyones(), np.add)[:, 1]
    same(base, expected)


def broadcast_and_reduce() -> None:
    tensor = paddle.to_tensor(drawn(RANK))
    dist.broadcast(tensor, SIZE - 1)
    same(tensor, drawn(SIZE - 1))
    tensor = paddle.to_tensor(drawn(RANK, ()))
    dist.reduce(tensor, dst=1, op=dist.ReduceOp.MAX)
    same(tensor, np.max(np.stack(everyones(()))) if RANK == 1 else drawn(RANK, ()))
    with pytest.raises(ConditionError, match=f"rank {SIZE} is not in the group"):
        dist.broadcast(tensor, SIZE)


def gathers() -> None:
    found: list[Any] = []
    dist.all_gather(found, paddle.to_tensor(drawn(RANK)))
    filled = [paddle.zeros([3, 5]) for _ in range(SIZE)]
    dist.all_gather(filled, paddle.to_tensor(drawn(RANK)))
    for rank, (new, old) in enumerate(zip(found, filled, strict=True)):
        same(new, drawn(rank))
        same(old, drawn(rank))
    joined = paddle.zeros([3 * SIZE, 5])
    dist.all_gather(joined, paddle.to_tensor(drawn(RANK)))
    same(joined, np.concatenate(everyones()))
    scalars: list[Any] = []
    dist.all_gather(scalars, paddle.to_tensor(float(RANK)))
    assert [each.item() for each in scalars] == list(range(SIZE))
    assert [each.shape for each in scalars] == [[]] * SIZE
    collected: list[Any] | None = [] if RANK == 0 else None
    dist.gather(paddle.to_tensor(drawn(RANK)), collected, dst=0)
    if collected is not None:
        for rank, tensor in enumerate(collected):
            same(tensor, drawn(rank))


def scatters() -> None:
    tensor = paddle.zeros([3, 5])
    given = [paddle.to_tensor(each) for each in everyones()] if RANK == 1 else None
    dist.scatter(tensor, given, src=1)
    same(tensor, drawn(RANK))
    parts = [paddle.to_tensor(drawn(RANK) + each) for each in range(SIZE)]
    dist.reduce_scatter(tensor, parts)
    same(tensor, in_order([each + RANK for each in everyones()], np.add))
    dist.reduce_scatter(tensor, paddle.concat(parts))
    same(tensor, in_order([each + RANK for each in everyones()], np.add))
    with pytest.raises(ShapeError, match="shapes differ"):
        dist.reduce_scatter(paddle.zeros([2]), parts)


def all_to_all() -> None:
    sent = [paddle.to_tensor(drawn(RANK) + each) for each in range(SIZE)]
    got: list[Any] = []
    dist.alltoall(sent, got)
    for rank, tensor in enumerate(got):
        same(tensor, drawn(rank) + RANK)
    counts = [each + 1 for each in range(SIZE)]  # each rank sends i + 1 rows to rank i
    rows = np.arange(2 * sum(counts), dtype=np.int64).reshape(-1, 2) + 1000 * RANK
    out = paddle.zeros([SIZE * (RANK + 1), 2], "int64")
    dist.alltoall_single(paddle.to_tensor(rows), out, counts, [RANK + 1] * SIZE)
    start = sum(counts[:RANK])
    mine = rows[start : start + RANK + 1] - 1000 * RANK
    same(out, np.concatenate([mine + 1000 * each for each in range(SIZE)]))


def messages() -> None:
    tensor, right, left = paddle.zeros([3, 5]), (RANK + 1) % SIZE, (RANK - 1) % SIZE
    tasks = [dist.isend(paddle.to_tensor(drawn(RANK)), right), dist.irecv(tensor, left)]
    assert all(task.wait() for task in tasks)
    assert tasks[1].is_completed()
    same(tensor, drawn(left))
    again = paddle.zeros([3, 5])
    ops = [dist.P2POp(dist.irecv, again, left), dist.P2POp(dist.isend, tensor, right)]
    for task in dist.batch_isend_irecv(ops):
        task.wait()
    same(again, drawn((RANK - 2) % SIZE))
    if RANK == 0:
        dist.send(paddle.ones([2]), 1)
        dist.send(paddle.ones([2]), 1)
    elif RANK == 1:
        pair = paddle.zeros([2])
        dist.recv(pair, 0)
        same(pair, np.ones(2, np.float32))
        with pytest.raises(ShapeError, match="8 bytes for shape"):
            dist.recv(paddle.zeros([3]), 0)


def objects() -> None:
    value = {"rank": RANK, (1, None): [1.5, float("inf"), "ü", b"\0\xff", True], "a": drawn(RANK, (2, 3))}
    found: list[Any] = []
    dist.all_gather_object(found, value)
    for rank, got in enumerate(found):
        np.testing.assert_array_equal(got.pop("a"), drawn(rank, (2, 3)))
        assert got == {"rank": rank, (1, None): value[1, None]}
    items = [paddle.ones([2]).astype("bfloat16"), 2**70] if RANK == 0 else [None, None]
    dist.broadcast_object_list(items, 0)
    assert items[0].dtype == paddle.bfloat16
    assert items[1] == 2**70
    out: list[Any] = ["old"]
    dist.scatter_object_list(out, [{"to": each} for each in range(SIZE)] if RANK == 1 else None, src=1)
    assert out == [{"to": RANK}]


def groups() -> None:
    pair = dist.new_group([1, 0])
    assert (pair.ranks, pair.nranks, pair.is_member()) == ([0, 1], 2, RANK < 2)
    assert dist.get_group(pair.id) is pair
    tensor = paddle.to_tensor(drawn(RANK))
    if RANK < 2:
        assert dist.get_rank(pair) == pair.get_group_rank(RANK) == RANK
        dist.all_reduce(tensor, group=pair)
        same(tensor, drawn(0) + drawn(1))
    else:
        assert dist.get_rank(pair) == -1
        with pytest.warns(UserWarning, match="Current global rank 2 is not in group"):
            dist.all_reduce(tensor, group=pair)
        same(tensor, drawn(RANK))
    dist.barrier(pair)
    dist.destroy_process_group(pair)
    dist.barrier()


def gradients_of_a_changed_tensor_are_refused() -> None:
    x = paddle.to_tensor(drawn(RANK), stop_gradient=False)
    square = x * x
    with paddle.no_grad():
        dist.all_reduce(x)
    with pytest.raises(RuntimeError, match="in place"):
        square.sum().backward()


def leaving() -> None:
    if MAPS.exists():  # what a killed job would leave has no name any more
        shared = [line for line in MAPS.read_text().splitlines() if "/dev/shm/mpich_" in line]
        assert shared
        assert all(line.endswith(" (deleted)") for line in shared)
    dist.barrier()
    dist.destroy_process_group()
    assert not dist.is_initialized()


if __name__ == "__main__":
    CHECKS = (
        before_joining,
        all_reduce_sums_in_rank_order,
        all_reduce_with_other_reductions,
        narrow_floats_are_rounded_once,
        views_are_reduced_in_place,
        broadcast_and_reduce,
        gathers,
        scatters,
        all_to_all,
        messages,
        objects,
        groups,
        gradients_of_a_changed_tensor_are_refused,
        leaving,
    )
    for check in CHECKS:
        check()
        sys.stdout.write(f"rank {RANK}: {check.__name__}\n")  # at once: several processes write
        sys.stdout.flush()
