"""A cycle of two generators in the manner of 1.5: three optimizers over one guard, chosen by names."""
from __future__ import print_function

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.dygraph.base import to_variable
from paddle.fluid.dygraph.nn import BatchNorm, Conv2D, Conv2DTranspose

lambda_A = lambda_B = 10.0
use_cudnn = False


class conv2d(fluid.dygraph.Layer):
    def __init__(self, name_scope, num_filters=8, filter_size=3, stride=1, padding=1, stddev=0.02, norm=True,
                 relu=True, relufactor=0.0, use_bias=False):
        super(conv2d, self).__init__(name_scope)
        con_bias_attr = fluid.ParamAttr(initializer=fluid.initializer.Constant(0.0)) if use_bias else False
        self.conv = Conv2D(
            self.full_name(), num_filters=num_filters, filter_size=filter_size, stride=stride, padding=padding,
            use_cudnn=use_cudnn,
            param_attr=fluid.ParamAttr(initializer=fluid.initializer.NormalInitializer(loc=0.0, scale=stddev)),
            bias_attr=con_bias_attr)
        if norm:
            self.bn = BatchNorm(
                self.full_name(), num_channels=num_filters,
                param_attr=fluid.ParamAttr(initializer=fluid.initializer.NormalInitializer(1.0, 0.02)),
                bias_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(0.0)), trainable_statistics=True)
        self.relufactor, self.norm, self.relu = relufactor, norm, relu

    def forward(self, inputs):
        conv = self.conv(inputs)
        if self.norm:
            conv = self.bn(conv)
        if self.relu:
            conv = fluid.layers.leaky_relu(conv, alpha=self.relufactor)
        return conv


class build_generator(fluid.dygraph.Layer):
    def __init__(self, name_scope):
        super(build_generator, self).__init__(name_scope)
        self.conv0 = conv2d(self.full_name(), stride=2)
        self.conv1 = conv2d(self.full_name())
        self.up = Conv2DTranspose(self.full_name(), num_filters=8, filter_size=2, stride=2)
        self.conv2 = conv2d(self.full_name(), num_filters=1, norm=False, relu=False, use_bias=True)

    def forward(self, inputs):
        y = self.conv0(inputs)
        y = fluid.layers.elementwise_add(y, self.conv1(y))
        y = self.up(y)
        y = fluid.layers.pad2d(self.conv2(y), [0, 0, 0, 0], mode="reflect")
        return fluid.layers.tanh(y)


class build_discriminator(fluid.dygraph.Layer):
    def __init__(self, name_scope):
        super(build_discriminator, self).__init__(name_scope)
        self.conv0 = conv2d(self.full_name(), stride=2, norm=False, relufactor=0.2, use_bias=True)
        self.conv1 = conv2d(self.full_name(), num_filters=1, norm=False, relu=False, use_bias=True)

    def forward(self, inputs):
        return self.conv1(self.conv0(inputs))


class Cycle_Gan(fluid.dygraph.Layer):
    def __init__(self, name_scope, istrain=True):
        super(Cycle_Gan, self).__init__(name_scope)
        self.build_generator_A = build_generator(self.full_name())
        self.build_generator_B = build_generator(self.full_name())
        if istrain:
            self.build_discriminator_A = build_discriminator(self.full_name())
            self.build_discriminator_B = build_discriminator(self.full_name())

    def forward(self, input_A, input_B, is_G, is_DA, is_DB):
        if is_G:
            fake_B = self.build_generator_A(input_A)
            fake_A = self.build_generator_B(input_B)
            cyc_A = self.build_generator_B(fake_B)
            cyc_B = self.build_generator_A(fake_A)
            cyc_A_loss = fluid.layers.reduce_mean(fluid.layers.abs(input_A - cyc_A)) * lambda_A
            cyc_B_loss = fluid.layers.reduce_mean(fluid.layers.abs(input_B - cyc_B)) * lambda_B
            cyc_loss = cyc_A_loss + cyc_B_loss
            fake_rec_A = self.build_discriminator_A(fake_B)
            g_A_loss = fluid.layers.reduce_mean(fluid.layers.square(fake_rec_A - 1))
            fake_rec_B = self.build_discriminator_B(fake_A)
            g_B_loss = fluid.layers.reduce_mean(fluid.layers.square(fake_rec_B - 1))
            g_loss = cyc_loss + g_A_loss + g_B_loss
            return fake_A, fake_B, cyc_A, cyc_B, g_loss
        if is_DA:
            return self.build_discriminator_A(input_B), self.build_discriminator_A(input_A)
        if is_DB:
            return self.build_discriminator_B(input_A), self.build_discriminator_B(input_B)


