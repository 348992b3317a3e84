"""A gradient set to zero reads as zeros, and costs the next backward nothing."""

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import GradientError


def squared():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (x * x).sum().backward()
    return x


def test_cleared_reads_as_zeros_of_its_kind():
    x = squared()
    x.clear_gradient()
    np.testing.assert_array_equal(x.grad.numpy(), [0, 0])
    assert x.grad.dtype == "float32"


def test_the_next_backward_starts_over():
    for looked in (False, True):
        x = squared()
        x.clear_gradient()
        if looked:
            assert x.grad is not None
        (x * 3.0).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3, 3])


def test_dropped_is_none_also_after_zero():
    x = squared()
    x.clear_gradient()
    x.clear_gradient(set_to_zero=False)
    assert x.grad is None


def test_memory_is_given_back_unless_the_gradient_is_referenced():
    x = squared()
    x.clear_gradient()
    assert x._edge.grad is None
    x = squared()
    held = x.grad
    x.clear_gradient()
    np.testing.assert_array_equal(held.numpy(), [0, 0])


def test_gradients_of_one_array_do_not_share_it():
    """A converted function may find that two gradients are one value."""

    @paddle.jit.to_static
    def added(a, b):
        return ((a + b) * 3.0).sum()

    a, b = (paddle.to_tensor([1.0, 2.0], stop_gradient=False) for _ in range(2))
    added(a, b).backward()
    (a * 2.0).sum().backward()
    np.testing.assert_array_equal(a.grad.numpy(), [5, 5])
    np.testing.assert_array_equal(b.grad.numpy(), [3, 3])


def test_a_graph_that_read_the_gradient_sees_that_it_was_added_to():
    x = squared()
    penalty = (x.grad * x.grad).sum()
    (x * x).sum().backward()
    with pytest.raises(GradientError, match="in place"):
        penalty.backward()
