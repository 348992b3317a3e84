"""Paddle's ``fluid.backward``: gradients in Programs."""

from engine.program.backward.append_backward import append_backward
from engine.program.backward.gradients import gradients

__all__ = ["append_backward", "gradients"]
