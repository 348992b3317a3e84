"""Residual networks with batch normalization. Input [N, channels, height, width]."""

import engine
import engine.nn.functional as F
from engine import nn


class Block(nn.Layer):
    """Two convolutions whose result is added to their input."""

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


class ResNet(nn.Layer):
    """Stages of blocks; each stage after the first halves the sides and doubles the channels.

    ``blocks`` is the number of blocks of each stage, ``width`` the channels of the first. ``reduce`` halves
    the sides so many times before the first stage, for large images.
    """

    def __init__(self, channels=3, outputs=10, blocks=(1, 1, 1), width=16, reduce=0):
        super().__init__()
        self.conv = nn.Conv2D(channels, width, 3, stride=2 if reduce else 1, padding=1, bias_attr=False)
        self.norm = nn.BatchNorm2D(width)
        self.pools = nn.LayerList([nn.MaxPool2D(2, stride=2) for _ in range(reduce - 1)])
        self.blocks = nn.LayerList()
        inner = width
        for stage, count in enumerate(blocks):
            outer = width * 2**stage
            for place in range(count):
                self.blocks.append(Block(inner, outer, stride=2 if stage and not place else 1))
                inner = outer
        self.pool = nn.AdaptiveAvgPool2D(1)
        self.linear = nn.Linear(inner, outputs)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        for pool in self.pools:
            x = pool(x)
        for block in self.blocks:
            x = block(x)
        x = engine.flatten(self.pool(x), start_axis=1)
        return self.linear(x)
