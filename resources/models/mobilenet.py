"""A small MobileNet: depthwise separable convolutions. Input [N, channels, height, width]."""

import engine
import engine.nn.functional as F
from engine import nn


class Separable(nn.Layer):
    """A convolution of each channel by itself, then one over all channels of a pixel; each with batch
    normalization."""

    def __init__(self, channels_in, channels_out, stride=1):
        super().__init__()
        self.depthwise = nn.Conv2D(
            channels_in, channels_in, 3, stride=stride, padding=1, groups=channels_in, bias_attr=False
        )
        self.norm1 = nn.BatchNorm2D(channels_in)
        self.pointwise = nn.Conv2D(channels_in, channels_out, 1, bias_attr=False)
        self.norm2 = nn.BatchNorm2D(channels_out)

    def forward(self, x):
        x = F.relu(self.norm1(self.depthwise(x)))
        return F.relu(self.norm2(self.pointwise(x)))


class MobileNet(nn.Layer):
    """After A. Howard and others, 2017, with fewer layers; the first has ``width`` channels."""

    def __init__(self, channels=3, outputs=10, width=16):
        super().__init__()
        self.conv = nn.Conv2D(channels, width, 3, stride=2, padding=1, bias_attr=False)
        self.norm = nn.BatchNorm2D(width)
        self.blocks = nn.LayerList(
            [
                Separable(width, 2 * width),
                Separable(2 * width, 4 * width, stride=2),
                Separable(4 * width, 4 * width),
                Separable(4 * width, 8 * width, stride=2),
                Separable(8 * width, 8 * width),
                Separable(8 * width, 16 * width, stride=2),
            ]
        )
        self.pool = nn.AdaptiveAvgPool2D(1)
        self.linear = nn.Linear(16 * width, outputs)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        for block in self.blocks:
            x = block(x)
        x = engine.flatten(self.pool(x), start_axis=1)
        return self.linear(x)
