"""Words and their tags in the manner of 1.6: LoD tensors, GRUs, a CRF, chunks, a DataLoader that feeds them."""
# -*- coding: UTF-8 -*-
import argparse
import math
import multiprocessing
import os
import random
import sys
import time

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.initializer import NormalInitializer

parser = argparse.ArgumentParser(__doc__)
parser.add_argument("--word_emb_dim", type=int, default=16)
parser.add_argument("--grnn_hidden_dim", type=int, default=16)
parser.add_argument("--bigru_num", type=int, default=2)
parser.add_argument("--base_learning_rate", type=float, default=0.02)
parser.add_argument("--emb_learning_rate", type=float, default=2.0)
parser.add_argument("--crf_learning_rate", type=float, default=0.5)
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--epoch", type=int, default=3)
parser.add_argument("--random_seed", type=int, default=90)
parser.add_argument("--cpu_num", type=int, default=1)
parser.add_argument("--use_cuda", type=bool, default=False)
parser.add_argument("--model_save_dir", type=str, default="./models")
parser.add_argument("--inference_save_dir", type=str, default="./infer_model")
VOCAB, LABELS = 36, 5


def lex_net(word, args, vocab_size, num_labels, for_infer=True, target=None):
    init_bound, is_sparse = 0.1, True

    def attr():
        return fluid.ParamAttr(
            initializer=fluid.initializer.Uniform(low=-init_bound, high=init_bound),
            regularizer=fluid.regularizer.L2DecayRegularizer(regularization_coeff=1e-4))

    def _bigru_layer(input_feature):
        pre_gru = fluid.layers.fc(input=input_feature, size=args.grnn_hidden_dim * 3, param_attr=attr())
        gru = fluid.layers.dynamic_gru(input=pre_gru, size=args.grnn_hidden_dim, param_attr=attr())
        pre_gru_r = fluid.layers.fc(input=input_feature, size=args.grnn_hidden_dim * 3, param_attr=attr())
        gru_r = fluid.layers.dynamic_gru(input=pre_gru_r, size=args.grnn_hidden_dim, is_reverse=True,
                                         param_attr=attr())
        return fluid.layers.concat(input=[gru, gru_r], axis=1)

    word_embedding = fluid.embedding(
        input=word, size=[vocab_size, args.word_emb_dim], dtype='float32', is_sparse=is_sparse,
        param_attr=fluid.ParamAttr(
            learning_rate=args.emb_learning_rate, name="word_emb",
            initializer=fluid.initializer.Uniform(low=-init_bound, high=init_bound)))
    input_feature = fluid.layers.reshape(word_embedding, [-1, args.word_emb_dim]) \
        if len(word_embedding.shape) == 3 else word_embedding
    for i in range(args.bigru_num):
        input_feature = _bigru_layer(input_feature)
    emission = fluid.layers.fc(size=num_labels, input=input_feature, param_attr=attr())
    size = emission.shape[1]
    if for_infer:
        fluid.layers.create_parameter(shape=[size + 2, size], dtype=emission.dtype, name='crfw')
        return fluid.layers.crf_decoding(input=emission, param_attr=fluid.ParamAttr(name='crfw'))
    crf_cost = fluid.layers.linear_chain_crf(
        input=emission, label=target,
        param_attr=fluid.ParamAttr(name='crfw', learning_rate=args.crf_learning_rate))
    avg_cost = fluid.layers.mean(x=crf_cost)
    crf_decode = fluid.layers.crf_decoding(input=emission, param_attr=fluid.ParamAttr(name='crfw'))
    return avg_cost, crf_decode


