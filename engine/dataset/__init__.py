"""Paddle's ``dataset``: data sets as readers, the way of versions before 2.0."""

from engine.dataset import mnist

__all__ = ["mnist"]
