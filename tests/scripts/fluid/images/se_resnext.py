"""A network with squeeze and excitation in the manner of 1.5: scopes, a scheduled rate, evaluation."""
import argparse
import ast

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.layer_helper import LayerHelper
from paddle.fluid.dygraph.nn import Conv2D, Pool2D, BatchNorm, FC
from paddle.fluid.dygraph.base import to_variable
from paddle.fluid import framework
import math
import sys

parser = argparse.ArgumentParser("Training for Se-ResNeXt.")
parser.add_argument("-e", "--epoch", default=2, type=int)
parser.add_argument("--use_data_parallel", type=ast.literal_eval, default=False)
args = parser.parse_args()
batch_size = 8
train_parameters = {
    "learning_strategy": {"name": "cosine_decay", "batch_size": batch_size, "epochs": [40, 80, 100], "steps": [0.1, 0.01, 0.001, 0.0001]},
    "lr": 0.05, "total_images": 48, "momentum_rate": 0.9, "l2_decay": 1.2e-4,
}


def optimizer_setting(params):
    ls = params["learning_strategy"]
    step = int(math.ceil(float(params["total_images"]) / ls["batch_size"]))
    return fluid.optimizer.Momentum(
        learning_rate=fluid.layers.cosine_decay(learning_rate=params["lr"], step_each_epoch=step, epochs=args.epoch),
        momentum=params["momentum_rate"], regularization=fluid.regularizer.L2Decay(params["l2_decay"]))


class ConvBNLayer(fluid.dygraph.Layer):
    def __init__(self, name_scope, num_filters, filter_size, stride=1, groups=1, act=None):
        super(ConvBNLayer, self).__init__(name_scope)
        self._conv = Conv2D(self.full_name(), num_filters=num_filters, filter_size=filter_size, stride=stride,
                            padding=(filter_size - 1) // 2, groups=groups, act=None, bias_attr=False,
                            param_attr=fluid.ParamAttr(name="weights"))
        self._batch_norm = BatchNorm(self.full_name(), num_filters, act=act)

    def forward(self, inputs):
        return self._batch_norm(self._conv(inputs))


class SqueezeExcitation(fluid.dygraph.Layer):
    def __init__(self, name_scope, num_channels, reduction_ratio):
        super(SqueezeExcitation, self).__init__(name_scope)
        self._pool = Pool2D(self.full_name(), pool_size=0, pool_type='avg', global_pooling=True)
        self._squeeze = FC(self.full_name(), size=num_channels // reduction_ratio,
                           param_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(value=0.05)), act='relu')
        self._excitation = FC(self.full_name(), size=num_channels,
                              param_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(value=0.05)), act='sigmoid')

    def forward(self, input):
        y = self._pool(input)
        y = self._squeeze(y)
        y = self._excitation(y)
        return fluid.layers.elementwise_mul(x=input, y=y, axis=0)


class BottleneckBlock(fluid.dygraph.Layer):
    def __init__(self, name_scope, num_channels, num_filters, stride, cardinality, reduction_ratio, shortcut=True):
        super(BottleneckBlock, self).__init__(name_scope)
        self.conv0 = ConvBNLayer(self.full_name(), num_filters=num_filters, filter_size=1, act='relu')
        self.conv1 = ConvBNLayer(self.full_name(), num_filters=num_filters, filter_size=3, stride=stride, groups=cardinality, act='relu')
        self.conv2 = ConvBNLayer(self.full_name(), num_filters=num_filters * 2, filter_size=1, act=None)
        self.scale = SqueezeExcitation(self.full_name(), num_channels=num_filters * 2, reduction_ratio=reduction_ratio)
        if not shortcut:
            self.short = ConvBNLayer(self.full_name(), num_filters=num_filters * 2, filter_size=1, stride=stride)
        self.shortcut = shortcut

    def forward(self, inputs):
        y = self.conv0(inputs)
        scale = self.scale(self.conv2(self.conv1(y)))
        short = inputs if self.shortcut else self.short(inputs)
        y = fluid.layers.elementwise_add(x=short, y=scale)
        layer_helper = LayerHelper(self.full_name(), act='relu')
        return layer_helper.append_activation(y)


