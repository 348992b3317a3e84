"""What the grey image datasets share: uint8 images with labels, given singly or in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, OutOfRangeError
from engine.io.dataset import Dataset
from engine.vision.image import get_image_backend


class GreyImages(Dataset):
    """Items are (image, label): as in Paddle's MNIST the label is an int64 array of shape [1]; the image
    is a PIL image of mode L with the ``'pil'`` backend, a float32 array [H, W] from 0 to 255 with ``'cv2'``,
    and then what ``transform`` makes of it.

    ``images`` (uint8 [count, H, W]) and ``labels`` (int64 [count]) are the data itself.
    """

    images: np.ndarray
    labels: np.ndarray

    def __init__(self, mode: str, transform: Callable[[Any], Any] | None, backend: str | None) -> None:
        if not isinstance(mode, str) or mode.lower() not in ("train", "test"):
            raise ArgumentError(
                f"{type(self).__name__}: mode should be 'train' or 'test': got {mode!r}; choose one"
            )
        backend = get_image_backend() if backend is None else backend
        if backend not in ("pil", "cv2"):
            raise ArgumentError(
                f"{type(self).__name__}: Expected backend are one of ['pil', 'cv2']: got {backend!r}; "
                f"choose one"
            )
        self.mode = mode.lower()
        self.transform = transform
        self.backend = backend

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        count = len(self)
        if not -count <= idx < count:
            raise OutOfRangeError(
                f"{type(self).__name__}: no item {idx}: it has {count}; use 0 to {count - 1}"
            )
        pixels = self._pixels(np.array([idx % count]))[0]
        image: Any = _as_pil(pixels) if self.backend == "pil" else pixels.astype(np.float32)
        if self.transform is not None:
            image = self.transform(image)
        return image, np.array([self.labels[idx]], np.int64)

    def __getitems__(self, indices: Sequence[int]) -> tuple[np.ndarray, np.ndarray] | None:
        """The stacked images and labels [n, 1] of a batch, or None if transform takes single ones only."""
        wanted = np.asarray(indices, np.int64)
        count = len(self)
        if wanted.size == 0 or wanted.min() < -count or wanted.max() >= count:
            return None  # one by one, so that the offending index is named
        if self.backend == "pil" and self.transform is None:
            return None
        from engine.vision.transforms.batch import ImageBatch, apply_batch  # a training needs none of them

        pixels = self._pixels(wanted % count)
        kind = "pil"
        if self.backend == "cv2":
            kind, pixels = "array", pixels.astype(np.float32)
        images = ImageBatch(kind, pixels)
        if self.transform is not None:
            done = apply_batch(self.transform, images)
            if done is None:
                return None
            images = done
        return images.data, self.labels[wanted, None]

    def _pixels(self, indices: np.ndarray) -> np.ndarray:
        """The images at the (non-negative) indices, uint8 [n, H, W]: a copy."""
        chosen: np.ndarray = self.images[indices]
        return chosen


def _as_pil(pixels: np.ndarray) -> Any:
    from PIL import Image

    return Image.fromarray(pixels)
