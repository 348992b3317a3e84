"""PaddleSlim's post-training quantization of a network of layers: trained, saved, calibrated, asked again."""

import numpy as np
import paddle
import paddleslim as slim

paddle.seed(5)
rng = np.random.RandomState(2)
labels = rng.randint(0, 3, 160).astype("int64")
pictures = rng.rand(160, 1, 12, 12).astype("float32") * 0.5
for n, label in enumerate(labels):
    pictures[n, 0, 4 * label : 4 * label + 4] += 0.5


class Pictures(paddle.io.Dataset):
    def __init__(self, mode):
        self.at = slice(0, 96) if mode == "train" else slice(96, 160)

    def __getitem__(self, n):
        return pictures[self.at][n], labels[self.at][n : n + 1]

    def __len__(self):
        return len(pictures[self.at])


net = paddle.nn.Sequential(
    paddle.nn.Conv2D(1, 4, 3, padding=1),
    paddle.nn.BatchNorm2D(4),
    paddle.nn.ReLU(),
    paddle.nn.MaxPool2D(2),
    paddle.nn.Conv2D(4, 6, 3),
    paddle.nn.ReLU(),
    paddle.nn.Flatten(),
    paddle.nn.Linear(96, 3),
)
spec = [paddle.static.InputSpec([None, 1, 12, 12], "float32", "image")]
model = paddle.Model(net, spec, [paddle.static.InputSpec([None, 1], "int64", "label")])
model.prepare(
    paddle.optimizer.Momentum(0.02, parameters=model.parameters()),
    paddle.nn.CrossEntropyLoss(),
    paddle.metric.Accuracy(),
)
model.fit(Pictures("train"), epochs=3, batch_size=16, shuffle=False, verbose=0)
print("float", model.evaluate(Pictures("test"), batch_size=16, verbose=0)["acc"])
model.save("./fp32/model", training=False)

paddle.enable_static()
exe = paddle.static.Executor(paddle.CPUPlace())


class Images(Pictures):
    def __getitem__(self, n):
        return (pictures[self.at][n],)


image = paddle.static.data("image", [None, 1, 12, 12], "float32")
loader = paddle.io.DataLoader(
    Images("train"), feed_list=[image], places=[paddle.CPUPlace()], batch_size=16, return_list=False
)
slim.quant.quant_post_static(
    executor=exe,
    model_dir="./fp32",
    model_filename="model.pdmodel",
    params_filename="model.pdiparams",
    quantize_model_path="./int8",
    save_model_filename="model.pdmodel",
    save_params_filename="model.pdiparams",
    data_loader=loader,
    batch_nums=5,
    algo="avg",
)
right = {}
for folder in ("fp32", "int8"):
    program, feeds, fetches = paddle.static.load_inference_model(f"./{folder}/model", exe)
    (found,) = exe.run(program, feed={feeds[0]: pictures[96:]}, fetch_list=fetches)
    right[folder] = float((found.argmax(1) == labels[96:]).mean())
    types = [op.type for op in program.global_block().ops]
    print(folder, feeds, found.shape, types.count("conv2d"), "quantize_linear" in types)
print("one answer of 64 differs at most:", abs(right["fp32"] - right["int8"]) < 0.02)
print("fp32", right["fp32"])
