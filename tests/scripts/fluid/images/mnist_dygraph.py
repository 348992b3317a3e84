"""MNIST in DyGraph of 1.5 and 1.6: argparse, data parallel switched off, checkpoints, ce output."""

from __future__ import print_function

import argparse
import ast
import os
import struct

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.dygraph.base import to_variable
from paddle.fluid.dygraph.nn import FC, Conv2D, Pool2D
from paddle.fluid.optimizer import AdamOptimizer


def parse_args():
    parser = argparse.ArgumentParser("Training for Mnist.")
    parser.add_argument("--use_data_parallel", type=ast.literal_eval, default=False)
    parser.add_argument("-e", "--epoch", default=2, type=int)
    parser.add_argument("--ce", action="store_true")
    return parser.parse_args()


class SimpleImgConvPool(fluid.dygraph.Layer):
    def __init__(self, name_scope, num_filters, filter_size, pool_size, pool_stride, act=None):
        super(SimpleImgConvPool, self).__init__(name_scope)
        self._conv2d = Conv2D(
            self.full_name(),
            num_filters=num_filters,
            filter_size=filter_size,
            stride=1,
            padding=0,
            param_attr=None,
            bias_attr=None,
            act=act,
            use_cudnn=False,
        )
        self._pool2d = Pool2D(
            self.full_name(),
            pool_size=pool_size,
            pool_type="max",
            pool_stride=pool_stride,
            pool_padding=0,
            global_pooling=False,
            use_cudnn=False,
        )

    def forward(self, inputs):
        return self._pool2d(self._conv2d(inputs))


class MNIST(fluid.dygraph.Layer):
    def __init__(self, name_scope):
        super(MNIST, self).__init__(name_scope)
        self._simple_img_conv_pool_1 = SimpleImgConvPool(self.full_name(), 6, 5, 2, 2, act="relu")
        self._simple_img_conv_pool_2 = SimpleImgConvPool(self.full_name(), 10, 5, 2, 2, act="relu")
        scale = (2.0 / ((10 * 4 * 4) ** 2 * 10)) ** 0.5
        self._fc = FC(
            self.full_name(),
            10,
            act="softmax",
            param_attr=fluid.param_attr.ParamAttr(
                initializer=fluid.initializer.NormalInitializer(loc=0.0, scale=scale)
            ),
        )

    def forward(self, inputs, label=None):
        x = self._fc(self._simple_img_conv_pool_2(self._simple_img_conv_pool_1(inputs)))
        if label is not None:
            acc = fluid.layers.accuracy(input=x, label=label)
            return x, acc
        return x


def digits(count, seed):
    """Files of MNIST's form below ./data/mnist, which the environment points to."""

    def write(prefix):
        rng = np.random.RandomState(seed)
        labels = rng.randint(0, 10, count).astype("uint8")
        images = np.zeros((count, 28, 28), "uint8")
        for image, label in zip(images, labels):
            image[2 * label + 4 : 2 * label + 7] = 220
        images += rng.randint(0, 30, images.shape).astype("uint8")
        with open("data/mnist/%s-images-idx3-ubyte" % prefix, "wb") as f:
            f.write(struct.pack(">IIII", 2051, count, 28, 28) + images.tobytes())
        with open("data/mnist/%s-labels-idx1-ubyte" % prefix, "wb") as f:
            f.write(struct.pack(">II", 2049, count) + labels.tobytes())

    return write


def test_mnist(reader, model, batch_size):
    acc_set, loss_set = [], []
    for data in reader():
        x = np.array([each[0].reshape(1, 28, 28) for each in data]).astype("float32")
        y = np.array([each[1] for each in data]).astype("int64").reshape(batch_size, 1)
        img, label = to_variable(x), to_variable(y)
        label.stop_gradient = True
        prediction, acc = model(img, label)
        loss = fluid.layers.cross_entropy(input=prediction, label=label)
        acc_set.append(float(acc.numpy()))
        loss_set.append(float(fluid.layers.mean(loss).numpy()))
    return np.array(loss_set).mean(), np.array(acc_set).mean()


def train_mnist(args):
    if not os.path.isdir("data/mnist"):
        os.makedirs("data/mnist")
    digits(640, 1)("train")
    digits(128, 2)("t10k")
    os.environ["MODEL_STUDIO_DATA"] = os.path.abspath("data")
    place = (
        fluid.CUDAPlace(fluid.dygraph.parallel.Env().dev_id) if args.use_data_parallel else fluid.CPUPlace()
    )
    with fluid.dygraph.guard(place):
        if args.ce:
            fluid.default_startup_program().random_seed = 33
            fluid.default_main_program().random_seed = 33
        strategy = fluid.dygraph.parallel.prepare_context() if args.use_data_parallel else None
        mnist = MNIST("mnist")
        adam = AdamOptimizer(learning_rate=0.003)
        if args.use_data_parallel:
            mnist = fluid.dygraph.parallel.DataParallel(mnist, strategy)
        train_reader = paddle.batch(paddle.dataset.mnist.train(), batch_size=64, drop_last=True)
        if args.use_data_parallel:
            train_reader = fluid.contrib.reader.distributed_batch_reader(train_reader)
        test_reader = paddle.batch(paddle.dataset.mnist.test(), batch_size=64, drop_last=True)
        for epoch in range(args.epoch):
            for batch_id, data in enumerate(train_reader()):
                x = np.array([each[0].reshape(1, 28, 28) for each in data]).astype("float32")
                y = np.array([each[1] for each in data]).astype("int64").reshape(-1, 1)
                img, label = to_variable(x), to_variable(y)
                label.stop_gradient = True
                cost, acc = mnist(img, label)
                loss = fluid.layers.cross_entropy(cost, label)
                avg_loss = fluid.layers.mean(loss)
                if args.use_data_parallel:
                    avg_loss = mnist.scale_loss(avg_loss)
                    avg_loss.backward()
                    mnist.apply_collective_grads()
                else:
                    avg_loss.backward()
                adam.minimize(avg_loss)
                mnist.clear_gradients()
                if batch_id % 5 == 0:
                    print("Loss at epoch {} step {}: {:}".format(epoch, batch_id, avg_loss.numpy()))
            mnist.eval()
            test_cost, test_acc = test_mnist(test_reader, mnist, 64)
            mnist.train()
            if args.ce:
                print("kpis\ttest_acc\t%s" % test_acc)
                print("kpis\ttest_cost\t%s" % test_cost)
            print("Loss at epoch {} , Test avg_loss is: {}, acc is: {}".format(epoch, test_cost, test_acc))
        assert test_acc > 0.9
        if fluid.dygraph.parallel.Env().local_rank == 0:
            fluid.dygraph.save_persistables(mnist.state_dict(), "save_dir")
            fluid.save_dygraph(mnist.state_dict(), "save_temp")
    with fluid.dygraph.guard(place):
        again = MNIST("mnist")
        again.load_dict(fluid.dygraph.load_persistables("save_dir")[0])
        again.eval()
        print("inference", np.argmax(again(img.detach()).numpy()[0]) == y[0][0])
        other = MNIST("mnist")
        params, opt = fluid.load_dygraph("save_temp")
        print(opt, sorted(params)[0])


if __name__ == "__main__":
    train_mnist(parse_args())
