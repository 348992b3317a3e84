"""Worker: forward and backward of ResNet-18 in a library with Paddle's interface.

``python -m bench.peers.paddle_resnet LIBRARY MODE STEM BATCH`` with LIBRARY ``paddle`` or ``engine``, MODE
``eager`` or ``static``, STEM ``imagenet`` or ``cifar``.
"""

from __future__ import annotations

import gzip  # noqa: F401 - importing it after paddle crashes paddle 2.6.2
import importlib
import sys
from typing import Any

from bench.peers.protocol import resnet_batch, resnet_weight, serve


def resnet(library: Any, stem: str) -> Any:
    """ResNet-18 for 10 classes, with weights that depend on nothing but their shape and order."""
    vision = importlib.import_module(f"{library.__name__}.vision.models")
    model = vision.resnet18(num_classes=10)
    if stem == "cifar":
        model.conv1 = library.nn.Conv2D(3, 64, 3, padding=1, bias_attr=False)
        model.maxpool = library.nn.Identity()
    for layer in model.sublayers():
        if isinstance(layer, (library.nn.Conv2D, library.nn.Linear)):
            layer.weight.set_value(resnet_weight(tuple(layer.weight.shape)))
    return model


def main(name: str, mode: str, stem: str, batch: int) -> None:
    """Serve steps without update."""
    library = importlib.import_module(name)
    library.set_device("cpu")
    model = resnet(library, stem)
    forward = library.jit.to_static(model) if mode == "static" else model
    images, labels = resnet_batch(batch)
    x, y = library.to_tensor(images), library.to_tensor(labels.reshape(-1, 1))
    cross_entropy = library.nn.functional.cross_entropy

    def repeat(count: int, _job: str) -> dict[str, float]:
        for _ in range(count):
            loss = cross_entropy(forward(x), y)
            loss.backward()
            model.clear_gradients()
        return {"loss": float(loss)}

    serve(f"{name} {library.__version__}", repeat)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
