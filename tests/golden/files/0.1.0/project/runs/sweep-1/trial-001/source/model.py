"""Two small networks of the golden project."""

import paddle
from paddle import nn


class Small(nn.Layer):
    """A convolution with batch norm."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 4, 3, padding=1, bias_attr=False), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2)
        )
        self.output = nn.Linear(64, 3)

    def forward(self, x):
        return self.output(paddle.flatten(self.features(x), 1))


class Line(nn.Layer):
    """One linear layer."""

    def __init__(self):
        super().__init__()
        self.output = nn.Linear(64, 3)

    def forward(self, x):
        return self.output(paddle.flatten(x, 1))
