"""One linear layer from pixels to classes: the smallest model, a yardstick for all. Input [N, 1, 28, 28]."""

import engine
from engine import nn


class Linear(nn.Layer):
    """Softmax regression: each class has one weight a pixel."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(in_features=28 * 28, out_features=10)

    def forward(self, x):
        x = engine.flatten(x, start_axis=1, stop_axis=-1)
        return self.linear(x)
