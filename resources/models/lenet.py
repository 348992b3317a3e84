"""LeNet: two convolutions and three linear layers. Input [N, channels, height, width]."""

import engine
import engine.nn.functional as F
from engine import nn


class LeNet(nn.Layer):
    """Reads a handwritten digit; after Y. LeCun and others, 1998. 61,706 weights for 28x28 digits."""

    def __init__(self, channels=1, height=28, width=28, outputs=10):
        super().__init__()
        self.conv1 = nn.Conv2D(in_channels=channels, out_channels=6, kernel_size=5, stride=1, padding=2)
        self.max_pool1 = nn.MaxPool2D(kernel_size=2, stride=2)
        self.conv2 = nn.Conv2D(in_channels=6, out_channels=16, kernel_size=5, stride=1)
        self.max_pool2 = nn.MaxPool2D(kernel_size=2, stride=2)
        pixels = ((height // 2 - 4) // 2) * ((width // 2 - 4) // 2)
        self.linear1 = nn.Linear(in_features=16 * pixels, out_features=120)
        self.linear2 = nn.Linear(in_features=120, out_features=84)
        self.linear3 = nn.Linear(in_features=84, out_features=outputs)

    def forward(self, x):
        x = self.conv1(x)
        x = F.relu(x)
        x = self.max_pool1(x)
        x = F.relu(x)
        x = self.conv2(x)
        x = self.max_pool2(x)
        x = engine.flatten(x, start_axis=1, stop_axis=-1)
        x = self.linear1(x)
        x = F.relu(x)
        x = self.linear2(x)
        x = F.relu(x)
        x = self.linear3(x)
        return x
