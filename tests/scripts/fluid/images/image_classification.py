"""A small VGG of 1.5 on synthetic pictures: trained by an Executor, tested by a clone, saved and loaded."""

from __future__ import print_function

import os
import sys

import numpy as np
import paddle
import paddle.fluid as fluid

CLASSES, BATCH = 4, 16
MODEL_DIR, PARAM_DIR = "classification.inference.model", "classification.params"


def pictures(count, seed):
    def reader():
        rng = np.random.RandomState(seed)
        for _ in range(count):
            label = int(rng.randint(CLASSES))
            picture = rng.normal(0, 0.3, (3, 16, 16)).astype("float32")
            picture[:, 4 * label : 4 * label + 4] += 1.0
            yield picture.flatten(), label

    return reader


def vgg(x):
    def block(ipt, filters, groups, dropouts):
        return fluid.nets.img_conv_group(
            input=ipt,
            pool_size=2,
            pool_stride=2,
            conv_num_filter=[filters] * groups,
            conv_filter_size=3,
            conv_act="relu",
            conv_with_batchnorm=True,
            conv_batchnorm_drop_rate=dropouts,
            pool_type="max",
        )

    conv1 = block(x, 8, 2, [0.3, 0])
    conv2 = block(conv1, 16, 2, [0.4, 0])
    drop = fluid.layers.dropout(x=conv2, dropout_prob=0.5)
    fc1 = fluid.layers.fc(input=drop, size=32, act=None)
    bn = fluid.layers.batch_norm(input=fc1, act="relu")
    drop2 = fluid.layers.dropout(x=bn, dropout_prob=0.5)
    return fluid.layers.fc(input=drop2, size=CLASSES, act="softmax")


def main():
    fluid.default_startup_program().random_seed = 90
    fluid.default_main_program().random_seed = 90
    images = fluid.layers.data(name="pixel", shape=[3, 16, 16], dtype="float32")
    label = fluid.layers.data(name="label", shape=[1], dtype="int64")
    predict = vgg(images)
    cost = fluid.layers.cross_entropy(input=predict, label=label)
    avg_cost = fluid.layers.mean(x=cost)
    acc = fluid.layers.accuracy(input=predict, label=label)
    test_program = fluid.default_main_program().clone(for_test=True)
    optimizer = fluid.optimizer.Adam(
        learning_rate=fluid.layers.exponential_decay(0.01, decay_steps=20, decay_rate=0.9, staircase=True),
        regularization=fluid.regularizer.L2Decay(1e-4),
    )
    optimizer.minimize(avg_cost)
    fluid.memory_optimize(fluid.default_main_program())

    place = fluid.CPUPlace()
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())
    feeder = fluid.DataFeeder(feed_list=[images, label], place=place)
    train_reader = paddle.batch(paddle.reader.shuffle(pictures(256, 1), buf_size=128), batch_size=BATCH)
    test_reader = paddle.batch(pictures(64, 2), batch_size=BATCH)

    accuracy = fluid.metrics.Accuracy()
    for epoch in range(3):
        for step, data in enumerate(train_reader()):
            loss, right, rate = exe.run(
                fluid.default_main_program(),
                feed=feeder.feed(data),
                fetch_list=[avg_cost, acc, optimizer._global_learning_rate()],
            )
            if step % 8 == 0:
                print("Pass %d, Batch %d, Cost %f, Acc %f, lr %f" % (epoch, step, loss[0], right[0], rate[0]))
        accuracy.reset()
        losses = []
        for data in test_reader():
            loss, right = exe.run(test_program, feed=feeder.feed(data), fetch_list=[avg_cost.name, acc.name])
            accuracy.update(value=right, weight=len(data))
            losses.append(loss)
        print(
            "Test with Pass {0}, Loss {1:2.2}, Acc {2:2.2}".format(
                epoch, float(np.mean(losses)), accuracy.eval()
            )
        )
    assert accuracy.eval() > 0.9

    fluid.io.save_params(exe, PARAM_DIR)
    fluid.io.save_inference_model(MODEL_DIR, ["pixel"], [predict], exe)
    batch = np.array([row[0] for row in next(test_reader())]).reshape(-1, 3, 16, 16)
    (before,) = exe.run(
        test_program, feed={"pixel": batch, "label": np.zeros((BATCH, 1), "int64")}, fetch_list=[predict]
    )

    with fluid.scope_guard(fluid.core.Scope()):
        program, feed_names, fetch_targets = fluid.io.load_inference_model(MODEL_DIR, exe)
        after = exe.run(program, feed={feed_names[0]: batch}, fetch_list=fetch_targets)
    np.testing.assert_allclose(after[0], before, rtol=1e-5, atol=1e-6)
    exe.run(fluid.default_startup_program())
    fluid.io.load_params(exe, PARAM_DIR)
    print("infer results: ", np.argmax(after[0][0]), "files", len(os.listdir(MODEL_DIR)) > 0)


if __name__ == "__main__":
    main()
