"""Values whose dtype a Tensor decides, and loops whose first iteration changes a value's dtype or rank.

Results are recorded with Paddle 2.6.2 (AST front end and eager code).
"""

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ConversionError
from engine.core.strictness import LeniencyWarning
from engine.jit import load, save, to_static
from engine.static import InputSpec

X = np.array([1.0, 2.0, 3.0], "float32")


def by_branch(x, count):
    if x.sum() > 0:
        y = paddle.ones([2], "int64")
    else:
        y = x * 1.5
    return y


def by_branch_first(x, count):
    if x.sum() > 0:
        y = x * 1.5
    else:
        y = (x * 2).astype("float64")
    return y


def nested(x, count):
    if x.sum() > 0:
        y = x.astype("int32")
    else:
        y = x
    if x.max() > 2:
        z = y
    else:
        z = x * 2
    return z, y


def cast_by_a_loop(x, count):
    y = x * 1
    for _ in range(count):
        y = (y * 2).astype("float64")
    return y


def replaced_by_a_number(x, count):
    y = paddle.to_tensor([1.5])
    for _ in range(count):
        y = 2
    return y


def from_rank_0(x, count):
    y = paddle.zeros([])
    for _ in range(count):
        y = y + x
    return y


def in_containers(x, count):
    found = {"sum": paddle.zeros([]), "rows": [x.sum()]}
    for _ in range(count):
        found["sum"] = found["sum"] + x
        found["rows"][0] = x
    return found["sum"], found["rows"][0]


def with_a_return(x, count):
    y = paddle.zeros([])
    for _ in range(count):
        y = y + x
        if y.sum() > 10:
            return y * 2
    return y


@pytest.mark.parametrize(
    ("function", "scale", "count", "expected", "gradient"),
    [
        (by_branch, 1, 0, [("int64", [1, 1])], None),
        (by_branch, -1, 0, [("float32", [-1.5, -3.0, -4.5])], [1.5, 1.5, 1.5]),
        (by_branch_first, 1, 0, [("float32", [1.5, 3.0, 4.5])], [1.5, 1.5, 1.5]),
        (by_branch_first, -1, 0, [("float64", [-2.0, -4.0, -6.0])], [2.0, 2.0, 2.0]),
        (nested, 1, 0, [("int32", [1, 2, 3]), ("int32", [1, 2, 3])], None),
        (nested, 0.5, 0, [("float32", [1.0, 2.0, 3.0]), ("int32", [0, 1, 1])], [2.0, 2.0, 2.0]),
        (nested, -1, 0, [("float32", [-2.0, -4.0, -6.0]), ("float32", [-1.0, -2.0, -3.0])], [3.0, 3.0, 3.0]),
        (cast_by_a_loop, 1, 0, [("float32", [1.0, 2.0, 3.0])], [1.0, 1.0, 1.0]),
        (cast_by_a_loop, 1, 3, [("float64", [8.0, 16.0, 24.0])], [8.0, 8.0, 8.0]),
        (replaced_by_a_number, 1, 0, [("float32", [1.5])], None),
        (replaced_by_a_number, 1, 2, [("int64", 2)], None),
        (from_rank_0, 1, 0, [("float32", 0.0)], None),
        (from_rank_0, 1, 3, [("float32", [3.0, 6.0, 9.0])], [3.0, 3.0, 3.0]),
        (in_containers, 1, 0, [("float32", 0.0), ("float32", 6.0)], [1.0, 1.0, 1.0]),
        (in_containers, 1, 3, [("float32", [3.0, 6.0, 9.0]), ("float32", [1.0, 2.0, 3.0])], [4.0, 4.0, 4.0]),
        (with_a_return, 1, 3, [("float32", [4.0, 8.0, 12.0])], [4.0, 4.0, 4.0]),
        (with_a_return, 1, 1, [("float32", [1.0, 2.0, 3.0])], [1.0, 1.0, 1.0]),
    ],
)
def test_results_and_gradients(function, scale, count, expected, gradient):
    x = paddle.to_tensor(scale * X, stop_gradient=False)
    found = to_static(function, full_graph=True)(x, paddle.to_tensor([count]))
    found = list(found) if isinstance(found, tuple) else [found]
    assert [(each.dtype.name, each.numpy().tolist()) for each in found] == expected
    if gradient is not None:
        sum(each.sum() for each in found if each.dtype.name != "int32").backward()
        np.testing.assert_array_equal(x.grad.numpy(), gradient)


def test_a_float_that_becomes_an_integer_is_the_same_number():
    def function(y):
        x = 1.0
        while y.sum() > 0:
            x = 2
            y = y - 10
        return x

    for full_graph in (True, False):
        static = to_static(function, full_graph=full_graph)
        assert [float(static(paddle.to_tensor(y))) for y in (X, -X)] == [2.0, 1.0]


def test_other_uses_run_eagerly_or_are_errors():
    def function(x, count):
        return by_branch_first(x, count) + 1

    with pytest.raises(
        ConversionError, match="can only be returned; make both sides of the branch of one dtype"
    ):
        to_static(function, full_graph=True)(paddle.to_tensor(X), 0)
    with pytest.warns(LeniencyWarning, match="a Tensor decides whether"):
        found = to_static(function)(paddle.to_tensor(-X), 0)
    assert (found.dtype.name, found.numpy().tolist()) == ("float64", [-1.0, -3.0, -5.0])


def test_such_a_model_is_saved(tmp_path):
    specs = [InputSpec([3], name="x"), InputSpec([1], "int64", name="count")]
    save(to_static(cast_by_a_loop, input_spec=specs, full_graph=True), str(tmp_path / "m"))
    loaded = load(str(tmp_path / "m"))
    for count, expected in ((0, ("float32", [1.0, 2.0, 3.0])), (3, ("float64", [8.0, 16.0, 24.0]))):
        found = loaded(paddle.to_tensor(X), paddle.to_tensor([count]))
        assert (found.dtype.name, found.numpy().tolist()) == expected
