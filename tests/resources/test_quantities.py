"""Numbers as people read them: one format for each quantity."""

from __future__ import annotations

import math

import pytest

from resources import quantities

CASES = {
    "percent": [
        (0.9765, "97.65 %"),
        (0.975, "97.50 %"),
        (1, "100.00 %"),
        (-1e-9, "0.00 %"),
        (12.3456, "1 234.56 %"),
        (math.nan, "NaN"),
        (math.inf, "∞"),
    ],
    "points": [(0.0052, "+0.52"), (-0.012, "−1.20"), (1e-9, "0.00"), (math.nan, "NaN")],
    "ratio": [(3.214, "3.2"), (1234.56, "1 234.6"), (math.inf, "∞")],
    "loss": [
        (0.1, "0.1000"),
        (0.0123456, "0.01235"),
        (0, "0"),
        (1e-9, "1.000e−9"),
        (9.99996, "10.00"),
        (9999.96, "10 000"),
        (12345.6, "12 346"),
        (-2345678.9, "−2 345 679"),
        (1.23456e7, "1.235e7"),
        (math.nan, "NaN"),
        (-math.inf, "−∞"),
    ],
    "value": [(80023.6, "80 024"), (2.5, "2.5"), (-0.000123456, "−1.235e−4"), (3, "3"), (math.nan, "NaN")],
    "learning_rate": [(0.001, "0.001"), (1e-5, "1e-05"), (math.nan, "–")],
    "found_rate": [(0.00123, "0.0012"), (1.26e-5, "1.3e-05"), (math.nan, "–")],
    "duration": [
        (2.4e-8, "24 ns"),
        (31e-6, "31 µs"),
        (0.0012, "1.2 ms"),
        (0.25, "250 ms"),
        (0.9996, "1.0 s"),
        (12.34, "12.3 s"),
        (59.96, "1 min 00 s"),
        (72, "1 min 12 s"),
        (3599.7, "1 h 00 min"),
        (7500, "2 h 05 min"),
        (90000, "25 h 00 min"),
        (0, "0 s"),
        (-1, "–"),
        (math.inf, "–"),
    ],
    "count": [(0, "0"), (-1234, "−1 234"), (1234567, "1 234 567")],
    "size": [
        (0, "0 B"),
        (999.6, "1.00 kB"),
        (12_345_678, "12.3 MB"),
        (999_600, "1.00 MB"),
        (5e12, "5 000 GB"),
        (math.nan, "–"),
    ],
}


@pytest.mark.parametrize("quantity", CASES)
def test_each_quantity_has_one_format_for_all_values(quantity: str) -> None:
    found = [
        getattr(quantities, quantity)(value).replace(quantities.THIN, " ") for value, _ in CASES[quantity]
    ]
    assert found == [text for _, text in CASES[quantity]]


def test_an_estimated_time_has_whole_seconds() -> None:
    assert [quantities.duration(seconds, whole=True) for seconds in (0.4, 12.3, 59.7)] == [
        f"0{quantities.THIN}s",
        f"12{quantities.THIN}s",
        f"1{quantities.THIN}min 00{quantities.THIN}s",
    ]
