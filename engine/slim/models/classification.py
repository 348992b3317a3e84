"""A network for images with its training, ready to run: ``image_classification``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine import optimizer
from engine.core.errors import ArgumentError
from engine.core.place import CPUPlace, CUDAPlace
from engine.nn import functional
from engine.slim.models.mobilenet import MobileNet
from engine.slim.models.mobilenet_v2 import MobileNetV2
from engine.slim.models.resnet import ResNet34, ResNet50
from engine.static import (
    Executor,
    Program,
    accuracy,
    data,
    default_main_program,
    default_startup_program,
    program_guard,
)
from engine.tensor.reductions.reduction import mean

_NETWORKS: dict[str, Callable[[], Any]] = {
    "MobileNet": MobileNet,
    "MobileNetV2": MobileNetV2,
    "ResNet34": ResNet34,
    "ResNet50": ResNet50,
}
model_list = list(_NETWORKS)


def image_classification(
    model: str, image_shape: list[int], class_num: int, use_gpu: bool = False
) -> tuple[Executor, Program, Program, tuple[Any, Any], tuple[str, str, str, str]]:
    """Executor (its startup Program has run), training and test Program, the Variables ``image`` and
    ``label``, the names of top-1 accuracy, top-5 accuracy, mean cost and probabilities.

    ``model`` is one of ``model_list``, ``image_shape`` [channels, height, width]; training is by
    Momentum(0.1, 0.9). Raises ArgumentError for another network.
    """
    if model not in _NETWORKS:
        raise ArgumentError(f"image_classification: model is {model!r}; use one of {', '.join(_NETWORKS)}")
    train_program = Program()
    with program_guard(train_program, Program()):
        image = data(name="image", shape=[None, *image_shape], dtype="float32")
        label = data(name="label", shape=[None, 1], dtype="int64")
        out = _NETWORKS[model]().net(input=image, class_dim=class_num)
        cost = mean(functional.cross_entropy(out, label, use_softmax=False))
        top1, top5 = accuracy(out, label, k=1), accuracy(out, label, k=5)
        test_program = default_main_program().clone(for_test=True)
        optimizer.Momentum(learning_rate=0.1, momentum=0.9).minimize(cost)
        executor = Executor(CUDAPlace(0) if use_gpu else CPUPlace())
        executor.run(default_startup_program())
    names = (top1.name, top5.name, cost.name, out.name)
    return executor, train_program, test_program, (image, label), names
