"""A small convolutional network with 3x3 kernels and a hidden layer. Input [N, channels, height, width]."""

import engine
import engine.nn.functional as F
from engine import nn


class SmallCNN(nn.Layer):
    """Two stages of convolution, ReLU and pooling, then two linear layers."""

    def __init__(self, channels=1, height=28, width=28, outputs=10, hidden=64):
        super().__init__()
        self.conv1 = nn.Conv2D(in_channels=channels, out_channels=8, kernel_size=3, padding=1)
        self.conv2 = nn.Conv2D(in_channels=8, out_channels=16, kernel_size=3, padding=1)
        self.pool = nn.MaxPool2D(kernel_size=2, stride=2)
        self.linear1 = nn.Linear(in_features=16 * (height // 4) * (width // 4), out_features=hidden)
        self.linear2 = nn.Linear(in_features=hidden, out_features=outputs)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = engine.flatten(x, start_axis=1, stop_axis=-1)
        x = F.relu(self.linear1(x))
        return self.linear2(x)
