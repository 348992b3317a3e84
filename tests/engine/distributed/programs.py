"""Checks of collectives in Programs and converted functions, run by each rank of an MPI job."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import distributed as dist
from engine.core.errors import ArgumentError, GradientError, ModeError
from engine.core.operators.opdef import OPS
from engine.distributed import ReduceOp
from engine.program.saved.serialize import from_plain, to_plain
from engine.static import Executor, Program, append_backward, data, program_guard
from tests.engine.distributed.ranks import RANK, SIZE, drawn, everyones, in_order, leaving

Arrays = list[np.ndarray[Any, Any]]
EVERY = np.arange(1.0, SIZE + 1)[RANK]  # what each rank weighs its results with


@contextmanager
def building(program: Program) -> Iterator[None]:
    paddle.enable_static()
    try:
        with program_guard(program, Program()):
            yield
    finally:
        paddle.disable_static()


def built(function: Callable[..., Any], *arrays: Any) -> tuple[Program, list[Any], list[Any]]:
    """A Program of ``function`` of fed Variables, them, and its results as a list."""
    program = Program()
    with building(program):
        fed = [data(f"x{n}", list(a.shape), str(a.dtype)) for n, a in enumerate(arrays)]
        for variable in fed:
            variable.stop_gradient = False
        results = function(*fed)
    return program, fed, results if isinstance(results, list) else [results]


def run(function: Callable[..., Any], *arrays: Any) -> Arrays:
    """What ``function`` gives in a Program, in a converted function, and in a Program that was saved."""
    program, fed, results = built(function, *arrays)
    feed = {v.name: a for v, a in zip(fed, arrays, strict=True)}
    found: Arrays = Executor().run(program, feed, results)
    program.inputs, program.outputs = [v.name for v in fed], [program.latest(v).name for v in results]
    plain = to_plain(program)
    for again in (from_plain(plain, own=True), from_plain(plain)):
        same(Executor().run(again, feed, again.outputs), found)
    converted = paddle.jit.to_static(function)
    dynamic = converted(*[paddle.to_tensor(a) for a in arrays])
    same([t.numpy() for t in (dynamic if isinstance(dynamic, list) else [dynamic])], found)
    return found


def same(found: Any, expected: Any) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def changed(collective: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        y = x + 0.0
        collective(y, *args, **kwargs)
        return y

    return function


# -- values -------------------------------------------------------------------------------------------------
def reductions_of_programs() -> None:
    arrays, mine = everyones(), drawn(RANK)
    ufuncs = (np.add, np.maximum, np.minimum, np.multiply, np.add)
    for op, ufunc in enumerate(ufuncs):
        expected = in_order(arrays, ufunc)
        expected = expected / np.float32(SIZE) if op == ReduceOp.AVG else expected
        (found,) = run(changed(dist.all_reduce, op), mine)
        np.testing.assert_array_equal(found, expected)
        (found,) = run(changed(dist.reduce, SIZE - 1, op), mine)
        np.testing.assert_array_equal(found, expected if RANK == SIZE - 1 else mine)
    (found,) = run(changed(dist.broadcast, 1), mine)
    np.testing.assert_array_equal(found, drawn(1))
    half = drawn(RANK).astype("float16")
    (found,) = run(changed(dist.all_reduce), half)
    wide = in_order([a.astype("float16").astype("float32") for a in arrays], np.add)
    np.testing.assert_array_equal(found, wide.astype("float16"))


def exchanges_of_programs() -> None:
    mine = drawn(RANK, (2 * SIZE, 3))
    arrays = everyones((2 * SIZE, 3))
    parts = [np.split(a, SIZE) for a in arrays]

    def gathered(x: Any) -> Any:
        found: list[Any] = []
        dist.all_gather(found, x)
        return found

    same(run(gathered, mine), arrays)
    scalar = drawn(RANK, ())
    same(run(gathered, scalar), everyones(()))

    def in_one(x: Any) -> Any:
        out = paddle.concat([x] * SIZE)
        dist.all_gather(out, x)
        return out

    same(run(in_one, mine), [np.concatenate(arrays)])

    def gathered_at_0(x: Any) -> Any:
        found: list[Any] = []
        dist.gather(x, found if RANK == 0 else None, dst=0)
        return [*found, x]

    same(run(gathered_at_0, mine), [*arrays, mine] if RANK == 0 else [mine])

    def scattered(x: Any) -> Any:
        out = x[:2] * 0.0
        dist.scatter(out, list(paddle.split(x, SIZE)) if RANK == 1 else None, src=1)
        return out

    same(run(scattered, mine), [parts[1][RANK]])
    for op, ufunc in ((ReduceOp.SUM, np.add), (ReduceOp.MAX, np.maximum)):

        def reduced(x: Any, op: int = op) -> Any:
            out = x[:2] * 0.0
            dist.reduce_scatter(out, list(paddle.split(x, SIZE)), op)
            return out

        same(run(reduced, mine), [in_order([p[RANK] for p in parts], ufunc)])

    def exchanged(x: Any) -> Any:
        found: list[Any] = []
        dist.alltoall(list(paddle.split(x, SIZE)), found)
        return found

    same(run(exchanged, mine), [p[RANK] for p in parts])
    counts = [each + 1 for each in range(SIZE)]
    rows = drawn(RANK, (sum(counts), 2))

    def unequal(x: Any) -> Any:
        out = paddle.zeros([SIZE * (RANK + 1), 2])
        dist.alltoall_single(x, out, counts, [RANK + 1] * SIZE)
        return out

    start = sum(counts[:RANK])
    expected = [drawn(r, (sum(counts), 2))[start : start + RANK + 1] for r in range(SIZE)]
    same(run(unequal, rows), [np.concatenate(expected)])


def messages_of_programs() -> None:
    mine, right, left = drawn(RANK, (400, 300)), (RANK + 1) % SIZE, (RANK - 1) % SIZE

    def passed(x: Any) -> Any:
        out = x * 0.0
        dist.send(x, right)  # all send first: more than MPI keeps for a receiver that has not started yet
        dist.recv(out, left)
        dist.barrier()
        return out

    same(run(passed, mine), [drawn(left, (400, 300))])
    types = [o.type for o in built(passed, mine)[0].global_block().ops]
    assert (types.count("send_v2"), types.count("recv_v2")) == (1, 1)


# -- gradients ----------------------------------------------------------------------------------------------
def gradients(function: Callable[[Any], Any], alone: Callable[[list[Any]], list[Any]], *shape: int) -> None:
    """The gradient of the sum over ranks of weighted squares against one process that has all parts.

    ``alone`` gives, from the values of all ranks, the results of all ranks.
    """
    arrays = everyones(shape, "float64")
    program, (x,), (y,) = built(function, arrays[RANK])
    with building(program):
        append_backward(((y * y).sum() * float(EVERY)).astype("float64"))
    (found,) = Executor().run(program, {"x0": arrays[RANK]}, [f"{x.name}@GRAD"])
    tensors = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    losses = [(y * y).sum() * (n + 1.0) for n, y in enumerate(alone(tensors))]
    paddle.add_n(losses).backward()
    expected = [np.zeros(shape) if t.grad is None else t.grad.numpy() for t in tensors][RANK]
    close(found, expected)
    # A converted function: the same on the tape.
    tensor = paddle.to_tensor(arrays[RANK], stop_gradient=False)
    result = paddle.jit.to_static(function)(tensor)
    ((result * result).sum() * float(EVERY)).backward()
    close(np.zeros(shape) if tensor.grad is None else tensor.grad.numpy(), expected)


def gradients_of_reductions() -> None:
    folds: list[Callable[[Any, Any], Any]] = [
        paddle.add,
        paddle.maximum,
        paddle.minimum,
        paddle.multiply,
        paddle.add,
    ]
    for op, fold in enumerate(folds):

        def total(xs: list[Any], op: int = op, fold: Any = fold) -> Any:
            found = in_order(xs, fold)
            return found / SIZE if op == ReduceOp.AVG else found

        gradients(changed(dist.all_reduce, op), lambda xs, total=total: [total(xs)] * SIZE, 3, 2)
        gradients(
            changed(dist.reduce, 1, op),
            lambda xs, total=total: [total(xs) if n == 1 else x for n, x in enumerate(xs)],
            3,
            2,
        )
    gradients(changed(dist.broadcast, 1), lambda xs: [xs[1]] * SIZE, 4)


def gradients_of_exchanges() -> None:
    def gathered(x: Any) -> Any:
        found: list[Any] = []
        dist.all_gather(found, x)
        return paddle.concat(found) if x.ndim else paddle.stack(found)

    gradients(gathered, lambda xs: [paddle.concat(xs)] * SIZE, 3, 2)
    gradients(gathered, lambda xs: [paddle.stack(xs)] * SIZE)

    def gathered_at_1(x: Any) -> Any:
        found: list[Any] = []
        dist.gather(x, found if RANK == 1 else None, dst=1)
        return paddle.concat(found) if RANK == 1 else x * 2.0

    if RANK == 1:  # the others have nothing to differentiate
        trained = paddle.to_tensor(drawn(RANK), stop_gradient=False)
        with pytest.raises(GradientError, match="use all_gather"):
            paddle.jit.to_static(gathered_at_1)(trained)

    def reduced(x: Any) -> Any:
        out = x[:2] * 0.0
        dist.reduce_scatter(out, list(paddle.split(x, SIZE)))
        return out

    rows = 2 * SIZE
    gradients(reduced, lambda xs: paddle.split(paddle.add_n(xs), SIZE), rows, 2)

    def scattered(x: Any) -> Any:
        out = x[:2] * 0.0
        dist.scatter(out, list(paddle.split(x, SIZE)) if RANK == 0 else None, src=0)
        return out

    gradients(scattered, lambda xs: paddle.split(xs[0], SIZE), rows)

    def exchanged(x: Any) -> Any:
        found: list[Any] = []
        dist.alltoall(list(paddle.split(x, SIZE)), found)
        return paddle.concat(found)

    parts = lambda xs: [paddle.split(x, SIZE) for x in xs]  # noqa: E731
    gradients(exchanged, lambda xs: [paddle.concat([p[n] for p in parts(xs)]) for n in range(SIZE)], rows, 2)
    counts = [each + 1 for each in range(SIZE)]

    def unequal(x: Any) -> Any:
        out = paddle.zeros([SIZE * (RANK + 1)], "float64")
        dist.alltoall_single(x, out, counts, [RANK + 1] * SIZE)
        return out

    cut = lambda xs: [paddle.split(x, counts) for x in xs]  # noqa: E731
    gradients(unequal, lambda xs: [paddle.concat([p[n] for p in cut(xs)]) for n in range(SIZE)], sum(counts))

    def coalesced(x: Any) -> Any:
        a, b = OPS["c_allreduce_coalesced"].namespace["__apply__"]([x[:1], x[1:]], reduce_type="avg")
        return paddle.concat([a, b * 3.0])

    def mean(xs: list[Any]) -> list[Any]:
        found = paddle.add_n(xs) / SIZE
        return [paddle.concat([found[:1], found[1:] * 3.0])] * SIZE

    gradients(coalesced, mean, 3, 2)


def second_derivatives() -> None:
    @paddle.jit.to_static
    def function(x: Any) -> Any:
        y = x * x
        dist.all_reduce(y)
        return (y * y).sum()

    arrays = everyones((3,), "float64")
    x = paddle.to_tensor(arrays[RANK], stop_gradient=False)
    (first,) = paddle.grad(function(x), x, create_graph=True)
    (second,) = paddle.grad(first.sum(), x)
    # The loss of all ranks is SIZE * sum(y * y): first is 4 SIZE x y, where y is a sum over ranks, too.
    total = sum(a * a for a in arrays)
    close(first.numpy(), 4 * SIZE * arrays[RANK] * total)
    close(second.numpy(), 4 * SIZE * (total + 2 * arrays[RANK] * sum(arrays)))


def loops_and_branches() -> None:
    @paddle.jit.to_static
    def function(x: Any, count: Any) -> Any:
        n = paddle.zeros([], "int64")
        while n < count:
            y = x * 0.5
            dist.all_reduce(y)
            x = x + y
            n += 1
        if count > 1:
            dist.all_reduce(x)
        return x

    def alone(xs: list[Any]) -> list[Any]:
        for _ in range(3):
            total = paddle.add_n(xs) * 0.5
            xs = [x + total for x in xs]
        return [paddle.add_n(xs)] * SIZE

    arrays = everyones((4,), "float64")
    tensors = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    mine = paddle.to_tensor(arrays[RANK], stop_gradient=False)
    found = function(mine, paddle.to_tensor(3))
    expected = alone(tensors)
    close(found.numpy(), expected[RANK].numpy())
    (found * found).sum().backward()
    paddle.add_n([(y * y).sum() for y in expected]).backward()
    close(mine.grad.numpy(), tensors[RANK].grad.numpy())


class Centered(paddle.nn.Layer):
    """Two linear layers with the mean over the whole batch taken off between them."""

    def __init__(self, parts: bool) -> None:
        super().__init__()
        paddle.seed(3)
        self.parts, self.first, self.second = parts, paddle.nn.Linear(3, 4), paddle.nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        hidden = paddle.tanh(self.first(x))
        mean = hidden.mean(0)
        if self.parts:
            dist.all_reduce(mean, ReduceOp.AVG)
        return self.second(hidden - mean)


def a_converted_layer_with_collectives_trains() -> None:
    """Each rank with its part of the batch, gradients averaged, against one process with all of it."""
    paddle.set_default_dtype("float64")
    arrays = everyones((5, 3), "float64")
    alone, net = Centered(False), paddle.jit.to_static(Centered(True))
    wrapped = paddle.DataParallel(net)
    for layer, called, x in ((alone, alone, np.concatenate(arrays)), (net, wrapped, arrays[RANK])):
        optimizer = paddle.optimizer.Momentum(0.1, parameters=layer.parameters())
        for _ in range(4):
            (called(paddle.to_tensor(x)) ** 2).mean().backward()
            optimizer.step()
            optimizer.clear_grad()
    for one, other in zip(alone.parameters(), net.parameters(), strict=True):
        close(other.numpy(), one.numpy())
    paddle.set_default_dtype("float32")


def nothing_leaves_a_collective_out() -> None:
    """One whose result is not read runs, two alike stay two: else the next would meet another one."""

    def function(x: Any) -> Any:
        one, two, unread = x + 0.0, x + 0.0, x + 1.0
        dist.all_reduce(one)
        dist.all_reduce(two)
        dist.all_reduce(unread)
        return one + two

    program, fed, (result,) = built(function, drawn(RANK))
    from engine.program.passes.pipeline import optimize

    made = optimize(program, 2, [result.name])
    assert [o.type for o in made.global_block().ops].count("c_allreduce_sum") == 3
    feed = {fed[0].name: drawn(RANK)}
    if RANK == 0:  # a rank that fetches nothing takes part as well
        Executor().run(program, feed, [])
    else:
        (found,) = Executor().run(program, feed, [result])
        np.testing.assert_array_equal(found, 2 * in_order(everyones(), np.add))


def groups_in_programs() -> None:
    pair = dist.new_group([0, 1])

    def function(x: Any) -> Any:
        y = x + 0.0
        if RANK < 2:
            dist.all_reduce(y, group=pair)
        return y

    found = run(function, drawn(RANK))
    same(found, [drawn(0) + drawn(1) if RANK < 2 else drawn(RANK)])
    program, fed, (result,) = built(changed(dist.all_reduce), drawn(RANK))
    (operator,) = [o for o in program.global_block().ops if o.type == "c_allreduce_sum"]
    operator.attrs["ring_id"] = 77
    with pytest.raises(ModeError, match="this process has no group 77"):
        Executor().run(program, {fed[0].name: drawn(RANK)}, [result])
    gather = OPS["c_allgather"].namespace["__apply__"]
    with pytest.raises(ArgumentError, match=f"was built for 9 processes, group 0 has {SIZE}"):
        gather(paddle.ones([2]), nranks=9)


if __name__ == "__main__":
    with pytest.raises(ModeError, match="call paddle"):
        OPS["c_allreduce_sum"].namespace["__apply__"](paddle.ones([2]))
    dist.init_parallel_env()
    for check in (
        reductions_of_programs,
        exchanges_of_programs,
        messages_of_programs,
        gradients_of_reductions,
        gradients_of_exchanges,
        second_derivatives,
        loops_and_branches,
        a_converted_layer_with_collectives_trains,
        nothing_leaves_a_collective_out,
        groups_in_programs,
        leaving,
    ):
        check()
        sys.stdout.write(f"rank {RANK}: {check.__name__}\n")
        sys.stdout.flush()
