"""Paddle's ``dataset``: data sets as readers, the way of versions before 2.0."""

from engine.core.lazy import lazy

__all__ = [
    "cifar",
    "common",
    "conll05",
    "flowers",
    "image",
    "imdb",
    "imikolov",
    "mnist",
    "movielens",
    "sentiment",
    "uci_housing",
    "wmt14",
    "wmt16",
]

__getattr__ = lazy(__name__, modules=__all__)
