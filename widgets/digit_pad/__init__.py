"""A pad to draw digits on, the fitting that MNIST's digits went through, and a view of small pictures.

The widgets are loaded when asked for: `widgets.digit_pad.fit` also serves the command line, where Qt may be
absent.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widgets.digit_pad.pad import DigitPad
    from widgets.digit_pad.pixel_view import PixelView

__all__ = ["DigitPad", "PixelView"]


def __getattr__(name: str) -> Any:
    if name == "DigitPad":
        from widgets.digit_pad.pad import DigitPad

        return DigitPad
    if name == "PixelView":
        from widgets.digit_pad.pixel_view import PixelView

        return PixelView
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
