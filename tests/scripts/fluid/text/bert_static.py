"""BERT in the manner of LARK 1.6: Programs, a loader that is started, warmup by Switch, weight decay by assign."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import argparse
import multiprocessing
import os
import sys
import time
from functools import partial

import numpy as np
import six
import paddle
import paddle.fluid as fluid
import paddle.fluid.layers as layers

parser = argparse.ArgumentParser(__doc__)
parser.add_argument("--checkpoints", type=str, default="checkpoints")
parser.add_argument("--learning_rate", type=float, default=0.01)
parser.add_argument("--weight_decay", type=float, default=0.01)
parser.add_argument("--num_train_steps", type=int, default=140)
parser.add_argument("--warmup_steps", type=int, default=10)
parser.add_argument("--lr_scheduler", type=str, default="linear_warmup_decay",
                    choices=['linear_warmup_decay', 'noam_decay'])
parser.add_argument("--use_cuda", type=bool, default=False)
parser.add_argument("--use_fast_executor", type=bool, default=False)
args = parser.parse_args()

CONFIG = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2, "vocab_size": 20, "seq": 10}


def pre_post_process_layer(prev_out, out, process_cmd, dropout_rate=0., name=''):
    for cmd in process_cmd:
        if cmd == "a":
            out = out + prev_out if prev_out else out
        elif cmd == "n":
            out = layers.layer_norm(
                out, begin_norm_axis=len(out.shape) - 1,
                param_attr=fluid.ParamAttr(name=name + '_layer_norm_scale',
                                           initializer=fluid.initializer.Constant(1.)),
                bias_attr=fluid.ParamAttr(name=name + '_layer_norm_bias',
                                          initializer=fluid.initializer.Constant(0.)))
        elif cmd == "d" and dropout_rate:
            out = layers.dropout(out, dropout_prob=dropout_rate, dropout_implementation="upscale_in_train",
                                 is_test=False)
    return out


pre_process_layer = partial(pre_post_process_layer, None)
post_process_layer = pre_post_process_layer


def multi_head_attention(queries, keys, values, attn_bias, d_model, n_head=1, dropout_rate=0.,
                         param_initializer=None, name='multi_head_att'):
    keys = queries if keys is None else keys
    values = keys if values is None else values

    def project(x, kind):
        return layers.fc(input=x, size=d_model, num_flatten_dims=2,
                         param_attr=fluid.ParamAttr(name=name + '_%s_fc.w_0' % kind,
                                                    initializer=param_initializer),
                         bias_attr=name + '_%s_fc.b_0' % kind)

    def split_heads(x):
        reshaped = layers.reshape(x=x, shape=[0, 0, n_head, d_model // n_head], inplace=True)
        return layers.transpose(x=reshaped, perm=[0, 2, 1, 3])

    q, k, v = [split_heads(project(x, kind)) for x, kind in
               ((queries, 'query'), (keys, 'key'), (values, 'value'))]
    product = layers.matmul(x=layers.scale(x=q, scale=(d_model // n_head) ** -0.5), y=k, transpose_y=True)
    if attn_bias:
        product += attn_bias
    weights = layers.softmax(product)
    if dropout_rate:
        weights = layers.dropout(weights, dropout_prob=dropout_rate,
                                 dropout_implementation="upscale_in_train", is_test=False)
    trans_x = layers.transpose(layers.matmul(weights, v), perm=[0, 2, 1, 3])
    return project(layers.reshape(
        x=trans_x, shape=[0, 0, trans_x.shape[2] * trans_x.shape[3]], inplace=True), 'output')


def encoder_layer(enc_input, attn_bias, config, param_initializer, name):
    d_model = config['hidden_size']
    attn = multi_head_attention(enc_input, None, None, attn_bias, d_model, config['num_attention_heads'],
                                dropout_rate=0.05, param_initializer=param_initializer,
                                name=name + '_multi_head_att')
    attn = post_process_layer(enc_input, attn, "dan", 0.05, name=name + '_post_att')
    hidden = layers.fc(input=attn, size=d_model * 4, num_flatten_dims=2, act='relu',
                       param_attr=fluid.ParamAttr(name=name + '_ffn_fc_0.w_0', initializer=param_initializer),
                       bias_attr=name + '_ffn_fc_0.b_0')
    out = layers.fc(input=hidden, size=d_model, num_flatten_dims=2,
                    param_attr=fluid.ParamAttr(name=name + '_ffn_fc_1.w_0', initializer=param_initializer),
                    bias_attr=name + '_ffn_fc_1.b_0')
    return post_process_layer(attn, out, "dan", 0.05, name=name + '_post_ffn')


class BertModel(object):
    def __init__(self, src_ids, position_ids, sentence_ids, input_mask, config):
        self._emb_size, self._voc_size = config['hidden_size'], config['vocab_size']
        self._param_initializer = init = fluid.initializer.TruncatedNormal(scale=0.2)

        def embedded(ids, size, name):
            return fluid.layers.embedding(
                input=ids, size=[size, self._emb_size], dtype="float32", is_sparse=False,
                param_attr=fluid.ParamAttr(name=name, initializer=init))

        emb_out = embedded(src_ids, self._voc_size, "word_embedding")
        emb_out = emb_out + embedded(position_ids, config["seq"], "pos_embedding")
        emb_out = emb_out + embedded(sentence_ids, 2, "sent_embedding")
        emb_out = pre_process_layer(emb_out, 'nd', 0.05, name='pre_encoder')
        mask = layers.matmul(x=input_mask, y=input_mask, transpose_y=True)
        mask = layers.scale(x=mask, scale=10000.0, bias=-1.0, bias_after_scale=False)
        mask = layers.stack(x=[mask] * config['num_attention_heads'], axis=1)
        mask.stop_gradient = True
        for i in range(config['num_hidden_layers']):
            emb_out = encoder_layer(emb_out, mask, config, init, name='encoder_layer_' + str(i))
        self._enc_out = emb_out

    def get_pooled_output(self):
        first = layers.slice(input=self._enc_out, axes=[1], starts=[0], ends=[1])
        return layers.fc(input=first, size=self._emb_size, act="tanh",
                         param_attr=fluid.ParamAttr(name="pooled_fc.w_0", initializer=self._param_initializer),
                         bias_attr="pooled_fc.b_0")

    def get_pretraining_output(self, mask_label, mask_pos, labels):
        mask_pos = layers.cast(x=mask_pos, dtype='int32')
        next_sent_feat = self.get_pooled_output()
        reshaped_emb_out = layers.reshape(x=self._enc_out, shape=[-1, self._emb_size])
        mask_feat = layers.gather(input=reshaped_emb_out, index=mask_pos)
        mask_trans_feat = layers.fc(
            input=mask_feat, size=self._emb_size, act='relu',
            param_attr=fluid.ParamAttr(name='mask_lm_trans_fc.w_0', initializer=self._param_initializer),
            bias_attr=fluid.ParamAttr(name='mask_lm_trans_fc.b_0'))
        mask_trans_feat = pre_process_layer(mask_trans_feat, 'n', name='mask_lm_trans')
        fc_out = layers.matmul(
            x=mask_trans_feat, y=fluid.default_main_program().global_block().var("word_embedding"),
            transpose_y=True)
        fc_out += layers.create_parameter(
            shape=[self._voc_size], dtype="float32", is_bias=True,
            attr=fluid.ParamAttr(name="mask_lm_out_fc.b_0", initializer=fluid.initializer.Constant(value=0.0)))
        mask_lm_loss = layers.softmax_with_cross_entropy(logits=fc_out, label=mask_label)
        mean_mask_lm_loss = layers.mean(mask_lm_loss)
        next_sent_fc_out = layers.fc(
            input=next_sent_feat, size=2, bias_attr="next_sent_fc.b_0",
            param_attr=fluid.ParamAttr(name="next_sent_fc.w_0", initializer=self._param_initializer))
        next_sent_loss, next_sent_softmax = layers.softmax_with_cross_entropy(
            logits=next_sent_fc_out, label=labels, return_softmax=True)
        next_sent_acc = layers.accuracy(input=next_sent_softmax, label=labels)
        return next_sent_acc, mean_mask_lm_loss, layers.mean(next_sent_loss) + mean_mask_lm_loss


def create_model(config, name):
    seq = config["seq"]
    data_loader = fluid.layers.py_reader(
        capacity=50, name=name, use_double_buffer=True,
        shapes=[[-1, seq, 1], [-1, seq, 1], [-1, seq, 1], [-1, seq, 1], [-1, 1], [-1, 1], [-1, 1]],
        dtypes=['int64', 'int64', 'int64', 'float32', 'int64', 'int64', 'int64'],
        lod_levels=[0, 0, 0, 0, 0, 0, 0])
    src_ids, pos_ids, sent_ids, input_mask, mask_label, mask_pos, labels = fluid.layers.read_file(data_loader)
    bert = BertModel(src_ids=src_ids, position_ids=pos_ids, sentence_ids=sent_ids, input_mask=input_mask,
                     config=config)
    return (data_loader,) + bert.get_pretraining_output(mask_label, mask_pos, labels)


def linear_warmup_decay(learning_rate, warmup_steps, num_train_steps):
    with fluid.default_main_program()._lr_schedule_guard():
        lr = fluid.layers.tensor.create_global_var(
            shape=[1], value=0.0, dtype='float32', persistable=True, name="scheduled_learning_rate")
        global_step = fluid.layers.learning_rate_scheduler._decay_step_counter()
        with fluid.layers.control_flow.Switch() as switch:
            with switch.case(global_step < warmup_steps):
                warmup_lr = learning_rate * (global_step / warmup_steps)
                fluid.layers.tensor.assign(warmup_lr, lr)
            with switch.default():
                decayed_lr = fluid.layers.learning_rate_scheduler.polynomial_decay(
                    learning_rate=learning_rate, decay_steps=num_train_steps, end_learning_rate=0.0,
                    power=1.0, cycle=False)
                fluid.layers.tensor.assign(decayed_lr, lr)
        return lr


def optimization(loss, args, train_program, startup_prog):
    if args.lr_scheduler == 'noam_decay':
        scheduled_lr = fluid.layers.learning_rate_scheduler.noam_decay(
            1 / (args.warmup_steps * (args.learning_rate ** 2)), args.warmup_steps)
    else:
        scheduled_lr = linear_warmup_decay(args.learning_rate, args.warmup_steps, args.num_train_steps)
    optimizer = fluid.optimizer.Adam(learning_rate=scheduled_lr)
    fluid.clip.set_gradient_clip(clip=fluid.clip.GradientClipByGlobalNorm(clip_norm=1.0))

    def exclude_from_weight_decay(param):
        name = param.name.rstrip(".master")
        if name.find("layer_norm") > -1:
            return True
        return any(name.endswith(suffix) for suffix in ["_bias", "_b", ".b_0"])

    param_list = dict()
    if args.weight_decay > 0:
        for param in train_program.global_block().all_parameters():
            param_list[param.name] = param * 1.0
            param_list[param.name].stop_gradient = True
    _, param_grads = optimizer.minimize(loss)
    if args.weight_decay > 0:
        for param, grad in param_grads:
            if exclude_from_weight_decay(param):
                continue
            with param.block.program._optimized_guard([param, grad]), \
                    fluid.framework.name_scope("weight_decay"):
                updated_param = param - param_list[param.name] * args.weight_decay * scheduled_lr
                fluid.layers.assign(output=param, input=updated_param)
    return scheduled_lr


def batches(config, count, seed, size=16):
    """Two sentences of one word each behind 1, the second one's from the lower or the upper half. 3 is a mask."""
    def reader():
        rng, length = np.random.RandomState(seed), config["seq"]
        half = length // 2
        for _ in range(count):
            labels = rng.randint(0, 2, (size, 1))
            first, second = rng.randint(4, 20, (size, 1)), rng.randint(4, 12, (size, 1)) + 8 * labels
            words = np.concatenate([np.repeat(first, half - 1, 1), np.repeat(second, half, 1)], 1)
            src = np.concatenate([np.ones((size, 1)), words], 1).astype('int64')
            mask_pos = rng.randint(1, half, size) + length * np.arange(size)
            mask_label = src.reshape(-1)[mask_pos].reshape(-1, 1)
            src.reshape(-1)[mask_pos] = 3
            pos = np.tile(np.arange(length), (size, 1)).astype('int64')
            yield [src.reshape(size, length, 1), pos.reshape(size, length, 1),
                   (pos >= half).astype('int64').reshape(size, length, 1),
                   np.ones((size, length, 1), 'float32'), mask_label,
                   mask_pos.reshape(-1, 1).astype('int64'), labels.astype('int64')]
    return reader


