"""A convolutional network in static mode: two Programs over one set of weights, metrics, a clone for tests."""

import numpy as np
import paddle
import paddle.static as static

paddle.enable_static()
paddle.seed(90)
rng = np.random.RandomState(90)
train_x = rng.rand(64, 1, 12, 12).astype("float32")
train_y = (train_x.mean((1, 2, 3)) > 0.5).astype("int64")[:, None]

main, startup = static.Program(), static.Program()
with static.program_guard(main, startup):
    with paddle.utils.unique_name.guard():
        image = static.data("image", [None, 1, 12, 12], "float32")
        label = static.data("label", [None, 1], "int64")
        hidden = static.nn.conv2d(image, num_filters=4, filter_size=3, act="relu")
        hidden = paddle.nn.functional.max_pool2d(hidden, 2, 2)
        hidden = static.nn.batch_norm(hidden, act="relu")
        hidden = paddle.nn.functional.dropout(hidden, 0.0)
        logits = static.nn.fc(hidden, size=2, activation="softmax")
        cost = paddle.nn.functional.cross_entropy(logits, label, use_softmax=False)
        avg_cost = paddle.mean(cost)
        acc = static.accuracy(input=logits, label=label)
        test_program = main.clone(for_test=True)
        opt = paddle.optimizer.Momentum(
            learning_rate=paddle.optimizer.lr.PiecewiseDecay([4], [0.1, 0.05]),
            momentum=0.9,
            weight_decay=paddle.regularizer.L2Decay(1e-3),
            grad_clip=paddle.nn.ClipGradByNorm(1.0),
        )
        opt.minimize(avg_cost)
print([p.name for p in main.all_parameters()])
print(len(main.blocks), test_program.global_block().ops[0].type, avg_cost.shape, acc.dtype)

exe = static.Executor(paddle.CPUPlace())
exe.run(startup)
for epoch in range(2):
    for start in range(0, 64, 16):
        feed = {"image": train_x[start : start + 16], "label": train_y[start : start + 16]}
        loss, accuracy = exe.run(main, feed=feed, fetch_list=[avg_cost, acc])
    print("epoch", epoch, "loss %.5f" % loss.item(), "accuracy %.3f" % accuracy.item(), "rate", opt.get_lr())
    opt._learning_rate.step()
results = exe.run(test_program, feed={"image": train_x, "label": train_y}, fetch_list=[avg_cost.name, acc.name, logits])
print("test %.5f %.3f" % (results[0], results[1]), results[2].shape)
scope = static.global_scope()
weight = scope.find_var(main.all_parameters()[0].name).get_tensor()
print(np.array(weight).shape, "%.5f" % np.abs(np.array(weight)).sum())
static.save_inference_model("cnn/model", [image], [logits], exe, program=main)
[program, names, targets] = static.load_inference_model("cnn/model", exe)
(answer,) = exe.run(program, feed={names[0]: train_x[:3]}, fetch_list=targets)
print(np.allclose(answer, results[2][:3], atol=1e-5), names)
