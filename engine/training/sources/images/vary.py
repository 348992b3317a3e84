"""Random variation of training images: shifted, turned, mirrored."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.training.sources.options import DataOptions


@dataclass(frozen=True)
class Vary:
    """Varies each image of a batch on its own.

    All numbers are drawn from NumPy's global generator, which a training seeds and a checkpoint stores: a
    resumed run draws the same numbers (decision 0074).

    Args:
        shift: pixels, at most, each way. rotate: degrees, at most, each way.
        flip: none, horizontal (left and right), vertical, or both.
    """

    shift: int = 0
    rotate: float = 0.0
    flip: str = "none"

    @classmethod
    def of(cls, options: DataOptions) -> Vary:
        """The variation that the options ask for."""
        return cls(options.shift, options.rotate, options.flip)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """``images`` float32 [n, C, H, W], each varied; what comes in from outside is 0."""
        return np.stack([self._one(image) for image in images])

    def _one(self, image: np.ndarray) -> np.ndarray:
        if self.flip in ("horizontal", "both") and np.random.random_sample() < 0.5:
            image = image[:, :, ::-1]
        if self.flip in ("vertical", "both") and np.random.random_sample() < 0.5:
            image = image[:, ::-1]
        down = right = 0
        if self.shift:
            down, right = (int(step) for step in np.random.randint(-self.shift, self.shift + 1, 2))
        if self.rotate:
            angle = math.radians((2.0 * np.random.random_sample() - 1.0) * self.rotate)
            return _turned(image, angle, down, right)
        return _moved(image, down, right)


def _moved(image: np.ndarray, down: int, right: int) -> np.ndarray:
    height, width = image.shape[1:]
    moved = np.zeros_like(image)
    if abs(down) < height and abs(right) < width:
        moved[:, max(down, 0) : height + min(down, 0), max(right, 0) : width + min(right, 0)] = image[
            :, max(-down, 0) : height + min(-down, 0), max(-right, 0) : width + min(-right, 0)
        ]
    return moved


def _turned(image: np.ndarray, angle: float, down: int, right: int) -> np.ndarray:
    """Turned about the middle and moved, between pixels bilinear."""
    from PIL import Image

    height, width = image.shape[1:]
    cosine, sine = math.cos(angle), math.sin(angle)
    x, y = width / 2, height / 2
    # Where each pixel of the result comes from.
    from_x, from_y = (
        x - cosine * (x + right) - sine * (y + down),
        y + sine * (x + right) - cosine * (y + down),
    )
    inverse = (cosine, sine, from_x, -sine, cosine, from_y)
    planes = [
        Image.fromarray(np.ascontiguousarray(plane, np.float32)).transform(
            (width, height), Image.Transform.AFFINE, inverse, Image.Resampling.BILINEAR
        )
        for plane in image
    ]
    return np.stack([np.asarray(plane, np.float32) for plane in planes])
