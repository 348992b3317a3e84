"""The public functions on tensors, with Paddle's signatures, and the methods of Tensor and Variable."""

from engine.tensor import methods  # attaches the methods
from engine.tensor.creation import (
    arange,
    assign,
    clone,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    to_tensor,
    zeros,
    zeros_like,
)

__all__ = [
    "arange", "assign", "clone", "empty", "empty_like", "eye", "full", "full_like", "linspace", "methods",
    "ones", "ones_like", "to_tensor", "zeros", "zeros_like",
]  # fmt: skip