def optimizer_setting():
    return fluid.optimizer.Adam(
        learning_rate=fluid.layers.piecewise_decay(boundaries=[8, 12], values=[0.002, 0.001, 0.0005]), beta1=0.5)


def reader():
    for _ in range(10):
        yield (np.random.uniform(-1, 0, [1, 8, 8]).astype('float32'), )


with fluid.dygraph.guard():
    np.random.seed(0)
    max_images_num = 10
    A_reader = paddle.batch(paddle.reader.shuffle(reader, 10), 1)()
    B_reader = paddle.batch(reader, 1)()
    cycle_gan = Cycle_Gan("cycle_gan", istrain=True)
    optimizer1, optimizer2, optimizer3 = optimizer_setting(), optimizer_setting(), optimizer_setting()
    for epoch in range(1):
        for batch_id in range(max_images_num):
            data_A = np.array([x[0].reshape(1, 8, 8) for x in next(A_reader)]).astype("float32")
            data_B = np.array([-x[0].reshape(1, 8, 8) for x in next(B_reader)]).astype("float32")
            data_A, data_B = to_variable(data_A), to_variable(data_B)
            fake_A, fake_B, cyc_A, cyc_B, g_loss = cycle_gan(data_A, data_B, True, False, False)
            g_loss_out = g_loss.numpy()
            g_loss.backward()
            vars_G = []
            for param in cycle_gan.parameters():
                if param.name[:41] in ("cycle_gan/Cycle_Gan_0/build_generator_0/c", "cycle_gan/Cycle_Gan_0/build_generator_1/c",
                                       "cycle_gan/Cycle_Gan_0/build_generator_0/C", "cycle_gan/Cycle_Gan_0/build_generator_1/C"):
                    vars_G.append(param)
            optimizer1.minimize(g_loss, parameter_list=vars_G)
            cycle_gan.clear_gradients()
            fake_pool_B = to_variable(fake_B.numpy())
            fake_pool_A = to_variable(fake_A.numpy())
            losses = []
            for pool, real, flags, name, optimizer in (
                    (fake_pool_B, data_B, (False, True, False), 'A', optimizer2),
                    (fake_pool_A, data_A, (False, False, True), 'B', optimizer3)):
                if name == 'A':
                    rec, fake_rec = cycle_gan(pool, real, *flags)
                else:
                    rec, fake_rec = cycle_gan(real, pool, *flags)
                d_loss = (fluid.layers.square(fake_rec) + fluid.layers.square(rec - 1)) / 2.0
                d_loss = fluid.layers.reduce_mean(d_loss)
                losses.append(d_loss.numpy()[0])
                d_loss.backward()
                vars_D = [p for p in cycle_gan.parameters() if 'build_discriminator_%d' % (name == 'B') in p.name]
                optimizer.minimize(d_loss, parameter_list=vars_D)
                cycle_gan.clear_gradients()
            if batch_id % 3 == 0:
                print("epoch{}; batch{}; g_loss:{}; d_A_loss: {:.3f}; d_B_loss:{:.3f} {} {}".format(
                    epoch, batch_id, g_loss_out[0], losses[0], losses[1], len(vars_G), len(vars_D)))
    fluid.dygraph.save_persistables(cycle_gan.state_dict(), "./G", [optimizer1, optimizer2, optimizer3])
    restore, decays = fluid.dygraph.load_persistables("./G")
    cycle_gan.load_dict(restore)
    print('saved', len(restore), sorted(decays), optimizer1._global_learning_rate().numpy())
