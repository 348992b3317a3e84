"""Numbers and durations as people read them."""

from __future__ import annotations

import numpy as np
import pytest

from widgets.figures import format_duration, format_number


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (91234.0, "img/s", "91\u2009230\u2009img/s"),
        (97.84321, "%", "97.84\u2009%"),
        (0.081234, "", "0.08123"),
        (0.0019, "", "0.0019"),
        (8.1234e-4, "", "8.123e-4"),
        (99.9999, "%", "100\u2009%"),
        (0.99999, "", "1"),
        (9999.96, "", "10\u2009000"),
        (5, "", "5"),
        (123456, "", "123\u2009456"),
        (-1234.56, "", "-1\u2009235"),
        (0.0, "", "0"),
        (1.5e9, "", "1.5e9"),
        (float("nan"), "", "NaN"),
        (float("-inf"), "", "-\u221e"),
        (np.float32(0.5), "", "0.5"),
        (np.int64(1200), "ops", "1\u2009200\u2009ops"),
    ],
)
def test_format_number(value: float, unit: str, text: str) -> None:
    assert format_number(value, unit) == text


def test_kept_zeros_hold_the_width() -> None:
    texts = [format_number(value, keep_zeros=True) for value in (0.5, 0.25, 0.1251)]
    assert texts == ["0.5000", "0.2500", "0.1251"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (31e-6, "31\u2009µs"),
        (2.4e-8, "24\u2009ns"),
        (0.0012, "1.2\u2009ms"),
        (0.25, "250\u2009ms"),
        (0.9996, "0:01"),
        (14.4, "0:14"),
        (59.7, "1:00"),
        (3723, "1:02:03"),
        (0, "0:00"),
        (-1, "\u2013"),
        (float("nan"), "\u2013"),
    ],
)
def test_format_duration(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
