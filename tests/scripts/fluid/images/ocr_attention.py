"""Reading lines of text in the manner of 1.5: a Layer of convolutions, GRUs in both directions, attention."""
from __future__ import print_function

import argparse
import distutils.util
import functools

import numpy as np
import paddle
import paddle.fluid as fluid
import paddle.fluid.layers as layers
import paddle.fluid.profiler as profiler
import six
from paddle.fluid import framework
from paddle.fluid.dygraph.base import to_variable
from paddle.fluid.dygraph.nn import Conv2D, Pool2D, FC, BatchNorm, Embedding, GRUUnit


def add_arguments(argname, type, default, help, argparser, **kwargs):
    type = distutils.util.strtobool if type == bool else type
    argparser.add_argument("--" + argname, default=default, type=type,
                           help=help + ' Default: %(default)s.', **kwargs)


parser = argparse.ArgumentParser(description=__doc__)
add_arg = functools.partial(add_arguments, argparser=parser)
add_arg('batch_size', int, 8, "Minibatch size.")
add_arg('epoch_num', int, 4, "Epochs.")
add_arg('log_period', int, 10, "Log period.")
add_arg('use_gpu', bool, False, "Whether use GPU to train.")
add_arg('profile', bool, False, "Whether to use profiling.")


class Config(object):
    hidden = 24
    decoder_size = 32
    word_vector_dim = 16
    num_classes = 6
    max_length = 5
    SOS, EOS = 0, 1
    DATA_SHAPE = [1, 16, 40]


class ConvBNPool(fluid.dygraph.Layer):
    def __init__(self, name_scope, out_ch, channels, act="relu", is_test=False, pool=True):
        super(ConvBNPool, self).__init__(name_scope)
        self.pool = pool
        for number in range(2):
            std = (2.0 / (3 ** 2 * channels[number])) ** 0.5
            conv = Conv2D(self.full_name(), out_ch[number], 3, padding=1, bias_attr=False, act=None,
                          param_attr=fluid.ParamAttr(initializer=fluid.initializer.Normal(0.0, std)),
                          use_cudnn=True)
            setattr(self, 'conv_%d_layer' % number, conv)
            setattr(self, 'bn_%d_layer' % number,
                    BatchNorm(self.full_name(), out_ch[number], act=act, is_test=is_test))
        if pool:
            self.pool_layer = Pool2D(self.full_name(), pool_size=2, pool_type='max', pool_stride=2,
                                     use_cudnn=True, ceil_mode=True)

    def forward(self, inputs):
        out = self.bn_0_layer(self.conv_0_layer(inputs))
        out = self.bn_1_layer(self.conv_1_layer(out))
        return self.pool_layer(out) if self.pool else out


class DynamicGRU(fluid.dygraph.Layer):
    def __init__(self, scope_name, size, param_attr=None, bias_attr=None, is_reverse=False, h_0=None):
        super(DynamicGRU, self).__init__(scope_name)
        self.gru_unit = GRUUnit(self.full_name(), size * 3, param_attr=param_attr, bias_attr=bias_attr,
                                activation='relu', gate_activation='sigmoid', origin_mode=False)
        self.h_0, self.is_reverse = h_0, is_reverse

    def forward(self, inputs):
        hidden, res = self.h_0, []
        for i in range(inputs.shape[1]):
            if self.is_reverse:
                i = inputs.shape[1] - 1 - i
            step = fluid.layers.reshape(inputs[:, i:i + 1, :], [-1, inputs.shape[2]], inplace=False)
            hidden, reset, gate = self.gru_unit(step, hidden)
            res.append(fluid.layers.reshape(hidden, [-1, 1, hidden.shape[1]], inplace=False))
        if self.is_reverse:
            res = res[::-1]
        return fluid.layers.concat(res, axis=1)


