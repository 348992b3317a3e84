"""LeNet on the CPU and on a GPU from the same weights and batches: for ``bench.gpu``."""

from __future__ import annotations

import numpy as np

import engine
from bench.gpu_steps import engine_step
from bench.nets import LEARNING_RATE, ROWS, Job
from bench.peers.paddle_nets import network
from engine.core.place import place_guard
from engine.vision.datasets import Digits


def first_losses(device: str, count: int = 10) -> list[float]:
    """The losses of the first steps, converted, on one batch."""
    with place_guard(device):
        step = engine_step(ROWS["lenet"].job, "graph", "float32")
        return [float(step()) for _ in range(count)]


def accuracy(device: str, samples: int, tested: int = 2000, batch: int = 64) -> float:
    """The share of ``tested`` digits that are read right after an epoch of ``samples`` digits."""
    images, labels = _digits("train", samples)
    asked, truth = _digits("test", tested)
    with place_guard(device):
        model = network(engine, Job("lenet", batch))
        optimizer = engine.optimizer.Adam(learning_rate=LEARNING_RATE, parameters=model.parameters())
        forward = engine.jit.to_static(model)
        for begin in range(0, len(images) - batch + 1, batch):
            x, y = (engine.to_tensor(each[begin : begin + batch]) for each in (images, labels))
            engine.nn.functional.cross_entropy(forward(x), y).backward()
            optimizer.step()
            optimizer.clear_grad()
        model.eval()
        with engine.no_grad():
            answers = np.concatenate(
                [
                    model(engine.to_tensor(asked[begin : begin + 500])).numpy().argmax(1)
                    for begin in range(0, len(asked), 500)
                ]
            )
    return float((answers == truth[:, 0]).mean())


def _digits(mode: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    data = Digits(mode=mode, count=most)
    rows = [data[place] for place in range(most)]
    images = np.stack([np.asarray(image, np.float32).reshape(1, 28, 28) for image, _ in rows])
    return images, np.array([[int(np.asarray(label).reshape(-1)[0])] for _, label in rows], np.int64)