class SeResNeXt(fluid.dygraph.Layer):
    def __init__(self, name_scope, layers=50, class_dim=5):
        super(SeResNeXt, self).__init__(name_scope)
        self.conv0 = ConvBNLayer(self.full_name(), num_filters=8, filter_size=3, stride=1, act='relu')
        self.pool = Pool2D(self.full_name(), pool_size=3, pool_stride=2, pool_padding=1, pool_type='max')
        self.bottleneck_block_list = []
        num_channels = 8
        for block, num_filters in enumerate((4, 8)):
            shortcut = False
            for i in range(2):
                bottleneck_block = self.add_sublayer(
                    'bb_%d_%d' % (block, i),
                    BottleneckBlock(self.full_name(), num_channels=num_channels, num_filters=num_filters,
                                    stride=2 if i == 0 and block != 0 else 1, cardinality=2, reduction_ratio=2, shortcut=shortcut))
                num_channels = num_filters * 2
                self.bottleneck_block_list.append(bottleneck_block)
                shortcut = True
        self.pool2d_avg = Pool2D(self.full_name(), pool_size=7, pool_type='avg', global_pooling=True)
        stdv = 1.0 / math.sqrt(16 * 1.0)
        self.out = FC(self.full_name(), size=class_dim, act='softmax',
                      param_attr=fluid.param_attr.ParamAttr(initializer=fluid.initializer.Uniform(-stdv, stdv)))

    def forward(self, inputs):
        y = self.pool(self.conv0(inputs))
        for bottleneck_block in self.bottleneck_block_list:
            y = bottleneck_block(y)
        y = self.pool2d_avg(y)
        y = fluid.layers.dropout(y, dropout_prob=0.2, seed=100)
        return self.out(y)


def images():
    draw = np.random.RandomState(0)
    for _ in range(48):
        label = draw.randint(0, 5)
        image = draw.normal(0, .3, (3, 12, 12)).astype('float32')
        image[:, label:label + 4, label:label + 4] += 1
        yield image, label


def eval(model, data):
    model.eval()
    total_acc1 = total_acc5 = total_sample = 0
    for batch_id, data in enumerate(data()):
        dy_x_data = np.array([x[0].reshape(3, 12, 12) for x in data]).astype('float32')
        y_data = np.array([x[1] for x in data]).astype('int64').reshape(len(dy_x_data), 1)
        img, label = to_variable(dy_x_data), to_variable(y_data)
        label._stop_gradient = True
        out = model(img)
        acc_top1 = fluid.layers.accuracy(input=out, label=label, k=1)
        acc_top5 = fluid.layers.accuracy(input=out, label=label, k=3)
        total_acc1 += acc_top1.numpy()
        total_acc5 += acc_top5.numpy()
        total_sample += 1
    print("test | batch step %d, acc1 %0.3f acc5 %0.3f" % (batch_id, total_acc1 / total_sample, total_acc5 / total_sample))


def train():
    place = fluid.CUDAPlace(fluid.dygraph.parallel.Env().dev_id) if args.use_data_parallel else fluid.CPUPlace()
    with fluid.dygraph.guard(place):
        fluid.default_startup_program().random_seed = 90
        fluid.default_main_program().random_seed = 90
        if args.use_data_parallel:
            strategy = fluid.dygraph.parallel.prepare_context()
        se_resnext = SeResNeXt("se_resnext")
        optimizer = optimizer_setting(train_parameters)
        train_reader = paddle.batch(images, batch_size=batch_size, drop_last=True)
        for epoch_id in range(args.epoch):
            total_loss = total_acc1 = total_sample = 0.0
            se_resnext.train()
            for batch_id, data in enumerate(train_reader()):
                dy_x_data = np.array([x[0].reshape(3, 12, 12) for x in data]).astype('float32')
                y_data = np.array([x[1] for x in data]).astype('int64').reshape(batch_size, 1)
                img, label = to_variable(dy_x_data), to_variable(y_data)
                label.stop_gradient = True
                out = se_resnext(img)
                loss = fluid.layers.cross_entropy(input=out, label=label)
                avg_loss = fluid.layers.mean(x=loss)
                acc_top1 = fluid.layers.accuracy(input=out, label=label, k=1)
                dy_out = avg_loss.numpy()
                avg_loss.backward()
                optimizer.minimize(avg_loss)
                se_resnext.clear_gradients()
                lr = optimizer._global_learning_rate().numpy()
                total_loss += dy_out
                total_acc1 += acc_top1.numpy()
                total_sample += 1
                if batch_id % 5 == 0:
                    print("epoch %d | batch step %d, loss %0.3f acc1 %0.3f lr %0.5f" % (
                        epoch_id, batch_id, total_loss / total_sample, total_acc1 / total_sample, lr))
            eval(se_resnext, train_reader)
        fluid.dygraph.save_persistables(se_resnext.state_dict(), "se")
        print(len(se_resnext.state_dict()), sorted(se_resnext.state_dict())[0])


if __name__ == '__main__':
    train()
