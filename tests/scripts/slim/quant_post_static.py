"""The page "quantization after training" of PaddleSlim, with a narrow MobileNet and drawn data."""

import logging
import os

import numpy as np
import paddle
import paddleslim as slim

logging.disable(logging.WARNING)
paddle.enable_static()
paddle.seed(7)
place = paddle.CPUPlace()

train_program = paddle.static.Program()
startup = paddle.static.Program()
with paddle.static.program_guard(train_program, startup):
    image = paddle.static.data(name="image", shape=[None, 1, 28, 28], dtype="float32")
    label = paddle.static.data(name="label", shape=[None, 1], dtype="int64")
    gt = paddle.reshape(label, [-1, 1])
    out = slim.models.MobileNet().net(input=image, class_dim=10, scale=0.125)
    cost = paddle.nn.functional.loss.cross_entropy(input=out, label=gt)
    avg_cost = paddle.mean(x=cost)
    acc_top1 = paddle.metric.accuracy(input=out, label=gt, k=1)
    acc_top5 = paddle.metric.accuracy(input=out, label=gt, k=5)
    opt = paddle.optimizer.Momentum(0.001, 0.9)
    opt.minimize(avg_cost)
exe = paddle.static.Executor(place)
exe.run(startup)
val_program = train_program.clone(for_test=True)


class Digits(paddle.io.Dataset):
    """Ten patterns with noise."""

    def __init__(self, count, seed):
        draw = np.random.default_rng(seed)
        patterns = np.random.default_rng(0).normal(size=(10, 1, 28, 28))
        self.labels = draw.integers(0, 10, (count, 1))
        noise = draw.normal(scale=0.5, size=(count, 1, 28, 28))
        self.images = (patterns[self.labels[:, 0]] + noise).astype("float32")

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


def loader(data):
    return paddle.io.DataLoader(
        data, places=place, feed_list=[image, label], drop_last=True, batch_size=16, return_list=False
    )


train_loader, test_loader = loader(Digits(48, 1)), loader(Digits(16, 2))
outputs = [acc_top1.name, acc_top5.name, avg_cost.name]


def train(program):
    for number, data in enumerate(train_loader()):
        acc1, acc5, loss = exe.run(program, feed=data, fetch_list=outputs)
        print(f"train iter={number}, loss={loss.mean():.3f}")


def test(program, outputs):
    losses = [exe.run(program, feed=data, fetch_list=outputs)[2].mean() for data in test_loader()]
    print(f"test loss={np.mean(losses):.3f}")


train(train_program)
test(val_program, outputs)
paddle.static.save_inference_model(
    path_prefix="./inference_model/fp32",
    feed_vars=[image, label],
    fetch_vars=[acc_top1, acc_top5, avg_cost],
    executor=exe,
    program=val_program,
)
for onnx_format in (True, False):
    folder = f"./quantized_{onnx_format}"
    slim.quant.quant_post_static(
        executor=exe,
        model_dir="./inference_model",
        quantize_model_path=folder,
        data_loader=train_loader,
        model_filename="fp32.pdmodel",
        params_filename="fp32.pdiparams",
        batch_nums=2,
        algo="abs_max",
        optimize_model=True,
        onnx_format=onnx_format,
    )
    program, feeds, fetches = paddle.static.load_inference_model(path_prefix=f"{folder}/model", executor=exe)
    print(onnx_format, feeds)
    test(program, fetches)
    scope = paddle.static.global_scope()
    weight = np.array(scope.find_var("conv6_sep_weights").get_tensor())
    print(weight.dtype, weight.shape, np.abs(weight).max())
    scale = np.array(scope.find_var("image@scale").get_tensor())
    print(f"image@scale {scale.reshape(-1)[0]:.5f}")
    size = os.path.getsize(f"{folder}/model.pdiparams") / os.path.getsize("inference_model/fp32.pdiparams")
    print("smaller" if size < 0.5 else "as large")
