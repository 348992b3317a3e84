"""Functions on tensors in Programs whose first dimensions only the run knows agree with eager ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.random.generator import default_generator
from engine.core.values.spec import Spec
from engine.program.build.builder import building, variable
from engine.program.graph.check import check
from engine.program.graph.program import Program
from engine.program.run.executor import Executor

X = (np.arange(12, dtype="float32").reshape(3, 4) * 7 % 5 - 2.3).astype("float32")
Y = (np.arange(12, dtype="float32").reshape(3, 4) * 5 % 7 - 3.1).astype("float32")
N = np.array([2, 0, 1])

# Functions of x and y [batch, 4], n [batch] (integers) and k, an integer that is fed.
CASES: dict[str, Any] = {
    "flip": lambda x, y, n, k: paddle.flip(x, 0),
    "roll": lambda x, y, n, k: paddle.roll(x, 1, 0),
    "rot90": lambda x, y, n, k: paddle.rot90(x),
    "moveaxis": lambda x, y, n, k: paddle.moveaxis(x, 0, 1),
    "tril": lambda x, y, n, k: paddle.tril(x) + paddle.triu(y, 1),
    "reshape to a size that is computed": lambda x, y, n, k: x.reshape([y.shape[0] * 2, 2]),
    "reshape to two sizes": lambda x, y, n, k: x.reshape([1, y.shape[0], k + 2, -1]),
    "reshape with a shape": lambda x, y, n, k: x.reshape(paddle.shape(y)),
    "unflatten": lambda x, y, n, k: paddle.unflatten(x, 1, [k, 2]),
    "expand": lambda x, y, n, k: paddle.expand(x.sum(1, keepdim=True), [y.shape[0], k]),
    "expand_as": lambda x, y, n, k: paddle.expand_as(x[:1], y),
    "broadcast_tensors": lambda x, y, n, k: paddle.broadcast_tensors([x[:, :1], y])[0],
    "tile": lambda x, y, n, k: paddle.tile(x, [1, k]),
    "tile by a dimension": lambda x, y, n, k: paddle.tile(x, [y.shape[0], 1]),
    "zeros": lambda x, y, n, k: paddle.zeros([x.shape[0], 3]) + k.astype("float32"),
    "full": lambda x, y, n, k: paddle.full([k, 2], 1.5),
    "full of a value": lambda x, y, n, k: paddle.full([2], k, dtype="float32"),
    "arange": lambda x, y, n, k: paddle.arange(x.shape[0] + k),
    "arange of floats": lambda x, y, n, k: paddle.arange(0.0, k.astype("float32"), 0.5),
    "rand": lambda x, y, n, k: paddle.rand([x.shape[0], 3]),
    "randn": lambda x, y, n, k: paddle.randn([x.shape[0], k]),
    "randint": lambda x, y, n, k: paddle.randint(0, 9, [x.shape[0]]),
    "uniform": lambda x, y, n, k: paddle.uniform([k], min=2.0, max=3.0),
    "normal": lambda x, y, n, k: paddle.normal(x, paddle.abs(y)),
    "bernoulli": lambda x, y, n, k: paddle.bernoulli(paddle.full_like(x, 0.5)),
    "multinomial": lambda x, y, n, k: paddle.multinomial(paddle.abs(x), 2),
    "poisson": lambda x, y, n, k: paddle.poisson(paddle.abs(x)),
    "randint_like": lambda x, y, n, k: paddle.randint_like(x, 0, 5),
    "to_tensor of computed numbers": lambda x, y, n, k: paddle.to_tensor([k, 3, k + 1]),
    "a computed index": lambda x, y, n, k: x[k - 1],
    "a computed slice": lambda x, y, n, k: x[k - 1 : k + 1, ::2],
    "a computed end": lambda x, y, n, k: x[:, :-k],
    "a computed place written": lambda x, y, n, k: _written(x, k),
    "index tensor": lambda x, y, n, k: x[n],
    "index tensor and slice": lambda x, y, n, k: x[n, 1:3],
    "mask": lambda x, y, n, k: x[x > 0],
    "mask written": lambda x, y, n, k: _masked(x),
    "slice": lambda x, y, n, k: paddle.slice(x, [0, 1], [k - 1, 0], [3, k]),
    "strided_slice": lambda x, y, n, k: paddle.strided_slice(x, [1], [3], [-5], [-2]),
    "crop": lambda x, y, n, k: paddle.crop(x, [-1, 2], [0, 1]),
    "gather": lambda x, y, n, k: paddle.gather(x, n),
    "gather_nd": lambda x, y, n, k: paddle.gather_nd(x, n.unsqueeze(1)),
    "scatter": lambda x, y, n, k: paddle.scatter(x, n, y),
    "scatter added": lambda x, y, n, k: paddle.scatter(x, n * 0, y, overwrite=False),
    "scatter_nd": lambda x, y, n, k: paddle.scatter_nd(n.unsqueeze(1), y, [x.shape[0], 4]),
    "scatter_nd_add": lambda x, y, n, k: paddle.scatter_nd_add(x, n.unsqueeze(1), y),
    "index_select": lambda x, y, n, k: paddle.index_select(x, n),
    "index_sample": lambda x, y, n, k: paddle.index_sample(x, n.unsqueeze(1)),
    "index_add": lambda x, y, n, k: paddle.index_add(x, n, 0, y),
    "index_fill": lambda x, y, n, k: paddle.index_fill(x, n[:1], 0, 2.0),
    "index_put": lambda x, y, n, k: paddle.index_put(x, (n, n), y[:, 0], accumulate=True),
    "take_along_axis": lambda x, y, n, k: paddle.take_along_axis(x, n.unsqueeze(1), 1),
    "put_along_axis": lambda x, y, n, k: paddle.put_along_axis(x, n.unsqueeze(1), 5.0, 1),
    "put_along_axis of means": lambda x, y, n, k: paddle.put_along_axis(
        x, n.unsqueeze(1), y[:, :1], 1, "mean"
    ),
    "take": lambda x, y, n, k: paddle.take(x, n, mode="wrap"),
    "masked_select": lambda x, y, n, k: paddle.masked_select(x, y > 0),
    "masked_fill": lambda x, y, n, k: paddle.masked_fill(x, y > 0, 7.0),
    "where": lambda x, y, n, k: paddle.where(x > y, x, 0.0),
    "nonzero": lambda x, y, n, k: paddle.nonzero(x > 0),
    "nonzero apart": lambda x, y, n, k: paddle.nonzero(x > 0, as_tuple=True)[1],
    "sort": lambda x, y, n, k: paddle.sort(x, 0, descending=True),
    "argsort": lambda x, y, n, k: paddle.argsort(x),
    "topk": lambda x, y, n, k: paddle.topk(x, 2)[0],
    "kthvalue": lambda x, y, n, k: paddle.kthvalue(x, 2)[0],
    "mode": lambda x, y, n, k: paddle.mode(n, 0)[0],
    "unique": lambda x, y, n, k: paddle.unique(n, return_counts=True)[1],
    "unique_consecutive": lambda x, y, n, k: paddle.unique_consecutive(n),
    "searchsorted": lambda x, y, n, k: paddle.searchsorted(paddle.sort(x), y),
    "bucketize": lambda x, y, n, k: paddle.bucketize(x, paddle.to_tensor([0.0, 1.0])),
    "diag": lambda x, y, n, k: paddle.diag(x, 1),
    "diag of a vector": lambda x, y, n, k: paddle.diag(n),
    "diagflat": lambda x, y, n, k: paddle.diagflat(x),
    "diagonal": lambda x, y, n, k: paddle.diagonal(x, 1),
    "diag_embed": lambda x, y, n, k: paddle.diag_embed(x),
    "meshgrid": lambda x, y, n, k: paddle.meshgrid(n, x[0])[1],
    "repeat_interleave": lambda x, y, n, k: paddle.repeat_interleave(x, 2, 0),
    "repeat_interleave by a tensor": lambda x, y, n, k: paddle.repeat_interleave(x, n, 0),
    "unfold": lambda x, y, n, k: paddle.unfold(x, 1, 2, 1),
    "atleast_3d": lambda x, y, n, k: paddle.atleast_3d(x),
    "numel": lambda x, y, n, k: paddle.numel(x),
    "is_empty": lambda x, y, n, k: paddle.is_empty(x),
    "shard_index": lambda x, y, n, k: paddle.shard_index(n, 4, 2, 0),
    "concat": lambda x, y, n, k: paddle.concat([x, y], 0),
    "assign": lambda x, y, n, k: paddle.assign(x) + paddle.zeros_like(y),
    "view_as": lambda x, y, n, k: paddle.view_as(x, y),
}


def _written(x: Any, k: Any) -> Any:
    made = x * 1.0
    made[k - 1] = 9.0
    made[k:, 0] = -1.0
    return made


def _masked(x: Any) -> Any:
    made = x * 1.0
    made[made > 0] = 0.5
    return made


def _in_program(function: Any) -> Any:
    program = Program()
    default_generator().manual_seed(11)
    with building(program) as builder:
        x = variable(program, "x", Spec([-1, 4], "float32"))
        y = variable(program, "y", Spec([-1, 4], "float32"))
        n = variable(program, "n", Spec([-1], "int64"))
        k = variable(program, "k", Spec([], "int64"))
        out = builder.result(function(x, y, n, k))  # the value of a name after a change in place
    check(program)
    default_generator().manual_seed(11)
    feed = {"x": X, "y": Y, "n": N, "k": np.array(2)}
    return out, Executor().run(program, feed, [out])[0]


@pytest.mark.parametrize("name", CASES)
def test_same_as_at_once(name: str) -> None:
    function = CASES[name]
    default_generator().manual_seed(11)
    want = function(*(paddle.to_tensor(v) for v in (X, Y, N, np.array(2))))
    out, got = _in_program(function)
    assert got.shape == tuple(want.shape)
    assert out.dtype is want.dtype
    assert all(a in (-1, b) for a, b in zip(out.shape, want.shape, strict=True))
    np.testing.assert_array_equal(got, want.numpy())


@pytest.mark.parametrize(
    "name",
    [
        "a computed slice",
        "a computed index",
        "reshape to two sizes",
        "tile",
        "expand",
        "put_along_axis of means",
        "index_put",
        "a computed place written",
        "repeat_interleave by a tensor",
        "masked_select",
        "scatter",
    ],
)
def test_gradients_are_the_same(name: str) -> None:
    def gradient(x: Any) -> Any:
        y, n, k = (paddle.to_tensor(v) for v in (Y, N, np.array(2)))
        weights = CASES[name](x, y, n, k)
        return paddle.grad([(weights * weights).sum()], [x])[0]

    x = paddle.to_tensor(X, stop_gradient=False)
    want = gradient(x)

    def net(x: Any, y: Any, n: Any, k: Any) -> Any:
        made = CASES[name](x, y, n, k)
        return (made * made).sum()

    spec = paddle.static.InputSpec
    converted = paddle.jit.to_static(
        net,
        input_spec=[
            spec([None, 4], "float32"),
            spec([None, 4], "float32"),
            spec([None], "int64"),
            spec([], "int64"),
        ],
    )
    z = paddle.to_tensor(X, stop_gradient=False)
    converted(z, *(paddle.to_tensor(v) for v in (Y, N, np.array(2)))).backward()
    np.testing.assert_allclose(z.grad.numpy(), want.numpy(), rtol=1e-6)
