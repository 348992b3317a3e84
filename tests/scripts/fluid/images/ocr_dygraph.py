"""Reading lines of text in the manner of 1.8: Layers with Linear, attention by GRUUnit, or CTC with lengths."""
from __future__ import print_function

import argparse
import functools
import os

import numpy as np
import paddle
import paddle.fluid as fluid
import paddle.fluid.profiler as profiler
import six
from paddle.fluid.dygraph.base import to_variable
from paddle.fluid.dygraph.nn import Conv2D, Pool2D, Linear, BatchNorm, Embedding, GRUUnit


def add_arguments(argname, type, default, help, argparser, **kwargs):
    argparser.add_argument("--" + argname, default=default, type=type,
                           help=help + ' Default: %(default)s.', **kwargs)


parser = argparse.ArgumentParser(description=__doc__)
add_arg = functools.partial(add_arguments, argparser=parser)
# yapf: disable
add_arg('batch_size',        int,   8,          "Minibatch size.")
add_arg('epoch_num',         int,   4,          "Epoch number.")
add_arg('lr',                float, 0.01,       "Learning rate.")
add_arg('lr_decay_strategy', str,   "piecewise_decay", "Learning rate decay strategy.")
add_arg('log_period',        int,   10,         "Log period.")
add_arg('save_model_dir',    str,   "./output", "The directory the model to be saved to.")
add_arg('encoder_size',      int,   24,         "Encoder size.")
add_arg('decoder_size',      int,   32,         "Decoder size.")
add_arg('word_vector_dim',   int,   16,         "Word vector dim.")
add_arg('num_classes',       int,   6,          "Number classes.")
add_arg('gradient_clip',     float, 5.0,        "Gradient clip value.")
# yapf: enable
SOS, EOS, DATA_SHAPE, MAX_LENGTH = 0, 1, [1, 16, 40], 5


class ConvBNPool(fluid.dygraph.Layer):
    def __init__(self, out_ch, channels, act="relu", is_test=False, pool=True, use_cudnn=True):
        super(ConvBNPool, self).__init__()
        self.pool = pool
        layers = []
        for number in range(2):
            std = (2.0 / (3 ** 2 * channels[number])) ** 0.5
            layers.append(Conv2D(
                channels[number], out_ch[number], 3, padding=1, bias_attr=False, act=None, use_cudnn=use_cudnn,
                param_attr=fluid.ParamAttr(initializer=fluid.initializer.Normal(0.0, std))))
            layers.append(BatchNorm(out_ch[number], act=act, is_test=is_test))
        self.convs = fluid.dygraph.Sequential(*layers)
        if self.pool:
            self.pool_layer = Pool2D(pool_size=2, pool_type='max', pool_stride=2, use_cudnn=use_cudnn,
                                     ceil_mode=True)

    def forward(self, inputs):
        out = self.convs(inputs)
        return self.pool_layer(out) if self.pool else out


class DynamicGRU(fluid.dygraph.Layer):
    def __init__(self, size, param_attr=None, bias_attr=None, is_reverse=False, h_0=None):
        super(DynamicGRU, self).__init__()
        self.gru_unit = GRUUnit(size * 3, param_attr=param_attr, bias_attr=bias_attr, activation='relu',
                                gate_activation='sigmoid', origin_mode=False)
        self.h_0, self.is_reverse = h_0, is_reverse

    def forward(self, inputs):
        hidden, res = self.h_0, []
        for i in range(inputs.shape[1]):
            if self.is_reverse:
                i = inputs.shape[1] - 1 - i
            hidden, reset, gate = self.gru_unit(inputs[:, i], hidden)
            res.append(fluid.layers.reshape(hidden, [-1, 1, hidden.shape[1]], inplace=False))
        if self.is_reverse:
            res = res[::-1]
        return fluid.layers.concat(res, axis=1)


