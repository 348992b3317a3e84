"""Brightness, contrast, saturation, hue, and grey."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image, ImageEnhance

from engine.core.errors import ArgumentError
from engine.tensor.creation import to_tensor
from engine.tensor.manipulation import stack
from engine.tensor.search import where
from engine.vision.transforms.kinds import AnyImage, check_image, is_array, is_pil, is_tensor

_GREY = (0.2989, 0.587, 0.114)
_MIDDLE = 74
"""The grey around which the contrast of an array is changed, whatever the array holds: Paddle's number."""


def to_grayscale(img: AnyImage, num_output_channels: int = 1) -> Any:
    """The image in grey, with 1 or 3 equal channels; arrays and Tensors are taken as red, green, blue.

    Raises:
        ArgumentError: another number of channels.
        DTypeError: no image.
    """
    check_image("to_grayscale", img)
    if num_output_channels not in (1, 3):
        raise ArgumentError(
            f"to_grayscale: num_output_channels should be either 1 or 3: got {num_output_channels!r}"
        )
    if is_pil(img):
        grey = img.convert("L")
        return grey if num_output_channels == 1 else Image.merge("RGB", (grey, grey, grey))
    if is_tensor(img):
        weights = to_tensor(np.array(_GREY, np.float32).reshape(3, 1, 1)).astype(img.dtype)
        grey = (img * weights).sum(axis=-3, keepdim=True)
        return grey.expand([*grey.shape[:-3], num_output_channels, *grey.shape[-2:]])
    if img.ndim != 3 or img.shape[2] != 3:
        raise ArgumentError(
            f"to_grayscale: an array must be [H, W, 3]: got {list(img.shape)}; it may be grey already"
        )
    return np.repeat(_grey_plane(img)[:, :, None], num_output_channels, axis=2)


def adjust_brightness(img: AnyImage, brightness_factor: float) -> Any:
    """The image ``brightness_factor`` times as bright: 0 is black, 1 as it is."""
    check_image("adjust_brightness", img)
    if is_pil(img):
        return ImageEnhance.Brightness(img).enhance(brightness_factor)
    if is_array(img):
        return _by_table(img, np.arange(256) * brightness_factor)
    _check_tensor("adjust_brightness", img, brightness_factor)
    return _blend(img, img * 0, brightness_factor)


def adjust_contrast(img: AnyImage, contrast_factor: float) -> Any:
    """The image with ``contrast_factor`` times the contrast: 0 is even grey, 1 as it is."""
    check_image("adjust_contrast", img)
    if is_pil(img):
        return ImageEnhance.Contrast(img).enhance(contrast_factor)
    if is_array(img):
        return _by_table(img, (np.arange(256) - _MIDDLE) * contrast_factor + _MIDDLE)
    _check_tensor("adjust_contrast", img, contrast_factor)
    grey = img if img.shape[-3] == 1 else to_grayscale(img)
    if not _is_floating(img):
        grey = grey.astype("float32")
    return _blend(img, grey.mean(axis=[-3, -2, -1], keepdim=True), contrast_factor)


def adjust_saturation(img: AnyImage, saturation_factor: float) -> Any:
    """The image with ``saturation_factor`` times the colour: 0 is grey, 1 as it is.

    Differs from Paddle: an array (blue, green, red) is changed by this factor, as PIL images and Tensors are;
    Paddle draws another one around 1 at random.
    """
    check_image("adjust_saturation", img)
    if is_pil(img):
        return ImageEnhance.Color(img).enhance(saturation_factor)
    if is_array(img):
        if img.ndim == 2 or img.shape[2] == 1:
            return img
        pixels = img.astype(np.float32)
        grey = _grey_plane(pixels[:, :, ::-1])[:, :, None]
        mixed = pixels * saturation_factor + grey * (1 - saturation_factor)
        return mixed.clip(0, 255).astype(img.dtype)
    _check_tensor("adjust_saturation", img, saturation_factor)
    return img if img.shape[-3] == 1 else _blend(img, to_grayscale(img), saturation_factor)


