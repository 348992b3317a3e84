"""Types of the stand-in's elementwise functions are those of CuPy 14: NumPy's rules for Python's numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.cupy_stand_in.module import installed


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with installed() as top:
        yield top


@pytest.mark.parametrize("number", [2, 0.5, True, 1j, np.float32(2), np.int8(2)])
@pytest.mark.parametrize("kind", ["?", "u1", "i1", "i4", "i8", "f2", "f4", "f8"])
def test_python_numbers_adapt_to_arrays_of_their_kind_only(cupy: Any, kind: str, number: Any) -> None:
    x = np.ones(2, kind)
    assert (cupy.asarray(x) * number).dtype == (x * number).dtype


def test_integers_that_an_array_does_not_hold(cupy: Any) -> None:
    x = cupy.asarray(np.array([44, 255], np.uint8))
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        x + 300
    assert (x < 300).get().all()
    assert not (x == 300).get().any()
    assert not (x == -1).get().any()
