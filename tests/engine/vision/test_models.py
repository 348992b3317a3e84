"""LeNet: the parameters and shapes that Paddle's has."""

import numpy as np

from engine.tensor.creation import to_tensor
from engine.vision.models import LeNet


def test_lenet_has_paddles_parameters():
    # Names and shapes as paddle.vision.models.LeNet().state_dict() of Paddle 2.6.2 lists them.
    assert {name: value.shape for name, value in LeNet().state_dict().items()} == {
        "features.0.weight": [6, 1, 3, 3],
        "features.0.bias": [6],
        "features.3.weight": [16, 6, 5, 5],
        "features.3.bias": [16],
        "fc.0.weight": [400, 120],
        "fc.0.bias": [120],
        "fc.1.weight": [120, 84],
        "fc.1.bias": [84],
        "fc.2.weight": [84, 10],
        "fc.2.bias": [10],
    }


def test_lenet_maps_pictures_to_classes():
    pictures = to_tensor(np.zeros((3, 1, 28, 28), np.float32))
    assert LeNet()(pictures).shape == [3, 10]
    assert LeNet(num_classes=4)(pictures).shape == [3, 4]
    assert LeNet(num_classes=0)(pictures).shape == [3, 16, 5, 5]
