"""The kinds of images that transforms take: PIL images, arrays [H, W] or [H, W, C], Tensors [C, H, W]."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from PIL import Image

from engine.core.errors import ArgumentError, DTypeError
from engine.core.mode import is_symbolic
from engine.eager.tensor import Tensor
from engine.tensor.tensor_like import AnyTensor

if TYPE_CHECKING:
    from typing_extensions import TypeIs

# What transforms take as an image.
AnyImage: TypeAlias = Image.Image | np.ndarray | AnyTensor
# The colour of what comes from outside an image: a number, one for each channel, or a name that Pillow knows.
Fill: TypeAlias = float | Sequence[float] | str

FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "box": Image.Resampling.BOX,
    "area": Image.Resampling.BOX,
    "lanczos": Image.Resampling.LANCZOS,
    "hamming": Image.Resampling.HAMMING,
}


def is_pil(img: object) -> TypeIs[Image.Image]:
    return isinstance(img, Image.Image)


def is_array(img: object) -> TypeIs[np.ndarray]:
    return isinstance(img, np.ndarray)


def is_tensor(img: object) -> TypeIs[AnyTensor]:
    return isinstance(img, Tensor) or is_symbolic(img)


def check_image(where: str, img: object) -> None:
    """Raise DTypeError unless ``img`` is an image."""
    if is_pil(img) or is_tensor(img) or (is_array(img) and img.ndim in (2, 3)):
        return
    shape = f" of {img.ndim} dimensions" if is_array(img) else ""
    raise DTypeError(
        f"{where}: pic should be PIL Image or Tensor Image or ndarray with dim=[2 or 3]: "
        f"got {type(img).__name__}{shape}; convert it first"
    )


def size_of(img: AnyImage) -> tuple[int, int]:
    """Width and height. Raises DTypeError for a value that is not an image."""
    check_image("transform", img)
    if is_pil(img):
        return img.size
    if is_array(img):
        return int(img.shape[1]), int(img.shape[0])
    if len(img.shape) not in (3, 4):
        raise ArgumentError(
            f"transform: a Tensor image is [C, H, W] or [N, C, H, W]: got shape {list(img.shape)}"
        )
    return int(img.shape[-1]), int(img.shape[-2])


def pair(where: str, size: float | Sequence[float]) -> tuple[int, int]:
    """Height and width from a number or two."""
    if isinstance(size, numbers.Number):
        number = int(cast(float, size))
        return number, number
    if not isinstance(size, Sequence) or len(size) != 2:
        raise ArgumentError(f"{where}: a size must be a number or (height, width): got {size!r}")
    return int(size[0]), int(size[1])


def filter_of(where: str, interpolation: str, names: Sequence[str] = tuple(FILTERS)) -> Image.Resampling:
    """Pillow's filter of this name."""
    if interpolation not in names:
        raise ArgumentError(
            f"{where}: no such interpolation: got {interpolation!r}; choose {', '.join(names)}"
        )
    return FILTERS[interpolation]


def by_plane(img: np.ndarray, change: Callable[[Image.Image, int], Image.Image]) -> np.ndarray:
    """The array with every channel changed by Pillow; ``change`` gets the channel and its number.

    Bytes stay bytes; other elements are computed as float32, and stay so.
    """
    if img.dtype != np.uint8:
        img = img.astype(np.float32)
    planes = [img] if img.ndim == 2 else [img[:, :, channel] for channel in range(img.shape[2])]
    done = [
        np.asarray(change(Image.fromarray(np.ascontiguousarray(plane)), n)) for n, plane in enumerate(planes)
    ]
    return done[0] if img.ndim == 2 else np.stack(done, axis=2)