def predict(exe, test_prog, data_loader, fetch_list):
    data_loader.decorate_tensor_provider(batches(CONFIG, 6, 99))
    data_loader.start()
    cost, acc, steps = 0, 0, 0
    while True:
        try:
            each_acc, each_lm_cost, each_cost = exe.run(fetch_list=fetch_list, program=test_prog)
            acc, cost, steps = acc + each_acc, cost + each_cost, steps + 1
        except fluid.core.EOFException:
            data_loader.reset()
            break
    return np.mean(np.array(cost) / steps), np.mean(np.array(acc) / steps)


def init_checkpoint(exe, init_checkpoint_path, main_program):
    assert os.path.exists(init_checkpoint_path), "[%s] cann't be found." % init_checkpoint_path
    count = []

    def existed_persitables(var):
        if not fluid.io.is_persistable(var):
            return False
        found = os.path.exists(os.path.join(init_checkpoint_path, var.name))
        count.append(found)
        return found

    fluid.io.load_vars(exe, init_checkpoint_path, main_program=main_program, predicate=existed_persitables)
    print("Load %d of %d from %s" % (sum(count), len(count), init_checkpoint_path))


def train(args):
    train_program, startup_prog = fluid.Program(), fluid.Program()
    startup_prog.random_seed = train_program.random_seed = 11
    with fluid.program_guard(train_program, startup_prog):
        with fluid.unique_name.guard():
            loader, next_sent_acc, mask_lm_loss, total_loss = create_model(CONFIG, "train_reader")
            scheduled_lr = optimization(total_loss, args, train_program, startup_prog)
            fluid.memory_optimize(train_program, skip_opt_set=[total_loss.name])
    test_prog = fluid.Program()
    with fluid.program_guard(test_prog, startup_prog):
        with fluid.unique_name.guard():
            test_loader, test_acc, test_lm_loss, test_loss = create_model(CONFIG, "test_reader")
    test_prog = test_prog.clone(for_test=True)
    place = fluid.CUDAPlace(0) if args.use_cuda else fluid.CPUPlace()
    dev_count = fluid.core.get_cuda_device_count() if args.use_cuda else int(os.environ.get('CPU_NUM', 1))
    exe = fluid.Executor(place)
    exe.run(startup_prog)
    exec_strategy = fluid.ExecutionStrategy()
    exec_strategy.use_experimental_executor = args.use_fast_executor
    exec_strategy.num_threads = dev_count
    exec_strategy.num_iteration_per_drop_scope = 1
    build_strategy = fluid.BuildStrategy()
    build_strategy.remove_unnecessary_lock = True
    build_strategy.num_trainers, build_strategy.trainer_id = 1, 0
    train_exe = fluid.ParallelExecutor(
        use_cuda=args.use_cuda, loss_name=total_loss.name, exec_strategy=exec_strategy,
        build_strategy=build_strategy, main_program=train_program)
    loader.decorate_tensor_provider(batches(CONFIG, args.num_train_steps, 1))
    loader.start()
    steps, costs, time_begin = 0, [], time.time()
    names = [next_sent_acc.name, mask_lm_loss.name, total_loss.name, scheduled_lr.name]
    while True:
        try:
            steps += 1
            if steps % 10 != 0:
                train_exe.run(fetch_list=[])
                continue
            each_acc, each_lm, each_total, np_lr = train_exe.run(fetch_list=names)
            costs.append(np.mean(np.array(each_total)))
            if steps % 20 == 0:
                print("feed_queue size", loader.queue.size() > -1)
                print("current learning_rate:%f" % np_lr[0])
                print("step: %d, loss: %f, ppl: %f, next_sent_acc: %f, speed: %f steps/s" % (
                    steps, costs[-1], np.exp(np.mean(np.array(each_lm))), np.mean(np.array(each_acc)),
                    20 / (time.time() - time_begin)))
        except fluid.core.EOFException:
            loader.reset()
            break
    print("pretrained", np.mean(costs[-2:]) < 0.6 * np.mean(costs[:2]))
    fetched = [test_acc.name, test_lm_loss.name, test_loss.name]
    before = predict(exe, test_prog, test_loader, fetched)
    print("[validation_set] loss: %f, next_sent_acc: %f" % before)
    save_path = os.path.join(args.checkpoints, "step_" + str(steps))
    fluid.io.save_persistables(exe, save_path, train_program)

    with fluid.scope_guard(fluid.core.Scope()):
        exe.run(startup_prog)
        fresh = predict(exe, test_prog, test_loader, fetched)
        init_checkpoint(exe, save_path, train_program)
        again = predict(exe, test_prog, test_loader, fetched)
    print("resumed", np.allclose(before, again), not np.allclose(before, fresh))


if __name__ == '__main__':
    for arg, value in sorted(six.iteritems(vars(args))):
        print('%s: %s' % (arg, value))
    train(args)
