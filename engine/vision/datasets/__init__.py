"""Datasets of pictures."""

from engine.vision.datasets.cifar import Cifar10, Cifar100
from engine.vision.datasets.digits import Digits
from engine.vision.datasets.flowers import Flowers
from engine.vision.datasets.folder import DatasetFolder, ImageFolder
from engine.vision.datasets.mnist import MNIST, FashionMNIST, IDXFolder
from engine.vision.datasets.voc2012 import VOC2012

__all__ = [
    "Cifar10", "Cifar100", "DatasetFolder", "Digits", "FashionMNIST", "Flowers", "IDXFolder", "ImageFolder",
    "MNIST", "VOC2012",
]  # fmt: skip
