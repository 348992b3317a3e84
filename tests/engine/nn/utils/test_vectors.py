"""Parameters as one vector, and gradients clipped by hand."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, GradientError, ShapeError
from engine.nn.utils import clip_grad_norm_, clip_grad_value_, parameters_to_vector, vector_to_parameters


def test_there_and_back():
    layer = paddle.nn.Linear(3, 2)
    vector = parameters_to_vector(layer.parameters())
    assert vector.shape == [8]
    assert vector.is_leaf
    np.testing.assert_array_equal(vector.numpy()[:6], layer.weight.numpy().reshape(-1))
    weight = layer.weight
    vector_to_parameters(vector * 2, layer.parameters())
    assert layer.weight is weight
    np.testing.assert_array_equal(weight.numpy(), vector.numpy()[:6].reshape(3, 2) * 2)
    with pytest.raises(ShapeError, match=r"has shape \[7\]: the parameters have 8"):
        vector_to_parameters(vector[:7], layer.parameters())
    with pytest.raises(ArgumentError, match="got no parameters"):
        parameters_to_vector([])


def with_gradients(*grads):
    made = []
    for grad in grads:
        p = paddle.create_parameter(list(np.shape(grad)), "float64")
        p.grad = paddle.to_tensor(np.array(grad))
        made.append(p)
    return made


@pytest.mark.parametrize("kind", [1, 2, float("inf")])
def test_norms(kind):
    grads = [[3.0, -4.0], [[0.0, 12.0]]]
    flat = np.concatenate([np.ravel(g) for g in grads])
    want = np.linalg.norm(flat, kind)
    p, q = with_gradients(*grads)
    norm = clip_grad_norm_([p, q], want / 2, kind)
    assert float(norm) == pytest.approx(want)
    np.testing.assert_allclose(p.grad.numpy(), np.array(grads[0]) / 2, rtol=1e-5)
    np.testing.assert_allclose(q.grad.numpy(), np.array(grads[1]) / 2, rtol=1e-5)
    clip_grad_norm_([p, q], 1e6, kind)
    np.testing.assert_allclose(p.grad.numpy(), np.array(grads[0]) / 2, rtol=1e-5)


def test_values_and_what_is_refused():
    (p,) = with_gradients([3.0, -4.0, 0.5])
    clip_grad_value_(p, 1.0)
    assert p.grad.tolist() == [1.0, -1.0, 0.5]
    (p,) = with_gradients([np.nan])
    with pytest.raises(GradientError, match="is nan"):
        clip_grad_norm_([p], 1.0, error_if_nonfinite=True)
    with pytest.raises(ArgumentError, match="norm_type"):
        clip_grad_norm_([p], 1.0, 3)
    assert float(clip_grad_norm_(paddle.nn.Linear(1, 1).parameters(), 1.0)) == 0.0
