"""Transforms that draw by chance where and how: crops, flips, turns, erased parts.

They draw from Python's ``random`` and NumPy's global generator, in Paddle's order: ``random.seed`` and
``numpy.random.seed`` make them reproducible, ``paddle.seed`` does not.
"""

from __future__ import annotations

import math
import numbers
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.tensor.creation import to_tensor
from engine.vision.transforms import functional as F
from engine.vision.transforms.kinds import Fill, check_image, is_pil, is_tensor, pair, size_of
from engine.vision.transforms.transforms import BaseTransform

_ATTEMPTS = 10
_Box = tuple[int, int, int, int]


class RandomResizedCrop(BaseTransform):
    """A part of the image, of random size and proportions, brought to ``size``.

    Args:
        size: (height, width) or a square.
        scale: the least and greatest share of the image's area.
        ratio: the least and greatest width over height.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4, 4.0 / 3),
        interpolation: str = "bilinear",
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            raise ArgumentError(
                f"RandomResizedCrop: scale and ratio should be of kind (min, max): got {scale} and {ratio}"
            )
        self.size = pair("RandomResizedCrop", size)
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation

    def _box(self, image: Any) -> _Box:
        width, height = size_of(image)
        low, high = math.log(self.ratio[0]), math.log(self.ratio[1])
        for _ in range(_ATTEMPTS):
            area = np.random.uniform(self.scale[0], self.scale[1]) * height * width
            proportion = math.exp(np.random.uniform(low, high))
            w, h = round(math.sqrt(area * proportion)), round(math.sqrt(area / proportion))
            if 0 < w <= width and 0 < h <= height:
                top = random.randint(0, height - h)
                return top, random.randint(0, width - w), h, w
        w, h = width, height
        if width / height < min(self.ratio):
            h = round(width / min(self.ratio))
        elif width / height > max(self.ratio):
            w = round(height * max(self.ratio))
        return (height - h) // 2, (width - w) // 2, h, w

    def _apply_image(self, img: Any) -> Any:
        return F.resize(F.crop(img, *self._box(img)), self.size, self.interpolation)


class RandomCrop(BaseTransform):
    """A part of the image, of the given size at a random place.

    Args:
        size: (height, width) or a square.
        padding: a border put around first, see ``functional.pad``.
        pad_if_needed: also put one where the image is smaller than ``size``.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Fill = 0,
        padding_mode: str = "constant",
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.size = pair("RandomCrop", size)
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    def _apply_image(self, img: Any) -> Any:
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        height, width = self.size
        w, h = size_of(img)
        if self.pad_if_needed and w < width:
            img = F.pad(img, (width - w, 0), self.fill, self.padding_mode)
        if self.pad_if_needed and h < height:
            img = F.pad(img, (0, height - h), self.fill, self.padding_mode)
        w, h = size_of(img)
        if (w, h) == (width, height):
            return F.crop(img, 0, 0, height, width)
        if w < width or h < height:
            raise ArgumentError(
                f"RandomCrop: the image is smaller than the crop: got {h} x {w} for {height} x {width}; "
                "give padding, or pad_if_needed=True"
            )
        top = random.randint(0, h - height)
        return F.crop(img, top, random.randint(0, w - width), height, width)


class _Flip(BaseTransform):
    """A mirror image with the probability ``prob``."""

    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.prob = _probability(type(self).__name__, prob)


class RandomHorizontalFlip(_Flip):
    """Left and right exchanged with the probability ``prob``."""

    def _apply_image(self, img: Any) -> Any:
        return F.hflip(img) if random.random() < self.prob else img


class RandomVerticalFlip(_Flip):
    """Top and bottom exchanged with the probability ``prob``."""

    def _apply_image(self, img: Any) -> Any:
        return F.vflip(img) if random.random() < self.prob else img


class RandomRotation(BaseTransform):
    """The image turned by a random angle: within ``degrees`` either way, or between two angles."""

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: str = "nearest",
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Fill = 0,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.degrees = _angles("RandomRotation", "degrees", degrees)
        self.interpolation = interpolation
        self.expand = expand
        self.center = center
        self.fill = fill

    def _apply_image(self, img: Any) -> Any:
        angle = random.uniform(self.degrees[0], self.degrees[1])
        return F.rotate(img, angle, self.interpolation, self.expand, self.center, self.fill)


