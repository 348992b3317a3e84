"""Translation in the manner of 1.7: Programs of fluid.layers.rnn cells with attention, BeamSearchDecoder, helpers."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import argparse
import contextlib
import os
import random
import time

import numpy as np
import paddle
import paddle.fluid as fluid
import paddle.fluid.framework as framework
import paddle.fluid.layers as layers
import paddle.fluid.profiler as profiler
from paddle.fluid import ParamAttr
from paddle.fluid.contrib.layers import BasicLSTMUnit, basic_lstm
from paddle.fluid.executor import Executor
from paddle.fluid.layers import RNNCell, LSTMCell, rnn, BeamSearchDecoder, dynamic_decode

PAD, BOS, EOS = 0, 1, 2
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--optimizer", type=str, default='adam')
parser.add_argument("--learning_rate", type=float, default=0.02)
parser.add_argument("--num_layers", type=int, default=1)
parser.add_argument("--hidden_size", type=int, default=24)
parser.add_argument("--vocab_size", type=int, default=10)
parser.add_argument("--batch_size", type=int, default=16)
parser.add_argument("--max_epoch", type=int, default=6)
parser.add_argument("--dropout", type=float, default=0.0)
parser.add_argument("--init_scale", type=float, default=0.1)
parser.add_argument("--max_grad_norm", type=float, default=5.0)
parser.add_argument("--beam_size", type=int, default=3)
parser.add_argument("--model_path", type=str, default="model_new")
parser.add_argument("--use_gpu", type=bool, default=False)


def uniform(scale, name=None):
    return ParamAttr(name=name, initializer=fluid.initializer.UniformInitializer(low=-scale, high=scale))


class DecoderCell(RNNCell):
    def __init__(self, num_layers, hidden_size, dropout_prob=0., init_scale=0.1):
        self.num_layers, self.hidden_size = num_layers, hidden_size
        self.dropout_prob, self.init_scale = dropout_prob, init_scale
        bias_attr = ParamAttr(initializer=fluid.initializer.Constant(0.0))
        self.lstm_cells = []
        for i in range(num_layers):
            self.lstm_cells.append(LSTMCell(hidden_size, uniform(init_scale), bias_attr))

    def attention(self, query, enc_output, mask=None):
        query = layers.unsqueeze(query, [1])
        memory = layers.fc(enc_output, self.hidden_size, num_flatten_dims=2,
                           param_attr=uniform(self.init_scale), bias_attr=False)
        attn = layers.matmul(query, memory, transpose_y=True)
        if mask:
            attn = layers.transpose(attn, [1, 0, 2])
            attn = layers.elementwise_add(attn, mask * 1000000000, -1)
            attn = layers.transpose(attn, [1, 0, 2])
        return layers.matmul(layers.softmax(attn), memory)

    def call(self, step_input, states, enc_output, enc_padding_mask=None):
        lstm_states, input_feed = states
        new_lstm_states = []
        step_input = layers.concat([step_input, input_feed], 1)
        for i in range(self.num_layers):
            out, new_lstm_state = self.lstm_cells[i](step_input, lstm_states[i])
            step_input = layers.dropout(
                out, self.dropout_prob, dropout_implementation='upscale_in_train') \
                if self.dropout_prob > 0 else out
            new_lstm_states.append(new_lstm_state)
        dec_att = layers.squeeze(self.attention(step_input, enc_output, enc_padding_mask), [1])
        out = layers.fc(layers.concat([dec_att, step_input], 1), self.hidden_size,
                        param_attr=uniform(self.init_scale), bias_attr=False)
        return out, [new_lstm_states, out]


class AttentionModel(object):
    def __init__(self, args):
        self.hidden_size, self.vocab_size, self.num_layers = args.hidden_size, args.vocab_size, args.num_layers
        self.init_scale, self.dropout = args.init_scale, args.dropout
        self.src_embeder = lambda x: fluid.embedding(
            input=x, size=[self.vocab_size, self.hidden_size], dtype='float32', is_sparse=False,
            param_attr=uniform(self.init_scale, 'source_embedding'))
        self.tar_embeder = lambda x: fluid.embedding(
            input=x, size=[self.vocab_size, self.hidden_size], dtype='float32', is_sparse=False,
            param_attr=uniform(self.init_scale, 'target_embedding'))

    def _build_data(self):
        self.src = fluid.data(name="src", shape=[None, None], dtype='int64')
        self.src_sequence_length = fluid.data(name="src_sequence_length", shape=[None], dtype='int64')
        self.tar = fluid.data(name="tar", shape=[None, None], dtype='int64')
        self.tar_sequence_length = fluid.data(name="tar_sequence_length", shape=[None], dtype='int64')
        self.label = fluid.data(name="label", shape=[None, None, 1], dtype='int64')

    def _build_encoder(self):
        bias_attr = ParamAttr(initializer=fluid.initializer.Constant(0.0))
        self.enc_output, enc_hidden, enc_cell = basic_lstm(
            self.src_emb, None, None, self.hidden_size, num_layers=self.num_layers, batch_first=True,
            dropout_prob=self.dropout, param_attr=uniform(self.init_scale), bias_attr=bias_attr,
            sequence_length=self.src_sequence_length)
        return [[h, c] for h, c in zip(
            layers.unstack(enc_hidden, num=self.num_layers), layers.unstack(enc_cell, num=self.num_layers))]

    def _build_decoder(self, enc_final_state, mode='train', beam_size=10):
        output_layer = lambda x: layers.fc(
            x, size=self.vocab_size, num_flatten_dims=len(x.shape) - 1, bias_attr=False,
            param_attr=uniform(self.init_scale, "output_w"))
        dec_cell = DecoderCell(self.num_layers, self.hidden_size, self.dropout, self.init_scale)
        dec_initial_states = [
            enc_final_state, dec_cell.get_initial_states(batch_ref=self.enc_output, shape=[self.hidden_size])]
        src_mask = layers.sequence_mask(
            self.src_sequence_length, maxlen=layers.shape(self.src)[1], dtype='float32')
        enc_padding_mask = (src_mask - 1.0)
        if mode == 'train':
            dec_output, _ = rnn(cell=dec_cell, inputs=self.tar_emb, initial_states=dec_initial_states,
                                sequence_length=None, enc_output=self.enc_output,
                                enc_padding_mask=enc_padding_mask)
            return output_layer(dec_output)
        if mode == 'greedy_search':
            starts = layers.fill_constant_batch_size_like(
                input=self.enc_output, shape=[-1], value=BOS, dtype="int64")
            helper = layers.GreedyEmbeddingHelper(self.tar_embeder, start_tokens=starts, end_token=EOS)
            decoder = layers.BasicDecoder(dec_cell, helper, output_fn=output_layer)
            outputs, _, lengths = dynamic_decode(
                decoder, inits=dec_initial_states, max_step_num=8, return_length=True,
                enc_output=self.enc_output, enc_padding_mask=enc_padding_mask)
            return outputs.sample_ids, lengths
        decoder = BeamSearchDecoder(dec_cell, BOS, EOS, beam_size, embedding_fn=self.tar_embeder,
                                    output_fn=output_layer)
        enc_output = decoder.tile_beam_merge_with_batch(self.enc_output, beam_size)
        enc_padding_mask = decoder.tile_beam_merge_with_batch(enc_padding_mask, beam_size)
        outputs, _ = dynamic_decode(decoder, inits=dec_initial_states, max_step_num=8, enc_output=enc_output,
                                    enc_padding_mask=enc_padding_mask)
        return outputs

    def build_graph(self, mode='train', beam_size=10):
        self._build_data()
        self.src_emb, self.tar_emb = self.src_embeder(self.src), self.tar_embeder(self.tar)
        enc_final_state = self._build_encoder()
        dec_output = self._build_decoder(enc_final_state, mode=mode, beam_size=beam_size)
        if mode != 'train':
            return dec_output
        loss = layers.softmax_with_cross_entropy(logits=dec_output, label=self.label, soft_label=False)
        loss = layers.squeeze(loss, axes=[2])
        tar_mask = layers.sequence_mask(
            self.tar_sequence_length, maxlen=layers.shape(self.tar)[1], dtype='float32')
        return layers.reduce_sum(layers.reduce_mean(loss * tar_mask, dim=[0]))


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
    return {'src': src_ids, 'src_sequence_length': src_mask, 'tar': tar_ids[:, :-1],
            'tar_sequence_length': tar_mask, 'label': tar_ids[:, 1:, np.newaxis]}, np.sum(tar_mask)


def train(args):
    train_program, startup_program = fluid.Program(), fluid.Program()
    train_program.random_seed = startup_program.random_seed = 111
    with fluid.program_guard(train_program, startup_program):
        with fluid.unique_name.guard():
            loss = AttentionModel(args).build_graph()
            inference_program = train_program.clone(for_test=True)
            fluid.clip.set_gradient_clip(
                clip=fluid.clip.GradientClipByGlobalNorm(clip_norm=args.max_grad_norm))
            kind = fluid.optimizer.SGD if args.optimizer == "sgd" else fluid.optimizer.Adam
            kind(args.learning_rate).minimize(loss)
    place = fluid.CUDAPlace(0) if args.use_gpu else fluid.CPUPlace()
    exe = Executor(place)
    exe.run(framework.default_startup_program())
    exe.run(startup_program)
    CompiledProgram = fluid.CompiledProgram(train_program).with_data_parallel(loss_name=loss.name)

    def eval(data):
        total_loss, word_count = 0.0, 0.0
        for batch in data:
            input_data_feed, word_num = prepare_input(batch)
            cost_val, = exe.run(inference_program, feed=input_data_feed, fetch_list=[loss.name],
                                use_program_cache=False)
            total_loss += cost_val * args.batch_size
            word_count += word_num
        return np.exp(total_loss / word_count)

    for epoch_id in range(args.max_epoch):
        total_loss, word_count, start_time = 0, 0.0, time.time()
        for batch_id, batch in enumerate(pairs(args, 320, epoch_id)):
            input_data_feed, word_num = prepare_input(batch)
            fetch_outs = exe.run(program=CompiledProgram, feed=input_data_feed, fetch_list=[loss.name],
                                 use_program_cache=True)
            total_loss += np.mean(fetch_outs[0]) * args.batch_size
            word_count += word_num
        print("-- Epoch:[%d]; Batch:[%d]; ppl: %.5f" % (epoch_id, batch_id, np.exp(total_loss / word_count)))
        dir_name = os.path.join(args.model_path, "epoch_" + str(epoch_id))
        if not os.path.exists(dir_name):
            os.makedirs(dir_name)
        fluid.save(train_program, os.path.join(dir_name, "attention_model"))
    print("dev ppl", eval(pairs(args, 64, 99)))
    return os.path.join(dir_name, "attention_model")


def infer(args, path, mode):
    program, startup_program = fluid.Program(), fluid.Program()
    with fluid.program_guard(program, startup_program):
        with fluid.unique_name.guard():
            outputs = AttentionModel(args).build_graph(mode=mode, beam_size=args.beam_size)
    place = fluid.CPUPlace()
    exe = Executor(place)
    with fluid.scope_guard(fluid.core.Scope()):
        exe.run(startup_program)
        program = program.clone(for_test=True)
        fluid.load(program, path, exe)
        right, total = 0, 0
        for batch in pairs(args, 32, 7):
            feed = {key: value for key, value in prepare_input(batch)[0].items() if key != 'label'}
            fetched = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            found = exe.run(program, feed=feed, fetch_list=[each.name for each in fetched],
                            use_program_cache=False)
            for row, ids in enumerate(found[0]):
                words = [int(id) for id in (ids[:, 0] if mode == 'beam_search' else ids)] + [EOS]
                words = words[:words.index(EOS)]
                right += words == batch[2][row, 1:batch[3][row]].tolist()
                total += 1
    print(mode, right / total, [each.ndim for each in found])


if __name__ == '__main__':
    args = parser.parse_args()
    random.seed(1)
    path = train(args)
    infer(args, path, 'beam_search')
    infer(args, path, 'greedy_search')
