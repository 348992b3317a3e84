"""PaddleSlim in dynamic graphs: training with quantization, and calibration after training."""

import contextlib

import numpy as np
import paddle
from paddleslim import PTQ
from paddleslim.dygraph.quant import QAT

paddle.seed(3)
rng = np.random.RandomState(1)
pictures = rng.rand(96, 3, 16, 16).astype("float32")
labels = rng.randint(0, 2, 96).astype("int64")
pictures[:, 0] += labels.astype("float32")[:, None, None] - 0.5


class Net(paddle.nn.Layer):
    def __init__(self, num_classes=2):
        super().__init__()
        self.conv1 = paddle.nn.Conv2D(3, 6, 3, stride=2, padding=1, bias_attr=False)
        self.bn1 = paddle.nn.BatchNorm2D(6)
        self.relu = paddle.nn.ReLU()
        self.conv2 = paddle.nn.Conv2D(6, 8, 3, groups=2, padding=1)
        self.pool = paddle.nn.MaxPool2D(2)
        self.fc = paddle.nn.Linear(128, num_classes)

    def forward(self, inputs):
        x = self.relu(self.bn1(self.conv1(inputs)))
        x = self.pool(self.conv2(x))
        return self.fc(paddle.flatten(x, 1))


class Pictures(paddle.io.Dataset):
    def __getitem__(self, n):
        return pictures[n], labels[n : n + 1]

    def __len__(self):
        return 64


def accuracy_of(net):
    net.eval()
    right = net(paddle.to_tensor(pictures[64:])).numpy().argmax(1) == labels[64:]
    net.train()
    return right.mean()


# A network that is trained in floats, by the high-level interface
net = Net()
model = paddle.Model(net, paddle.static.InputSpec([None, 3, 16, 16], "float32", "image"))
model.prepare(paddle.optimizer.Adam(0.005, parameters=net.parameters()), paddle.nn.CrossEntropyLoss())
model.fit(Pictures(), epochs=2, batch_size=16, shuffle=False, verbose=0)
print("float", round(float(accuracy_of(net)), 1))

state = {name: value.numpy() for name, value in net.state_dict().items()}

# 1. After training
with contextlib.redirect_stdout(None):  # PaddleSlim prints the name of its first argument
    ptq = PTQ(activation_quantizer="HistQuantizer", weight_quantizer="PerChannelAbsmaxQuantizer")
net.eval()
calibrated = ptq.quantize(net, inplace=True, fuse=True, fuse_list=[["conv1", "bn1"]])
print(calibrated)
for start in range(0, 64, 16):
    calibrated(paddle.to_tensor(pictures[start : start + 16]))
expected = {"ptq": calibrated(paddle.to_tensor(pictures[:8])).numpy()}
spec = [paddle.static.InputSpec([None, 3, 16, 16], "float32", "image")]
ptq.save_quantized_model(calibrated, "./ptq/model", input_spec=spec)

# 2. While it is trained on
quanter = QAT(config={"weight_preprocess_type": None, "quantizable_layer_type": ["Conv2D", "Linear"]})
net = Net()
net.set_state_dict(state)
quanter.quantize(net)
print(net)
optimizer = paddle.optimizer.Momentum(0.005, 0.9, parameters=net.parameters())
for step in range(4):
    x = paddle.to_tensor(pictures[step * 16 : (step + 1) * 16])
    y = paddle.to_tensor(labels[step * 16 : (step + 1) * 16])
    loss = paddle.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print("step", step, "loss", round(float(loss), 2))
print("quantized", round(float(accuracy_of(net)), 1))
for name, value in net.state_dict().items():
    if name.endswith("_fake_quant_input._state"):
        print(name, value.shape, round(float(value), 4))
net.eval()
expected["qat"] = net(paddle.to_tensor(pictures[:8])).numpy()
quanter.save_quantized_model(net, "./qat/model", input_spec=spec)

# Both are loaded by an Executor and predict what the networks did
paddle.enable_static()
exe = paddle.static.Executor(paddle.CPUPlace())
for folder, wanted in expected.items():
    program, feeds, fetches = paddle.static.load_inference_model(f"./{folder}/model", exe)
    (found,) = exe.run(program, feed={feeds[0]: pictures[:8]}, fetch_list=fetches)
    print(folder, len(feeds), found.shape, found.argmax(1).tolist() == wanted.argmax(1).tolist())