class RandomAffine(BaseTransform):
    """The image turned, shifted, scaled and sheared by chance (see ``functional.affine``).

    Args:
        degrees: the greatest turn either way, or two angles.
        translate: the greatest shifts, as shares of width and height.
        scale: the least and greatest scale.
        shear: the greatest shear along x either way, or two angles, or two each along x and y.
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: str = "nearest",
        fill: Fill | None = 0,
        center: Sequence[float] | None = None,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.degrees = _angles("RandomAffine", "degrees", degrees)
        if interpolation not in ("nearest", "bilinear", "bicubic"):
            raise ArgumentError(
                f"RandomAffine: interpolation is nearest, bilinear or bicubic: got {interpolation!r}"
            )
        for name, values in (("translate", translate), ("scale", scale), ("center", center)):
            if values is not None:
                _sequence("RandomAffine", name, values, (2,))
        if translate is not None and not all(0.0 <= t <= 1.0 for t in translate):
            raise ArgumentError(
                f"RandomAffine: translation values should be between 0 and 1: got {translate}"
            )
        if scale is not None and min(scale) <= 0:
            raise ArgumentError(f"RandomAffine: scale values should be positive: got {scale}")
        if fill is not None and not isinstance(fill, (Sequence, numbers.Number)):
            raise DTypeError(f"RandomAffine: fill should be a sequence or a number: got {fill!r}")
        self.translate = translate
        self.scale = scale
        self.shear = None if shear is None else _angles("RandomAffine", "shear", shear, (2, 4))
        self.interpolation = interpolation
        self.fill = 0 if fill is None else fill
        self.center = center

    def _apply_image(self, img: Any) -> Any:
        width, height = size_of(img)
        angle = random.uniform(self.degrees[0], self.degrees[1])
        shift, scale, shear = (0, 0), 1.0, [0.0, 0.0]
        if self.translate is not None:
            x, y = float(self.translate[0] * width), float(self.translate[1] * height)
            right = int(random.uniform(-x, x))
            shift = (right, int(random.uniform(-y, y)))
        if self.scale is not None:
            scale = random.uniform(self.scale[0], self.scale[1])
        if self.shear is not None:
            shear = [random.uniform(*self.shear[n : n + 2]) for n in range(0, len(self.shear), 2)]
            shear = [*shear, 0.0][:2]
        return F.affine(img, angle, shift, scale, shear, self.interpolation, self.fill, self.center)


class RandomPerspective(BaseTransform):
    """The image seen askew with the probability ``prob``.

    ``distortion_scale`` (0 to 1) says how far the corners may move inwards, as a share of half the image.
    """

    def __init__(
        self,
        prob: float = 0.5,
        distortion_scale: float = 0.5,
        interpolation: str = "nearest",
        fill: Fill = 0,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.prob = _probability("RandomPerspective", prob)
        if not 0 <= distortion_scale <= 1:
            raise ArgumentError(
                f"RandomPerspective: distortion_scale must be between 0 and 1: got {distortion_scale}"
            )
        if interpolation not in ("nearest", "bilinear", "bicubic"):
            raise ArgumentError(
                f"RandomPerspective: interpolation is nearest, bilinear or bicubic: got {interpolation!r}"
            )
        if not isinstance(fill, (numbers.Number, str, list, tuple)):
            raise ArgumentError(f"RandomPerspective: fill must be a number or a sequence: got {fill!r}")
        self.distortion_scale = distortion_scale
        self.interpolation = interpolation
        self.fill = fill

    def get_params(self, width: int, height: int, distortion_scale: float) -> tuple[Any, Any]:
        """The corners, and where they go: top left, top right, bottom right, bottom left."""
        x, y = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))
        left, right, top, bottom = (0, x + 1), (width - x - 1, width), (0, y + 1), (height - y - 1, height)
        places = [
            [int(random.uniform(*across)), int(random.uniform(*down))]
            for across, down in ((left, top), (right, top), (right, bottom), (left, bottom))
        ]
        corners = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        return corners, places

    def _apply_image(self, img: Any) -> Any:
        width, height = size_of(img)
        if random.random() >= self.prob:
            return img
        start, end = self.get_params(width, height, self.distortion_scale)
        return F.perspective(img, start, end, self.interpolation, self.fill)


class RandomErasing(BaseTransform):
    """A random part of the image painted over, with the probability ``prob``.

    Args:
        scale: the least and greatest share of the area.
        ratio: the least and greatest height over width.
        value: a number, one for each channel, or ``'random'`` for noise.
        inplace: paint over the array or Tensor itself.
    """

    def __init__(
        self,
        prob: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | Sequence[float] | str = 0,
        inplace: bool = False,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        for name, pair_, most in (("scale", scale, 1.0), ("ratio", ratio, math.inf)):
            _sequence("RandomErasing", name, pair_, (2,), ArgumentError)
            if not 0 <= pair_[0] <= pair_[1] <= most:
                raise ArgumentError(f"RandomErasing: {name} should be of kind (min, max): got {pair_}")
        if not isinstance(value, (numbers.Number, str, tuple, list)):
            raise ArgumentError(
                f"RandomErasing: value must be a number, a sequence or 'random': got {value!r}"
            )
        if isinstance(value, str) and value != "random":
            raise ArgumentError(f"RandomErasing: value must be 'random' when it is str: got {value!r}")
        if isinstance(value, (tuple, list)) and len(value) not in (1, 3):
            raise ArgumentError(
                f"RandomErasing: value must be one number or one for each of 3 channels: got {len(value)}"
            )
        self.prob = _probability("RandomErasing", prob)
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    def _apply_image(self, img: Any) -> Any:
        check_image("RandomErasing", img)
        if random.random() >= self.prob:
            return img
        shape = list(np.asarray(img).shape) if is_pil(img) else list(img.shape)
        c, h, w = shape[-3:] if is_tensor(img) else ([*shape, 1][2], *shape[:2])
        low, high = np.log(self.ratio)
        for _ in range(_ATTEMPTS):
            area = np.random.uniform(self.scale[0], self.scale[1]) * h * w
            proportion = np.exp(np.random.uniform(low, high))
            height, width = round(float(np.sqrt(area * proportion))), round(float(np.sqrt(area / proportion)))
            if height >= h or width >= w:
                continue
            value = self._value(img, int(c), height, width)
            top = np.random.randint(0, h - height + 1)
            left = np.random.randint(0, w - width + 1)
            return F.erase(img, top, left, height, width, value, self.inplace)
        return img

    def _value(self, img: Any, channels: int, height: int, width: int) -> Any:
        if self.value == "random":
            if is_tensor(img):
                noise = np.random.normal(size=[channels, height, width])
                return to_tensor(noise).astype(img.dtype)
            noise = np.random.normal(size=[height, width, channels]) * 255
            return noise if len(np.shape(img)) == 3 else noise[:, :, 0]
        values = np.array([self.value] if isinstance(self.value, numbers.Number) else self.value)
        return to_tensor(values[:, None, None]).astype(img.dtype) if is_tensor(img) else values


def _probability(where: str, prob: float) -> float:
    if not 0 <= prob <= 1:
        raise ArgumentError(f"{where}: probability must be between 0 and 1: got {prob}")
    return prob


def _angles(where: str, name: str, value: Any, counts: tuple[int, ...] = (2,)) -> list[float]:
    if isinstance(value, numbers.Number):
        if value < 0:  # type: ignore[operator]
            raise ArgumentError(f"{where}: If {name} is a single number, it must be positive: got {value}")
        return [-float(value), float(value)]  # type: ignore[arg-type]
    _sequence(where, name, value, counts)
    return [float(angle) for angle in value]


def _sequence(
    where: str, name: str, value: Any, counts: tuple[int, ...], error: type[Exception] = DTypeError
) -> None:
    wanted = " or ".join(map(str, counts))
    if not isinstance(value, Sequence):
        raise error(f"{where}: {name} should be a sequence of length {wanted}: got {value!r}")
    if len(value) not in counts:
        raise ArgumentError(f"{where}: {name} should be sequence of length {wanted}: got {value!r}")
