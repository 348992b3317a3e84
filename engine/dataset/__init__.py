"""Paddle's ``dataset``: data sets as readers, the way of versions before 2.0."""

from engine.core.lazy import lazy

__all__ = ["cifar", "common", "flowers", "mnist", "uci_housing", "wmt16"]

__getattr__ = lazy(__name__, modules=__all__)
