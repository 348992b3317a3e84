"""The network for digits of fluid's DyGraph document: lazily built in the form of 1.5, and in that of 1.7."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.fluid.dygraph import FC, Conv2D, Linear, Pool2D
from tests.engine.fluid.networks.training import STEPS, Task, same

RNG = np.random.default_rng(1)
BATCHES = [
    {
        "pixel": RNG.normal(size=(6, 1, 28, 28)).astype(np.float32),
        "label": RNG.integers(0, 10, (6, 1)),
    }
    for _ in range(STEPS)
]


class SimpleImgConvPool(fluid.dygraph.Layer):
    def __init__(self, name_scope: str, num_filters: int) -> None:
        super().__init__(name_scope)
        self._conv2d = Conv2D(self.full_name(), num_filters=num_filters, filter_size=5, act="relu")
        self._pool2d = Pool2D(self.full_name(), pool_size=2, pool_type="max", pool_stride=2)

    def forward(self, inputs: Any) -> Any:
        return self._pool2d(self._conv2d(inputs))


class MNIST(fluid.dygraph.Layer):
    """Two convolutions and a fully connected layer whose weights are drawn for its size."""

    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self._simple_img_conv_pool_1 = SimpleImgConvPool(self.full_name(), 4)
        self._simple_img_conv_pool_2 = SimpleImgConvPool(self.full_name(), 6)
        scale = (2.0 / (6 * 4 * 4 * 10**2)) ** 0.5
        normal = fluid.initializer.NormalInitializer(loc=0.0, scale=scale)
        self._fc = FC(
            self.full_name(), 10, param_attr=fluid.param_attr.ParamAttr(initializer=normal), act="softmax"
        )

    def forward(self, inputs: Any) -> Any:
        x = self._simple_img_conv_pool_2(self._simple_img_conv_pool_1(inputs))
        return self._fc(fluid.layers.dropout(x, 0.3))


class Later(fluid.dygraph.Layer):
    """The same with the layers of 1.7, which know their sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Conv2D(1, 4, 5, act="relu")
        self.second = Conv2D(4, 6, 5, act="relu")
        self.pool = Pool2D(pool_size=2, pool_stride=2)
        self.drop = fluid.dygraph.Dropout(0.3, dropout_implementation="upscale_in_train")
        attr = fluid.ParamAttr(regularizer=fluid.regularizer.L1Decay(0.01), learning_rate=2.0)
        self.fc = Linear(6 * 4 * 4, 10, param_attr=attr, act="softmax")

    def forward(self, inputs: Any) -> Any:
        x = self.pool(self.second(self.pool(self.first(inputs))))
        return self.fc(self.drop(fluid.layers.reshape(x, [-1, 6 * 4 * 4])))


def outputs(net: Any, pixel: Any, label: Any) -> Any:
    chances = net(pixel)
    label.stop_gradient = True
    loss = fluid.layers.mean(fluid.layers.cross_entropy(chances, label))
    return loss, fluid.layers.accuracy(input=chances, label=label), chances


def infer(net: Any, pixel: Any, label: Any) -> Any:
    return net(pixel)


def adam(net: Any) -> Any:
    return fluid.optimizer.AdamOptimizer(
        learning_rate=fluid.layers.piecewise_decay([1, 3], [0.01, 0.005, 0.001]),
        regularization=fluid.regularizer.L2Decay(0.01),
    )


def momentum(net: Any) -> Any:
    return fluid.optimizer.MomentumOptimizer(
        learning_rate=fluid.layers.cosine_decay(0.05, 2, 4),
        momentum=0.9,
        use_nesterov=True,
        parameter_list=net.parameters(),
        grad_clip=fluid.clip.GradientClipByGlobalNorm(0.5),
    )


@pytest.mark.parametrize(
    "task",
    [
        Task(lambda: MNIST("mnist"), outputs, adam, BATCHES, infer=infer),
        Task(Later, outputs, momentum, BATCHES, infer=infer),
    ],
    ids=["1.5", "1.7"],
)
def test_both_modes_train_the_same(task: Task) -> None:
    run = same(task)
    loss, accuracy, chances = run.outputs[0]
    labels = BATCHES[0]["label"]
    np.testing.assert_allclose(loss, [-np.log(np.take_along_axis(chances, labels, 1)).mean()], rtol=1e-5)
    np.testing.assert_allclose(accuracy, [(chances.argmax(1) == labels[:, 0]).mean()])
    assert all(np.any(run.last[name] != value) for name, value in run.first.items())
