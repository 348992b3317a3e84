"""Transforms of pictures: objects to give to a dataset, and the same as functions."""

from engine.vision.transforms.color_transforms import (
    BrightnessTransform,
    ColorJitter,
    ContrastTransform,
    HueTransform,
    SaturationTransform,
)
from engine.vision.transforms.functional import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
    affine,
    center_crop,
    crop,
    erase,
    hflip,
    normalize,
    pad,
    perspective,
    resize,
    rotate,
    to_grayscale,
    to_tensor,
    vflip,
)
from engine.vision.transforms.random_transforms import (
    RandomAffine,
    RandomCrop,
    RandomErasing,
    RandomHorizontalFlip,
    RandomPerspective,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
)
from engine.vision.transforms.transforms import (
    BaseTransform,
    CenterCrop,
    Compose,
    Grayscale,
    Normalize,
    Pad,
    Resize,
    ToTensor,
    Transpose,
)

__all__ = [
    "BaseTransform", "BrightnessTransform", "CenterCrop", "ColorJitter", "Compose", "ContrastTransform",
    "Grayscale", "HueTransform", "Normalize", "Pad", "RandomAffine", "RandomCrop", "RandomErasing",
    "RandomHorizontalFlip", "RandomPerspective", "RandomResizedCrop", "RandomRotation", "RandomVerticalFlip",
    "Resize", "SaturationTransform", "ToTensor", "Transpose", "adjust_brightness", "adjust_contrast",
    "adjust_hue", "adjust_saturation", "affine", "center_crop", "crop", "erase", "hflip", "normalize", "pad",
    "perspective", "resize", "rotate", "to_grayscale", "to_tensor", "vflip",
]  # fmt: skip
