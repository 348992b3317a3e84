"""Two convolutions with pooling, then linear layers, as in LeNet. Input [N, 1, 28, 28], output [N, 10]."""

import engine as paddle
import engine.nn.functional as F
from engine import nn


class SmallCNN(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2D(1, 8, kernel_size=5, padding=2)
        self.conv2 = nn.Conv2D(8, 16, kernel_size=5)
        self.pool = nn.MaxPool2D(2, stride=2)
        self.linear1 = nn.Linear(16 * 5 * 5, 84)
        self.linear2 = nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = paddle.flatten(x, start_axis=1)
        x = F.relu(self.linear1(x))
        return self.linear2(x)
