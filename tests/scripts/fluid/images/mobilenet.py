"""A network of depthwise convolutions in the manner of 1.8: a config, a DataLoader of generators, rates, resume."""
from __future__ import absolute_import, division, print_function

import argparse
import functools
import math
import os
import time

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.dygraph.base import to_variable
from paddle.fluid.dygraph.nn import BatchNorm, Conv2D, Linear, Pool2D
from paddle.fluid.initializer import MSRA
from paddle.fluid.param_attr import ParamAttr

parser = argparse.ArgumentParser(description=__doc__)
add = functools.partial(parser.add_argument, metavar='')
add('--batch_size', type=int, default=8)
add('--num_epochs', type=int, default=2)
add('--class_dim', type=int, default=4)
add('--lr', type=float, default=0.1)
add('--lr_strategy', type=str, default='piecewise_decay')
add('--model_save_dir', type=str, default='output')
args = parser.parse_args()
TOTAL = 64


class ConvBNLayer(fluid.dygraph.Layer):
    def __init__(self, num_channels, filter_size, num_filters, stride, padding, num_groups=1, act='relu',
                 use_cudnn=True, name=None):
        super(ConvBNLayer, self).__init__()
        self._conv = Conv2D(
            num_channels=num_channels, num_filters=num_filters, filter_size=filter_size, stride=stride,
            padding=padding, groups=num_groups, act=None, use_cudnn=use_cudnn,
            param_attr=ParamAttr(initializer=MSRA(), name=self.full_name() + "_weights"), bias_attr=False)
        self._batch_norm = BatchNorm(
            num_filters, act=act, param_attr=ParamAttr(name=self.full_name() + "_bn_scale"),
            bias_attr=ParamAttr(name=self.full_name() + "_bn_offset"),
            moving_mean_name=self.full_name() + '_bn_mean', moving_variance_name=self.full_name() + '_bn_variance')

    def forward(self, inputs, if_act=False):
        y = self._batch_norm(self._conv(inputs))
        return fluid.layers.relu6(y) if if_act else y


class InvertedResidual(fluid.dygraph.Layer):
    def __init__(self, channels, filters, stride, expansion=2):
        super(InvertedResidual, self).__init__()
        middle = channels * expansion
        self._expand = ConvBNLayer(channels, 1, middle, 1, 0, act=None)
        self._depthwise = ConvBNLayer(middle, 3, middle, stride, 1, num_groups=middle, act=None, use_cudnn=False)
        self._project = ConvBNLayer(middle, 1, filters, 1, 0, act=None)
        self._shortcut = stride == 1 and channels == filters

    def forward(self, inputs):
        y = self._expand(inputs, if_act=True)
        y = self._depthwise(y, if_act=True)
        y = self._project(y, if_act=False)
        return fluid.layers.elementwise_add(inputs, y) if self._shortcut else y


class MobileNetV2(fluid.dygraph.Layer):
    def __init__(self, class_dim=1000, scale=1.0):
        super(MobileNetV2, self).__init__()
        self._conv1 = ConvBNLayer(3, 3, 8, 2, 1, act=None)
        self._blocks = []
        for n, (channels, filters, stride) in enumerate([(8, 8, 1), (8, 12, 2), (12, 12, 1)]):
            self._blocks.append(self.add_sublayer('mobilenet_v2_%d' % n, InvertedResidual(channels, filters, stride)))
        self._pool2d_avg = Pool2D(pool_type='avg', global_pooling=True)
        self._fc = Linear(12, class_dim, param_attr=ParamAttr(name=self.full_name() + "fc10_weights"),
                          bias_attr=ParamAttr(name="fc10_offset"))

    def forward(self, inputs):
        y = self._conv1(inputs, if_act=True)
        for block in self._blocks:
            y = block(y)
        y = self._pool2d_avg(y)
        y = fluid.layers.reshape(y, shape=[-1, 12])
        return self._fc(y)


def create_optimizer(args, parameter_list):
    step = int(math.ceil(float(TOTAL) / args.batch_size))
    lr = [args.lr * 0.1 ** i for i in range(2)]
    rate = fluid.layers.piecewise_decay(boundaries=[step], values=lr)
    warm = fluid.layers.linear_lr_warmup(rate, 4, 0.0, args.lr)
    return fluid.optimizer.Momentum(warm, momentum=0.9, regularization=fluid.regularizer.L2Decay(4e-5),
                                    parameter_list=parameter_list)


def sample_list_generator(mode):
    draw = np.random.RandomState(0 if mode == 'train' else 1)

    def reader():
        for _ in range(TOTAL // args.batch_size):
            rows = []
            for _ in range(args.batch_size):
                label = draw.randint(0, args.class_dim)
                image = draw.normal(0, .2, (3, 16, 16)).astype('float32')
                image[:, 4 * label:4 * label + 4] += 1
                rows.append((image, label))
            yield rows
    return reader


def compute(out, label):
    loss = fluid.layers.softmax_with_cross_entropy(out, label)
    softmax_out = fluid.layers.softmax(out, use_cudnn=False)
    acc1 = fluid.layers.accuracy(input=softmax_out, label=label, k=1)
    return fluid.layers.mean(x=loss), acc1


def main():
    place = fluid.CPUPlace()
    with fluid.dygraph.guard(place):
        fluid.default_startup_program().random_seed = 5
        fluid.default_main_program().random_seed = 5
        net = MobileNetV2(class_dim=args.class_dim)
        optimizer = create_optimizer(args, net.parameters())
        loaders = {}
        for mode in ('train', 'val'):
            loaders[mode] = fluid.io.DataLoader.from_generator(capacity=4, use_double_buffer=True, iterable=True, return_list=True)
            loaders[mode].set_sample_list_generator(sample_list_generator(mode), places=place)
        for eop in range(args.num_epochs):
            net.train()
            for batch_id, data in enumerate(loaders['train']()):
                t1 = time.time()
                img, label = data
                label = fluid.layers.reshape(label, [-1, 1])
                label.stop_gradient = True
                avg_loss, acc1 = compute(net(img), label)
                avg_loss.backward()
                optimizer.minimize(avg_loss)
                net.clear_gradients()
                if batch_id % 4 == 0:
                    print("[Epoch %d, batch %d] loss %.5f, acc1 %.5f, lr %.5f" % (
                        eop, batch_id, avg_loss.numpy(), acc1.numpy(), optimizer.current_step_lr()))
            net.eval()
            accs = []
            for img, label in loaders['val']():
                accs.append(compute(net(img), fluid.layers.reshape(label, [-1, 1]))[1].numpy())
            print('eval epoch %d acc %.3f' % (eop, np.mean(accs)))
        path = os.path.join(args.model_save_dir, "_mobilenet_v2_epoch{}".format(eop))
        fluid.dygraph.save_dygraph(net.state_dict(), path)
        fluid.dygraph.save_dygraph(optimizer.state_dict(), path)
        para, opti = fluid.dygraph.load_dygraph(path)
        again = MobileNetV2(class_dim=args.class_dim)
        again.set_dict(para)
        again.eval()
        optimizer.set_dict(opti)
        img = to_variable(np.ones((1, 3, 16, 16), 'float32'))
        print('again', np.allclose(again(img).numpy(), net(img).numpy()), len(para), sorted(para)[0])


if __name__ == '__main__':
    main()
