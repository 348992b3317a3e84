"""An operator of a plan writes into an input's array only where an eager call lays its result out alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.program.run.reuse import fitting


def test_arrays_of_equal_layout_are_reused() -> None:
    plain = np.zeros((2, 3, 4, 4))
    turned = np.zeros((4, 4, 2, 3)).transpose(2, 3, 0, 1)
    assert fitting(plain) is plain
    assert fitting(turned, np.ones_like(turned), np.zeros(3)) is turned
    assert fitting(np.zeros((1, 3, 1))[:, ::1]) is not None


def test_arrays_of_another_layout_are_not_reused() -> None:
    plain = np.zeros((2, 3, 4, 4))
    turned = np.zeros((4, 4, 2, 3)).transpose(2, 3, 0, 1)
    inner = np.zeros((2, 3, 6, 6))[:, :, 1:5, 1:5]
    assert fitting(plain, turned) is None
    assert fitting(turned, plain) is None
    assert fitting(inner) is None
    assert fitting(plain, inner) is None


@pytest.mark.parametrize("part", [lambda a: a[0], lambda a: a[:, :1]], ids=["row", "column"])
def test_an_array_that_is_also_read_through_a_view_is_not_written_into(
    part: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.kernels.cpu.fused_elementwise.LARGE", 1 << 16)

    def run(x: Any, w: Any) -> Any:
        a = paddle.matmul(x, w)
        return paddle.exp((a - part(a)) * 0.01) + 1

    rng = np.random.default_rng(3)
    x, w = (paddle.to_tensor(rng.standard_normal(s).astype("float32")) for s in ((256, 16), (16, 256)))
    with paddle.no_grad():
        want, converted = run(x, w).numpy(), paddle.jit.to_static(run)
        for _ in range(2):  # a chain is cut into blocks in its second run
            np.testing.assert_allclose(converted(x, w).numpy(), want, rtol=1e-5)
