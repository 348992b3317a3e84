"""A gradient set to zero reads as zeros, and costs the next backward nothing."""

import numpy as np

import engine as paddle


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
