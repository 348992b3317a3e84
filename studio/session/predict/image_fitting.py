"""How an image of any size becomes one of the size that a model takes: placed, scaled, in grey or colour."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from studio.session.predict.digit_images import (
    ImageError,
    Pixels,
    bright_on_dark,
    fit_digit,
    read_as_trained,
    read_colour,
    read_grey,
)
from studio.session.predict.model_input import ModelInput

# As MNIST's digits; the middle cut out; the whole with borders; the whole pulled to the size.
PLACINGS = ("digit", "cover", "whole", "stretch")
_FITS = {"cover": "crop", "whole": "pad", "stretch": "stretch"}
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
    if asked.of_images:  # scaled as bytes, as in the training
        found = np.rint(np.clip(found, 0.0, 1.0) * 255).astype(np.uint8)
        found = _scaled(found, asked.height, asked.width, placing).astype(np.float32) / np.float32(255.0)
    else:
        found = _scaled(found, asked.height, asked.width, placing)
    if asked.channels == 4:
        found = np.concatenate([found, np.ones((*found.shape[:2], 1), np.float32)], axis=2)
    return np.ascontiguousarray(np.clip(found, 0.0, 1.0), np.float32)


def read_for(asked: ModelInput, data: bytes, where: str) -> Pixels:
    """The image in ``data`` as ``placed`` takes it; for a model of own images converted as they were.

    Raises:
        ImageError: no image of a known kind, damaged, or too large.
    """
    if asked.of_images:
        return read_as_trained(data, where, asked.channels == 1)
    return (read_grey if asked.channels == 1 else read_colour)(data, where)


def _scaled(pixels: NDArray[Any], height: int, width: int, placing: str) -> NDArray[Any]:
    from engine.training.sources.preparing.prepare import fitted_to

    found = fitted_to(pixels if pixels.ndim == 3 else pixels[..., None], height, width, _FITS[placing])
    return found if pixels.ndim == 3 else found[..., 0]
