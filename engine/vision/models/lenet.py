"""LeNet, as in Paddle's ``paddle.vision.models``."""

from __future__ import annotations

from engine.eager.tensor import Tensor
from engine.nn import Conv2D, Layer, Linear, MaxPool2D, ReLU, Sequential
from engine.tensor.manipulation import flatten


class LeNet(Layer):
    """A small convolutional network for grey images of 28 x 28, [N, 1, 28, 28] -> [N, num_classes].

    Source: LeCun et al., "Gradient-based learning applied to document recognition", 1998.

    Args:
        num_classes: outputs of the last layer; 0 or less omits the fully connected layers; the result
            is [N, 16, 5, 5].
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = Sequential(
            Conv2D(1, 6, 3, stride=1, padding=1),
            ReLU(),
            MaxPool2D(2, 2),
            Conv2D(6, 16, 5, stride=1, padding=0),
            ReLU(),
            MaxPool2D(2, 2),
        )
        if num_classes > 0:
            self.fc = Sequential(Linear(400, 120), Linear(120, 84), Linear(84, num_classes))

    def forward(self, inputs: Tensor) -> Tensor:
        x: Tensor = self.features(inputs)
        if self.num_classes > 0:
            x = flatten(x, 1)
            x = self.fc(x)
        return x