class EncoderNet(fluid.dygraph.Layer):
    def __init__(self, batch_size, decoder_size, rnn_hidden_size=24, is_test=False, use_cudnn=True):
        super(EncoderNet, self).__init__()
        para_attr = fluid.ParamAttr(initializer=fluid.initializer.Normal(0.0, 0.05))
        bias_attr = fluid.ParamAttr(initializer=fluid.initializer.Normal(0.0, 0.02), learning_rate=2.0)
        if fluid.framework.in_dygraph_mode():
            h_0 = to_variable(np.zeros((batch_size, rnn_hidden_size), dtype="float32"))
        else:
            h_0 = fluid.layers.fill_constant(shape=[batch_size, rnn_hidden_size], dtype='float32', value=0)
        self.ocr_convs = fluid.dygraph.Sequential(
            ('conv_bn_pool_1', ConvBNPool([8, 8], [1, 8], is_test=is_test, use_cudnn=use_cudnn)),
            ('conv_bn_pool_2', ConvBNPool([16, 16], [8, 16], is_test=is_test, use_cudnn=use_cudnn)),
            ('conv_bn_pool_3', ConvBNPool([16, 16], [16, 16], is_test=is_test, pool=False)))
        self.fc_1_layer = Linear(64, rnn_hidden_size * 3, param_attr=para_attr, bias_attr=False)
        self.fc_2_layer = Linear(64, rnn_hidden_size * 3, param_attr=para_attr, bias_attr=False)
        self.gru_forward_layer = DynamicGRU(rnn_hidden_size, para_attr, bias_attr, h_0=h_0)
        self.gru_backward_layer = DynamicGRU(rnn_hidden_size, para_attr, bias_attr, is_reverse=True, h_0=h_0)
        self.encoded_proj_fc = Linear(rnn_hidden_size * 2, decoder_size, bias_attr=False)

    def forward(self, inputs):
        features = fluid.layers.transpose(self.ocr_convs(inputs), perm=[0, 3, 1, 2])
        sliced_feature = fluid.layers.reshape(
            features, [-1, features.shape[1], features.shape[2] * features.shape[3]], inplace=False)
        gru_forward = self.gru_forward_layer(self.fc_1_layer(sliced_feature))
        gru_backward = self.gru_backward_layer(self.fc_2_layer(sliced_feature))
        encoded_vector = fluid.layers.concat(input=[gru_forward, gru_backward], axis=2)
        return gru_backward, encoded_vector, self.encoded_proj_fc(encoded_vector)


class SimpleAttention(fluid.dygraph.Layer):
    def __init__(self, decoder_size):
        super(SimpleAttention, self).__init__()
        self.fc_1 = Linear(decoder_size, decoder_size, act=None, bias_attr=False)
        self.fc_2 = Linear(decoder_size, 1, act=None, bias_attr=False)

    def forward(self, encoder_vec, encoder_proj, decoder_state):
        state = self.fc_1(decoder_state)
        state = fluid.layers.reshape(state, [-1, 1, state.shape[1]], inplace=False)
        state = fluid.layers.expand(state, [1, encoder_proj.shape[1], 1])
        mixed = fluid.layers.tanh(x=fluid.layers.elementwise_add(encoder_proj, state))
        weights = fluid.layers.reshape(x=self.fc_2(mixed), shape=[mixed.shape[0], -1], inplace=False)
        scaled = fluid.layers.elementwise_mul(x=encoder_vec, y=fluid.layers.softmax(weights), axis=0)
        return fluid.layers.reduce_sum(scaled, dim=1)


class OCRAttention(fluid.dygraph.Layer):
    def __init__(self, batch_size, num_classes, encoder_size, decoder_size, word_vector_dim):
        super(OCRAttention, self).__init__()
        self.encoder_net = EncoderNet(batch_size, decoder_size, encoder_size)
        self.fc = Linear(input_dim=encoder_size, output_dim=decoder_size, bias_attr=False, act='relu')
        self.embedding = Embedding([num_classes + 2, word_vector_dim], dtype='float32')
        self.simple_attention = SimpleAttention(decoder_size)
        self.fc_1_layer = Linear(encoder_size * 2, decoder_size * 3, bias_attr=False)
        self.fc_2_layer = Linear(word_vector_dim, decoder_size * 3, bias_attr=False)
        self.gru_unit = GRUUnit(size=decoder_size * 3, param_attr=None, bias_attr=None)
        self.out_layer = Linear(decoder_size, num_classes + 2, bias_attr=None, act='softmax')
        self.batch_size = batch_size

    def step(self, current_word, encoder_vec, encoder_proj, hidden):
        context = self.simple_attention(encoder_vec, encoder_proj, hidden)
        decoder_inputs = fluid.layers.elementwise_add(
            x=self.fc_1_layer(context), y=self.fc_2_layer(current_word))
        hidden, _, _ = self.gru_unit(decoder_inputs, hidden)
        return self.out_layer(hidden), hidden

    def forward(self, inputs, label_in, inference=False):
        gru_backward, encoded_vector, encoded_proj = self.encoder_net(inputs)
        first = fluid.layers.slice(gru_backward, axes=[1], starts=[0], ends=[1])
        hidden = self.fc(fluid.layers.reshape(first, [-1, first.shape[2]], inplace=False))
        pred_temp, word = [], label_in[:, 0]
        for i in range(label_in.shape[1]):
            if not inference:
                word = label_in[:, i]
            out, hidden = self.step(self.embedding(word), encoded_vector, encoded_proj, hidden)
            word = fluid.layers.argmax(out, axis=1)
            pred_temp.append(out)
        prediction = fluid.layers.concat(pred_temp, axis=1)
        return fluid.layers.reshape(prediction, shape=[self.batch_size, label_in.shape[1], -1])


