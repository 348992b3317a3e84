"""Paddle's ``autograd``: backward of several tensors, PyLayer, Jacobians and Hessians."""

from engine.autograd.derivatives import hessian_of as hessian
from engine.autograd.derivatives import jacobian_of as jacobian
from engine.eager.backward import backward_of as backward
from engine.eager.py_layer import PyLayer, PyLayerContext
from engine.eager.saved_hooks import saved_tensors_hooks

__all__ = ["PyLayer", "PyLayerContext", "backward", "hessian", "jacobian", "saved_tensors_hooks"]
