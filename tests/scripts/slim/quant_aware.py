"""The page "training with quantization" of PaddleSlim, with a narrow MobileNet and drawn data.

Rounding to integers makes differences of rounding large in so deep a network: few digits are printed.
"""

import logging

import numpy as np
import paddle
import paddleslim as slim

logging.disable(logging.WARNING)
paddle.enable_static()
paddle.seed(7)

train_program = paddle.static.Program()
startup = paddle.static.Program()
with paddle.static.program_guard(train_program, startup):
    image = paddle.static.data(name="image", shape=[None, 1, 28, 28], dtype="float32")
    label = paddle.static.data(name="label", shape=[None, 1], dtype="int64")
    out = slim.models.MobileNet().net(input=image, class_dim=10, scale=0.125)
    avg_cost = paddle.mean(x=paddle.nn.functional.loss.cross_entropy(input=out, label=label))
    acc_top1 = paddle.metric.accuracy(input=out, label=label, k=1)
    paddle.optimizer.Momentum(0.001, 0.9).minimize(avg_cost)
exe = paddle.static.Executor(paddle.CPUPlace())
exe.run(startup)
val_program = train_program.clone(for_test=True)

draw = np.random.default_rng(1)
patterns = np.random.default_rng(0).normal(size=(10, 1, 28, 28))
labels = draw.integers(0, 10, (64, 1))
images = (patterns[labels[:, 0]] + draw.normal(scale=0.5, size=(64, 1, 28, 28))).astype("float32")
outputs = [acc_top1.name, avg_cost.name]


def train(program, digits):
    for n in range(0, 32, 16):
        feed = {"image": images[n : n + 16], "label": labels[n : n + 16]}
        _, loss = exe.run(program, feed=feed, fetch_list=outputs)
        print(f"train {n} loss={loss.mean():.{digits}f}")


def test(program):
    acc, loss = exe.run(program, feed={"image": images[:32], "label": labels[:32]}, fetch_list=outputs)
    return loss.mean()


train(train_program, 3)
print(f"test loss={test(val_program):.3f}")

config = {"quantize_op_types": ["conv2d", "depthwise_conv2d", "mul"], "moving_rate": 0.8}
quant_program = slim.quant.quant_aware(train_program, exe.place, config, for_test=False)
val_quant_program = slim.quant.quant_aware(val_program, exe.place, config, for_test=True)
print(type(quant_program).__name__, type(val_quant_program).__name__)
train(quant_program, 1)
quantized = test(val_quant_program)
print(f"test loss={quantized:.1f}")
scope = paddle.static.global_scope()
for name in ("image@scale", "conv1_weights@scale", "fc7_weights@scale"):
    value = np.array(scope.find_var(name).get_tensor())
    print(name, value.shape, f"{value.reshape(-1)[0]:.{4 if 'image' in name else 1}f}")

converted = slim.quant.convert(val_quant_program, exe.place, config)
print("converted: the same", test(converted) == quantized)
paddle.static.save_inference_model(
    path_prefix="./inference_model/quantized",
    feed_vars=[converted.global_block().var("image")],
    fetch_vars=[converted.global_block().var(out.name)],
    executor=exe,
    program=converted,
)
program, feeds, fetches = paddle.static.load_inference_model("./inference_model/quantized", exe)
(answer,) = exe.run(program, feed={feeds[0]: images[:4]}, fetch_list=fetches)
print(feeds, answer.shape)
weights = [v.name for v in program.list_vars() if v.name.endswith("_weights")]
arrays = [np.array(scope.find_var(name).get_tensor()) for name in weights]
print(len(arrays), {str(array.dtype) for array in arrays}, {int(array.max()) for array in arrays})
