"""Properties of Tensors, and arguments that they refuse."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import engine
from engine.core.errors import ArgumentError, DTypeError, GradientError, ShapeError
from engine.eager.tensor import Parameter


def test_properties() -> None:
    x = engine.to_tensor([[1.0, 2.0, 3.0]])
    assert (x.shape, x.ndim, x.size, x.dtype) == ([1, 3], 2, 3, engine.float32)
    assert (x.stop_gradient, x.is_leaf, x.persistable, x.grad) == (True, True, False, None)
    assert x.place.is_cpu_place()
    assert len(x) == 1
    assert x.name.startswith("generated_tensor_")
    x.name = "mine"
    assert x.name == "mine"


def test_numbers() -> None:
    x = engine.to_tensor(2.5)
    assert (float(x), int(x), x.item(), bool(x), f"{x:.2f}") == (2.5, 2, 2.5, True, "2.50")
    assert [1, 2, 3][engine.to_tensor(1)] == 2
    with pytest.raises(TypeError, match="only integer tensors index"):
        [1][x]  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="0-D"):
        len(x)
    pair = engine.to_tensor([1.0, 2.0])
    assert pair.item(1) == 2.0
    with pytest.raises(ArgumentError, match="only a tensor of one element"):
        pair.item()
    with pytest.raises(ArgumentError, match="ambiguous"):
        bool(pair)


def test_tensors_that_gradients_do_not_pass() -> None:
    y = engine.ones([2])
    y.stop_gradient = False
    assert engine.argmax(y).stop_gradient
    assert not engine.cast(y, "int32").stop_gradient  # as Paddle; the gradient flows back through it
    assert (y > 0.0).stop_gradient


def test_grad_may_be_set_on_leaves() -> None:
    x = engine.ones([2])
    x.stop_gradient = False
    x.grad = engine.to_tensor([3.0, 4.0])
    (x * 2.0).sum().backward()
    assert x.grad.tolist() == [5.0, 6.0]
    with pytest.raises(ShapeError, match="a gradient has its tensor's shape"):
        x.grad = engine.ones([3])
    with pytest.raises(ArgumentError, match="takes a Tensor or None"):
        x.grad = 1.0
    with pytest.raises(GradientError, match="only a leaf"):
        (x * 2.0).grad = engine.ones([2])
    x.grad = None
    assert x.grad is None


def test_copies() -> None:
    x = engine.ones([2])
    x.stop_gradient = False
    y = copy.deepcopy(x)
    y.set_value(np.zeros(2, "float32"))
    assert x.tolist() == [1.0, 1.0]
    assert not y.stop_gradient
    z = copy.deepcopy(x * 2.0)  # like Paddle's: a leaf, whatever it was made of
    assert z.is_leaf
    assert not z.stop_gradient


def test_parameters_are_copied_with_their_settings() -> None:
    p = Parameter(np.ones(2, "float32"), name="w")
    p.optimize_attr = {"learning_rate": 0.5}
    q = copy.deepcopy(p)
    assert isinstance(q, Parameter)
    assert (q.persistable, q.trainable, q.optimize_attr, q.name != "w") == (
        True,
        True,
        {"learning_rate": 0.5},
        True,
    )
    p.trainable = False
    assert p.stop_gradient
    again = pickle.loads(pickle.dumps(p))  # the transport between our own processes
    assert isinstance(again, Parameter)
    assert (again.name, again.tolist(), again.trainable) == ("w", [1.0, 1.0], False)


def test_transport_between_processes() -> None:
    x = engine.to_tensor([1.0, 2.0], stop_gradient=False)
    y: Any = pickle.loads(pickle.dumps(x))
    assert (y.tolist(), y.stop_gradient, y.name) == (x.tolist(), False, x.name)


def test_tensors_are_hashed_by_identity() -> None:
    x, y = engine.ones([2]), engine.ones([2])
    assert len({x, y, x}) == 2


def test_wrong_shapes_name_the_operator_and_both_shapes() -> None:
    with pytest.raises(ShapeError, match=r"add: shapes \[2\] and \[3\] do not broadcast"):
        engine.ones([2]) + engine.ones([3])
    with pytest.raises(
        ShapeError,
        match=r"matmul: x is float32\[2, 3\] and y is float32\[2, 3\]: the inner dimensions are 3 and 2",
    ):
        engine.matmul(engine.ones([2, 3]), engine.ones([2, 3]))


@pytest.mark.parametrize("value", ["a", [300], [None], [[1], [2, 3]]])
def test_set_value_refuses_invalid_values(value: object) -> None:
    x = engine.zeros([1], dtype="int8")
    with pytest.raises(DTypeError, match=r"set_value: .* has dtype int8: .* does not convert to it"):
        x.set_value(value)
    assert x.tolist() == [0]
