"""Quantization in dynamic graphs: training with it (QAT), calibration after training (PTQ), own quanters."""

import numpy as np
import paddle
from paddle.nn import AvgPool2D, Conv2D, Layer, Linear, ReLU, Sequential
from paddle.quantization import PTQ, QAT, BaseQuanter, QuantConfig, quanter
from paddle.quantization.observers import AbsmaxObserver
from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver
from paddle.vision.models import LeNet

paddle.seed(11)
rng = np.random.RandomState(0)
digits = rng.rand(64, 1, 28, 28).astype("float32")
labels = (digits[:, 0, :14].mean(axis=(1, 2)) > digits[:, 0, 14:].mean(axis=(1, 2))).astype("int64")


def rounded(tensor, digits=4):
    return np.round(np.asarray(tensor.numpy(), "float64"), digits).tolist()


# 1. What is quantized, and how
factory = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
config = QuantConfig(activation=factory, weight=factory)
print(config)

# 2. Quantization-aware training of a network of paddle.vision
model = LeNet()
qat = QAT(config)
quant_model = qat.quantize(model)
print(quant_model)

optimizer = paddle.optimizer.SGD(0.05, parameters=quant_model.parameters())
loss_of = paddle.nn.CrossEntropyLoss()
for step in range(4):
    x = paddle.to_tensor(digits[step * 16 : (step + 1) * 16])
    y = paddle.to_tensor(labels[step * 16 : (step + 1) * 16])
    loss = loss_of(quant_model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print("step", step, "loss", float(loss))

scales = {k: rounded(v) for k, v in quant_model.state_dict().items() if k.endswith("_scale")}
for name, value in scales.items():
    print(name, value)

# 3. Conversion for inference: scales are fixed, weights are integers
quant_model.eval()
converted = qat.convert(quant_model)
print(converted.fc[0])
weight = converted.fc[2].weight
print(weight.shape, weight.dtype, float(weight.abs().max()), bool((weight == weight.round()).all()))
x = paddle.to_tensor(digits[:4])
print("difference", float((converted(x) - quant_model(x)).abs().max()))
paddle.jit.save(converted, "lenet_int8", [paddle.static.InputSpec([None, 1, 28, 28], "float32", "x")])
loaded = paddle.jit.load("lenet_int8")
print("loaded", float((loaded(x) - converted(x)).abs().max()))
ops = [op.type for op in loaded.program().global_block().ops]
print("pairs", ops.count("dequantize_linear") - ops.count("quantize_linear"))


# 4. A part of a network only: by layer, by name, by type
class Model(Layer):
    def __init__(self):
        super().__init__()
        self.features = Sequential(Conv2D(1, 4, 3, stride=2), ReLU(), AvgPool2D(2), Conv2D(4, 8, 3), ReLU())
        self.fc1 = Linear(128, 16)
        self.fc2 = Linear(16, 2)

    def forward(self, inputs):
        return self.fc2(self.fc1(paddle.flatten(self.features(inputs), 1)))


model = Model()
config = QuantConfig(activation=None, weight=None)
config.add_layer_config([model.features[0]], activation=factory, weight=factory)
config.add_name_config(model.fc1.full_name(), weight=FakeQuanterWithAbsMaxObserver(bit_length=4))
config.add_type_config(ReLU, activation=factory)
print(QAT(config).quantize(model))

# 5. After training: a few samples through the network
model.eval()
observer = AbsmaxObserver(quant_bits=8)
ptq = PTQ(QuantConfig(activation=observer, weight=observer))
observed = ptq.quantize(model)
for start in range(0, 64, 32):
    observed(paddle.to_tensor(digits[start : start + 32]))
print("threshold", rounded(observed.fc1.activation_quanter.scales()))
converted = ptq.convert(observed)
print(converted.features[1])
print("float", rounded(model(x), 3))
print("int8 ", rounded(converted(x), 1))


# 6. An own quanter, and its factory
@quanter("MeanQuanter")
class MeanQuanterLayer(BaseQuanter):
    def __init__(self, layer, bit_length=8, factor=2.0):
        super().__init__()
        self._bit_length = bit_length
        self._factor = factor
        self._scale = paddle.to_tensor([1.0])

    def forward(self, input):
        self._scale = (input.abs().mean() * self._factor).reshape([1])
        return input

    def bit_length(self):
        return self._bit_length

    def quant_axis(self):
        return -1

    def scales(self):
        return self._scale

    def zero_points(self):
        return None


own = MeanQuanter(bit_length=6, factor=3.0)  # noqa: F821
qat = QAT(QuantConfig(activation=None, weight=own))
layers = qat.quantize(Sequential(Linear(4, 2, weight_attr=paddle.nn.initializer.Constant(0.5)), ReLU()))
print(own, layers)
layers(paddle.ones([1, 4]))
print(rounded(qat.convert(layers)[0].weight)[0])
for wrong in (lambda: qat.quantize(model), lambda: ptq.quantize(Model())):
    try:
        wrong()
    except AssertionError as error:
        print("AssertionError:", str(error).partition(".")[0])
