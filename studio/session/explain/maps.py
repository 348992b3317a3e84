"""An attribution as people see it: one number for each pixel of an image, or for each column of a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from studio.session.predict.model_input import ModelInput

MOST_ROWS = 400


def is_image(asked: ModelInput) -> bool:
    """Whether a person gives the input as an image."""
    return asked.form in ("digit", "picture")


def map_of(asked: ModelInput, values: NDArray[Any], method: str) -> NDArray[np.float32]:
    """[height, width] of the image that a person gives: of a gradient the largest magnitude of the channels,
    of integrated gradients their sum; NaN where nothing was computed.

    Args:
        values: of the shape that the model was fed.
    """
    found = _of_sample(asked, values)
    if asked.layout == "CHW":
        return _joined(np.moveaxis(found, 0, -1), method)
    sides = found.shape[:2] if asked.form == "picture" else (asked.height, asked.width)
    return _joined(found.reshape(*sides, -1), method)


def numbers_of(asked: ModelInput, values: NDArray[Any], method: str) -> NDArray[np.float32]:
    """A number for each value of a row, or for each step of a sequence."""
    found = _of_sample(asked, values)
    if asked.form == "sequence" and found.ndim == 2:
        return _joined(found, method)
    return _joined(found.reshape(-1, 1), method)


def channels_of(asked: ModelInput, values: NDArray[Any]) -> NDArray[np.float32]:
    """[steps, channels] of a sequence."""
    found = _of_sample(asked, values)
    return found.reshape(len(found), -1)


def _of_sample(asked: ModelInput, values: NDArray[Any]) -> NDArray[np.float32]:
    """Without the batch, in which the sample is repeated."""
    found = np.asarray(values, np.float32)
    return found[0] if asked.batch else found


def _joined(values: NDArray[np.float32], method: str) -> NDArray[np.float32]:
    """[..., channels] without the channels."""
    if method == "saliency":
        return np.asarray(np.abs(values).max(axis=-1), np.float32)
    if method == "occlusion":  # all channels are covered at once, and have the same drop
        return np.asarray(values[..., 0], np.float32)
    return np.asarray(values.sum(axis=-1), np.float32)


def strongest(numbers: NDArray[np.float32]) -> NDArray[np.int64]:
    """The places of the rows that are shown, in order: all, or the strongest of too many."""
    if len(numbers) <= MOST_ROWS:
        return np.arange(len(numbers))
    sizes = np.where(np.isfinite(numbers), np.abs(numbers), -1.0)
    return np.sort(np.argsort(-sizes, kind="stable")[:MOST_ROWS])