class CRNN(fluid.dygraph.Layer):
    """Logits of each column [time, batch, classes + 1]."""

    def __init__(self, batch_size, num_classes, encoder_size):
        super(CRNN, self).__init__()
        self.encoder_net = EncoderNet(batch_size, encoder_size, encoder_size)
        self.out = Linear(encoder_size * 2, num_classes + 1)
        self.num_classes = num_classes

    def forward(self, inputs):
        _, encoded_vector, _ = self.encoder_net(inputs)
        return fluid.layers.transpose(self.out(encoded_vector), perm=[1, 0, 2])


def lines(count, seed):
    """Bars of which each class has its own height; a line has 2 to MAX_LENGTH - 1 of them."""
    def reader():
        rng = np.random.RandomState(seed)
        for _ in six.moves.xrange(count):
            label = rng.randint(2, 8, rng.randint(2, MAX_LENGTH)).tolist()
            img = rng.rand(*DATA_SHAPE).astype('float32') * 0.1
            for at, symbol in enumerate(label):
                img[0, 15 - 2 * (symbol - 1):, 2 + at * 9:8 + at * 9] = 1.0
            yield img, label
    return reader


def get_attention_feeder_data(data):
    pad = lambda rows: np.array([row + [EOS] * (MAX_LENGTH - len(row)) for row in rows], 'int64')
    mask = np.array([[1.0] * (len(row[1]) + 1) + [0.0] * (MAX_LENGTH - len(row[1]) - 1) for row in data])
    return {"pixel": np.stack([row[0] for row in data]), "label_in": pad([[SOS] + row[1] for row in data]),
            "label_out": pad([row[1] + [EOS] for row in data]), "mask": mask.astype('float32').reshape((-1, 1))}


def attention_loss(model, data_dict):
    label_out = to_variable(data_dict["label_out"])
    label_out.stop_gradient = True
    prediction = model(to_variable(data_dict["pixel"]), to_variable(data_dict["label_in"]))
    prediction = fluid.layers.reshape(
        prediction, [label_out.shape[0] * label_out.shape[1], -1], inplace=False)
    label_out = fluid.layers.reshape(label_out, [-1, 1], inplace=False)
    loss = fluid.layers.cross_entropy(input=prediction, label=label_out)
    loss = fluid.layers.elementwise_mul(loss, to_variable(data_dict["mask"]), axis=0)
    return fluid.layers.reduce_sum(loss)


def ctc_feed(data_dict):
    """Labels from 0 without the end, and their lengths."""
    lengths = data_dict["mask"].reshape((-1, MAX_LENGTH)).sum(1).astype('int64') - 1
    labels = np.maximum(data_dict["label_out"][:, :-1] - 2, 0)
    return to_variable(labels.astype('int32')), to_variable(lengths)


def ctc_loss(model, data_dict):
    logits = model(to_variable(data_dict["pixel"]))
    labels, lengths = ctc_feed(data_dict)
    steps = to_variable(np.full(logits.shape[1], logits.shape[0], 'int64'))
    loss = fluid.layers.warpctc(input=logits, label=labels, blank=model.num_classes, norm_by_times=False,
                                input_length=steps, label_length=lengths)
    return fluid.layers.reduce_sum(loss)


