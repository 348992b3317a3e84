"""A pad to draw digits on, and a view of small images."""

from widgets.digit_pad.pad import DigitPad
from widgets.digit_pad.pixel_view import PixelView

__all__ = ["DigitPad", "PixelView"]
