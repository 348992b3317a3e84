"""Small eager layers and losses as one operator each, against the operators that it replaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import OutOfRangeError, ShapeError
from engine.eager.mode import unwatch, watch
from engine.kernels.choice import kernels
from engine.nn import functional as F


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def tensors(*arrays: Any) -> list[Any]:
    return [paddle.to_tensor(a, stop_gradient=False) for a in arrays]


def name_of(tensor: Any) -> str:
    return str(tensor.grad_fn.opdef.name)


ARRAYS = (numbers(5, 4), numbers(4, 3, seed=1), numbers(3, seed=2))


def test_a_layer_has_the_bits_of_product_and_sum() -> None:
    one, two = tensors(*ARRAYS), tensors(*ARRAYS)
    made, want = F.linear(*one), paddle.matmul(two[0], two[1]) + two[2]
    assert (name_of(made), name_of(want)) == ("linear", "elementwise_add")
    for result in (made, want):
        (result * result).sum().backward()
    np.testing.assert_array_equal(made.numpy(), want.numpy())
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.grad.numpy(), b.grad.numpy())


def test_gradients_of_inputs_that_take_none_are_absent() -> None:
    x, w, b = tensors(*ARRAYS)
    x.stop_gradient = True
    F.linear(x, w, b).sum().backward()
    assert x.grad is None
    np.testing.assert_allclose(w.grad.numpy(), np.repeat(ARRAYS[0].sum(0)[:, None], 3, 1), rtol=1e-5)
    np.testing.assert_array_equal(b.grad.numpy(), [5.0] * 3)


def test_second_derivatives_are_those_of_product_and_sum() -> None:
    found = []
    for layer in (F.linear, lambda x, w, b: paddle.matmul(x, w) + b):
        x, w, b = tensors(*ARRAYS)
        result = (layer(x, w, b) ** 3).sum()
        first = paddle.grad(result, [x, w, b], create_graph=True)
        second = paddle.grad(sum((g**2).sum() for g in first), [x, w, b])
        found.append([g.numpy() for g in second])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4)


def test_others_are_two_operators() -> None:
    x, w, b = tensors(*ARRAYS)
    assert name_of(F.linear(x.reshape([5, 1, 4]), w, b)) == "elementwise_add"
    assert name_of(F.linear(*tensors(numbers(1200, 100), numbers(100, 10), numbers(10)))) == "elementwise_add"
    seen: list[str] = []

    def note(opdef: Any, inputs: Any, attrs: Any, results: Any) -> None:
        seen.append(opdef.name)

    watch(note)
    try:
        F.linear(x, w, b)
    finally:
        unwatch(note)
    assert seen == ["matmul_v2", "elementwise_add"]
    with pytest.raises(ShapeError, match="matmul: x is"):
        F.linear(w, x, b)


LABELS = np.array([[0], [2], [-100], [1], [2]] * 20)


def _two(x: Any, y: Any) -> Any:
    each = F.softmax_with_cross_entropy(x, y)
    return each.sum() / int((LABELS != -100).sum())


def test_a_loss_is_that_of_its_operators_before_and_after_it_takes_compiled_kernels() -> None:
    values, y = numbers(100, 3, seed=4), paddle.to_tensor(LABELS)
    (x,) = tensors(values)
    want = _two(x, y)
    want.backward()
    for choice in ("numpy", "fast"):
        with kernels.guard(choice):
            (given,) = tensors(values)
            loss = F.cross_entropy(given, y)
            loss.backward()
        assert loss.shape == []
        np.testing.assert_allclose(float(loss), float(want), rtol=1e-6)
        np.testing.assert_allclose(given.grad.numpy(), x.grad.numpy(), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("choice", ["numpy", "fast"])
def test_an_invalid_label_is_refused(choice: str) -> None:
    labels = LABELS.copy()
    labels[7] = 3
    with kernels.guard(choice), pytest.raises(OutOfRangeError, match="label 3 is not a class number"):
        F.cross_entropy(paddle.to_tensor(numbers(100, 3)), paddle.to_tensor(labels))


def test_second_derivatives_of_a_loss() -> None:
    found = []
    for loss in (F.cross_entropy, _two):
        (x,) = tensors(numbers(100, 3, seed=4))
        (first,) = paddle.grad(loss(x, paddle.to_tensor(LABELS)), [x], create_graph=True)
        (second,) = paddle.grad((first**2).sum(), [x])
        found.append(second.numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-9)
