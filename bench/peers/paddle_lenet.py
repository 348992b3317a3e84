"""Worker: LeNet training steps in a library with Paddle's interface.

``python -m bench.peers.paddle_lenet LIBRARY MODE BATCH`` with LIBRARY ``paddle`` or ``engine`` and MODE
``eager`` or ``static``: the very same code runs in both, which is the point of the engine.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from bench.peers.protocol import lenet_batch, lenet_weights, serve


def lenet(library: Any) -> Any:
    """The network of the training document."""
    nn, F = library.nn, library.nn.functional

    class LeNet(nn.Layer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2D(1, 6, 5, stride=1, padding=2)
            self.max_pool1 = nn.MaxPool2D(2, stride=2)
            self.conv2 = nn.Conv2D(6, 16, 5, stride=1)
            self.max_pool2 = nn.MaxPool2D(2, stride=2)
            self.linear1 = nn.Linear(400, 120)
            self.linear2 = nn.Linear(120, 84)
            self.linear3 = nn.Linear(84, 10)

        def forward(self, x: Any) -> Any:
            x = self.conv1(x)
            x = F.relu(x)
            x = self.max_pool1(x)
            x = F.relu(x)
            x = self.conv2(x)
            x = self.max_pool2(x)
            x = library.flatten(x, start_axis=1, stop_axis=-1)
            x = self.linear1(x)
            x = F.relu(x)
            x = self.linear2(x)
            x = F.relu(x)
            return self.linear3(x)

    return LeNet()


def main(name: str, mode: str, batch: int) -> None:
    """Serve training steps."""
    library = importlib.import_module(name)
    library.set_device("cpu")
    model = lenet(library)
    for parameter, value in zip(model.parameters(), lenet_weights(), strict=True):
        parameter.set_value(value)
    optimizer = library.optimizer.Adam(learning_rate=0.001, parameters=model.parameters())
    forward = library.jit.to_static(model) if mode == "static" else model
    images, labels = lenet_batch(batch)
    x, y = library.to_tensor(images), library.to_tensor(labels.reshape(-1, 1))
    cross_entropy = library.nn.functional.cross_entropy

    def repeat(count: int, _job: str) -> dict[str, float]:
        for _ in range(count):
            loss = cross_entropy(forward(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        return {"loss": float(loss)}

    serve(f"{name} {library.__version__}", repeat)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
