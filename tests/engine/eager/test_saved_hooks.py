"""saved_tensors_hooks: packing, unpacking, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.autograd import saved_tensors_hooks
from engine.core.errors import ShapeError


def leaf(*values):
    return paddle.to_tensor(np.array(values), stop_gradient=False)


@pytest.fixture
def log():
    return []


@pytest.fixture
def hooks(log):
    def pack(x):
        log.append(("pack", x.tolist()))
        return x.numpy()

    def unpack(packed):
        log.append(("unpack", packed.tolist()))
        return paddle.to_tensor(packed)

    return saved_tensors_hooks(pack, unpack)


def test_inputs_and_results_that_a_gradient_needs(log, hooks):
    a, b = leaf(2.0), leaf(3.0)
    with hooks:
        product = a * b
        power = a.exp()
        both = paddle.concat([a, b])  # needs shapes only
    assert [k for k, _ in log] == ["pack", "pack", "pack"]
    log.clear()
    (product + power).sum().backward()
    assert sorted(k for k, _ in log) == ["unpack"] * 3
    np.testing.assert_allclose(a.grad.numpy(), 3.0 + np.exp(2.0))
    np.testing.assert_allclose(b.grad.numpy(), 2.0)
    both.sum().backward()
    assert len(log) == 3


def test_second_order_goes_through_unpacked_values(hooks):
    x = leaf(0.5)
    with hooks:
        y = x * x * x
    (first,) = paddle.grad(y.sum(), x, create_graph=True)
    (second,) = paddle.grad(first.sum(), x)
    np.testing.assert_allclose(second.numpy(), [3.0])


def test_nothing_is_packed_without_recording(log, hooks):
    x = leaf(0.5)
    with hooks, paddle.no_grad():
        x.exp()
    x.exp()
    assert log == []


def test_an_unequal_tensor_is_refused():
    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(lambda t: t, lambda t: paddle.zeros([3])):
        y = x.exp()
    with pytest.raises(ShapeError, match=r"returned float32\[3\]: the packed tensor was float64\[2\]"):
        y.sum().backward()
    with pytest.raises(TypeError, match="pack_hook must be callable"):
        saved_tensors_hooks(3, lambda t: t)
