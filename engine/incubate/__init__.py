"""Paddle's ``incubate``: derivatives of functions."""

from engine.incubate import autograd

__all__ = ["autograd"]
