"""The networks that are recorded and compared: shared by the recorder (Paddle) and the tests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

# Every function of vision.models that makes a network.
FACTORIES = (
    *(f"resnet{depth}" for depth in (18, 34, 50, 101, 152)),
    *(f"resnext{depth}_{groups}x4d" for depth in (50, 101, 152) for groups in (32, 64)),
    "wide_resnet50_2",
    "wide_resnet101_2",
    "vgg11",
    "vgg13",
    "vgg16",
    "vgg19",
    "mobilenet_v1",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "mobilenet_v3_large",
    *(f"densenet{layers}" for layers in (121, 161, 169, 201, 264)),
    "alexnet",
    "inception_v3",
    "squeezenet1_0",
    "squeezenet1_1",
    "googlenet",
    *(f"shufflenet_v2_{kind}" for kind in ("x0_25", "x0_33", "x0_5", "x1_0", "x1_5", "x2_0", "swish")),
)

# How else they are made.
VARIANTS = (
    "vgg11(batch_norm=True)",
    "mobilenet_v1(scale=0.35)",
    "mobilenet_v2(scale=0.35)",
    "mobilenet_v2(scale=1.4)",
    "mobilenet_v3_small(scale=0.35)",
    "mobilenet_v3_large(scale=1.25)",
    "densenet121(dropout=0.3, bn_size=2)",
    "LeNet(num_classes=4)",
    "GoogLeNet(num_classes=0)",
    "GoogLeNet(num_classes=0, with_pool=False)",
    "AlexNet(num_classes=0)",
    "InceptionV3(num_classes=0)",
    "SqueezeNet('1.1', with_pool=False)",
    "ShuffleNetV2(act=None)",
    "vgg11(num_classes=0, with_pool=False)",
    "MobileNetV3Small(num_classes=0, with_pool=False)",
)
BUILT = (*(f"{name}()" for name in FACTORIES), *VARIANTS)

# What is run: how the network is made, and the size of the square images.
RUN = {
    "alexnet(num_classes=10)": 224,
    "AlexNet(num_classes=0)": 64,
    "vgg11(num_classes=0)": 32,
    "vgg11(num_classes=10, batch_norm=True)": 32,
    "vgg16(num_classes=0, with_pool=False)": 32,
    "mobilenet_v1(scale=0.35, num_classes=10)": 32,
    "mobilenet_v1()": 32,
    "mobilenet_v2(scale=0.35, num_classes=10)": 32,
    "mobilenet_v2()": 64,
    "mobilenet_v3_small()": 32,
    "mobilenet_v3_large(num_classes=10)": 32,
    "densenet121(num_classes=10)": 32,
    "densenet121(num_classes=10, dropout=0.3)": 32,
    "densenet161(num_classes=0)": 32,
    "inception_v3(num_classes=10)": 75,
    "squeezenet1_0(num_classes=10)": 64,
    "squeezenet1_1(num_classes=10)": 64,
    "SqueezeNet('1.1', num_classes=10, with_pool=False)": 64,
    "googlenet(num_classes=10)": 192,
    "googlenet(num_classes=0)": 112,
    "shufflenet_v2_x0_25(num_classes=10)": 32,
    "shufflenet_v2_x1_0(num_classes=10)": 64,
    "shufflenet_v2_swish(num_classes=10)": 32,
    "resnext50_32x4d(num_classes=10)": 32,
    "wide_resnet50_2(num_classes=10)": 32,
}
# A hundred million weights, 2 GB: run with --long only. alexnet has the same classifier.
LARGEST = "vgg11(num_classes=10, batch_norm=True)"
# Those that take several seconds each.
SLOW = (
    "alexnet(num_classes=10)",
    LARGEST,
    "wide_resnet50_2(num_classes=10)",
)


def made(models: Any, call: str) -> Any:
    """The network that ``call`` makes of a framework's ``vision.models``."""
    return eval(call, {}, vars(models))


def digest(text: str) -> str:
    """The start of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def parameters(network: Any) -> list[Any]:
    """How many entries the state dict has, how many numbers, and a digest of names and shapes in order."""
    state = {name: list(value.shape) for name, value in network.state_dict().items()}
    lines = [f"{name} {shape}" for name, shape in state.items()]
    return [len(state), sum(int(np.prod(shape)) for shape in state.values()), digest("\n".join(lines))]


def comparable(program: Any) -> str:
    """A Program's text, without what is printed otherwise on purpose.

    Where a dimension is not known, a reshape keeps it by 0 here and by -1 in Paddle, and a split into parts
    of one length names their number here and their lengths in Paddle.
    """
    text = re.sub(r"shape = \[(-1|0), ", "shape = [?, ", str(program))
    return re.sub(r"(num = \d+)|(sections = \[[^]]*\])", "", text)


def filled(network: Any, scattered: Callable[[Any, int], Any]) -> None:
    """Set every entry of the state dict by a formula from its place and shape.

    Weights have the variance that keeps that of what a ReLU gives; what is large repeats itself.
    """
    for place, (name, value) in enumerate(network.state_dict().items()):
        shape = list(value.shape)
        numbers = scattered([min(int(np.prod(shape)), 1_000_003)], place + 1)
        if name.endswith("_variance"):
            numbers = 1.0 + 0.2 * numbers
        elif len(shape) == 1:
            numbers = (1.0 if name.endswith("weight") else 0.0) + 0.2 * numbers
        else:
            fan = shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))
            numbers = numbers * np.sqrt(6.0 / fan)
        value.set_value(np.resize(numbers.astype("float32"), shape))


def shown(results: Any) -> list[Any]:
    """What is kept of each result: its shape, the first 16 numbers, the sum, and the largest."""
    found = []
    for result in results if isinstance(results, (list, tuple)) else [results]:
        array = np.asarray(result.numpy(), dtype="float64")
        first = [float(f"{x:.7g}") for x in array.reshape(-1)[:16]]
        found.append([list(array.shape), first, float(array.sum()), float(np.abs(array).max())])
    return found
