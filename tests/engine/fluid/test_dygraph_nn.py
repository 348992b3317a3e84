"""Layers of fluid.dygraph.nn: names, lazily made parameters, values, and both call forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError, ShapeError
from engine.fluid.dygraph import nn


class Net(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self._conv = nn.Conv2D(self.full_name(), num_filters=4, filter_size=3, act="relu")
        self._bn = nn.BatchNorm(self.full_name(), 4)
        self._pool = nn.Pool2D(self.full_name(), 2, "max", 2)
        self._fc = nn.FC(self.full_name(), 10, act="softmax")

    def forward(self, x: Any) -> Any:
        return self._fc(self._pool(self._bn(self._conv(x))))


NAMES = [
    f"mnist/Net_0/{end}"
    for end in (
        "Conv2D_0.w_0",
        "Conv2D_0.b_0",
        "BatchNorm_0.w_0",
        "BatchNorm_0.b_0",
        "BatchNorm_0.w_1",
        "BatchNorm_0.w_2",
        "FC_0.w_0",
        "FC_0.b_0",
    )
]


def variable(*shape: int) -> Any:
    data = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    return fluid.dygraph.to_variable(data)


def test_a_net_in_a_guard_has_the_names_of_fluid() -> None:
    with fluid.dygraph.guard():
        net = Net("mnist")
        out = net(variable(2, 1, 8, 8))
        assert [p.name for p in net.parameters()] == NAMES
        np.testing.assert_allclose(out.numpy().sum(1), np.ones(2), rtol=1e-6)
        assert net._fc._w.shape == [4 * 3 * 3, 10]


def test_the_same_net_builds_a_program() -> None:
    engine.enable_static()
    try:
        with (
            engine.static.program_guard(engine.static.Program(), engine.static.Program()),
            engine.utils.unique_name.guard(),
        ):
            net = Net("mnist")
            out = net(engine.static.data("x", [-1, 1, 8, 8]))
            assert tuple(out.shape) == (-1, 10)
            assert [p.name for p in net.parameters()] == NAMES
    finally:
        engine.disable_static()


def test_fc_flattens_from_a_dimension_on_and_sums_its_inputs() -> None:
    with fluid.dygraph.guard():
        x, y = variable(2, 3, 4), variable(2, 3, 4)
        fc = nn.FC("fc", 5, num_flatten_dims=2, bias_attr=False)
        expected = x.numpy().astype(np.float64) @ fc_weight(fc, x)
        np.testing.assert_allclose(fc(x).numpy(), expected, rtol=1e-5)
        both = nn.FC("fc", 5)
        out = both([x, y])
        w0, w1 = (both._parameters[name].numpy().astype(np.float64) for name in ("_w0", "_w1"))
        expected = x.numpy().reshape(2, 12) @ w0 + y.numpy().reshape(2, 12) @ w1
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5)


def fc_weight(fc: Any, x: Any) -> Any:
    fc(x)
    return fc._w.numpy().astype(np.float64)


def test_batch_norm_follows_the_guard_into_evaluation() -> None:
    with fluid.dygraph.guard():
        norm, x = nn.BatchNorm("bn", 3), variable(4, 3, 2, 2)
        data = x.numpy().astype(np.float64)
        mean, variance = data.mean((0, 2, 3), keepdims=True), data.var((0, 2, 3), keepdims=True)
        expected = (data - mean) / np.sqrt(variance + 1e-5)
        np.testing.assert_allclose(norm(x).numpy(), expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(norm._mean.numpy(), 0.1 * mean.ravel(), rtol=1e-5)
        norm.eval()
        kept = [v.numpy().astype(np.float64).reshape(1, 3, 1, 1) for v in (norm._mean, norm._variance)]
        expected = (data - kept[0]) / np.sqrt(kept[1] + 1e-5)
        np.testing.assert_allclose(norm(x).numpy(), expected, rtol=1e-4, atol=1e-5)
        assert not norm._mean.trainable


def test_embedding_takes_ids_that_end_in_one() -> None:
    with fluid.dygraph.guard():
        table = nn.Embedding("e", [7, 3])
        ids = fluid.dygraph.to_variable(np.array([[1], [6]]))
        np.testing.assert_array_equal(table(ids).numpy(), table._w.numpy()[[1, 6]])
        with pytest.raises(ShapeError, match="dimension of 1"):
            table(fluid.dygraph.to_variable(np.array([1, 6])))


def test_the_form_of_later_versions() -> None:
    with fluid.dygraph.guard():
        conv = nn.Conv2D(3, 4, 5, padding=2, act="relu")
        assert conv.weight.shape == [4, 3, 5, 5]
        assert conv(variable(1, 3, 6, 6)).shape == [1, 4, 6, 6]
        assert nn.Linear(4, 2)(variable(3, 4)).shape == [3, 2]
        assert nn.Pool2D(pool_size=2, pool_stride=2)(variable(1, 1, 4, 4)).shape == [1, 1, 2, 2]


def test_arguments_of_no_form_are_named() -> None:
    with fluid.dygraph.guard():
        with pytest.raises(ArgumentError, match="num_filter"):
            nn.Conv2D("c", num_filter=3)
        with pytest.raises(ArgumentError, match="pool_size"):
            nn.Pool2D("p")
        with pytest.raises(ArgumentError, match="'softmaxx'"):
            nn.FC("f", 2, act="softmaxx")(variable(2, 2))
