"""Transforms that change colours by chance; they draw from Python's ``random``, as Paddle's do."""

from __future__ import annotations

import numbers
import random
from collections.abc import Sequence
from typing import Any, ClassVar

from engine.core.errors import ArgumentError, DTypeError
from engine.vision.transforms import functional as F
from engine.vision.transforms.transforms import BaseTransform, Compose


class _Adjustment(BaseTransform):
    """Applies ``ADJUST`` with a factor drawn between two bounds.

    Args:
        value: the greatest distance from the factor that changes nothing, or the two bounds.

    Raises:
        ArgumentError: a negative number, or bounds out of order or range.
        DTypeError: neither.
    """

    NAME: ClassVar[str]
    ADJUST: ClassVar[staticmethod[[Any, float], Any]]
    CENTER: ClassVar[float] = 1
    BOUND: ClassVar[tuple[float, float]] = (0, float("inf"))

    def __init__(self, value: float | Sequence[float], keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.value = self._bounds(value)

    def _bounds(self, value: Any) -> list[float] | None:
        where = type(self).__name__
        if isinstance(value, numbers.Number):
            if value < 0:  # type: ignore[operator]
                raise ArgumentError(
                    f"{where}: If {self.NAME} is a single number, it must be non negative: got {value}"
                )
            bounds = [self.CENTER - value, self.CENTER + value]  # type: ignore[operator]
            if self.BOUND[0] == 0:
                bounds[0] = max(bounds[0], 0)
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            bounds = list(value)
            if not self.BOUND[0] <= bounds[0] <= bounds[1] <= self.BOUND[1]:
                raise ArgumentError(
                    f"{where}: {self.NAME} values should be between {self.BOUND}: got {value}"
                )
        else:
            raise DTypeError(f"{where}: {self.NAME} should be a single number or two: got {value!r}")
        return None if bounds[0] == bounds[1] == self.CENTER else bounds

    def _apply_image(self, img: Any) -> Any:
        if self.value is None:
            return img
        return type(self).ADJUST(img, random.uniform(self.value[0], self.value[1]))


class BrightnessTransform(_Adjustment):
    """Brightness between 1 - ``value`` and 1 + ``value`` times that of the image, or between two bounds."""

    NAME = "brightness"
    ADJUST = staticmethod(F.adjust_brightness)


class ContrastTransform(_Adjustment):
    """Contrast between 1 - ``value`` and 1 + ``value`` times that of the image, or between two bounds."""

    NAME = "contrast"
    ADJUST = staticmethod(F.adjust_contrast)


class SaturationTransform(_Adjustment):
    """Saturation between 1 - ``value`` and 1 + ``value`` times that of the image, or between two bounds."""

    NAME = "saturation"
    ADJUST = staticmethod(F.adjust_saturation)


class HueTransform(_Adjustment):
    """Colours turned by up to ``value`` (at most 0.5) of the circle either way, or between two bounds."""

    NAME = "hue"
    ADJUST = staticmethod(F.adjust_hue)
    CENTER = 0
    BOUND = (-0.5, 0.5)


class ColorJitter(BaseTransform):
    """Brightness, contrast, saturation and hue changed by chance, in random order.

    Args:
        brightness, contrast, saturation, hue: as for the single transforms; 0 or None leaves one out.
    """

    def __init__(
        self,
        brightness: float | Sequence[float] | None = 0,
        contrast: float | Sequence[float] | None = 0,
        saturation: float | Sequence[float] | None = 0,
        hue: float | Sequence[float] | None = 0,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.hue = hue
        kinds = (
            (BrightnessTransform, brightness),
            (ContrastTransform, contrast),
            (SaturationTransform, saturation),
            (HueTransform, hue),
        )
        self._transforms = [kind(value, self.keys) for kind, value in kinds if value is not None]

    def _apply_image(self, img: Any) -> Any:
        order = list(self._transforms)
        random.shuffle(order)
        return Compose(order)(img)