class EncoderNet(fluid.dygraph.Layer):
    def __init__(self, scope_name, batch_size, is_test=False):
        super(EncoderNet, self).__init__(scope_name)
        para_attr = fluid.ParamAttr(initializer=fluid.initializer.Normal(0.0, 0.05))
        bias_attr = fluid.ParamAttr(initializer=fluid.initializer.Normal(0.0, 0.02), learning_rate=2.0)
        if fluid.framework.in_dygraph_mode():
            h_0 = to_variable(np.zeros((batch_size, Config.hidden), dtype="float32"))
        else:
            h_0 = fluid.layers.fill_constant(shape=[batch_size, Config.hidden], dtype='float32', value=0)
        self.convs_1 = ConvBNPool(self.full_name(), [8, 8], [1, 8], is_test=is_test)
        self.convs_2 = ConvBNPool(self.full_name(), [16, 16], [8, 16], is_test=is_test)
        self.convs_3 = ConvBNPool(self.full_name(), [16, 16], [16, 16], is_test=is_test, pool=False)
        self.fc_1_layer = FC(self.full_name(), Config.hidden * 3, param_attr=para_attr, bias_attr=False,
                             num_flatten_dims=2)
        self.fc_2_layer = FC(self.full_name(), Config.hidden * 3, param_attr=para_attr, bias_attr=False,
                             num_flatten_dims=2)
        self.gru_forward_layer = DynamicGRU(self.full_name(), Config.hidden, para_attr, bias_attr, h_0=h_0)
        self.gru_backward_layer = DynamicGRU(self.full_name(), Config.hidden, para_attr, bias_attr,
                                             is_reverse=True, h_0=h_0)
        self.encoded_proj_fc = FC(self.full_name(), Config.decoder_size, bias_attr=False, num_flatten_dims=2)

    def forward(self, inputs):
        features = self.convs_3(self.convs_2(self.convs_1(inputs)))
        features = fluid.layers.transpose(features, perm=[0, 3, 1, 2])
        sliced = fluid.layers.reshape(
            features, [-1, features.shape[1], features.shape[2] * features.shape[3]], inplace=False)
        gru_forward = self.gru_forward_layer(self.fc_1_layer(sliced))
        gru_backward = self.gru_backward_layer(self.fc_2_layer(sliced))
        encoded_vector = fluid.layers.concat(input=[gru_forward, gru_backward], axis=2)
        return gru_backward, encoded_vector, self.encoded_proj_fc(encoded_vector)


class SimpleAttention(fluid.dygraph.Layer):
    def __init__(self, scope_name, decoder_size):
        super(SimpleAttention, self).__init__(scope_name)
        self.fc_1 = FC(self.full_name(), decoder_size, act=None, bias_attr=False)
        self.fc_2 = FC(self.full_name(), 1, num_flatten_dims=2, act=None, bias_attr=False)

    def forward(self, encoder_vec, encoder_proj, decoder_state):
        state = self.fc_1(decoder_state)
        state = fluid.layers.reshape(state, [-1, 1, state.shape[1]], inplace=False)
        state = fluid.layers.expand(state, [1, encoder_proj.shape[1], 1])
        mixed = fluid.layers.tanh(x=fluid.layers.elementwise_add(encoder_proj, state))
        weights = fluid.layers.reshape(x=self.fc_2(mixed), shape=[mixed.shape[0], -1], inplace=False)
        scaled = fluid.layers.elementwise_mul(x=encoder_vec, y=fluid.layers.softmax(weights), axis=0)
        return fluid.layers.reduce_sum(scaled, dim=1)


class OCRAttention(fluid.dygraph.Layer):
    def __init__(self, scope_name, batch_size):
        super(OCRAttention, self).__init__(scope_name)
        self.batch_size = batch_size
        self.encoder_net = EncoderNet(self.full_name(), batch_size)
        self.fc = FC(self.full_name(), size=Config.decoder_size, bias_attr=False, act='relu')
        self.embedding = Embedding(self.full_name(), [Config.num_classes + 2, Config.word_vector_dim],
                                   dtype='float32')
        self.simple_attention = SimpleAttention(self.full_name(), Config.decoder_size)
        self.fc_1_layer = FC(self.full_name(), size=Config.decoder_size * 3, bias_attr=False)
        self.fc_2_layer = FC(self.full_name(), size=Config.decoder_size * 3, bias_attr=False)
        self.gru_unit = GRUUnit(self.full_name(), size=Config.decoder_size * 3, param_attr=None, bias_attr=None)
        self.out_layer = FC(self.full_name(), size=Config.num_classes + 2, bias_attr=None, act='softmax')

    def forward(self, inputs, label_in):
        gru_backward, encoded_vector, encoded_proj = self.encoder_net(inputs)
        first = fluid.layers.slice(gru_backward, axes=[1], starts=[0], ends=[1])
        hidden_mem = self.fc(fluid.layers.reshape(first, [-1, first.shape[2]], inplace=False))
        embedded = self.embedding(fluid.layers.reshape(label_in, [-1, 1], inplace=False))
        embedded = fluid.layers.reshape(embedded, [self.batch_size, -1, embedded.shape[1]], inplace=False)
        res = []
        for i in range(embedded.shape[1]):
            current_word = fluid.layers.slice(embedded, axes=[1], starts=[i], ends=[i + 1])
            current_word = fluid.layers.reshape(current_word, [-1, current_word.shape[2]], inplace=False)
            context = self.simple_attention(encoded_vector, encoded_proj, hidden_mem)
            decoder_inputs = fluid.layers.elementwise_add(
                x=self.fc_1_layer(context), y=self.fc_2_layer(current_word))
            hidden_mem, _, _ = self.gru_unit(decoder_inputs, hidden_mem)
            res.append(self.out_layer(hidden_mem))
        res1 = fluid.layers.concat(res, axis=1)
        return layers.reshape(res1, shape=[embedded.shape[0], embedded.shape[1], -1])


