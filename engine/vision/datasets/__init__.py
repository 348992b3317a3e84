"""Datasets of pictures."""

from engine.vision.datasets.digits import Digits
from engine.vision.datasets.mnist import MNIST, FashionMNIST, IDXFolder

__all__ = ["MNIST", "Digits", "FashionMNIST", "IDXFolder"]
