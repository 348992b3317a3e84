"""A convolutional network of fluid trains in a guard and as a Program with equal losses and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.fluid.dygraph import FC, Conv2D, Pool2D

RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=(3, 4, 1, 28, 28)).astype(np.float32)
LABELS = RNG.integers(0, 10, (3, 4, 1))


class ConvPool(fluid.dygraph.Layer):
    def __init__(self, name_scope: str, filters: int) -> None:
        super().__init__(name_scope)
        self._conv = Conv2D(self.full_name(), num_filters=filters, filter_size=5, act="relu")
        self._pool = Pool2D(self.full_name(), pool_size=2, pool_stride=2)

    def forward(self, x: Any) -> Any:
        return self._pool(self._conv(x))


class Net(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self._first = ConvPool(self.full_name(), 4)
        self._second = ConvPool(self.full_name(), 6)
        scale = (2.0 / (6 * 4 * 4 * 10**2)) ** 0.5
        normal = fluid.initializer.NormalInitializer(loc=0.0, scale=scale)
        self._fc = FC(self.full_name(), 10, param_attr=fluid.ParamAttr(initializer=normal), act="softmax")

    def forward(self, x: Any) -> Any:
        return self._fc(self._second(self._first(x)))


def rules() -> list[Any]:
    decay = fluid.regularizer.L2Decay(0.01)
    return [
        lambda: fluid.optimizer.AdamOptimizer(fluid.layers.piecewise_decay([1, 2], [0.01, 0.005, 0.001])),
        lambda: fluid.optimizer.MomentumOptimizer(0.05, 0.9, regularization=decay),
    ]


@pytest.mark.parametrize("make", rules())
def test_three_steps_are_the_same(make: Any) -> None:
    losses: list[float] = []
    with fluid.dygraph.guard():
        net = Net("mnist")
        net(fluid.dygraph.to_variable(IMAGES[0]))
        first = {name: value.numpy() for name, value in net.state_dict().items()}
        optimizer = make()
        for images, labels in zip(IMAGES, LABELS, strict=True):
            label = fluid.dygraph.to_variable(labels)
            label.stop_gradient = True
            cost = fluid.layers.cross_entropy(net(fluid.dygraph.to_variable(images)), label)
            loss = fluid.layers.mean(cost)
            loss.backward()
            optimizer.minimize(loss)
            net.clear_gradients()
            losses.append(float(loss.numpy()[0]))
        trained = {name: value.numpy() for name, value in net.state_dict().items()}
    engine.enable_static()
    try:
        main, startup = engine.static.Program(), engine.static.Program()
        with engine.static.program_guard(main, startup), engine.utils.unique_name.guard():
            net = Net("mnist")
            out = net(fluid.layers.data("pixel", [1, 28, 28], dtype="float32"))
            cost = fluid.layers.cross_entropy(out, fluid.layers.data("label", [1], dtype="int64"))
            loss = fluid.layers.mean(cost)
            make().minimize(loss)
        assert [p.name for p in net.parameters()] == list(first)
        executor = engine.static.Executor()
        executor.run(startup)
        for name, value in first.items():
            engine.static.global_scope().find_var(name).get_tensor().set(value, engine.CPUPlace())
        for images, labels, expected in zip(IMAGES, LABELS, losses, strict=True):
            feed = {"pixel": images, "label": labels}
            found, *values = executor.run(main, feed=feed, fetch_list=[loss.name, *first])
            np.testing.assert_allclose(found, [expected], rtol=1e-5)
        for name, value in zip(first, values, strict=True):
            np.testing.assert_allclose(value, trained[name], rtol=1e-4, atol=1e-6)
    finally:
        engine.disable_static()
