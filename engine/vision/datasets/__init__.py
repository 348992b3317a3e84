"""Datasets of pictures."""

from engine.vision.datasets.mnist import MNIST, FashionMNIST, IDXFolder

__all__ = ["MNIST", "FashionMNIST", "IDXFolder"]
