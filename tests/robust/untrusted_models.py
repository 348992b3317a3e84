"""Untrusted models: without this installation's signature, and some that mean harm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import engine
from engine import nn, static
from engine.files.inference import KINDS, PROGRAM, VERSION, inference_paths
from engine.files.native.container import read_container
from engine.files.native.userblock import SIZE, make_user_block, parse_user_block
from engine.jit import save
from engine.static import InputSpec
from tests.robust.containers import container


def unsign(prefix: str | Path) -> Path:
    """Let the three files of a model be as another installation writes them: hashes right, not signed."""
    for path in inference_paths(prefix).values():
        data = path.read_bytes()
        block = parse_user_block(data[:SIZE], len(data), path)
        path.write_bytes(make_user_block(data[SIZE:], block.save_id, None) + data[SIZE:])
    return Path(prefix)


def edited(prefix: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Let the plain Program of a model be as ``change`` makes it, with right hashes, not signed."""
    path = inference_paths(prefix)[PROGRAM]
    data = path.read_bytes()
    tree = read_container(path, KINDS[PROGRAM], VERSION)
    change(tree["program"])
    unsign(prefix)
    path.write_bytes(container(KINDS[PROGRAM], tree, VERSION, data[56:72]))
    return prefix


class Parts(nn.Layer):
    """Ten scores of an image, cut into two parts that are joined again."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(784, 10)

    def forward(self, x: Any) -> Any:
        return engine.concat(engine.split(self.line(x.reshape([-1, 784])), 2, axis=1), axis=1)


class Endless(nn.Layer):
    """Ten scores of an image, after a loop that never ends for images with a bright pixel."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(784, 10)

    def forward(self, x: Any) -> Any:
        scores = self.line(x.reshape([-1, 784]))

        def goes_on(value: Any) -> Any:
            return (x.max() > 0.5).logical_and((value * value).sum() >= 0.0)

        return static.nn.while_loop(goes_on, lambda value: [value * 1.0], [scores])[0]


class Hungry(nn.Layer):
    """Scores of an image, after a matrix whose side is the sum of its pixels times 100,000."""

    def forward(self, x: Any) -> Any:
        side = (x.sum() * 100_000.0).astype("int64")
        large = engine.expand(engine.ones([1, 1]), [side, side])
        return x.reshape([-1, 784])[:, :10] + (large + 1.0).max()


def saved(network: nn.Layer, prefix: Path) -> Path:
    """The network saved for images of digits, as its maker would."""
    network.eval()
    info = {"classes": [str(number) for number in range(10)], "scaling": {"low": 0.0, "high": 1.0}}
    save(network, str(prefix), input_spec=[InputSpec([None, 1, 28, 28], "float32", "x")], info=info)
    return prefix


def image(brightness: float) -> np.ndarray[Any, Any]:
    """A batch of one image with one pixel of this brightness."""
    made = np.zeros((1, 1, 28, 28), np.float32)
    made[0, 0, 14, 14] = brightness
    return made
