"""One linear layer from pixels to classes. Input [N, 1, 28, 28], output [N, 10]."""

import engine as paddle
from engine import nn


class LinearModel(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(28 * 28, 10)

    def forward(self, x):
        x = paddle.flatten(x, start_axis=1)
        return self.linear(x)
