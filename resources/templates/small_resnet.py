"""Three residual blocks with batch normalization. Input [N, 1, 28, 28], output [N, 10]."""

import engine as paddle
import engine.nn.functional as F
from engine import nn


class Block(nn.Layer):
    """Two convolutions whose result is added to what came in."""

    def __init__(self, channels_in, channels_out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2D(channels_in, channels_out, 3, stride=stride, padding=1, bias_attr=False)
        self.norm1 = nn.BatchNorm2D(channels_out)
        self.conv2 = nn.Conv2D(channels_out, channels_out, 3, padding=1, bias_attr=False)
        self.norm2 = nn.BatchNorm2D(channels_out)
        self.shortcut = None
        if stride != 1 or channels_in != channels_out:
            self.shortcut = nn.Conv2D(channels_in, channels_out, 1, stride=stride, bias_attr=False)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        if self.shortcut is not None:
            x = self.shortcut(x)
        return F.relu(x + y)


class SmallResNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 8, 3, padding=1, bias_attr=False)
        self.norm = nn.BatchNorm2D(8)
        self.block1 = Block(8, 8)
        self.block2 = Block(8, 16, stride=2)
        self.block3 = Block(16, 32, stride=2)
        self.pool = nn.AdaptiveAvgPool2D(1)
        self.linear = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        x = self.block1(x)
        x = self.block2(x)
        x = self.block3(x)
        x = paddle.flatten(self.pool(x), start_axis=1)
        return self.linear(x)
