"""Numbers as people read them: one format for each quantity, for the window, reports and the command line.

A negative number has a real minus sign; ``typed`` gives the text that a terminal shows.

CSV files and JSON have all digits instead.
"""

from __future__ import annotations

import math
from numbers import Integral
from typing import SupportsFloat

THIN = "\u2009"
NOTHING = "\u2013"
MINUS = "\u2212"
DIGITS = 4  # significant ones of a loss, R² or error
_SIZES = ((1e3, "kB"), (1e6, "MB"), (1e9, "GB"))


def count(value: int) -> str:
    """An integer, its thousands set apart by thin spaces: ``91 200``."""
    return (MINUS if value < 0 else "") + f"{abs(int(value)):,}".replace(",", THIN)


def number(value: SupportsFloat, unit: str = "", digits: int = DIGITS, keep_zeros: bool = False) -> str:
    """A number of no kind below: at most `digits` significant digits, thin spaces.

    Integers given as int are counts and stay exact. `keep_zeros` keeps trailing zeros, so that a figure
    that is updated keeps its width. NaN and the infinities are named, never hidden.
    """
    if isinstance(value, Integral):
        text = count(int(value))
    else:
        text = _named(float(value)) or _significant(float(value), digits, keep_zeros)
    return f"{text}{THIN}{unit}" if unit else text


def percent(share: SupportsFloat) -> str:
    """A share of 1, such as an accuracy or a probability, as a percentage with two decimals: ``97.65 %``."""
    value = 100 * float(share)
    return _named(value) or f"{_grouped(f'{value:.2f}')}{THIN}%"


def points(change: SupportsFloat) -> str:
    """A difference of two shares of 1 in percentage points, with its sign: ``+0.52``, ``−1.20``, ``0.00``."""
    value = 100 * float(change)
    text = _named(abs(value)) or f"{abs(value):.2f}"
    return text if text == "0.00" or value != value else f"{'+' if value > 0 else MINUS}{text}"


def ratio(value: SupportsFloat) -> str:
    """How many times larger or faster something is: ``3.2``."""
    return _named(float(value)) or _grouped(f"{float(value):.1f}")


def loss(value: SupportsFloat, unit: str = "") -> str:
    """A loss, R² or error of predicted numbers: four significant digits, with trailing zeros.

    The digits of the integer part all stay up to ten million (``12 346``); below a thousandth and from ten
    million on there is an exponent (``1.000e-9``). Zero is ``0``. NaN and the infinities are named.
    """
    real = float(value)
    if 10**DIGITS <= abs(real) < 1e7:
        text = _grouped(f"{real:.0f}")
    else:
        text = _named(real) or ("0" if real == 0 else _significant(real, DIGITS, True))
    return f"{text}{THIN}{unit}" if unit else text


def value(number_or_target: SupportsFloat, unit: str = "") -> str:
    """A predicted number, or one of the data: as a loss, without trailing zeros: ``80 024 EUR``, ``2.5``."""
    real = float(number_or_target)
    return loss(real, unit) if 10**DIGITS <= abs(real) < 1e7 else number(real, unit)


def learning_rate(value: SupportsFloat) -> str:
    """A learning rate as it was given: ``0.001``, ``1e-05``; a dash for an unknown one."""
    rate = float(value)
    return NOTHING if math.isnan(rate) else f"{rate:g}"


def found_rate(value: SupportsFloat) -> str:
    """A learning rate that a search found, which knows two significant digits: ``0.0012``."""
    return learning_rate(f"{float(value):.2g}")


def duration(seconds: SupportsFloat, whole: bool = False) -> str:
    """A time span: ``31 µs``, ``250 ms``, ``12.3 s``, ``1 min 12 s``, ``2 h 05 min``; a dash if unknown.

    Args:
        whole: an estimate, whose tenths of a second mean nothing: ``12 s``.
    """
    time = float(seconds)
    if not math.isfinite(time) or time < 0:
        return NOTHING
    if not time:
        return f"0{THIN}s"
    if not whole:
        for scale, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
            if time * scale < 999.5:
                return number(time * scale, unit, digits=3 if time * scale >= 100 else 2)
        if time < 59.95:
            return f"{time:.1f}{THIN}s"
    rounded = round(time)
    if rounded < 60:
        return f"{rounded}{THIN}s"
    minutes, rest = divmod(rounded, 60)
    if minutes < 60:
        return f"{minutes}{THIN}min {rest:02}{THIN}s"
    hours, minutes = divmod(round(time / 60), 60)
    return f"{count(hours)}{THIN}h {minutes:02}{THIN}min"


def size(count_of_bytes: SupportsFloat) -> str:
    """A size in bytes, of which a thousand are a kilobyte: ``950 B``, ``12.3 MB``."""
    value = float(count_of_bytes)
    if not math.isfinite(value):
        return NOTHING
    if value < 999.5:
        return number(round(value), "B")
    scale, unit = next((pair for pair in _SIZES if value < 999.5 * pair[0]), _SIZES[-1])
    return number(value / scale, unit, digits=3, keep_zeros=True)


def typed(text: str) -> str:
    """``text`` with the spaces and signs that each terminal and font of one width has."""
    return text.replace(THIN, " ").replace(MINUS, "-")


def _named(value: float) -> str:
    """NaN and the infinities in words; empty for other numbers."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "\u221e" if value > 0 else f"{MINUS}\u221e"
    return ""


def _grouped(text: str) -> str:
    """The digits before the decimal point in groups of three."""
    whole, point, rest = text.partition(".")
    sign = MINUS if text.startswith("-") and text.strip("-0.") else ""
    return sign + count(int(whole.removeprefix("-"))) + point + rest


def _significant(value: float, digits: int, keep_zeros: bool) -> str:
    magnitude = abs(value)
    if magnitude != 0 and (magnitude < 1e-3 or magnitude >= 1e7):
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        if not keep_zeros and "." in mantissa:
            mantissa = mantissa.rstrip("0").rstrip(".")
        return f"{mantissa}e{int(power)}".replace("-", MINUS)
    exponent = math.floor(math.log10(magnitude)) if magnitude else 0
    rounded = round(value, digits - 1 - exponent)
    # Rounding may have reached the next power of ten (99.996 -> 100.0): count the decimals again.
    exponent = math.floor(math.log10(abs(rounded))) if rounded else 0
    decimals = (
        max(0, digits - 1 - max(exponent, 0)) if magnitude >= 1 or not magnitude else digits - 1 - exponent
    )
    text = f"{abs(rounded):.{decimals}f}"
    if not keep_zeros and "." in text:
        text = text.rstrip("0").rstrip(".")
    return (MINUS if rounded < 0 else "") + _grouped(text)
