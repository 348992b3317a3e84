"""Reading lines of text in the manner of 1.5: convolutions, im2sequence, GRUs over LoD, CTC, edit distance."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import argparse
import functools
import os
import time

import numpy as np
import six
import paddle
import paddle.fluid as fluid
import paddle.fluid.profiler as profiler
from paddle.fluid.initializer import init_on_cpu
from paddle.fluid.layers.learning_rate_scheduler import _decay_step_counter


def add_arguments(argname, type, default, help, argparser, **kwargs):
    argparser.add_argument("--" + argname, default=default, type=type,
                           help=help + ' Default: %(default)s.', **kwargs)


parser = argparse.ArgumentParser(description=__doc__)
add_arg = functools.partial(add_arguments, argparser=parser)
# yapf: disable
add_arg('batch_size',         int,   8,              "Minibatch size.")
add_arg('total_step',         int,   120,             "The number of iterations.")
add_arg('log_period',         int,   20,             "Log period.")
add_arg('eval_period',        int,   30,             "Evaluate period.")
add_arg('save_model_dir',     str,   "./ctc_models", "The directory the model to be saved to.")
add_arg('use_gpu',            bool,  False,          "Whether use GPU to train.")
add_arg('min_average_window', int,   10,             "Min average window.")
add_arg('max_average_window', int,   20,             "Max average window.")
add_arg('average_window',     float, 0.15,           "Average window.")
add_arg('parallel',           bool,  False,          "Whether use parallel training.")
# yapf: enable
NUM_CLASSES, DATA_SHAPE, HIDDEN = 6, [1, 16, 40], 24


def conv_bn_pool(input, group, out_ch, act="relu", param=None, bias=None, param_0=None, is_test=False,
                 pooling=True, use_cudnn=False):
    tmp = input
    for i in six.moves.xrange(group):
        tmp = fluid.layers.conv2d(
            input=tmp, num_filters=out_ch[i], filter_size=3, padding=1,
            param_attr=param if param_0 is None else param_0, act=None, use_cudnn=use_cudnn)
        tmp = fluid.layers.batch_norm(input=tmp, act=act, param_attr=param, bias_attr=bias, is_test=is_test)
    if pooling:
        tmp = fluid.layers.pool2d(input=tmp, pool_size=2, pool_type='max', pool_stride=2,
                                  use_cudnn=use_cudnn, ceil_mode=True)
    return tmp


def encoder_net(images, num_classes, regularizer=None, gradient_clip=None, is_test=False, use_cudnn=False):
    def normal(scale, **kwargs):
        return fluid.ParamAttr(regularizer=regularizer, gradient_clip=gradient_clip,
                               initializer=fluid.initializer.Normal(0.0, scale), **kwargs)

    b, w0, w1 = normal(0.0), normal(0.1), normal(0.1)
    tmp = conv_bn_pool(images, 2, [8, 8], param=w1, bias=b, param_0=w0, is_test=is_test, use_cudnn=use_cudnn)
    tmp = conv_bn_pool(tmp, 1, [16], param=w1, bias=b, is_test=is_test, use_cudnn=use_cudnn)
    conv_features = conv_bn_pool(tmp, 1, [16], param=w1, bias=b, is_test=is_test, pooling=False)
    sliced_feature = fluid.layers.im2sequence(
        input=conv_features, stride=[1, 1], filter_size=[conv_features.shape[2], 1])

    para_attr, bias_attr_nobias = normal(0.1), normal(0.02)
    bias_attr = normal(0.02, learning_rate=2.0)
    fc_1 = fluid.layers.fc(input=sliced_feature, size=HIDDEN * 3, param_attr=para_attr,
                           bias_attr=bias_attr_nobias)
    fc_2 = fluid.layers.fc(input=sliced_feature, size=HIDDEN * 3, param_attr=para_attr,
                           bias_attr=bias_attr_nobias)
    gru_forward = fluid.layers.dynamic_gru(
        input=fc_1, size=HIDDEN, param_attr=para_attr, bias_attr=bias_attr, candidate_activation='relu')
    gru_backward = fluid.layers.dynamic_gru(
        input=fc_2, size=HIDDEN, is_reverse=True, param_attr=para_attr, bias_attr=bias_attr,
        candidate_activation='relu')
    return fluid.layers.fc(input=[gru_forward, gru_backward], size=num_classes + 1, param_attr=normal(0.1),
                           bias_attr=normal(0.0))


def ctc_train_net(args, data_shape, num_classes):
    regularizer = fluid.regularizer.L2Decay(0.0004)
    images = fluid.layers.data(name='pixel', shape=data_shape, dtype='float32')
    label = fluid.layers.data(name='label', shape=[1], dtype='int32', lod_level=1)
    fc_out = encoder_net(images, num_classes, regularizer=regularizer, use_cudnn=bool(args.use_gpu))
    cost = fluid.layers.warpctc(input=fc_out, label=label, blank=num_classes, norm_by_times=True)
    sum_cost = fluid.layers.reduce_sum(cost)
    decoded_out = fluid.layers.ctc_greedy_decoder(input=fc_out, blank=num_classes)
    casted_label = fluid.layers.cast(x=label, dtype='int64')
    error_evaluator = fluid.evaluator.EditDistance(input=decoded_out, label=casted_label)
    inference_program = fluid.default_main_program().clone(for_test=True)
    learning_rate = fluid.layers.piecewise_decay([args.total_step * 3 // 4], [0.03, 0.01])
    optimizer = fluid.optimizer.Momentum(learning_rate=learning_rate, momentum=0.9)
    _, params_grads = optimizer.minimize(sum_cost)
    model_average = None
    if args.average_window > 0:
        model_average = fluid.optimizer.ModelAverage(
            args.average_window, min_average_window=args.min_average_window,
            max_average_window=args.max_average_window)
    return sum_cost, error_evaluator, inference_program, model_average


def ctc_eval(data_shape, num_classes):
    images = fluid.layers.data(name='pixel', shape=data_shape, dtype='float32')
    label = fluid.layers.data(name='label', shape=[1], dtype='int32', lod_level=1)
    fc_out = encoder_net(images, num_classes, is_test=True)
    decoded_out = fluid.layers.ctc_greedy_decoder(input=fc_out, blank=num_classes)
    casted_label = fluid.layers.cast(x=label, dtype='int64')
    error_evaluator = fluid.evaluator.EditDistance(input=decoded_out, label=casted_label)
    cost = fluid.layers.warpctc(input=fc_out, label=label, blank=num_classes, norm_by_times=True)
    return error_evaluator, cost, decoded_out


def lines(count, seed, cycle=False):
    """Bars of which each class has its own height; a line has 2 to 4 of them."""
    def reader():
        rng = np.random.RandomState(seed)
        while True:
            for _ in six.moves.xrange(count):
                label = rng.randint(0, NUM_CLASSES, rng.randint(2, 5)).tolist()
                img = rng.rand(*DATA_SHAPE).astype('float32') * 0.1
                for at, symbol in enumerate(label):
                    img[0, 14 - 2 * symbol:, 2 + at * 9:8 + at * 9] = 1.0
                yield img, label
            if not cycle:
                break
    return reader


def to_lodtensor(data, place):
    seq_lens = [len(seq) for seq in data]
    cur_len, lod = 0, [0]
    for l in seq_lens:
        cur_len += l
        lod.append(cur_len)
    flattened_data = np.concatenate(data, axis=0).astype("int32")
    flattened_data = flattened_data.reshape([len(flattened_data), 1])
    res = fluid.LoDTensor()
    res.set(flattened_data, place)
    res.set_lod([lod])
    return res


def get_ctc_feeder_data(data, place, need_label=True):
    pixel_tensor = fluid.LoDTensor()
    pixel_data = np.concatenate(list(map(lambda x: x[0][np.newaxis, :], data)), axis=0).astype("float32")
    pixel_tensor.set(pixel_data, place)
    label_tensor = to_lodtensor(list(map(lambda x: x[1], data)), place)
    return {"pixel": pixel_tensor, "label": label_tensor} if need_label else {"pixel": pixel_tensor}


def train(args):
    fluid.default_startup_program().random_seed = 90
    sum_cost, error_evaluator, inference_program, model_average = ctc_train_net(args, DATA_SHAPE, NUM_CLASSES)
    train_reader = paddle.batch(lines(256, 1, cycle=args.total_step > 0), args.batch_size)
    test_reader = paddle.batch(lines(32, 2), args.batch_size)
    place = fluid.CUDAPlace(0) if args.use_gpu else fluid.CPUPlace()
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())
    train_exe = exe
    error_evaluator.reset(exe)
    if args.parallel:
        train_exe = fluid.ParallelExecutor(use_cuda=bool(args.use_gpu), loss_name=sum_cost.name)
    fetch_vars = [sum_cost] + error_evaluator.metrics

    def train_one_batch(data):
        if args.parallel:
            results = train_exe.run([var.name for var in fetch_vars], feed=get_ctc_feeder_data(data, place))
            return [np.array(result).sum() for result in results]
        results = exe.run(feed=get_ctc_feeder_data(data, place), fetch_list=fetch_vars)
        return [result[0] for result in results]

    def test(iter_num):
        error_evaluator.reset(exe)
        for data in test_reader():
            exe.run(inference_program, feed=get_ctc_feeder_data(data, place))
        distance, test_seq_error = error_evaluator.eval(exe)
        print("\n[%s] - Iter[%d]; Test distance: %.3f; Test seq error: %s.\n" % (
            time.asctime(time.localtime(time.time())), iter_num, distance[0], str(test_seq_error[0])))

    total_loss, total_seq_error, batch_times = 0.0, 0.0, []
    for iter_num, data in enumerate(train_reader(), 1):
        if iter_num == 1:
            profiler.reset_profiler()
        start = time.time()
        results = train_one_batch(data)
        batch_times.append(time.time() - start)
        total_loss += results[0]
        total_seq_error += results[2]
        if iter_num % args.log_period == 0:
            print("\nIter[%d]; Avg loss: %.3f; Avg seq err: %.3f" % (
                iter_num, total_loss / (args.log_period * args.batch_size),
                total_seq_error / (args.log_period * args.batch_size)))
            total_loss, total_seq_error = 0.0, 0.0
        if iter_num % args.eval_period == 0:
            with model_average.apply(exe):
                test(iter_num)
                fluid.io.save_params(exe, dirname=args.save_model_dir, filename="model_%05d" % iter_num)
        if iter_num == args.total_step:
            break
    print('average latency: %.5f s, 99pc fps: %.5f' % (
        np.average(batch_times), np.percentile(np.divide(args.batch_size, batch_times), 1)))


def evaluate(args):
    """In programs and a scope that know nothing of the training."""
    place = fluid.CPUPlace()
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.core.Scope()):
        with fluid.unique_name.guard():
            error_evaluator, cost, ids = ctc_eval(DATA_SHAPE, NUM_CLASSES)
        exe = fluid.Executor(place)
        exe.run(fluid.default_startup_program())
        fluid.io.load_params(exe, dirname=args.save_model_dir, filename=sorted(os.listdir(args.save_model_dir))[-1])
        error_evaluator.reset(exe)
        count = 0
        for data in paddle.batch(lines(32, 2), args.batch_size)():
            count += 1
            exe.run(feed=get_ctc_feeder_data(data, place))
        avg_distance, avg_seq_error = error_evaluator.eval(exe)
        print("Read %d samples; avg_distance: %s; avg_seq_error: %s" % (
            count * args.batch_size, avg_distance, avg_seq_error))
        result = exe.run(fluid.default_main_program(), feed=get_ctc_feeder_data(data, place),
                         fetch_list=[ids], return_numpy=False)
        lod = result[0].lod()[0]
        words = np.array(result[0]).flatten()
        print("result: %s, label: %s" % (words[lod[0]:lod[1]].tolist(), data[0][1]))


def main():
    args = parser.parse_args()
    for arg, value in sorted(six.iteritems(vars(args))):
        print("%s: %s" % (arg, value))
    with profiler.profiler("CPU", sorted_key='total') as cpuprof:
        train(args)
    evaluate(args)


if __name__ == "__main__":
    main()