def create_model(args, vocab_size, num_labels, mode='train'):
    words = fluid.data(name='words', shape=[None, 1], dtype='int64', lod_level=1)
    targets = fluid.data(name='targets', shape=[None, 1], dtype='int64', lod_level=1)
    if mode == 'infer':
        crf_decode = lex_net(words, args, vocab_size, num_labels, for_infer=True, target=None)
        return {"feed_list": [words], "words": words, "crf_decode": crf_decode}
    avg_cost, crf_decode = lex_net(words, args, vocab_size, num_labels, for_infer=False, target=targets)
    precision, recall, f1_score, num_infer_chunks, num_label_chunks, num_correct_chunks = \
        fluid.layers.chunk_eval(input=crf_decode, label=targets, chunk_scheme="IOB",
                                num_chunk_types=int(math.ceil((num_labels - 1) / 2.0)))
    chunk_evaluator = fluid.metrics.ChunkEvaluator()
    chunk_evaluator.reset()
    return {"feed_list": [words, targets], "words": words, "targets": targets, "avg_cost": avg_cost,
            "crf_decode": crf_decode, "precision": precision, "recall": recall, "f1_score": f1_score,
            "chunk_evaluator": chunk_evaluator, "num_infer_chunks": num_infer_chunks,
            "num_label_chunks": num_label_chunks, "num_correct_chunks": num_correct_chunks}


class Dataset(object):
    """Words of three kinds; a chunk has a first word of its kind, then words of any kind that continue it."""

    def file_reader(self, seed, mode="train", count=200):
        def wrapper():
            rng = np.random.RandomState(seed)
            for _ in range(count):
                words, tags, inside = [], [], None
                for _ in range(rng.randint(2, 8)):
                    kind = rng.randint(0, 4)
                    if kind == 3 and inside is not None:
                        words.append(30 + rng.randint(6)), tags.append(2 * inside + 1)
                    elif kind >= 2:
                        words.append(20 + rng.randint(10)), tags.append(4)
                        inside = None
                    else:
                        words.append(10 * kind + rng.randint(10)), tags.append(2 * kind)
                        inside = kind
                yield words, tags
        return wrapper