def adjust_hue(img: AnyImage, hue_factor: float) -> Any:
    """The image with its colours turned by ``hue_factor`` of the circle, -0.5 to 0.5; grey stays grey.

    Differs from Paddle: arrays (blue, green, red) are turned by Pillow, not by OpenCV, which rounds
    otherwise.

    Raises:
        ArgumentError: a factor outside.
    """
    check_image("adjust_hue", img)
    if not -0.5 <= hue_factor <= 0.5:
        raise ArgumentError(f"adjust_hue: hue_factor is not in [-0.5, 0.5]: got {hue_factor}")
    if is_pil(img):
        return _turned(img, hue_factor)
    if is_array(img):
        if img.ndim == 2 or img.shape[2] == 1:
            return img
        image = Image.fromarray(np.ascontiguousarray(img.astype(np.uint8)[:, :, ::-1]))
        return np.ascontiguousarray(np.asarray(_turned(image, hue_factor))[:, :, ::-1]).astype(img.dtype)
    _check_tensor("adjust_hue", img, 0)
    if img.shape[-3] == 1:
        return img
    if _is_floating(img):
        return _turned_tensor(img, hue_factor)
    return (_turned_tensor(img.astype("float32") / 255.0, hue_factor) * 255.0).astype(img.dtype)


def _grey_plane(img: np.ndarray) -> np.ndarray:
    """Grey of an array [H, W, 3] of red, green, blue."""
    red, green, blue = (img[:, :, channel] for channel in range(3))
    if img.dtype != np.uint8:
        return (0.299 * red + 0.587 * green + 0.114 * blue).astype(img.dtype)
    # The integer weights that OpenCV uses, in 1/32768.
    total = red.astype(np.uint32) * 9798 + green.astype(np.uint32) * 19235 + blue.astype(np.uint32) * 3735
    return ((total + 16384) >> 15).astype(np.uint8)


def _by_table(img: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Each byte replaced by what the table says of it."""
    return table.clip(0, 255).astype(np.uint8)[img.astype(np.uint8)]


def _turned(img: Image.Image, hue_factor: float) -> Image.Image:
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    angles = (np.asarray(hue).astype(np.int16) + int(hue_factor * 255)) % 256
    hue = Image.fromarray(angles.astype(np.uint8))
    return Image.merge("HSV", (hue, saturation, value)).convert(img.mode)


def _check_tensor(where: str, img: Any, factor: float) -> None:
    if img.shape[-3] not in (1, 3):
        raise ArgumentError(f"{where}: channels of input should be either 1 or 3: got {list(img.shape)}")
    if factor < 0:
        raise ArgumentError(f"{where}: the factor should be non-negative: got {factor}")


def _is_floating(img: Any) -> bool:
    return "float" in img.dtype.name


def _blend(img: Any, other: Any, ratio: float) -> Any:
    """``ratio`` of ``img`` and the rest of ``other``, within the range of an image."""
    kind = img.dtype
    wide = img if _is_floating(img) else img.astype("float32")
    base = other if _is_floating(other) else other.astype("float32")
    mixed = base + (wide - base) * float(ratio)
    return mixed.clip(0, 1.0 if _is_floating(img) else 255.0).astype(kind)


def _turned_tensor(img: Any, hue_factor: float) -> Any:
    """A Tensor [..., 3, H, W] of 0 to 1, from red, green, blue to hue, saturation, value and back."""
    red, green, blue = img.unbind(axis=-3)
    high, low = img.max(axis=-3), img.min(axis=-3)
    spread = high - low
    flat = spread == 0
    one = spread * 0 + 1
    saturation = spread / where(flat, one, high)
    divisor = where(flat, one, spread)
    to_red, to_green, to_blue = ((high - channel) / divisor for channel in (red, green, blue))
    hue = where(
        high == red, to_blue - to_green, where(high == green, to_red - to_blue + 2.0, to_green - to_red + 4.0)
    )
    hue = hue / 6.0 + 1.0 + hue_factor
    sector = (hue - hue.floor()) * 6.0
    channels = []
    for offset in (5.0, 3.0, 1.0):  # the colour wheel, a third of it between the channels
        at = sector + offset
        at = at - (at / 6.0).floor() * 6.0
        share = where(at < 4.0 - at, at, 4.0 - at).clip(0.0, 1.0)
        channels.append(high - high * saturation * share)
    return stack(channels, axis=-3).clip(0.0, 1.0)
