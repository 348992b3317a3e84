"""Translation in the manner of PaddleBook 1.5: DynamicRNN with attention over LoD, beam search in a While."""
from __future__ import print_function

import os

import numpy as np
import paddle
import paddle.fluid as fluid
import paddle.fluid.layers as pd
from paddle.fluid.executor import Executor

dict_size = 9
hidden_dim = 16
word_dim = 16
batch_size = 16
max_length = 7
beam_size = 2
START, END = 0, 1
decoder_size = hidden_dim
is_sparse = True


def encoder():
    src_word_id = pd.data(name="src_word_id", shape=[1], dtype='int64', lod_level=1)
    src_embedding = pd.embedding(
        input=src_word_id,
        size=[dict_size, word_dim],
        dtype='float32',
        is_sparse=is_sparse,
        param_attr=fluid.ParamAttr(name='vemb_src'))
    fc_forward = pd.fc(src_embedding, size=hidden_dim * 3, bias_attr=False, param_attr='fw', act=None)
    src_forward = pd.dynamic_gru(input=fc_forward, size=hidden_dim, param_attr='gru_fw', bias_attr='gru_fb')
    fc_backward = pd.fc(src_embedding, size=hidden_dim * 3, bias_attr=False, param_attr='bw', act=None)
    src_backward = pd.dynamic_gru(
        input=fc_backward, size=hidden_dim, is_reverse=True, param_attr='gru_bw', bias_attr='gru_bb')
    encoded = pd.concat(input=[src_forward, src_backward], axis=1)
    backward_first = pd.sequence_pool(src_backward, pool_type='first')
    boot = pd.fc(backward_first, size=decoder_size, bias_attr=False, act='tanh', param_attr='boot')
    proj = pd.fc(encoded, size=decoder_size, bias_attr=False, param_attr='proj')
    return encoded, proj, boot


def cell(current_word, encoder_vec, encoder_proj, hidden):
    state_proj = pd.fc(hidden, size=decoder_size, bias_attr=False, param_attr='att_state')
    expanded = pd.sequence_expand(x=state_proj, y=encoder_proj)
    mixed = pd.elementwise_add(encoder_proj, expanded)
    weights = pd.fc(input=pd.tanh(mixed), size=1, bias_attr=False, param_attr='att_weight')
    weights = pd.sequence_softmax(input=weights)
    weights = pd.reshape(x=weights, shape=[-1])
    scaled = pd.elementwise_mul(x=encoder_vec, y=weights, axis=0)
    context = pd.sequence_pool(input=scaled, pool_type='sum')
    inputs = pd.fc([context, current_word], size=decoder_size * 3, bias_attr=False, param_attr=['in_c', 'in_w'])
    state, _, _ = pd.gru_unit(
        input=inputs, hidden=hidden, size=decoder_size * 3, param_attr='unit_w', bias_attr='unit_b')
    scores = pd.fc(state, size=dict_size, act='softmax', param_attr='out_w', bias_attr='out_b')
    return state, scores


def decoder_train(encoded, proj, boot):
    trg_language_word = pd.data(name="target_language_word", shape=[1], dtype='int64', lod_level=1)
    trg_embedding = pd.embedding(
        input=trg_language_word,
        size=[dict_size, word_dim],
        dtype='float32',
        is_sparse=is_sparse,
        param_attr=fluid.ParamAttr(name='vemb_trg'))
    rnn = pd.DynamicRNN()
    with rnn.block():
        current_word = rnn.step_input(trg_embedding)
        encoder_vec = rnn.static_input(encoded)
        encoder_proj = rnn.static_input(proj)
        hidden = rnn.memory(init=boot, need_reorder=True)
        state, scores = cell(current_word, encoder_vec, encoder_proj, hidden)
        rnn.update_memory(hidden, state)
        rnn.output(scores)
    return rnn()


