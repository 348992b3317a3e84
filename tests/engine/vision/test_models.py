"""Networks for pictures have the parameters and shapes that Paddle's have; tests/oracle checks values."""

import hashlib

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.nn.initializer import Constant, set_global_initializer
from engine.tensor.creation import to_tensor
from engine.vision import models
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


# Of paddle.vision.models in Paddle 2.6.2: entries of the state dict, parameters, and the start of the SHA-256
# of the lines "name shape" of the state dict.
RESNETS = {
    "resnet18": (102, 11699112, "d9eeba85d85d3b88"),
    "resnet34": (182, 21814696, "e36753fba14f4e15"),
    "resnet50": (267, 25610152, "2b524fb9c6637bbe"),
    "resnext50_32x4d": (267, 25097128, "660a5edfdffd0d0e"),
    "wide_resnet50_2": (267, 68951464, "54dfe95fa9ac4c9a"),
    "resnet101": (522, 44654504, "50a7f3e6476428dc"),
    "resnet152": (777, 60344232, "8b5054720b984c32"),
    "resnext50_64x4d": (267, 45290920, "77ae0a52db3edfc8"),
    "resnext101_32x4d": (522, 44315560, "36fe1b8faf3819e3"),
    "resnext101_64x4d": (522, 83658152, "7acdb60d546c5f77"),
    "resnext152_32x4d": (777, 60150696, "e995458f4a0df391"),
    "resnext152_64x4d": (777, 115266984, "33563000d02a243e"),
    "wide_resnet101_2": (522, 127024552, "50a0f8767d4d6c18"),
}


@pytest.mark.parametrize("name", RESNETS)
def test_resnets_have_paddles_parameters(name):
    set_global_initializer(Constant(0.0))  # drawing a hundred million numbers takes seconds
    try:
        network = getattr(models, name)()
    finally:
        set_global_initializer(None)
    state = network.state_dict()
    text = "\n".join(f"{key} {value.shape}" for key, value in state.items())
    count = sum(parameter.size for parameter in network.parameters())
    assert (len(state), count, hashlib.sha256(text.encode()).hexdigest()[:16]) == RESNETS[name]


def test_trained_weights_are_refused():
    with pytest.raises(ArgumentError, match="pretrained=True"):
        models.resnet18(pretrained=True)
    with pytest.raises(ArgumentError, match="choose 18, 34"):
        models.ResNet(models.resnet.BasicBlock, 20)
