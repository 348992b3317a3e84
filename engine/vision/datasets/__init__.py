"""Datasets of images."""

from typing import TYPE_CHECKING

from engine.core.lazy import lazy

if TYPE_CHECKING:
    from engine.vision.datasets.cifar import Cifar10, Cifar100
    from engine.vision.datasets.digits import Digits
    from engine.vision.datasets.flowers import Flowers
    from engine.vision.datasets.folder import DatasetFolder, ImageFolder
    from engine.vision.datasets.mnist import MNIST, FashionMNIST, IDXFolder
    from engine.vision.datasets.voc2012 import VOC2012

__getattr__ = lazy(
    __name__,
    modules=("cifar", "digits", "flowers", "folder", "mnist", "voc2012"),
    members={
        "engine.vision.datasets.cifar": ("Cifar10", "Cifar100"),
        "engine.vision.datasets.digits": ("Digits",),
        "engine.vision.datasets.flowers": ("Flowers",),
        "engine.vision.datasets.folder": ("DatasetFolder", "ImageFolder"),
        "engine.vision.datasets.mnist": ("MNIST", "FashionMNIST", "IDXFolder"),
        "engine.vision.datasets.voc2012": ("VOC2012",),
    },
)

__all__ = [
    "Cifar10",
    "Cifar100",
    "DatasetFolder",
    "Digits",
    "FashionMNIST",
    "Flowers",
    "IDXFolder",
    "ImageFolder",
    "MNIST",
    "VOC2012",
]
