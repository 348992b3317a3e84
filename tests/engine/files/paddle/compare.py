"""Comparison of nests of plain values and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def assert_same(found: Any, expected: Any) -> None:
    """Both are of the same types, in the same order, with the same numbers."""
    assert type(found) is type(expected), (type(found), type(expected))
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            assert_same(found[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, np.ndarray):
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype.newbyteorder("="))
        assert np.array_equal(found, expected)
    else:
        assert found == expected
