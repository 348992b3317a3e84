"""Translation in the manner of 1.8: a Layer of LSTM steps with attention, masks, beam search in Python."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import argparse
import io
import logging
import os
import random
import sys
import time

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid import ParamAttr, layers
from paddle.fluid.clip import GradientClipByGlobalNorm
from paddle.fluid.dygraph import Layer
from paddle.fluid.dygraph.base import to_variable
from paddle.fluid.dygraph.nn import Embedding

if sys.version[0] == '2':
    reload(sys)
    sys.setdefaultencoding("utf-8")

logging.basicConfig(format='%(asctime)s - %(levelname)s - %(message)s')
logger = logging.getLogger("fluid")
PAD, BOS, EOS = 0, 1, 2


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--optimizer", type=str, default='adam', help="optimizer to use")
    parser.add_argument("--learning_rate", type=float, default=0.02)
    parser.add_argument("--num_layers", type=int, default=1)
    parser.add_argument("--hidden_size", type=int, default=24)
    parser.add_argument("--vocab_size", type=int, default=10)
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--max_epoch", type=int, default=5)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--init_scale", type=float, default=0.1)
    parser.add_argument("--max_grad_norm", type=float, default=5.0)
    parser.add_argument("--beam_size", type=int, default=3)
    parser.add_argument("--model_path", type=str, default="attention_models")
    parser.add_argument('--attention', type=eval, default=True)
    parser.add_argument('--use_gpu', type=eval, default=False)
    return parser.parse_args()


uniform_initializer = lambda x: fluid.initializer.UniformInitializer(low=-x, high=x)
zero_constant = fluid.initializer.Constant(0.0)


class BasicLSTMUnit(Layer):
    def __init__(self, hidden_size, input_size, param_attr=None, bias_attr=None, forget_bias=1.0,
                 dtype='float32'):
        super(BasicLSTMUnit, self).__init__(dtype)
        self._forget_bias = layers.fill_constant([1], dtype=dtype, value=forget_bias)
        self._forget_bias.stop_gradient = False
        self._dtype = dtype
        self._weight = self.create_parameter(
            attr=param_attr, shape=[input_size + hidden_size, 4 * hidden_size], dtype=self._dtype)
        self._bias = self.create_parameter(
            attr=bias_attr, shape=[4 * hidden_size], dtype=self._dtype, is_bias=True)

    def forward(self, input, pre_hidden, pre_cell):
        gates = layers.matmul(x=layers.concat([input, pre_hidden], 1), y=self._weight)
        i, j, f, o = layers.split(layers.elementwise_add(gates, self._bias), num_or_sections=4, dim=-1)
        kept = layers.sigmoid(layers.elementwise_add(f, self._forget_bias))
        new_cell = layers.elementwise_add(layers.elementwise_mul(pre_cell, kept),
                                          layers.elementwise_mul(layers.sigmoid(i), layers.tanh(j)))
        return layers.tanh(new_cell) * layers.sigmoid(o), new_cell


class AttentionModel(fluid.dygraph.Layer):
    def __init__(self, hidden_size, vocab_size, batch_size, num_layers=1, init_scale=0.1, dropout=None,
                 beam_size=1, beam_max_step_num=8, mode='train'):
        super(AttentionModel, self).__init__()
        self.hidden_size, self.vocab_size, self.batch_size = hidden_size, vocab_size, batch_size
        self.num_layers, self.dropout, self.mode = num_layers, dropout, mode
        self.beam_size, self.beam_max_step_num, self.kinf = beam_size, beam_max_step_num, 1e9
        param_attr = ParamAttr(initializer=uniform_initializer(init_scale))
        bias_attr = ParamAttr(initializer=zero_constant)
        self.src_embeder = Embedding(
            size=[vocab_size, hidden_size],
            param_attr=fluid.ParamAttr(name='source_embedding', initializer=uniform_initializer(init_scale)))
        self.tar_embeder = Embedding(
            size=[vocab_size, hidden_size], is_sparse=False,
            param_attr=fluid.ParamAttr(name='target_embedding', initializer=uniform_initializer(init_scale)))
        self.enc_units, self.dec_units = [], []
        for i in range(num_layers):
            self.enc_units.append(self.add_sublayer("enc_units_%d" % i, BasicLSTMUnit(
                hidden_size, hidden_size, param_attr=param_attr, bias_attr=bias_attr)))
            self.dec_units.append(self.add_sublayer("dec_units_%d" % i, BasicLSTMUnit(
                hidden_size, hidden_size * (2 if i == 0 else 1), param_attr=param_attr, bias_attr=bias_attr)))
        linear = fluid.dygraph.nn.Linear
        self.fc = linear(hidden_size, vocab_size, param_attr=param_attr, bias_attr=False)
        self.attn_fc = linear(hidden_size, hidden_size, param_attr=param_attr, bias_attr=False)
        self.concat_fc = linear(2 * hidden_size, hidden_size, param_attr=param_attr, bias_attr=False)

    def _transpose_batch_time(self, x):
        return fluid.layers.transpose(x, [1, 0] + list(range(2, len(x.shape))))

    def _merge_batch_beams(self, x):
        return fluid.layers.reshape(x, shape=(-1, x.shape[2]))

    def _split_batch_beams(self, x):
        return fluid.layers.reshape(x, shape=(-1, self.beam_size, x.shape[1]))

    def _expand_to_beam_size(self, x):
        x = fluid.layers.unsqueeze(x, [1])
        expand_times = [1] * len(x.shape)
        expand_times[1] = self.beam_size
        return fluid.layers.expand(x, expand_times)

    def tile_beam_merge_with_batch(self, x):
        x = self._expand_to_beam_size(x)
        x = fluid.layers.transpose(x, list(range(2, len(x.shape))) + [0, 1])
        x = fluid.layers.reshape(x, shape=[0] * (len(x.shape) - 2) + [-1])
        return fluid.layers.transpose(x, [len(x.shape) - 1] + list(range(0, len(x.shape) - 1)))

    def _real_state(self, state, new_state, step_mask):
        return fluid.layers.elementwise_mul(new_state, step_mask, axis=0) - \
            fluid.layers.elementwise_mul(state, (step_mask - 1), axis=0)

    def _gather(self, x, indices, batch_pos):
        return fluid.layers.gather_nd(x, fluid.layers.stack([batch_pos, indices], axis=2))

    def attention(self, query, enc_output, mask=None):
        memory = self.attn_fc(enc_output)
        attn = fluid.layers.matmul(fluid.layers.unsqueeze(query, [1]), memory, transpose_y=True)
        if mask is not None:
            attn = fluid.layers.transpose(attn, [1, 0, 2])
            attn = fluid.layers.elementwise_add(attn, mask * 1000000000, -1)
            attn = fluid.layers.transpose(attn, [1, 0, 2])
        return fluid.layers.squeeze(fluid.layers.matmul(fluid.layers.softmax(attn), memory), [1])

    def steps(self, units, step_input, hidden, cell):
        new_hidden, new_cell = [], []
        for i in range(self.num_layers):
            h, c = units[i](step_input, hidden[i], cell[i])
            new_hidden.append(h)
            new_cell.append(c)
            step_input = h
            if self.dropout != None and self.dropout > 0.0:
                step_input = fluid.layers.dropout(h, dropout_prob=self.dropout,
                                                  dropout_implementation='upscale_in_train')
        return step_input, new_hidden, new_cell

    def forward(self, inputs):
        inputs = [fluid.dygraph.to_variable(np_inp) for np_inp in inputs]
        src, tar, label, src_sequence_length, tar_sequence_length = inputs
        if src.shape[0] < self.batch_size:
            self.batch_size = src.shape[0]
        src_emb = self.src_embeder(self._transpose_batch_time(src))
        zeros = np.zeros((self.num_layers, self.batch_size, self.hidden_size), dtype='float32')
        enc_states = [[to_variable(zeros), to_variable(zeros)]]
        max_seq_len = src_emb.shape[0]
        enc_len_mask = fluid.layers.sequence_mask(src_sequence_length, maxlen=max_seq_len, dtype="float32")
        enc_padding_mask = (enc_len_mask - 1.0)
        enc_len_mask = fluid.layers.transpose(enc_len_mask, [1, 0])
        enc_outputs = []
        for l in range(max_seq_len):
            hidden, cell = enc_states[l]
            out, new_hidden, new_cell = self.steps(self.enc_units, src_emb[l], hidden, cell)
            mask, every = enc_len_mask[l], range(self.num_layers)
            enc_states.append([[self._real_state(hidden[i], new_hidden[i], mask) for i in every],
                               [self._real_state(cell[i], new_cell[i], mask) for i in every]])
            enc_outputs.append(out)
        enc_outputs = self._transpose_batch_time(fluid.layers.stack(enc_outputs))
        input_feed = to_variable(np.zeros((self.batch_size, self.hidden_size), dtype='float32'))
        hidden, cell = enc_states[-1]
        if self.mode == 'beam_search':
            return self.beam_search(enc_outputs, enc_padding_mask, input_feed, hidden, cell)

        tar_emb = self.tar_embeder(self._transpose_batch_time(tar))
        dec_output = []
        for step_idx in range(tar_emb.shape[0]):
            step_input = fluid.layers.concat([tar_emb[step_idx], input_feed], 1)
            step_input, hidden, cell = self.steps(self.dec_units, step_input, hidden, cell)
            dec_att = self.attention(step_input, enc_outputs, enc_padding_mask)
            input_feed = self.concat_fc(fluid.layers.concat([dec_att, step_input], 1))
            dec_output.append(input_feed)
        dec_output = self.fc(self._transpose_batch_time(fluid.layers.stack(dec_output)))
        loss = fluid.layers.softmax_with_cross_entropy(logits=dec_output, label=label, soft_label=False)
        loss = fluid.layers.squeeze(loss, axes=[2])
        max_tar_seq_len = fluid.layers.shape(tar)[1]
        tar_mask = fluid.layers.sequence_mask(tar_sequence_length, maxlen=max_tar_seq_len, dtype='float32')
        loss = loss * tar_mask
        return fluid.layers.reduce_sum(fluid.layers.reduce_mean(loss, dim=[0]))

    def beam_search(self, enc_outputs, enc_padding_mask, input_feed, hidden, cell):
        enc_outputs = self.tile_beam_merge_with_batch(enc_outputs)
        enc_padding_mask = self.tile_beam_merge_with_batch(enc_padding_mask)
        batch_beam_shape = (self.batch_size, self.beam_size)
        vocab_size_tensor = to_variable(np.full((1), self.vocab_size))
        end_token_tensor = to_variable(np.full(batch_beam_shape, EOS, dtype='int64'))
        step_input = self.tar_embeder(to_variable(np.full(batch_beam_shape, BOS, dtype='int64')))
        input_feed = self._merge_batch_beams(self._expand_to_beam_size(input_feed))
        beam_finished = to_variable(np.full(batch_beam_shape, 0, dtype='float32'))
        log_probs_so_far = to_variable(np.array([[0.] + [-self.kinf] * (self.beam_size - 1)], dtype="float32"))
        log_probs_so_far = fluid.layers.expand(log_probs_so_far, [self.batch_size, 1])
        hidden = [self._expand_to_beam_size(state) for state in hidden]
        cell = [self._expand_to_beam_size(state) for state in cell]
        batch_pos = fluid.layers.expand(
            fluid.layers.unsqueeze(to_variable(np.arange(0, self.batch_size, 1, dtype="int64")), [1]),
            [1, self.beam_size])
        noend_array = [-self.kinf] * self.vocab_size
        noend_array[EOS] = 0
        noend_mask_tensor = to_variable(np.array(noend_array, dtype='float32'))
        predicted_ids, parent_ids = [], []
        for step_idx in range(self.beam_max_step_num):
            if fluid.layers.reduce_sum(1 - beam_finished).numpy()[0] == 0:
                break
            step_input = fluid.layers.concat([self._merge_batch_beams(step_input), input_feed], 1)
            hidden = [self._merge_batch_beams(state) for state in hidden]
            cell = [self._merge_batch_beams(state) for state in cell]
            step_input, hidden, cell = self.steps(self.dec_units, step_input, hidden, cell)
            dec_att = self.attention(step_input, enc_outputs, enc_padding_mask)
            input_feed = self.concat_fc(fluid.layers.concat([dec_att, step_input], 1))
            cell_outputs = self.fc(self._split_batch_beams(input_feed))
            step_log_probs = fluid.layers.log(fluid.layers.softmax(cell_outputs))
            ended = fluid.layers.expand(fluid.layers.unsqueeze(beam_finished, [2]), [1, 1, self.vocab_size])
            step_log_probs = fluid.layers.elementwise_mul(ended, noend_mask_tensor, axis=-1) - \
                fluid.layers.elementwise_mul(step_log_probs, (beam_finished - 1), axis=0)
            log_probs = fluid.layers.elementwise_add(x=step_log_probs, y=log_probs_so_far, axis=0)
            scores = fluid.layers.reshape(log_probs, [-1, self.beam_size * self.vocab_size])
            topk_scores, topk_indices = fluid.layers.topk(input=scores, k=self.beam_size)
            beam_indices = fluid.layers.elementwise_floordiv(topk_indices, vocab_size_tensor)
            token_indices = fluid.layers.elementwise_mod(topk_indices, vocab_size_tensor)
            log_probs_so_far = self._gather(scores, topk_indices, batch_pos)
            hidden = [self._gather(self._split_batch_beams(x), beam_indices, batch_pos) for x in hidden]
            cell = [self._gather(self._split_batch_beams(x), beam_indices, batch_pos) for x in cell]
            input_feed = self._merge_batch_beams(
                self._gather(self._split_batch_beams(input_feed), beam_indices, batch_pos))
            finished = fluid.layers.cast(self._gather(beam_finished, beam_indices, batch_pos), "bool")
            finished = fluid.layers.logical_or(finished, fluid.layers.equal(token_indices, end_token_tensor))
            beam_finished = fluid.layers.cast(finished, "float32")
            step_input = self.tar_embeder(token_indices)
            predicted_ids.append(token_indices)
            parent_ids.append(beam_indices)
        predicted_ids = fluid.layers.gather_tree(fluid.layers.stack(predicted_ids),
                                                 fluid.layers.stack(parent_ids))
        return self._transpose_batch_time(predicted_ids)


def pairs(args, count, seed, longest=5):
    """A sentence and its translation: the same words in the other order."""
    rng = np.random.RandomState(seed)
    for _ in range(count // args.batch_size):
        lengths = rng.randint(2, longest + 1, args.batch_size)
        src = np.full((args.batch_size, lengths.max()), PAD, 'int64')
        tar = np.full((args.batch_size, lengths.max() + 2), EOS, 'int64')
        for row, length in enumerate(lengths):
            words = rng.randint(3, args.vocab_size, length)
            src[row, :length], tar[row, 0], tar[row, 1:length + 1] = words, BOS, words[::-1]
        yield src, lengths.astype('int64'), tar, (lengths + 1).astype('int64')


def prepare_input(batch):
    src_ids, src_mask, tar_ids, tar_mask = batch
    label_tar = tar_ids[:, 1:].reshape((tar_ids.shape[0], tar_ids.shape[1] - 1, 1))
    return [src_ids, tar_ids[:, :-1], label_tar, src_mask, tar_mask], np.sum(tar_mask)


def main():
    args = parse_args()
    place = fluid.CUDAPlace(0) if args.use_gpu else fluid.CPUPlace()
    shapes = (args.hidden_size, args.vocab_size, args.batch_size)
    with fluid.dygraph.guard(place):
        fluid.default_startup_program().random_seed = 102
        fluid.default_main_program().random_seed = 102
        random.seed(102)
        model = AttentionModel(*shapes, num_layers=args.num_layers, init_scale=args.init_scale,
                               dropout=args.dropout)
        clip = GradientClipByGlobalNorm(args.max_grad_norm)
        kind = {"sgd": fluid.optimizer.SGD, "adam": fluid.optimizer.Adam}[args.optimizer]
        optimizer = kind(args.learning_rate, parameter_list=model.parameters(), grad_clip=clip)

        def eval(data):
            model.eval()
            total_loss, word_count = 0.0, 0.0
            for batch in data:
                input_data_feed, word_num = prepare_input(batch)
                total_loss += model(input_data_feed) * args.batch_size
                word_count += word_num
            model.train()
            return np.exp(total_loss.numpy() / word_count)

        for epoch_id in range(args.max_epoch):
            model.train()
            total_loss, word_count, begin = 0, 0.0, time.time()
            for batch_id, batch in enumerate(pairs(args, 320, epoch_id)):
                input_data_feed, word_num = prepare_input(batch)
                word_count += word_num
                loss = model(input_data_feed)
                loss.backward()
                optimizer.minimize(loss)
                model.clear_gradients()
                total_loss += loss * args.batch_size
                if batch_id > 0 and batch_id % 10 == 0:
                    print("-- Epoch:[%d]; Batch:[%d]; ppl: %.5f, ips: %.5f words/s" % (
                        epoch_id, batch_id, np.exp(total_loss.numpy() / word_count),
                        word_count / (time.time() - begin)))
                    total_loss, word_count = 0.0, 0.0
            dir_name = os.path.join(args.model_path, "epoch_" + str(epoch_id))
            paddle.fluid.save_dygraph(model.state_dict(), dir_name)
        print("dev ppl", eval(pairs(args, 64, 99)))

    with fluid.dygraph.guard(place):
        model = AttentionModel(*shapes, beam_size=args.beam_size, num_layers=args.num_layers, dropout=0.0,
                               mode='beam_search')
        state_dict, _ = fluid.dygraph.load_dygraph(dir_name)
        model.set_dict(state_dict)
        model.eval()
        right = 0
        with io.open("translated.txt", 'w', encoding='utf-8') as out_file:
            for batch in pairs(args, 32, 7):
                outputs = model(prepare_input(batch)[0])
                for i in range(outputs.shape[0]):
                    ins = outputs[i].numpy()
                    words = [int(e) for e in ins[:, 0].reshape(-1)] + [EOS]
                    words = words[:words.index(EOS)]
                    right += words == batch[2][i, 1:batch[3][i]].tolist()
                    out_file.write(u' '.join(str(word) for word in words) + u'\n')
        print("translated", right / 32, len(open("translated.txt").readlines()))


def check_version():
    try:
        fluid.require_version('1.6.0')
    except Exception as e:
        logger.error("PaddlePaddle version 1.6 or higher is required")
        sys.exit(1)


if __name__ == '__main__':
    check_version()
    main()
