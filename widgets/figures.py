"""Numbers and durations as the studio writes them: few digits, thin spaces, a unit."""

from __future__ import annotations

import math
from numbers import Integral
from typing import SupportsFloat

THIN = "\u2009"
NOTHING = "\u2013"


def _grouped(digits: str) -> str:
    """Thousands of an unsigned integer set apart by thin spaces."""
    return f"{int(digits):,}".replace(",", THIN)


def _plain(value: float, digits: int, keep_zeros: bool) -> str:
    size = abs(value)
    if size != 0 and (size < 1e-3 or size >= 1e7):
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        if not keep_zeros and "." in mantissa:
            mantissa = mantissa.rstrip("0").rstrip(".")
        return f"{mantissa}e{int(power)}"
    exponent = math.floor(math.log10(size)) if size else 0
    rounded = round(value, digits - 1 - exponent)
    # Rounding may have reached the next power of ten (99.996 -> 100.0): count the decimals again.
    exponent = math.floor(math.log10(abs(rounded))) if rounded else 0
    decimals = max(0, digits - 1 - max(exponent, 0)) if size >= 1 or not size else digits - 1 - exponent
    text = f"{abs(rounded):.{decimals}f}"
    if not keep_zeros and "." in text:
        text = text.rstrip("0").rstrip(".")
    whole, point, rest = text.partition(".")
    return ("-" if rounded < 0 else "") + _grouped(whole) + point + rest


def format_number(value: SupportsFloat, unit: str = "", digits: int = 4, keep_zeros: bool = False) -> str:
    """A number for people: at most `digits` significant digits, thin spaces between thousands and before the
    unit.

    Integers given as int are counts and stay exact. `keep_zeros` keeps trailing zeros, so that a figure
    that is updated keeps its width. NaN and the infinities are named, never hidden.
    """
    number = float(value)
    if isinstance(value, Integral):
        text = ("-" if number < 0 else "") + _grouped(str(abs(int(value))))
    elif math.isnan(number):
        text = "NaN"
    elif math.isinf(number):
        text = "\u221e" if number > 0 else "-\u221e"
    else:
        text = _plain(number, digits, keep_zeros)
    return f"{text}{THIN}{unit}" if unit else text


def format_duration(seconds: float) -> str:
    """A time span: `0:14`, `1:02:03` from a second up, `250 ms`, `31 µs` below; a dash for an unknown one."""
    if not math.isfinite(seconds) or seconds < 0:
        return NOTHING
    if seconds == 0:
        return "0:00"
    for scale, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
        if seconds * scale < 999.5:
            return format_number(float(seconds * scale), unit, digits=3 if seconds * scale >= 100 else 2)
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"