def lines(count, seed):
    """Bars of which each class has its own height; a line has 2 to max_length - 1 of them."""
    def reader():
        rng = np.random.RandomState(seed)
        for _ in six.moves.xrange(count):
            label = rng.randint(2, Config.num_classes + 2, rng.randint(2, Config.max_length)).tolist()
            img = rng.rand(*Config.DATA_SHAPE).astype('float32') * 0.1
            for at, symbol in enumerate(label):
                img[0, 15 - 2 * (symbol - 1):, 2 + at * 9:8 + at * 9] = 1.0
            yield img, [Config.SOS] + label, label + [Config.EOS]
    return reader


def get_attention_feeder_data(data):
    longest = Config.max_length
    pad = lambda rows: np.array([row + [Config.EOS] * (longest - len(row)) for row in rows], 'int64')
    mask = np.array([[1.0] * len(row[1]) + [0.0] * (longest - len(row[1])) for row in data], 'float32')
    return {"pixel": np.stack([row[0] for row in data]), "label_in": pad([row[1] for row in data]),
            "label_out": pad([row[2] for row in data]), "mask": mask.reshape((-1, 1))}


def train(args):
    with fluid.dygraph.guard():
        fluid.default_startup_program().random_seed = 7
        fluid.default_main_program().random_seed = 7
        backward_strategy = fluid.dygraph.BackwardStrategy()
        backward_strategy.sort_sum_gradient = True
        ocr_attention = OCRAttention("ocr_attention", args.batch_size)
        optimizer = fluid.optimizer.Adam(learning_rate=0.01)
        grad_clip = fluid.dygraph_grad_clip.GradClipByGlobalNorm(5.0)
        train_reader = paddle.batch(paddle.reader.shuffle(lines(160, 1), 64), args.batch_size)
        test_reader = paddle.batch(lines(32, 2), args.batch_size, drop_last=True)

        def evaluate():
            ocr_attention.eval()
            total_step, equal_size = 0.0, 0
            for data in test_reader():
                data_dict = get_attention_feeder_data(data)
                label_out = to_variable(data_dict["label_out"])
                label_out._stop_gradient = True
                prediction = ocr_attention(to_variable(data_dict["pixel"]), to_variable(data_dict["label_in"]))
                prediction = fluid.layers.reshape(
                    prediction, [label_out.shape[0] * label_out.shape[1], -1], inplace=False)
                score, topk = layers.topk(prediction, 1)
                seq = topk.numpy().reshape((args.batch_size, -1))
                seq_len = np.sum(data_dict['mask'].reshape((args.batch_size, -1)), -1)
                for i in range(args.batch_size):
                    length = int(seq_len[i])
                    if np.array_equal(seq[i][:length], data_dict["label_out"][i][:length]):
                        equal_size += 1
                total_step += args.batch_size
            ocr_attention.train()
            return equal_size / total_step

        begin = evaluate()
        for epoch in range(args.epoch_num):
            total_loss = 0.0
            for batch_id, data in enumerate(train_reader()):
                data_dict = get_attention_feeder_data(data)
                label_in = to_variable(data_dict["label_in"])
                label_out = to_variable(data_dict["label_out"])
                label_out._stop_gradient = True
                label_out.trainable = False
                img = to_variable(data_dict["pixel"])
                prediction = ocr_attention(img, label_in)
                prediction = fluid.layers.reshape(
                    prediction, [label_out.shape[0] * label_out.shape[1], -1], inplace=False)
                label_out = fluid.layers.reshape(label_out, [-1, 1], inplace=False)
                loss = fluid.layers.cross_entropy(input=prediction, label=label_out)
                loss = layers.elementwise_mul(loss, to_variable(data_dict["mask"]), axis=0)
                avg_loss = fluid.layers.reduce_sum(loss)
                total_loss += avg_loss.numpy()
                avg_loss.backward(backward_strategy)
                optimizer.minimize(avg_loss, grad_clip=grad_clip)
                ocr_attention.clear_gradients()
                if batch_id > 0 and batch_id % args.log_period == 0:
                    print("epoch: {}, batch_id: {}, loss {}".format(
                        epoch, batch_id, total_loss / args.batch_size / args.log_period))
                    total_loss = 0.0
        print("sequences right: %.2f, then %.2f" % (begin, evaluate()))
        fluid.dygraph.save_persistables(ocr_attention.state_dict(), "ocr_models")
        model, _ = fluid.dygraph.load_persistables("ocr_models")
        print("saved", len(model), sorted(model)[0])


if __name__ == '__main__':
    args = parser.parse_args()
    for arg, value in sorted(six.iteritems(vars(args))):
        print("%s: %s" % (arg, value))
    if args.profile:
        with profiler.profiler("CPU", sorted_key='total') as cpuprof:
            train(args)
    else:
        train(args)
