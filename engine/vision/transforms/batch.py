"""Transforms of whole batches: the same bits as one image after the other, in one NumPy pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

_PER_IMAGE_METHODS = {"__call__", "_apply_image", "_get_params"}


@dataclass(frozen=True)
class ImageBatch:
    """Images of one size and kind.

    ``kind`` says what each would be if it came singly: ``'pil'`` (grey PIL image; data uint8 [N, H, W]),
    ``'array'`` (NumPy; data [N, H, W] or [N, H, W, C]) or ``'tensor'`` (data [N, C, H, W] or [N, H, W, C]).
    """

    kind: str
    data: np.ndarray


def apply_batch(transform: Callable[[Any], Any], images: ImageBatch) -> ImageBatch | None:
    """``transform`` of every image, or None if it (or a part of it) only takes single images.

    A transform offers ``_batched(images)``. A subclass that changes what happens to one image without
    giving a ``_batched`` of its own only takes single ones.
    """
    for kind in type(transform).__mro__:
        if "_batched" in vars(kind):
            done: ImageBatch | None = cast(Any, transform)._batched(images)
            return done
        if _PER_IMAGE_METHODS & vars(kind).keys():
            return None
    return None
