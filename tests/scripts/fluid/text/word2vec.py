"""Word vectors by N-grams as in PaddleBook: shared embeddings, a Program saved and used to predict."""

from __future__ import print_function

import math
import sys

import numpy as np
import paddle
import paddle.fluid as fluid


EMBED_SIZE, HIDDEN_SIZE, N, BATCH_SIZE, VOCAB = 16, 64, 5, 32, 20
word_dict = {"w%d" % i: i for i in range(VOCAB)}


def ngrams(seed):
    def reader():
        rng = np.random.RandomState(seed)
        for _ in range(640):
            start, step = rng.randint(VOCAB), 1 + rng.randint(2)
            yield tuple(int((start + step * i) % VOCAB) for i in range(N))

    return reader


def inference_program(words, is_sparse):
    embeds = [
        fluid.layers.embedding(
            input=w, size=[VOCAB, EMBED_SIZE], dtype="float32", is_sparse=is_sparse, param_attr="shared_w"
        )
        for w in words
    ]
    concat_embed = fluid.layers.concat(input=embeds, axis=1)
    hidden1 = fluid.layers.fc(input=concat_embed, size=HIDDEN_SIZE, act="sigmoid")
    return fluid.layers.fc(input=hidden1, size=VOCAB, act="softmax")


def train_program(predict_word):
    next_word = fluid.layers.data(name="nextw", shape=[1], dtype="int64")
    cost = fluid.layers.cross_entropy(input=predict_word, label=next_word)
    return fluid.layers.mean(cost)


def optimizer_func():
    return fluid.optimizer.AdagradOptimizer(
        learning_rate=0.3, regularization=fluid.regularizer.L2DecayRegularizer(8e-5)
    )


def main(use_cuda, params_dirname="word2vec.inference.model", is_sparse=True):
    place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
    words = [
        fluid.layers.data(name=n, shape=[1], dtype="int64")
        for n in ("firstw", "secondw", "thirdw", "fourthw")
    ]
    predict_word = inference_program(words, is_sparse)
    avg_cost = train_program(predict_word)
    test_program = fluid.default_main_program().clone(for_test=True)
    sgd_optimizer = optimizer_func()
    sgd_optimizer.minimize(avg_cost)
    exe = fluid.Executor(place)
    train_reader = paddle.batch(paddle.reader.buffered(ngrams(1), 100), BATCH_SIZE)
    test_reader = paddle.batch(ngrams(2), BATCH_SIZE)

    def train_test(program, reader):
        feeder_test = fluid.DataFeeder(feed_list=[program.global_block().var(n) for n in names], place=place)
        accumulated = len([avg_cost]) * [0]
        count = 0
        for test_data in reader():
            found = exe.run(program=program, feed=feeder_test.feed(test_data), fetch_list=[avg_cost])
            accumulated = [x[0] + x[1][0] for x in zip(accumulated, found)]
            count += 1
        return [x / count for x in accumulated]

    names = ["firstw", "secondw", "thirdw", "fourthw", "nextw"]
    feeder = fluid.DataFeeder(
        feed_list=[fluid.default_main_program().global_block().var(n) for n in names], place=place
    )
    exe.run(fluid.default_startup_program())
    step = 0
    for pass_id in range(8):
        for data in train_reader():
            avg = exe.run(fluid.default_main_program(), feed=feeder.feed(data), fetch_list=[avg_cost])
            if step % 60 == 0:
                outs = train_test(test_program, test_reader)
                print("Step %d: Average Cost %f" % (step, outs[0]))
                if math.isnan(float(avg[0])):
                    sys.exit("got NaN loss, training failed.")
            step += 1
    outs = train_test(test_program, test_reader)
    assert outs[0] < 1.0, outs
    fluid.io.save_inference_model(params_dirname, names[:4], [predict_word], exe)

    infer_exe, inference_scope = fluid.Executor(place), fluid.core.Scope()
    with fluid.scope_guard(inference_scope):
        [inferencer, feed_target_names, fetch_targets] = fluid.io.load_inference_model(
            params_dirname, infer_exe
        )
        assert feed_target_names == names[:4]
        feed = {name: np.array([[value]], "int64") for name, value in zip(names, (3, 4, 5, 6))}
        results = infer_exe.run(inferencer, feed=feed, fetch_list=fetch_targets, return_numpy=False)
        most_possible = np.argmax(np.array(results[0]))
        words = [key for key, value in word_dict.items() if value == most_possible]
        print("next", words[0])


if __name__ == "__main__":
    main(use_cuda=False)
