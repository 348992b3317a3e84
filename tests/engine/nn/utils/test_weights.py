"""Weight and spectral normalization: values, gradients, modes, converted, saved."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError
from engine.nn.utils import remove_weight_norm, spectral_norm, weight_norm


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_keeps_the_function_and_splits_the_gradient(dim):
    paddle.seed(1)
    plain = paddle.nn.Linear(3, 4).to(dtype="float64")
    layer = paddle.nn.Linear(3, 4).to(dtype="float64")
    layer.set_state_dict(plain.state_dict())
    weight_norm(layer, dim=dim)
    x = paddle.randn([5, 3]).astype("float64")
    np.testing.assert_allclose(layer(x).numpy(), plain(x).numpy(), rtol=1e-9)
    layer(x).square().sum().backward()
    plain(x).square().sum().backward()
    v, g = layer.weight_v.numpy(), layer.weight_g.numpy()
    axes = tuple(n for n in range(2) if n != dim)
    length = np.sqrt((v * v).sum(axis=axes, keepdims=True))
    upstream = plain.weight.grad.numpy()
    along = (upstream * v / length).sum(axis=axes, keepdims=True)
    np.testing.assert_allclose(layer.weight_g.grad.numpy(), along.reshape(g.shape), rtol=1e-9)
    across = (upstream - along * v / length) * g.reshape(along.shape) / length
    np.testing.assert_allclose(layer.weight_v.grad.numpy(), across, rtol=1e-8, atol=1e-10)


def test_removing_gives_a_plain_parameter_back():
    layer = paddle.nn.Conv2D(2, 3, 2)
    before = layer.weight.numpy()
    weight_norm(layer)
    assert "weight" not in layer._parameters
    remove_weight_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight"]
    np.testing.assert_allclose(layer.weight.numpy(), before, rtol=1e-6)
    assert not layer._forward_pre_hooks


def test_spectral_norm_follows_the_largest_singular_value_in_training_only():
    paddle.seed(2)
    layer = spectral_norm(paddle.nn.Linear(4, 3))
    x = paddle.ones([1, 4])
    layer.eval()
    u = layer.weight_u.numpy()
    layer(x)
    np.testing.assert_array_equal(layer.weight_u.numpy(), u)
    layer.train()
    for _ in range(50):
        layer(x)
    largest = np.linalg.svd(layer.weight_orig.numpy())[1][0]
    np.testing.assert_allclose(layer.weight.numpy(), layer.weight_orig.numpy() / largest, rtol=1e-4)


@pytest.mark.parametrize("normalize", [weight_norm, spectral_norm])
def test_converted_it_trains_as_eager(normalize):
    results = []
    for convert in (False, True):
        paddle.seed(3)
        layer = normalize(paddle.nn.Linear(3, 2))
        forward = paddle.jit.to_static(layer) if convert else layer
        rule = paddle.optimizer.SGD(0.1, layer.parameters())
        x = paddle.to_tensor(np.arange(6, dtype="float32").reshape(2, 3) / 6)
        for _ in range(3):
            forward(x).square().sum().backward()
            rule.step()
            rule.clear_grad()
        results.append({k: v.numpy() for k, v in layer.state_dict().items()})
    for name, value in results[0].items():
        np.testing.assert_allclose(results[1][name], value, rtol=1e-5, atol=1e-7, err_msg=name)


def test_wrong_use():
    layer = weight_norm(paddle.nn.Linear(1, 1))
    with pytest.raises(ArgumentError, match="has it already"):
        weight_norm(layer)
    with pytest.raises(ArgumentError, match=r"no parameter 'w': it has \['weight', 'bias'\]"):
        weight_norm(paddle.nn.Linear(1, 1), "w")
    with pytest.raises(ArgumentError, match="n_power_iterations"):
        spectral_norm(paddle.nn.Linear(1, 1), n_power_iterations=0)
    with pytest.raises(ArgumentError, match="has no weight_norm"):
        remove_weight_norm(paddle.nn.Linear(1, 1))


def test_weight_norm_of_one_dimension_has_a_length_for_each_number():
    layer = paddle.nn.Linear(2, 3)
    layer.bias.set_value(np.array([1.0, 2.0, -3.0], np.float32))
    weight_norm(layer, "bias")
    assert layer.bias_g.tolist() == [1.0, 2.0, 3.0]
    layer.bias_g.set_value(np.full(3, 2.0, np.float32))
    y = layer(paddle.zeros([1, 2]))
    y.sum().backward()
    assert y.tolist() == [[2.0, 2.0, -2.0]]
    assert layer.bias_g.grad.tolist() == [1.0, 1.0, -1.0]
    assert layer.bias_v.grad.tolist() == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
