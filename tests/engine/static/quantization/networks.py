"""A small network with all kinds of products, saved and in training, and its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import engine
from engine import static

Array = np.ndarray[Any, Any]


class Built(NamedTuple):
    program: static.Program
    test: static.Program
    executor: static.Executor
    image: Any
    label: Any
    out: Any
    loss: Any


def built() -> Built:
    """A training Program with values, and its test form."""
    engine.seed(5)
    program, startup = static.Program(), static.Program()
    with static.program_guard(program, startup):
        image = static.data("image", [None, 1, 8, 8])
        label = static.data("label", [None, 1], "int64")
        value = static.nn.conv2d(image, 4, 3, padding=1, bias_attr=False)
        value = static.nn.batch_norm(value, act="relu")
        value = static.nn.conv2d(value, 4, 3, groups=4, stride=2, use_cudnn=False)
        value = static.nn.conv2d_transpose(value, 3, filter_size=2, act="relu")
        value = static.nn.fc(value, 32, activation="relu")
        out = static.nn.fc(value, 5, activation="softmax")
        loss = engine.mean(engine.nn.functional.cross_entropy(out, label, use_softmax=False))
        test = program.clone(for_test=True)
        engine.optimizer.Momentum(0.05, 0.9).minimize(loss)
    executor = static.Executor()
    executor.run(startup)
    return Built(program, test, executor, image, label, out, loss)


def random_images(count: int = 24) -> tuple[Array, Array]:
    """Blurred squares in five places, and which place."""
    draw = np.random.default_rng(1)
    images = draw.normal(scale=0.2, size=(count, 1, 8, 8)).astype("float32")
    labels = draw.integers(0, 5, (count, 1))
    for image, label in zip(images, labels[:, 0], strict=True):
        image[0, label : label + 3, label : label + 3] += 1.5
    return images, labels


def trained(steps: int = 8) -> Built:
    """``built`` after some steps."""
    net = built()
    images, labels = random_images()
    for _ in range(steps):
        net.executor.run(net.program, feed={"image": images, "label": labels}, fetch_list=[net.loss])
    return net


def saved(folder: Path) -> Built:
    """``trained``, with its test form as the files ``float`` in a folder."""
    net = trained()
    static.save_inference_model(str(folder / "float"), [net.image], [net.out], net.executor, program=net.test)
    return net


def answers(prefix: Path) -> Array:
    """What a model in files answers to the images."""
    executor = static.Executor()
    with static.scope_guard(static.Scope()):
        program, (name,), fetches = static.load_inference_model(str(prefix), executor)
        (found,) = executor.run(program, feed={name: random_images()[0]}, fetch_list=fetches)
    return found
