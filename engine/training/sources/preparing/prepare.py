"""From a sample as it lies there to what the model is fed: colour, size, range, channels first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.errors import DataError
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.statistics import fill_values, mean_and_deviation
from engine.training.sources.rows import Rows
from engine.training.sources.spec import DataSpec
from resources.settings.data import STORED

MEASURED = 1000
"""So many of the first training samples say what mean and deviation are."""
_BATCH = 100
UNIT = np.float32(1.0 / 255.0)


@dataclass(frozen=True)
class Prepare:
    """The preparation that training, test and prediction share.

    Args:
        is_image: samples are images [H, W, C] and become float32 [C, H, W]; others stay as they are.
        resize: the side of the square that images are scaled to; 0 leaves them.
        fit: how images of other proportions become squares: stretch, crop or pad.
        color: auto (as they are), grey or rgb.
        mean, deviation: what is taken off and divided by, of each channel, column or value of a step; empty
            for nothing.
        fill: of each column of a table what stands in for a missing number; empty where none is filled.
        target_mean, target_deviation: the same of each number to predict; empty for classes.
    """

    is_image: bool
    resize: int = 0
    color: str = "auto"
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()
    fill: tuple[float, ...] = ()
    target_mean: tuple[float, ...] = ()
    target_deviation: tuple[float, ...] = ()
    fit: str = "stretch"

    def shape(self, raw: Sequence[int]) -> tuple[int, ...]:
        """What a sample of shape ``raw`` becomes."""
        if not self.is_image:
            return tuple(raw)
        height, width, channels = raw
        sides = (self.resize, self.resize) if self.resize else (height, width)
        return ({"grey": 1, "rgb": 3}.get(self.color, channels), *sides)

    def __call__(self, raw: np.ndarray | list[np.ndarray]) -> np.ndarray:
        """A batch of samples, float32 [n, ...]."""
        return self.normalized(self.scaled(raw))

    def scaled(self, raw: np.ndarray | list[np.ndarray]) -> np.ndarray:
        """A batch before it is normalised: images from 0 to 1, [n, C, H, W]; others as they are."""
        if not self.is_image:
            if isinstance(raw, np.ndarray) and raw.dtype == np.int64:  # of rows that are integers
                return np.ascontiguousarray(raw)
            values = np.ascontiguousarray(raw, np.float32)
            if self.fill and np.isnan(values).any():
                values = np.where(np.isnan(values), np.asarray(self.fill, np.float32), values)
            return values
        if self.resize and (isinstance(raw, list) or raw.shape[1:3] != (self.resize, self.resize)):
            raw = [resized(image, self.resize, self.fit) for image in raw]
        pixels = np.stack(raw) if isinstance(raw, list) else raw
        values = np.ascontiguousarray(colored(pixels, self.color).transpose(0, 3, 1, 2))
        if values.dtype == np.uint8:
            return values.astype(np.float32) * UNIT
        return values.astype(np.float32)

    def normalized(self, values: np.ndarray) -> np.ndarray:
        """What ``scaled`` gave, with the mean taken off and divided by the deviation."""
        if not self.mean or values.dtype == np.int64:
            return values
        shape: tuple[int, ...] = (1, *values.shape[1:])
        if self.is_image:
            shape = (1, -1, *[1] * (values.ndim - 2))
        elif len(self.mean) == values.shape[-1]:
            shape = (*[1] * (values.ndim - 1), -1)
        mean, deviation = (np.asarray(each, np.float32) for each in (self.mean, self.deviation))
        return np.asarray((values - mean.reshape(shape)) / deviation.reshape(shape), np.float32)

    def scaled_targets(self, raw: np.ndarray) -> np.ndarray:
        """Numbers to predict, [n, k] in their own units, as a model learns them: float32."""
        mean, deviation = (np.asarray(each, np.float64) for each in (self.target_mean, self.target_deviation))
        return np.asarray((np.asarray(raw, np.float64) - mean) / deviation, np.float32)

    def raw_targets(self, scaled: np.ndarray) -> np.ndarray:
        """What ``scaled_targets`` was given: float64."""
        mean, deviation = (np.asarray(each, np.float64) for each in (self.target_mean, self.target_deviation))
        return np.asarray(np.asarray(scaled, np.float64) * deviation + mean)

    def as_plain(self) -> dict[str, Any]:
        """As plain values, for a checkpoint or a file."""
        return {
            "picture": self.is_image,
            "resize": self.resize,
            "color": self.color,
            "mean": list(self.mean),
            "deviation": list(self.deviation),
            **{
                name: list(getattr(self, name))
                for name in ("fill", "target_mean", "target_deviation")
                if getattr(self, name)
            },
            **({"fit": self.fit} if self.fit != "stretch" else {}),
        }


def resized(image: np.ndarray, side: int, fit: str = "stretch") -> np.ndarray:
    """An image [H, W, C] as a square of ``side`` pixels; see ``fitted_to``."""
    return fitted_to(image, side, side, fit)


def fitted_to(image: np.ndarray, height: int, width: int, fit: str) -> np.ndarray:
    """An image [H, W, C] of this size, of the same type.

    Args:
        fit: stretch it, crop its middle, or pad it with 0 on both sides.
    """
    from PIL import Image

    rows, columns = image.shape[:2]
    if (rows, columns) == (height, width):
        return image
    scale = (max if fit == "crop" else min)(height / rows, width / columns)
    if fit == "crop":
        tall, wide = min(rows, round(height / scale)), min(columns, round(width / scale))
        top, left = (rows - tall) // 2, (columns - wide) // 2
        image = image[top : top + tall, left : left + wide]
    size = (width, height)
    if fit == "pad":
        size = (max(1, round(columns * scale)), max(1, round(rows * scale)))
    if image.shape[:2] == size[::-1]:
        done = image
    elif image.dtype == np.uint8 and image.shape[2] in (1, 3):
        flat = image[..., 0] if image.shape[2] == 1 else image
        done = np.asarray(Image.fromarray(np.ascontiguousarray(flat)).resize(size, Image.Resampling.BILINEAR))
        done = done[..., None] if done.ndim == 2 else done
    else:
        planes = [
            np.asarray(Image.fromarray(plane.astype(np.float32)).resize(size, Image.Resampling.BILINEAR))
            for plane in image.transpose(2, 0, 1)
        ]
        done = np.stack(planes, axis=2)
        if image.dtype == np.uint8:
            done = np.rint(done).astype(np.uint8)
    if size == (width, height):
        return done
    ground = np.zeros((height, width, done.shape[2]), done.dtype)
    top, left = (height - size[1]) // 2, (width - size[0]) // 2
    ground[top : top + size[1], left : left + size[0]] = done
    return ground


def colored(pixels: np.ndarray, color: str) -> np.ndarray:
    """Images [n, H, W, C] made grey or rgb where that is not what they are."""
    channels = pixels.shape[3]
    if color == "grey" and channels in (3, 4):
        grey = pixels[..., :3].astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
        return (np.rint(grey).astype(np.uint8) if pixels.dtype == np.uint8 else grey)[..., None]
    if color == "rgb" and channels == 1:
        return np.repeat(pixels, 3, axis=3)
    if color == "rgb" and channels == 4:
        return pixels[..., :3]
    return pixels


def preparation(
    rows: Rows, chosen: np.ndarray, options: DataOptions, spec: DataSpec | None = None
) -> Prepare:
    """The preparation that ``options`` ask for.

    Statistics are those of the first of the ``chosen`` samples for images and data of kind stored, else of
    all of them.

    Args:
        spec: of the data, where it is read by kinds.

    Raises:
        DataError: images that can't be made grey or coloured; a sample that can't be read.
    """
    color = options.color
    if rows.is_image and color != "auto" and rows.shape[2] not in (1, 3, 4):
        raise DataError(
            f"data: images of {rows.shape[2]} channels can't be made {color}: {list(rows.shape)}; choose "
            "color auto"
        )
    plain = Prepare(
        rows.is_image,
        options.resize if rows.is_image else 0,
        color if rows.is_image else "auto",
        fit=options.fit if rows.is_image else "stretch",
    )
    if rows.targets is not None:
        plain = with_targets(plain, rows.targets[chosen])
    if rows.is_integers:
        return plain
    by_kind = options.kind != STORED and not rows.is_image
    words = np.zeros(rows.shape[-1], bool)
    if by_kind and spec is not None and spec.inputs:
        words = np.asarray([bool(column.words) for column in spec.inputs])
    if by_kind and len(rows.shape) == 1 and options.missing != "refuse":
        plain = replace(plain, fill=fill_values(rows, chosen, options.missing, words))
    if options.normalize == "none":
        return plain
    if by_kind:
        mean_, deviation_ = mean_and_deviation(rows, chosen, plain.scaled, spec is not None and spec.masked)
        mean_[words], deviation_[words] = 0.0, 1.0
        return _with(plain, mean_, deviation_)
    columns = plain.shape(rows.shape)[0] if rows.is_image else int(np.prod(rows.shape))
    if options.normalize == "symmetric" and rows.is_image:
        return _with(plain, [0.5] * columns, [0.5] * columns)
    totals = np.zeros((2, columns))
    count = np.zeros(columns)
    chosen = chosen[:MEASURED]
    for begin in range(0, len(chosen), _BATCH):
        values = plain.scaled(rows.read_resized(chosen[begin : begin + _BATCH])).astype(np.float64)
        flat = (
            np.moveaxis(values, 1, -1).reshape(-1, columns) if rows.is_image else values.reshape(-1, columns)
        )
        known = np.isfinite(flat)
        flat = np.where(known, flat, 0.0)
        totals += flat.sum(axis=0), (flat**2).sum(axis=0)
        count += known.sum(axis=0)
    count = np.maximum(count, 1)
    mean = totals[0] / count
    deviation = np.sqrt(np.maximum(totals[1] / count - mean**2, 0.0))
    # What is the same in all samples says nothing; it only moves to 0.
    return _with(plain, mean, np.where(deviation > 1e-6, deviation, 1.0))


def _with(plain: Prepare, mean: Sequence[float] | np.ndarray, deviation: Any) -> Prepare:
    return replace(
        plain,
        mean=tuple(float(np.float32(value)) for value in mean),
        deviation=tuple(float(np.float32(value)) for value in deviation),
    )


def with_targets(plain: Prepare, targets: np.ndarray) -> Prepare:
    """``plain`` with the scale of the ``targets`` [n, k] of the training rows: they get mean 0, deviation 1.

    A target that never varies is only moved to 0.
    """
    values = np.asarray(targets, np.float64)
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    # As float32, in which exported files hold them.
    return replace(
        plain,
        target_mean=tuple(float(np.float32(value)) for value in mean),
        target_deviation=tuple(float(np.float32(value)) if value > 0 else 1.0 for value in deviation),
    )
