"""Transforms of pictures: objects to give to a dataset, and the same as functions."""

from engine.vision.transforms.functional import normalize, resize, to_grayscale, to_tensor
from engine.vision.transforms.transforms import (
    BaseTransform,
    Compose,
    Grayscale,
    Normalize,
    Resize,
    ToTensor,
    Transpose,
)

__all__ = [
    "BaseTransform",
    "Compose",
    "Grayscale",
    "Normalize",
    "Resize",
    "ToTensor",
    "Transpose",
    "normalize",
    "resize",
    "to_grayscale",
    "to_tensor",
]