def create_pyreader(args, seed, feed_list, place, reader, mode='train', count=200):
    device_count = len(fluid.cuda_places()) if args.use_cuda else len(fluid.cpu_places())
    pyreader = fluid.io.DataLoader.from_generator(
        feed_list=feed_list, capacity=50, use_double_buffer=True, iterable=True)
    samples = reader.file_reader(seed, mode=mode, count=count)
    if mode == 'train':
        samples = fluid.io.shuffle(samples, buf_size=200)
    pyreader.set_sample_list_generator(
        fluid.io.batch(samples, batch_size=args.batch_size // device_count), places=place)
    return pyreader


def test_process(exe, program, reader, test_ret):
    test_ret["chunk_evaluator"].reset()
    for data in reader():
        nums_infer, nums_label, nums_correct = exe.run(
            program, fetch_list=[test_ret["num_infer_chunks"], test_ret["num_label_chunks"],
                                 test_ret["num_correct_chunks"]], feed=data[0])
        test_ret["chunk_evaluator"].update(nums_infer, nums_label, nums_correct)
    precision, recall, f1 = test_ret["chunk_evaluator"].eval()
    print("[test] P: %.5f, R: %.5f, F1: %.5f" % (precision, recall, f1))
    return f1


def do_train(args):
    train_program = fluid.default_main_program()
    startup_program = fluid.default_startup_program()
    dataset = Dataset()
    random.seed(1)
    with fluid.program_guard(train_program, startup_program):
        train_program.random_seed = args.random_seed
        startup_program.random_seed = args.random_seed
        with fluid.unique_name.guard():
            train_ret = create_model(args, VOCAB, LABELS, mode='train')
            test_program = train_program.clone(for_test=True)
            optimizer = fluid.optimizer.Adam(learning_rate=args.base_learning_rate)
            optimizer.minimize(train_ret["avg_cost"])
    if args.use_cuda:
        place = fluid.CUDAPlace(int(os.getenv('FLAGS_selected_gpus', '0')))
        dev_count = fluid.core.get_cuda_device_count()
    else:
        dev_count = min(multiprocessing.cpu_count(), args.cpu_num)
        os.environ['CPU_NUM'] = str(dev_count)
        place = fluid.CPUPlace()
    train_reader = create_pyreader(args, 1, train_ret['feed_list'], place, dataset)
    test_reader = create_pyreader(args, 2, train_ret['feed_list'], place, dataset, mode="test", count=40)
    exe = fluid.Executor(place)
    exe.run(startup_program)
    if dev_count > 1:
        exec_strategy = fluid.ExecutionStrategy()
        build_strategy = fluid.compiler.BuildStrategy()
        compiled_prog = fluid.compiler.CompiledProgram(train_program).with_data_parallel(
            loss_name=train_ret['avg_cost'].name, build_strategy=build_strategy, exec_strategy=exec_strategy)
    else:
        compiled_prog = fluid.compiler.CompiledProgram(train_program)
    step = 0
    for epoch_id in range(args.epoch):
        for data in train_reader():
            fetch_list = []
            if step % 10 == 0:
                fetch_list = [train_ret[key] for key in ("avg_cost", "precision", "recall", "f1_score")]
            start_time = time.time()
            outputs = exe.run(compiled_prog, fetch_list=fetch_list, feed=data[0])
            end_time = time.time()
            if step % 10 == 0:
                avg_cost, precision, recall, f1_score = [np.mean(x) for x in outputs]
                print("[train] step = %d, loss = %.5f, P: %.5f, R: %.5f, F1: %.5f, elapsed time %.5f" % (
                    step, avg_cost, precision, recall, f1_score, end_time - start_time))
            if step % 40 == 0 and step != 0:
                save_path = os.path.join(args.model_save_dir, "step_" + str(step))
                fluid.io.save_persistables(exe, save_path, train_program)
            step += 1
    return test_process(exe, test_program, test_reader, train_ret), save_path


def to_lodtensor(data, place):
    lod, cur_len = [0], 0
    for seq in data:
        cur_len += len(seq)
        lod.append(cur_len)
    flattened_data = np.concatenate(data, axis=0).astype("int64").reshape([-1, 1])
    res = fluid.LoDTensor()
    res.set(flattened_data, place)
    res.set_lod([lod])
    return res


def do_infer(args, init_checkpoint):
    infer_program, startup = fluid.Program(), fluid.Program()
    place = fluid.CPUPlace()
    exe = fluid.Executor(place)
    scope = fluid.core.Scope()
    sentences = [words for words, tags in Dataset().file_reader(2, count=4)()]
    with fluid.scope_guard(scope):
        with fluid.program_guard(infer_program, startup):
            with fluid.unique_name.guard():
                infer_ret = create_model(args, VOCAB, LABELS, mode='infer')
        infer_program = infer_program.clone(for_test=True)
        exe.run(startup)

        def existed_persistables(var):
            if not fluid.io.is_persistable(var):
                return False
            return True

        fluid.io.load_vars(exe, init_checkpoint, main_program=infer_program, predicate=existed_persistables)
        crf_decode = exe.run(infer_program, fetch_list=[infer_ret['crf_decode']],
                             feed={"words": to_lodtensor(sentences, place)}, return_numpy=False)[0]
        fluid.io.save_inference_model(
            args.inference_save_dir, ['words'], [infer_ret['crf_decode']], exe, main_program=infer_program,
            model_filename='model.pdmodel', params_filename='params.pdparams')
    with fluid.scope_guard(fluid.core.Scope()):
        program, feed_names, fetch_targets = fluid.io.load_inference_model(
            args.inference_save_dir, exe, model_filename='model.pdmodel', params_filename='params.pdparams')
        words = fluid.create_lod_tensor(sentences, [[len(each) for each in sentences]], place)
        again, = exe.run(program, feed={feed_names[0]: words}, fetch_list=fetch_targets, return_numpy=False)
    tags, lod = np.array(crf_decode).reshape(-1), crf_decode.lod()[0]
    for begin, end, each in zip(lod[:-1], lod[1:], sentences):
        assert end - begin == len(each)
    right = [tag for _, row in Dataset().file_reader(2, count=4)() for tag in row]
    print("infer", again.recursive_sequence_lengths() == [[len(each) for each in sentences]],
          np.array_equal(np.array(again), np.array(crf_decode)), np.mean(tags == right) > 0.9)


if __name__ == "__main__":
    args = parser.parse_args()
    print(args)
    f1, save_path = do_train(args)
    print("F1", f1 > 0.9, len(os.listdir(save_path)))
    do_infer(args, save_path)
