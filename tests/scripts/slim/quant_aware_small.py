"""Training with quantization of a small network: thresholds and losses digit by digit."""

import logging

import numpy as np
import paddle
from paddleslim.quant import convert, quant_aware

logging.disable(logging.WARNING)
paddle.enable_static()
paddle.seed(1)

train, startup = paddle.static.Program(), paddle.static.Program()
with paddle.static.program_guard(train, startup):
    x = paddle.static.data("image", [None, 1, 8, 8])
    y = paddle.static.data("label", [None, 1], "int64")
    h = paddle.static.nn.conv2d(x, 4, 3, padding=1, bias_attr=False)
    h = paddle.static.nn.batch_norm(h, act="relu")
    h = paddle.static.nn.conv2d(h, 6, 3, bias_attr=False, act="relu")
    with paddle.static.name_scope("skip_quant"):
        h = paddle.static.nn.fc(h, 16, activation="relu")
    out = paddle.static.nn.fc(h, 10, activation="softmax")
    cost = paddle.mean(paddle.nn.functional.cross_entropy(out, y))
    val = train.clone(for_test=True)
    paddle.optimizer.Momentum(0.01, 0.9).minimize(cost)
exe = paddle.static.Executor()
draw = np.random.default_rng(0)
feed = {"image": draw.normal(size=(8, 1, 8, 8)).astype("float32"), "label": draw.integers(0, 10, (8, 1))}
scope = paddle.static.global_scope()


def shown(name):
    found = scope.find_var(name).get_tensor()
    return f"{name} " + " ".join(f"{v:.5f}" for v in np.array(found).ravel()[:4].astype("float64"))


for config in (
    {},
    {"weight_quantize_type": "abs_max", "moving_rate": 0.7},
    {"weight_bits": 4, "activation_bits": 5, "not_quant_pattern": ["nothing"]},
):
    exe.run(startup)
    print(config)
    trained = quant_aware(train, exe.place, config, for_test=False, return_program=True)
    tested = quant_aware(val, exe.place, config, for_test=True)
    for _ in range(4):
        (loss,) = exe.run(trained, feed=feed, fetch_list=[cost.name])
    (seen,) = exe.run(tested, feed=feed, fetch_list=[cost.name])
    print(f"train {loss:.5f} test {seen:.5f}")
    for name in ("image@scale", "batch_norm_0.tmp_4@scale", "conv2d_0.w_0@scale", "fc_1.w_0@scale"):
        print(shown(name))
    pairs = sorted(op.input("X")[0] for op in tested.global_block().ops if op.type == "quantize_linear")
    print(pairs)
    made = convert(tested, exe.place, config)
    (again,) = exe.run(made, feed=feed, fetch_list=[cost.name])
    print("converted: the same", again == seen)
