"""How an image of any size becomes one of the size that a model takes: placed, scaled, in grey or colour."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from studio.session.predict.digit_images import ImageError, Pixels, bright_on_dark, fit_digit
from studio.session.predict.model_input import ModelInput

# As MNIST's digits; the middle cut out; the whole with borders; the whole pulled to the size.
PLACINGS = ("digit", "cover", "whole", "stretch")
_GREY = np.array([0.299, 0.587, 0.114], np.float32)


def placings_of(asked: ModelInput) -> tuple[str, ...]:
    """The ways that an image can be placed for an input, the usual one first."""
    usual = PLACINGS if asked.form == "digit" else PLACINGS[1:]
    return (asked.placing, *(each for each in usual if each != asked.placing)) if asked.placing else usual


def placed(values: NDArray[Any], asked: ModelInput, placing: str, drawn: bool, where: str) -> Pixels:
    """The image that ``asked`` is fed: float32 0 to 1, [H, W] or with channels last.

    Args:
        values: 0 to 1, [H, W], or [H, W, 3] in red, green, blue.
        placing: one of ``PLACINGS``.
        drawn: whether it is a bright stroke on a dark ground, else a digit is turned so.
        where: what the image is, for messages.

    Raises:
        ImageError: a digit is to be placed, and there is none.
    """
    found = np.asarray(values, np.float32)
    if not found.size:
        raise ImageError(f"{where}: the image is empty; choose another")
    if placing == "digit":
        grey = found @ _GREY if found.ndim == 3 else found
        return fit_digit(grey if drawn else bright_on_dark(grey), where)
    if asked.channels == 1:
        found = found @ _GREY if found.ndim == 3 else found
    elif found.ndim == 2:
        found = np.repeat(found[..., None], 3, axis=2)
    found = _scaled(found, asked.height, asked.width, placing)
    if asked.channels == 4:
        found = np.concatenate([found, np.ones((*found.shape[:2], 1), np.float32)], axis=2)
    return np.ascontiguousarray(np.clip(found, 0.0, 1.0), np.float32)


def _scaled(pixels: Pixels, height: int, width: int, placing: str) -> Pixels:
    rows, columns = pixels.shape[:2]
    if placing == "stretch":
        return _resized(pixels, height, width)
    scale = (max if placing == "cover" else min)(height / rows, width / columns)
    new = _resized(pixels, max(1, round(rows * scale)), max(1, round(columns * scale)))
    result = np.zeros((height, width, *pixels.shape[2:]), np.float32)
    down, right = (height - new.shape[0]) // 2, (width - new.shape[1]) // 2
    top, left = max(0, down), max(0, right)
    part = new[max(0, -down) : max(0, -down) + height, max(0, -right) : max(0, -right) + width]
    result[top : top + part.shape[0], left : left + part.shape[1]] = part
    return result


def _resized(pixels: Pixels, height: int, width: int) -> Pixels:
    """Each new pixel is the mean of what it covers, weighted by nearness."""
    if pixels.shape[:2] == (height, width):
        return pixels
    from PIL import Image

    planes = [pixels] if pixels.ndim == 2 else [pixels[..., each] for each in range(pixels.shape[2])]
    found = [
        np.asarray(
            Image.fromarray(np.ascontiguousarray(plane, np.float32)).resize(
                (width, height), Image.Resampling.BILINEAR
            )
        )
        for plane in planes
    ]
    return found[0] if pixels.ndim == 2 else np.stack(found, axis=2)
