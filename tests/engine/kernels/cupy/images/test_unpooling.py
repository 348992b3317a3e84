"""Elements put to places on a GPU: in the order of the elements, whatever the order of threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from engine.core.errors import OutOfRangeError
from engine.core.operators.opdef import OPS
from tests.cupy_stand_in.counts import counted
from tests.engine.kernels.cupy.kernels_on_gpu import numbers, on_gpu, run


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with on_gpu() as module:
        yield module


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elements_of_one_place_are_added_in_their_order(cupy: Any, dtype: Any) -> None:
    x, g = numbers(1, 2, 3, 5, 4, dtype=dtype), numbers(2, 2, 3, 17, 19, dtype=dtype)
    mask = np.random.default_rng(3).integers(0, 20, g.shape).astype(np.int32)
    mask[1, 2] = 7  # all of them in one place
    want = OPS["max_pool2d_with_index_grad"].kernel(np, x, mask, g)
    (got,) = run(cupy, "max_pool2d_with_index_grad", x, mask, g)
    assert got.tobytes() == want.tobytes()


def test_the_last_of_several_stays(cupy: Any) -> None:
    x = numbers(1, 2, 2, 20, 15)
    indices = np.random.default_rng(3).integers(0, 350, x.shape)
    attrs: dict[str, Any] = {"ksize": [2, 2], "output_size": [20, 20]}
    (got,) = run(cupy, "unpool", x, indices, **attrs)
    assert got.tobytes() == OPS["unpool"].kernel(np, x, indices, **attrs).tobytes()
    with counted() as seen:
        OPS["unpool"].overrides["cupy"][0](cupy, cupy.asarray(x), cupy.asarray(indices), **attrs)
    assert (seen.launches, seen.waits) == (1, 0)


def test_a_position_outside_the_image_is_reported_after_the_wait(cupy: Any) -> None:
    from engine.kernels.cupy import faults

    x, indices = numbers(1, 1, 1, 2, 2), np.array([[[[0, 9], [2, 3]]]])
    (got,) = run(cupy, "unpool", x, indices, ksize=[2, 2], output_size=[3, 3])
    assert got.reshape(-1).tolist() == [x[0, 0, 0, 0], 0, x[0, 0, 1, 0], x[0, 0, 1, 1], 0, 0, 0, 0, 0]
    with pytest.raises(OutOfRangeError, match="unpool: place 9 is out of range for a plane with 9 elements"):
        faults.look()
