"""Translation in the manner of 1.5: LoD tensors, LSTMs in both directions, attention in a DynamicRNN, beam search."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import argparse
import random
import time

import numpy as np
import paddle
import paddle.fluid as fluid
import paddle.fluid.framework as framework
import paddle.fluid.layers as pd
from paddle.fluid.executor import Executor

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--embedding_dim", type=int, default=16)
parser.add_argument("--encoder_size", type=int, default=24)
parser.add_argument("--decoder_size", type=int, default=24)
parser.add_argument("--batch_size", type=int, default=16)
parser.add_argument("--dict_size", type=int, default=10)
parser.add_argument("--pass_num", type=int, default=8)
parser.add_argument("--learning_rate", type=float, default=0.02)
parser.add_argument("--beam_size", type=int, default=1)
parser.add_argument("--max_length", type=int, default=8)
parser.add_argument("--save_dir", type=str, default="model")
parser.add_argument("--use_gpu", type=bool, default=False)
SOS, EOS = 0, 1


def lstm_step(x_t, hidden_t_prev, cell_t_prev, size):
    def linear(inputs):
        return pd.fc(input=inputs, size=size, bias_attr=True)

    forget_gate = pd.sigmoid(x=linear([hidden_t_prev, x_t]))
    input_gate = pd.sigmoid(x=linear([hidden_t_prev, x_t]))
    output_gate = pd.sigmoid(x=linear([hidden_t_prev, x_t]))
    cell_tilde = pd.tanh(x=linear([hidden_t_prev, x_t]))
    cell_t = pd.sums(input=[pd.elementwise_mul(x=forget_gate, y=cell_t_prev),
                            pd.elementwise_mul(x=input_gate, y=cell_tilde)])
    return pd.elementwise_mul(x=output_gate, y=pd.tanh(x=cell_t)), cell_t


def bi_lstm_encoder(input_seq, gate_size):
    input_forward_proj = pd.fc(input=input_seq, size=gate_size * 4, act=None, bias_attr=False)
    forward, _ = pd.dynamic_lstm(input=input_forward_proj, size=gate_size * 4, use_peepholes=False)
    input_reversed_proj = pd.fc(input=input_seq, size=gate_size * 4, act=None, bias_attr=False)
    reversed, _ = pd.dynamic_lstm(input=input_reversed_proj, size=gate_size * 4, is_reverse=True,
                                  use_peepholes=False)
    return forward, reversed


def embedded(words, args, name):
    return pd.embedding(input=words, size=[args.dict_size, args.embedding_dim], dtype='float32',
                        is_sparse=True, param_attr=fluid.ParamAttr(name=name))


def encoder(args):
    src_word_idx = pd.data(name='source_sequence', shape=[1], dtype='int64', lod_level=1)
    src_embedding = embedded(src_word_idx, args, 'vemb_src')
    src_forward, src_reversed = bi_lstm_encoder(src_embedding, args.encoder_size)
    encoded_vector = pd.concat(input=[src_forward, src_reversed], axis=1)
    encoded_proj = pd.fc(input=encoded_vector, size=args.decoder_size, bias_attr=False)
    backward_first = pd.sequence_pool(input=src_reversed, pool_type='first')
    decoder_boot = pd.fc(input=backward_first, size=args.decoder_size, bias_attr=False, act='tanh')
    return encoded_vector, encoded_proj, decoder_boot


def simple_attention(encoder_vec, encoder_proj, decoder_state, decoder_size):
    decoder_state_proj = pd.fc(input=decoder_state, size=decoder_size, bias_attr=False)
    decoder_state_expand = pd.sequence_expand(x=decoder_state_proj, y=encoder_proj)
    concated = pd.tanh(pd.elementwise_add(encoder_proj, decoder_state_expand))
    attention_weights = pd.fc(input=concated, size=1, act=None, bias_attr=False)
    attention_weights = pd.sequence_softmax(input=attention_weights)
    weigths_reshape = pd.reshape(x=attention_weights, shape=[-1])
    scaled = pd.elementwise_mul(x=encoder_vec, y=weigths_reshape, axis=0)
    return pd.sequence_pool(input=scaled, pool_type='sum')


def decode_step(current_word, encoder_vec, encoder_proj, hidden, cell, args):
    context = simple_attention(encoder_vec, encoder_proj, hidden, args.decoder_size)
    decoder_inputs = pd.concat(input=[context, current_word], axis=1)
    return lstm_step(decoder_inputs, hidden, cell, args.decoder_size)


def train_model(args):
    encoded_vector, encoded_proj, decoder_boot = encoder(args)
    cell_init = pd.fill_constant_batch_size_like(
        input=decoder_boot, value=0.0, shape=[-1, args.decoder_size], dtype='float32')
    cell_init.stop_gradient = False
    trg_word_idx = pd.data(name='target_sequence', shape=[1], dtype='int64', lod_level=1)
    trg_embedding = embedded(trg_word_idx, args, 'vemb_trg')
    rnn = pd.DynamicRNN()
    with rnn.block():
        current_word = rnn.step_input(trg_embedding)
        encoder_vec = rnn.static_input(encoded_vector)
        encoder_proj = rnn.static_input(encoded_proj)
        hidden_mem = rnn.memory(init=decoder_boot, need_reorder=True)
        cell_mem = rnn.memory(init=cell_init)
        h, c = decode_step(current_word, encoder_vec, encoder_proj, hidden_mem, cell_mem, args)
        rnn.update_memory(hidden_mem, h)
        rnn.update_memory(cell_mem, c)
        out = pd.fc(input=h, size=args.dict_size, bias_attr=True, act='softmax')
        rnn.output(out)
    prediction = rnn()
    label = pd.data(name='label_sequence', shape=[1], dtype='int64', lod_level=1)
    cost = pd.cross_entropy(input=prediction, label=label)
    return pd.mean(x=cost), prediction


def infer_model(args):
    encoded_vector, encoded_proj, decoder_boot = encoder(args)
    array_len = pd.fill_constant(shape=[1], dtype='int64', value=args.max_length)
    counter = pd.zeros(shape=[1], dtype='int64', force_cpu=True)
    cell_init = pd.fill_constant_batch_size_like(
        input=decoder_boot, value=0.0, shape=[-1, args.decoder_size], dtype='float32')
    state_array, cell_array = pd.create_array('float32'), pd.create_array('float32')
    ids_array, scores_array = pd.create_array('int64'), pd.create_array('float32')
    init_ids = pd.data(name="init_ids", shape=[1], dtype="int64", lod_level=2)
    init_scores = pd.data(name="init_scores", shape=[1], dtype="float32", lod_level=2)
    for value, array in ((decoder_boot, state_array), (cell_init, cell_array), (init_ids, ids_array),
                         (init_scores, scores_array)):
        pd.array_write(value, array=array, i=counter)
    cond = pd.less_than(x=counter, y=array_len)
    while_op = pd.While(cond=cond)
    with while_op.block():
        pre_ids = pd.array_read(array=ids_array, i=counter)
        pre_state = pd.array_read(array=state_array, i=counter)
        pre_cell = pd.array_read(array=cell_array, i=counter)
        pre_score = pd.array_read(array=scores_array, i=counter)
        pre_ids_emb = embedded(pre_ids, args, 'vemb_trg')
        # the states of a prefix, once for each of its candidates
        pre_state_expanded = pd.sequence_expand(pre_state, pre_score)
        pre_cell_expanded = pd.sequence_expand(pre_cell, pre_score)
        context = simple_attention(encoded_vector, encoded_proj, pre_state, args.decoder_size)
        context_expanded = pd.sequence_expand(context, pre_score)
        h, c = lstm_step(pd.concat(input=[context_expanded, pre_ids_emb], axis=1), pre_state_expanded,
                         pre_cell_expanded, args.decoder_size)
        current_state_with_lod = pd.lod_reset(x=h, y=pre_score)
        current_score = pd.fc(input=current_state_with_lod, size=args.dict_size, bias_attr=True, act='softmax')
        topk_scores, topk_indices = pd.topk(current_score, k=args.beam_size)
        accu_scores = pd.elementwise_add(
            x=pd.log(topk_scores), y=pd.reshape(pre_score, shape=[-1]), axis=0)
        selected_ids, selected_scores = pd.beam_search(
            pre_ids, pre_score, topk_indices, accu_scores, args.beam_size, EOS)
        pd.increment(x=counter, value=1, in_place=True)
        pd.array_write(h, array=state_array, i=counter)
        pd.array_write(c, array=cell_array, i=counter)
        pd.array_write(selected_ids, array=ids_array, i=counter)
        pd.array_write(selected_scores, array=scores_array, i=counter)
        length_cond = pd.less_than(x=counter, y=array_len)
        finish_cond = pd.logical_not(pd.is_empty(x=selected_ids))
        pd.logical_and(x=length_cond, y=finish_cond, out=cond)
    return pd.beam_search_decode(ids_array, scores_array, args.beam_size, EOS)


def pairs(args, count, seed):
    """A sentence and its translation: the same words, each one higher."""
    def reader():
        rng = np.random.RandomState(seed)
        for _ in range(count):
            words = rng.randint(2, args.dict_size - 1, rng.randint(2, 5))
            yield words.tolist(), [SOS] + (words + 1).tolist(), (words + 1).tolist() + [EOS]
    return reader


def train(args):
    place = fluid.CUDAPlace(0) if args.use_gpu else fluid.CPUPlace()
    framework.default_startup_program().random_seed = 111
    avg_cost, prediction = train_model(args)
    inference_program = framework.default_main_program().clone(for_test=True)
    fluid.clip.set_gradient_clip(clip=fluid.clip.GradientClipByGlobalNorm(clip_norm=5.0))
    optimizer = fluid.optimizer.Adam(
        learning_rate=args.learning_rate,
        regularization=fluid.regularizer.L2DecayRegularizer(regularization_coeff=1e-5))
    optimizer.minimize(avg_cost)
    exe = Executor(place)
    exe.run(framework.default_startup_program())
    feed_order = ['source_sequence', 'target_sequence', 'label_sequence']
    feed_list = [framework.default_main_program().global_block().var(name) for name in feed_order]
    feeder = fluid.DataFeeder(feed_list, place)
    train_reader = paddle.batch(
        paddle.reader.shuffle(pairs(args, 320, 1), buf_size=320), batch_size=args.batch_size)
    test_reader = paddle.batch(pairs(args, 64, 2), batch_size=args.batch_size)
    for pass_id in range(args.pass_num):
        words_seen, pass_start_time, costs = 0, time.time(), []
        for batch_id, data in enumerate(train_reader()):
            words_seen += sum(len(row[1]) for row in data)
            avg_cost_train, = exe.run(framework.default_main_program(), feed=feeder.feed(data),
                                      fetch_list=[avg_cost])
            costs.append(np.array(avg_cost_train)[0])
        print('pass_id=%d, batch_id=%d, train_loss: %f, words: %d' % (
            pass_id, batch_id, np.mean(costs), words_seen))
    test = [exe.run(inference_program, feed=feeder.feed(data), fetch_list=[avg_cost])[0][0]
            for data in test_reader()]
    print("test_loss: %f" % np.mean(test))
    fluid.io.save_params(exe, dirname=args.save_dir)


def infer(args):
    place = fluid.CPUPlace()
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        translation_ids, translation_scores = infer_model(args)
        exe = Executor(place)
        with fluid.scope_guard(fluid.core.Scope()):
            exe.run(framework.default_startup_program())
            fluid.io.load_params(exe, args.save_dir)
            right, data = 0, list(pairs(args, 8, 3)())
            for source, _, label in data:
                lod = [[1], [1]]
                feed = {
                    'source_sequence': fluid.create_lod_tensor([source], [[len(source)]], place),
                    'init_ids': fluid.create_lod_tensor(np.zeros((1, 1), 'int64'), lod, place),
                    'init_scores': fluid.create_lod_tensor(np.ones((1, 1), 'float32'), lod, place)}
                ids, scores = exe.run(framework.default_main_program(), feed=feed,
                                      fetch_list=[translation_ids, translation_scores], return_numpy=False)
                tokens = np.array(ids).flatten()
                end = np.where(tokens == EOS)[0]
                tokens = tokens[1:end[0] if len(end) else len(tokens)].tolist()
                right += tokens == label[:-1]
    print("translated %d of %d, last %s %s, lod %s" % (right, len(data), source, tokens, ids.lod()))


if __name__ == '__main__':
    args = parser.parse_args()
    random.seed(1)
    train(args)
    infer(args)
