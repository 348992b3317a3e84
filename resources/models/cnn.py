"""A small convolutional network with 3x3 kernels and a hidden layer. Input [N, channels, height, width]."""

import engine
import engine.nn.functional as F
from engine import nn


class SmallCNN(nn.Layer):
    """Stages of convolution, ReLU and pooling, then two linear layers.

    The first stage has 8 channels, each further one twice as many, at most 32 from the third on. ``norm``
    adds batch normalization to each stage, which larger images need to train fast.
    """

    def __init__(self, channels=1, height=28, width=28, outputs=10, hidden=64, stages=2, norm=False):
        super().__init__()
        bias = False if norm else None  # batch normalization subtracts what a bias would add
        self.conv1 = nn.Conv2D(channels, 8, kernel_size=3, padding=1, bias_attr=bias)
        self.conv2 = nn.Conv2D(8, 16, kernel_size=3, padding=1, bias_attr=bias)
        inner = [16, *[32] * max(0, stages - 3)][: max(0, stages - 2)]
        self.further = nn.LayerList(
            [nn.Conv2D(each, 32, kernel_size=3, padding=1, bias_attr=bias) for each in inner]
        )
        outer = 32 if stages > 2 else 16
        self.norms = nn.LayerList()
        if norm:
            self.norms.extend([nn.BatchNorm2D(min(8 * 2**stage, 32)) for stage in range(stages)])
        self.pool = nn.MaxPool2D(kernel_size=2, stride=2)
        pixels = (height // 2**stages) * (width // 2**stages)
        self.linear1 = nn.Linear(in_features=outer * pixels, out_features=hidden)
        self.linear2 = nn.Linear(in_features=hidden, out_features=outputs)

    def forward(self, x):
        for stage, conv in enumerate([self.conv1, self.conv2, *self.further]):
            x = conv(x)
            if len(self.norms) > 0:
                x = self.norms[stage](x)
            x = self.pool(F.relu(x))
        x = engine.flatten(x, start_axis=1, stop_axis=-1)
        x = F.relu(self.linear1(x))
        return self.linear2(x)