def decoder_decode(encoded, proj, boot):
    init_state = boot
    array_len = pd.fill_constant(shape=[1], dtype='int64', value=max_length)
    counter = pd.zeros(shape=[1], dtype='int64', force_cpu=True)
    state_array = pd.create_array('float32')
    pd.array_write(init_state, array=state_array, i=counter)
    vec_array = pd.array_write(encoded, i=counter)
    proj_array = pd.array_write(proj, i=counter)
    ids_array = pd.create_array('int64')
    scores_array = pd.create_array('float32')
    init_ids = pd.data(name="init_ids", shape=[1], dtype="int64", lod_level=2)
    init_scores = pd.data(name="init_scores", shape=[1], dtype="float32", lod_level=2)
    pd.array_write(init_ids, array=ids_array, i=counter)
    pd.array_write(init_scores, array=scores_array, i=counter)
    cond = pd.less_than(x=counter, y=array_len)
    while_op = pd.While(cond=cond)
    with while_op.block():
        pre_ids = pd.array_read(array=ids_array, i=counter)
        pre_state = pd.array_read(array=state_array, i=counter)
        pre_score = pd.array_read(array=scores_array, i=counter)
        pre_state_expanded = pd.sequence_expand(pre_state, pre_score)
        encoder_vec = pd.sequence_expand(pd.array_read(array=vec_array, i=counter), pre_score)
        encoder_proj = pd.sequence_expand(pd.array_read(array=proj_array, i=counter), pre_score)
        pre_ids_emb = pd.embedding(
            input=pre_ids,
            size=[dict_size, word_dim],
            dtype='float32',
            is_sparse=is_sparse,
            param_attr=fluid.ParamAttr(name='vemb_trg'))
        state, current_score = cell(pre_ids_emb, encoder_vec, encoder_proj, pre_state_expanded)
        current_score = pd.lod_reset(x=current_score, y=pre_score)
        topk_scores, topk_indices = pd.topk(current_score, k=beam_size)
        accu_scores = pd.elementwise_add(
            x=pd.log(topk_scores), y=pd.reshape(pre_score, shape=[-1]), axis=0)
        selected_ids, selected_scores = pd.beam_search(
            pre_ids, pre_score, topk_indices, accu_scores, beam_size, end_id=END, level=0)
        pd.increment(x=counter, value=1, in_place=True)
        pd.array_write(state, array=state_array, i=counter)
        pd.array_write(encoder_vec, array=vec_array, i=counter)
        pd.array_write(encoder_proj, array=proj_array, i=counter)
        pd.array_write(selected_ids, array=ids_array, i=counter)
        pd.array_write(selected_scores, array=scores_array, i=counter)
        length_cond = pd.less_than(x=counter, y=array_len)
        finish_cond = pd.logical_not(pd.is_empty(x=selected_ids))
        pd.logical_and(x=length_cond, y=finish_cond, out=cond)
    return pd.beam_search_decode(ids=ids_array, scores=scores_array, beam_size=beam_size, end_id=END)


def fake_reader():
    """A sentence, its translation (the same words, each one further), and the words that follow."""
    random = np.random.RandomState(3)

    def reader():
        for _ in range(320):
            words = random.randint(2, dict_size, random.randint(2, 5)).tolist()
            target = [2 + (w - 1) % (dict_size - 2) for w in words]
            yield words, [START] + target, target + [END]

    return reader


def train(save_dirname):
    rnn_out = decoder_train(*encoder())
    label = pd.data(name="target_language_next_word", shape=[1], dtype='int64', lod_level=1)
    cost = pd.cross_entropy(input=rnn_out, label=label)
    avg_cost = pd.mean(cost)
    optimizer = fluid.optimizer.Adam(
        learning_rate=0.02,
        regularization=fluid.regularizer.L2DecayRegularizer(regularization_coeff=1e-6))
    optimizer.minimize(avg_cost)
    main = fluid.default_main_program()
    exe = Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    feed_list = [
        main.global_block().var(name)
        for name in ('src_word_id', 'target_language_word', 'target_language_next_word')
    ]
    feeder = fluid.DataFeeder(feed_list, fluid.CPUPlace())
    train_data = paddle.batch(paddle.reader.shuffle(fake_reader(), buf_size=1000), batch_size=batch_size)
    for pass_id in range(8):
        for batch_id, data in enumerate(train_data()):
            outs = exe.run(main, feed=feeder.feed(data), fetch_list=[avg_cost])
            avg_cost_val = np.array(outs[0])
        print('pass_id=' + str(pass_id) + ' batch=' + str(batch_id) + " avg_cost=" + str(avg_cost_val))
    fluid.io.save_params(exe, save_dirname, main)
    print('saved', len([p for p in main.global_block().all_parameters()]))


def decode(save_dirname):
    translation_ids, translation_scores = decoder_decode(*encoder())
    exe = Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    fluid.io.load_params(exe, save_dirname, fluid.default_main_program())
    samples = list(fake_reader()())[:12]
    count = len(samples)
    lod = [[1] * count, [1] * count]
    place = fluid.CPUPlace()
    init_ids = fluid.create_lod_tensor(np.zeros((count, 1), 'int64'), lod, place)
    init_scores = fluid.create_lod_tensor(np.zeros((count, 1), 'float32'), lod, place)
    words = [w for src, _, _ in samples for w in src]
    src = fluid.create_lod_tensor(
        np.array(words, 'int64').reshape(-1, 1), [[len(src) for src, _, _ in samples]], place)
    result_ids, result_scores = exe.run(
        fluid.default_main_program(),
        feed={'src_word_id': src, 'init_ids': init_ids, 'init_scores': init_scores},
        fetch_list=[translation_ids, translation_scores],
        return_numpy=False)
    lod_level_1 = result_ids.lod()[1]
    token_array = np.array(result_ids)
    result = []
    for i in range(len(lod_level_1) - 1):
        result.append(token_array[lod_level_1[i]:lod_level_1[i + 1]].tolist())
    best = [result[n] for n in result_ids.lod()[0][:-1]]
    print('sentences', len(result), 'first', best[0], 'wanted', samples[0][2])
    right = [own[1:] == target for own, (_, _, target) in zip(best, samples)]
    print('right %.2f' % np.mean(right))


def main():
    save_dirname = 'translation.model'
    train_prog, start = fluid.Program(), fluid.Program()
    train_prog.random_seed = start.random_seed = 7
    np.random.seed(5)
    with fluid.program_guard(train_prog, start):
        train(save_dirname)
    with fluid.scope_guard(fluid.Scope()), fluid.program_guard(fluid.Program(), fluid.Program()):
        decode(save_dirname)
    print('files', len(os.listdir(save_dirname)) > 0)


if __name__ == '__main__':
    main()