def evaluate(model, test_reader, batch_size):
    model.eval()
    total_step, equal_size = 0, 0
    for data in test_reader():
        data_dict = get_attention_feeder_data(data)
        prediction = model(to_variable(data_dict["pixel"]), to_variable(data_dict["label_in"]), inference=True)
        score, topk = fluid.layers.topk(prediction, 1)
        seq = topk.numpy().reshape((batch_size, -1))
        for row, (_, label) in zip(seq, data):
            equal_size += row[:len(label) + 1].tolist() == label + [EOS]
        total_step += batch_size
    model.train()
    return equal_size / total_step


def evaluate_ctc(model, test_reader, batch_size):
    model.eval()
    metric = fluid.metrics.EditDistance("edit_distance")
    for data in test_reader():
        data_dict = get_attention_feeder_data(data)
        logits = fluid.layers.transpose(model(to_variable(data_dict["pixel"])), perm=[1, 0, 2])
        labels, lengths = ctc_feed(data_dict)
        steps = to_variable(np.full((logits.shape[0], 1), logits.shape[1], 'int64'))
        decoded, decoded_lengths = fluid.layers.ctc_greedy_decoder(
            input=logits, blank=model.num_classes, input_length=steps)
        distances, seq_num = fluid.layers.edit_distance(
            decoded, fluid.layers.cast(labels, 'int64'), normalized=True,
            input_length=fluid.layers.reshape(decoded_lengths, [-1]), label_length=lengths)
        metric.update(distances.numpy(), seq_num.numpy())
    model.train()
    distance, wrong = metric.eval()
    return 1 - wrong


def train(args, kind):
    with fluid.dygraph.guard():
        fluid.default_startup_program().random_seed = fluid.default_main_program().random_seed = 7
        backward_strategy = fluid.dygraph.BackwardStrategy()
        backward_strategy.sort_sum_gradient = True
        if kind == "attention":
            make = lambda: OCRAttention(
                batch_size=args.batch_size, encoder_size=args.encoder_size, decoder_size=args.decoder_size,
                num_classes=args.num_classes, word_vector_dim=args.word_vector_dim)
            loss_of, evaluated = attention_loss, evaluate
        else:
            make = lambda: CRNN(args.batch_size, args.num_classes, args.encoder_size)
            loss_of, evaluated = ctc_loss, evaluate_ctc
        model, LR = make(), args.lr
        learning_rate = LR
        if args.lr_decay_strategy == "piecewise_decay":
            learning_rate = fluid.layers.piecewise_decay([60, 70], [LR, LR * 0.3, LR * 0.1])
        grad_clip = fluid.clip.GradientClipByGlobalNorm(args.gradient_clip)
        optimizer = fluid.optimizer.Adam(
            learning_rate=learning_rate, parameter_list=model.parameters(), grad_clip=grad_clip)
        train_reader = paddle.batch(lines(160, 1), args.batch_size, drop_last=True)
        test_reader = paddle.batch(lines(32, 2), args.batch_size, drop_last=True)
        if not os.path.exists(args.save_model_dir):
            os.makedirs(args.save_model_dir)
        for epoch in range(args.epoch_num):
            total_loss = 0.0
            for batch_id, data in enumerate(train_reader()):
                avg_loss = loss_of(model, get_attention_feeder_data(data))
                total_loss += avg_loss.numpy()
                avg_loss.backward()
                optimizer.minimize(avg_loss)
                model.clear_gradients()
                if batch_id > 0 and batch_id % args.log_period == 0:
                    print("{} epoch: {}, batch_id: {}, lr: {}, loss {}".format(
                        kind, epoch, batch_id, optimizer._global_learning_rate().numpy(),
                        total_loss / args.batch_size / args.log_period))
                    total_loss = 0.0
            if fluid.dygraph.parallel.Env().dev_id == 0:
                model_file = os.path.join(args.save_model_dir, '{}_{}'.format(kind, epoch))
                fluid.save_dygraph(model.state_dict(), model_file)
        right = evaluated(model, test_reader, args.batch_size)
        again = make()
        state, _ = fluid.load_dygraph(model_file)
        again.load_dict(state)
        print("%s right: %.2f" % (kind, right), evaluated(again, test_reader, args.batch_size) == right,
              len(state), sorted(state)[0])


if __name__ == '__main__':
    args = parser.parse_args()
    for arg, value in sorted(six.iteritems(vars(args))):
        print("%s: %s" % (arg, value))
    train(args, "attention")
    train(args, "crnn_ctc")
