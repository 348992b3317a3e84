"""Segmentation with a small U-Net written as a subclass of Layer, through ``Model`` with an own loss and metric."""

import numpy as np
import paddle
from paddle.nn import functional as F

paddle.seed(77)
np.random.seed(77)


class Shapes(paddle.io.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        rng = np.random.RandomState(i)
        image = rng.rand(3, 16, 16).astype("float32") * 0.3
        top, left = rng.randint(0, 8, 2)
        image[:, top : top + 8, left : left + 8] += 0.6
        mask = np.zeros((1, 16, 16), "int64")
        mask[:, top : top + 8, left : left + 8] = 1
        return image, mask


class SeparableConv2D(paddle.nn.Layer):
    def __init__(self, in_channels, out_channels, kernel_size=3, padding="same"):
        super().__init__()
        self.conv_1 = paddle.nn.Conv2D(in_channels, in_channels, kernel_size, padding=padding, groups=in_channels)
        self.pointwise = paddle.nn.Conv2D(in_channels, out_channels, 1)

    def forward(self, inputs):
        return self.pointwise(self.conv_1(inputs))


class UNet(paddle.nn.Layer):
    def __init__(self, classes=2):
        super().__init__()
        self.down = SeparableConv2D(3, 8)
        self.bn = paddle.nn.BatchNorm2D(8)
        self.mid = paddle.nn.Conv2D(8, 8, 3, padding=1)
        self.up = paddle.nn.Upsample(scale_factor=2.0)
        self.head = paddle.nn.Conv2D(11, classes, 3, padding="same")

    def forward(self, x):
        y = F.relu(self.bn(self.down(x)))
        y = F.max_pool2d(y, 2)
        y = self.up(F.relu(self.mid(y)))
        return self.head(paddle.concat([x, y], axis=1))


class PixelAccuracy(paddle.metric.Metric):
    def __init__(self):
        super().__init__()
        self.reset()

    def name(self):
        return "pixels"

    def compute(self, pred, label):
        return (pred.argmax(axis=1, keepdim=True) == label).astype("float32")

    def update(self, hits):
        self.total += hits.size
        self.hits += float(np.sum(hits))
        return self.hits / self.total

    def reset(self):
        self.hits, self.total = 0.0, 0

    def accumulate(self):
        return self.hits / max(self.total, 1)


net = UNet()
model = paddle.Model(net)
optim = paddle.optimizer.RMSProp(learning_rate=0.005, rho=0.9, momentum=0.0, epsilon=1e-07, parameters=model.parameters())
model.prepare(optim, paddle.nn.CrossEntropyLoss(axis=1), PixelAccuracy())
model.fit(Shapes(), epochs=2, batch_size=4, verbose=2, shuffle=False, log_freq=1)
print({k: round(float(np.asarray(v).reshape(-1)[0]), 4) for k, v in model.evaluate(Shapes(), batch_size=6, verbose=0).items()})
masks = model.predict(Shapes(), verbose=0)
print(len(masks), len(masks[0]), masks[0][0].shape)
print(paddle.summary(net, (1, 3, 16, 16)))
