"""A residual network in the forms of 1.5 and 1.7; its running averages are compared too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.fluid.dygraph import FC, BatchNorm, Conv2D, Linear, Pool2D
from tests.engine.fluid.networks.training import STEPS, Task, same

RNG = np.random.default_rng(2)
BATCHES = [
    {"image": RNG.normal(size=(5, 3, 16, 16)).astype(np.float32), "label": RNG.integers(0, 7, (5, 1))}
    for _ in range(STEPS)
]


class ConvBNLayer(fluid.dygraph.Layer):
    def __init__(
        self, name_scope: str, num_filters: int, filter_size: int, stride: int = 1, act: str | None = None
    ) -> None:
        super().__init__(name_scope)
        self._conv = Conv2D(
            self.full_name(),
            num_filters=num_filters,
            filter_size=filter_size,
            stride=stride,
            padding=(filter_size - 1) // 2,
            groups=None,
            act=None,
            bias_attr=False,
        )
        self._batch_norm = BatchNorm(self.full_name(), num_filters, act=act, momentum=0.8)

    def forward(self, inputs: Any) -> Any:
        return self._batch_norm(self._conv(inputs))


class BottleneckBlock(fluid.dygraph.Layer):
    def __init__(self, name_scope: str, num_filters: int, stride: int, shortcut: bool = True) -> None:
        super().__init__(name_scope)
        self.conv0 = ConvBNLayer(self.full_name(), num_filters, 1, act="relu")
        self.conv1 = ConvBNLayer(self.full_name(), num_filters, 3, stride, act="relu")
        self.conv2 = ConvBNLayer(self.full_name(), num_filters * 2, 1)
        if not shortcut:
            self.short = ConvBNLayer(self.full_name(), num_filters * 2, 1, stride)
        self.shortcut = shortcut
        self._num_channels_out = num_filters * 2

    def forward(self, inputs: Any) -> Any:
        conv2 = self.conv2(self.conv1(self.conv0(inputs)))
        short = inputs if self.shortcut else self.short(inputs)
        y = fluid.layers.elementwise_add(x=short, y=conv2)
        return fluid.layer_helper.LayerHelper(self.full_name(), act="relu").append_activation(y)


class ResNet(fluid.dygraph.Layer):
    """One convolution, two stages of bottleneck blocks, the mean of the image, and a classifier."""

    def __init__(self, name_scope: str, depth: tuple[int, ...] = (2, 1), class_dim: int = 7) -> None:
        super().__init__(name_scope)
        self.conv = ConvBNLayer(self.full_name(), num_filters=4, filter_size=7, stride=2, act="relu")
        self.pool2d_max = Pool2D(
            self.full_name(), pool_size=3, pool_stride=2, pool_padding=1, pool_type="max"
        )
        self.bottleneck_block_list = []
        for stage, blocks in enumerate(depth):
            shortcut = False
            for i in range(blocks):
                block = self.add_sublayer(
                    f"bb_{stage}_{i}",
                    BottleneckBlock(
                        self.full_name(),
                        4 * 2**stage,
                        stride=2 if i == 0 and stage != 0 else 1,
                        shortcut=shortcut,
                    ),
                )
                self.bottleneck_block_list.append(block)
                shortcut = True
        self.pool2d_avg = Pool2D(self.full_name(), pool_size=7, pool_type="avg", global_pooling=True)
        stdv = 1.0 / (16 * 1.0) ** 0.5
        self.out = FC(
            self.full_name(),
            size=class_dim,
            act="softmax",
            param_attr=fluid.param_attr.ParamAttr(initializer=fluid.initializer.Uniform(-stdv, stdv)),
        )

    def forward(self, inputs: Any) -> Any:
        y = self.pool2d_max(self.conv(inputs))
        for block in self.bottleneck_block_list:
            y = block(y)
        return self.out(self.pool2d_avg(y))


class LaterBlock(fluid.dygraph.Layer):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = Conv2D(channels, channels, 3, padding=1, bias_attr=False)
        self.norm = BatchNorm(channels, act="relu", moving_mean_name=None)

    def forward(self, x: Any) -> Any:
        return x + self.norm(self.conv(x))


class LaterResNet(fluid.dygraph.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv = Conv2D(3, 4, 3, stride=2, padding=1, bias_attr=False)
        self.norm = BatchNorm(4, act="leaky_relu")
        self.blocks = fluid.dygraph.Sequential(*[LaterBlock(4) for _ in range(2)])
        self.pool = Pool2D(global_pooling=True, pool_type="avg")
        self.out = Linear(4, 7)

    def forward(self, inputs: Any) -> Any:
        x = self.pool(self.blocks(self.norm(self.conv(inputs))))
        return fluid.layers.softmax(self.out(fluid.layers.squeeze(x, axes=[2, 3])))


def outputs(net: Any, image: Any, label: Any) -> Any:
    label.stop_gradient = True
    out = net(image)
    loss = fluid.layers.mean(x=fluid.layers.cross_entropy(input=out, label=label))
    return loss, fluid.layers.accuracy(out, label, k=1), fluid.layers.accuracy(out, label, k=5)


def infer(net: Any, image: Any, label: Any) -> Any:
    return net(image)


def momentum(net: Any) -> Any:
    return fluid.optimizer.MomentumOptimizer(
        learning_rate=fluid.layers.piecewise_decay(boundaries=[2, 4], values=[0.05, 0.02, 0.01]),
        momentum=0.9,
        regularization=fluid.regularizer.L2Decay(1e-2),
    )


def rmsprop(net: Any) -> Any:
    return fluid.optimizer.RMSProp(
        fluid.layers.exponential_decay(0.01, 2, 0.5, staircase=True),
        momentum=0.5,
        centered=True,
        parameter_list=net.parameters(),
    )


@pytest.mark.parametrize(
    "task",
    [
        Task(lambda: ResNet("resnet"), outputs, momentum, BATCHES, infer=infer),
        Task(LaterResNet, outputs, rmsprop, BATCHES, infer=infer),
    ],
    ids=["1.5", "1.7"],
)
def test_both_modes_train_the_same(task: Task) -> None:
    run = same(task)
    moving = run.last.keys() - run.first.keys()
    assert moving
    assert all(np.any(run.last[name] != float(name.endswith("w_2"))) for name in moving)
    np.testing.assert_allclose(run.inferred[0].sum(1), np.ones(5), rtol=1e-5)
