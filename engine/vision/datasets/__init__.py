"""Datasets of pictures."""

from engine.vision.datasets.cifar import Cifar10, Cifar100
from engine.vision.datasets.digits import Digits
from engine.vision.datasets.folder import DatasetFolder, ImageFolder
from engine.vision.datasets.mnist import MNIST, FashionMNIST, IDXFolder

__all__ = [
    "Cifar10", "Cifar100", "DatasetFolder", "Digits", "FashionMNIST", "IDXFolder", "ImageFolder", "MNIST",
]  # fmt: skip
