"""A residual network in DyGraph of 1.5: batch norm, a rate by pieces, weight decay, accuracy of two kinds."""

import argparse
import ast
import os

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid import framework
from paddle.fluid.dygraph.base import to_variable
from paddle.fluid.dygraph.nn import FC, BatchNorm, Conv2D, Pool2D
from paddle.fluid.layer_helper import LayerHelper

batch_size, epoch, momentum_rate, l2_decay, total_images = 16, 2, 0.9, 1e-4, 160


def parse_args():
    parser = argparse.ArgumentParser("Training for Resnet.")
    parser.add_argument("--use_data_parallel", type=ast.literal_eval, default=False)
    parser.add_argument("-b", "--batch_size", default=batch_size, type=int)
    return parser.parse_args()


def optimizer_setting():
    step = int(total_images / batch_size) + 1
    boundaries = [step * e for e in (1, 2)]
    values = [0.05 * 0.1**i for i in range(len(boundaries) + 1)]
    return fluid.optimizer.Momentum(
        learning_rate=fluid.layers.piecewise_decay(boundaries=boundaries, values=values),
        momentum=momentum_rate,
        regularization=fluid.regularizer.L2Decay(l2_decay),
    )


class ConvBNLayer(fluid.dygraph.Layer):
    def __init__(self, name_scope, num_channels, num_filters, filter_size, stride=1, groups=1, act=None):
        super(ConvBNLayer, self).__init__(name_scope)
        self._conv = Conv2D(
            self.full_name(),
            num_filters=num_filters,
            filter_size=filter_size,
            stride=stride,
            padding=(filter_size - 1) // 2,
            groups=groups,
            act=None,
            bias_attr=None,
        )
        self._batch_norm = BatchNorm(self.full_name(), num_filters, act=act)

    def forward(self, inputs):
        return self._batch_norm(self._conv(inputs))


class BasicBlock(fluid.dygraph.Layer):
    def __init__(self, name_scope, num_channels, num_filters, stride, shortcut=True):
        super(BasicBlock, self).__init__(name_scope)
        self.conv0 = ConvBNLayer(self.full_name(), num_channels, num_filters, 3, stride, act="relu")
        self.conv1 = ConvBNLayer(self.full_name(), num_filters, num_filters, 3, act=None)
        if not shortcut:
            self.short = ConvBNLayer(self.full_name(), num_channels, num_filters, 1, stride)
        self.shortcut = shortcut

    def forward(self, inputs):
        y = self.conv1(self.conv0(inputs))
        short = inputs if self.shortcut else self.short(inputs)
        y = fluid.layers.elementwise_add(x=short, y=y)
        layer_helper = LayerHelper(self.full_name(), act="relu")
        return layer_helper.append_activation(y)


class ResNet(fluid.dygraph.Layer):
    def __init__(self, name_scope, class_dim=4):
        super(ResNet, self).__init__(name_scope)
        self.conv = ConvBNLayer(self.full_name(), 3, 8, 3, act="relu")
        self.pool = Pool2D(self.full_name(), pool_size=3, pool_stride=2, pool_padding=1, pool_type="max")
        self.blocks, channels = [], 8
        for i, filters in enumerate([8, 16]):
            block = self.add_sublayer(
                "bb_%d" % i,
                BasicBlock(self.full_name(), channels, filters, stride=1 if i == 0 else 2, shortcut=i == 0),
            )
            self.blocks.append(block)
            channels = filters
        self.pool2d_avg = Pool2D(self.full_name(), pool_size=7, pool_type="avg", global_pooling=True)
        stdv = 1.0 / (16**0.5)
        self.out = FC(
            self.full_name(),
            size=class_dim,
            act="softmax",
            param_attr=fluid.param_attr.ParamAttr(initializer=fluid.initializer.Uniform(-stdv, stdv)),
        )

    def forward(self, inputs):
        y = self.pool(self.conv(inputs))
        for block in self.blocks:
            y = block(y)
        return self.out(self.pool2d_avg(y))


def flowers(seed):
    def reader():
        rng = np.random.RandomState(seed)
        for _ in range(total_images):
            label = int(rng.randint(4))
            picture = rng.normal(0, 0.5, (3, 16, 16))
            picture[label % 3, :, : 8 if label == 3 else 16] += 1.5
            yield picture.astype("float32"), label

    return reader


def eval(model, data):
    model.eval()
    total_acc1, total_acc2, total = 0.0, 0.0, 0
    for batch in data():
        img = to_variable(np.array([x[0] for x in batch]).astype("float32"))
        label = to_variable(np.array([x[1] for x in batch]).astype("int64").reshape(len(batch), 1))
        label.stop_gradient = True
        out = model(img)
        acc_top1 = fluid.layers.accuracy(input=out, label=label, k=1)
        acc_top2 = fluid.layers.accuracy(input=out, label=label, k=2)
        total_acc1 += acc_top1.numpy()
        total_acc2 += acc_top2.numpy()
        total += 1
    print("final eval acc1 %.3f acc2 %.3f" % (total_acc1 / total, total_acc2 / total))
    return total_acc1 / total


def train_resnet(args):
    with fluid.dygraph.guard(fluid.CPUPlace()):
        np.random.seed(1)
        fluid.default_startup_program().random_seed = 1
        fluid.default_main_program().random_seed = 1
        resnet = ResNet("resnet")
        optimizer = optimizer_setting()
        train_reader = paddle.batch(paddle.reader.shuffle(flowers(1), 64), batch_size=args.batch_size)
        test_reader = paddle.batch(flowers(2), batch_size=args.batch_size)
        for eop in range(epoch):
            resnet.train()
            for batch_id, data in enumerate(train_reader()):
                img = to_variable(np.array([x[0].reshape(3, 16, 16) for x in data]).astype("float32"))
                label = to_variable(np.array([x[1] for x in data]).astype("int64").reshape(-1, 1))
                label.stop_gradient = True
                out = resnet(img)
                loss = fluid.layers.cross_entropy(input=out, label=label)
                avg_loss = fluid.layers.mean(x=loss)
                acc_top1 = fluid.layers.accuracy(input=out, label=label, k=1)
                dy_out = avg_loss.numpy()
                avg_loss.backward()
                optimizer.minimize(avg_loss)
                resnet.clear_gradients()
                framework._dygraph_tracer()._clear_ops()
                if batch_id % 5 == 0:
                    print(
                        "epoch %d | batch step %d, loss %0.3f acc1 %0.3f lr %0.5f"
                        % (eop, batch_id, dy_out, acc_top1.numpy(), optimizer._global_learning_rate().numpy())
                    )
            acc = eval(resnet, test_reader)
        assert acc > 0.8, acc
        names = sorted(p.name for p in resnet.parameters())
        print("number of parameters", len(names), names[0])
        fluid.dygraph.save_persistables(resnet.state_dict(), "resnet_params", optimizer)
        print(sorted(os.listdir("resnet_params")))


if __name__ == "__main__":
    train_resnet(parse_args())
