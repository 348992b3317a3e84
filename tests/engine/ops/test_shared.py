"""Operators that threads share: the results are bitwise identical for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from engine.kernels.cpu import pool, ranges, sums, threads
from engine.ops.activations import piecewise
from engine.ops.elementwise import mask
from engine.ops.images import pooling
from engine.ops.normalization import batch_norm

SHAPE = (8, 6, 12, 10)
ORDERS = {"as given": (0, 1, 2, 3), "rows first": (2, 1, 3, 0), "channels first": (1, 2, 3, 0)}


def drawn(draw: Any, order: tuple[int, ...], odd: bool = False) -> Any:
    """Numbers of ``SHAPE`` with the memory order of its axes."""
    made = draw.standard_normal([SHAPE[n] for n in order], dtype=np.float32)
    if odd:
        made.flat[:6] = np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0
    return made.transpose(np.argsort(order))


def lies(array: Any) -> list[int]:
    """The dimensions that are longer than 1, in the order of memory."""
    axes = [n for n, length in enumerate(array.shape) if length > 1]
    return sorted(axes, key=lambda n: array.strides[n])


def calls(order: tuple[int, ...]) -> dict[str, Any]:
    """Computed results by name."""
    draw = np.random.default_rng(7)
    x, g, odd = drawn(draw, order), drawn(draw, order), drawn(draw, order, odd=True)
    scale, bias, mean = (draw.standard_normal(6, dtype=np.float32) for _ in range(3))
    variance = np.abs(mean) + 1
    found: dict[str, Any] = {
        "relu": OPS["relu"].kernel(np, odd),
        "relu_grad": OPS["relu_grad"].kernel(np, odd, np.maximum(g, 0)),
        "sum": OPS["reduce_sum"].kernel(np, x, axis=(0, 2, 3)),
        "sum, kept": OPS["reduce_sum"].kernel(np, x, axis=(0, 2, 3), keepdim=True),
    }
    for test in (False, True):
        found[f"batch_norm {test}"] = OPS["batch_norm"].kernel(
            np, x, scale, bias, mean, variance, is_test=test
        )
        found[f"batch_norm_grad {test}"] = OPS["batch_norm_grad"].kernel(
            np, x, scale, g, mean, variance, is_test=test
        )
    for kind in ("max", "avg"):
        for name, where in {
            "windows": {"ksize": (2, 2), "strides": (2, 2)},
            "overlapping": {"ksize": (3, 2), "strides": (1, 2), "paddings": (1, 1)},
            "adaptive": {"ksize": (5, 3), "adaptive": True},
        }.items():
            y = OPS["pool2d"].kernel(np, x, pooling_type=kind, **where)
            sent = np.asarray(draw.standard_normal(y.shape), np.float32)
            found[f"{kind} {name}"] = y
            found[f"{kind} {name} grad"] = OPS["pool2d_grad"].kernel(
                np, x, y, sent, pooling_type=kind, **where
            )
    return found


@pytest.mark.parametrize("order", list(ORDERS))
def test_parts_agree_with_the_whole(monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    whole = calls(ORDERS[order])
    found = []
    for module in (ranges, sums, pooling, batch_norm, piecewise, mask):
        monkeypatch.setattr(module, "LARGE", 1)
    monkeypatch.setattr(mask, "_RUN", 64)
    monkeypatch.setattr(mask, "_LEAST", 1)
    mask._zeros.cache_clear()
    monkeypatch.setattr(ranges, "_RANGE", 1 << 10)
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "_count", count)
        found.append(calls(ORDERS[order]))
    pool.dismiss()
    mask._zeros.cache_clear()
    for name, want in whole.items():
        wanted = want if isinstance(want, tuple) else (want,)
        for one in found:
            given = one[name] if isinstance(one[name], tuple) else (one[name],)
            first = found[0][name] if isinstance(found[0][name], tuple) else (found[0][name],)
            for a, b, c in zip(given, wanted, first, strict=True):
                np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6, err_msg=name)
                assert a.tobytes() == c.tobytes(), name
                assert a.dtype == b.dtype, name
                assert lies(a) == lies(b), name


def test_relu_of_parts_of_arrays_is_the_same_number_by_number() -> None:
    x = np.random.default_rng(1).standard_normal((3, 5000), dtype=np.float32)
    x[0, :6] = np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0
    want = np.array([np.maximum(v, np.float32(0)) for v in x.flat]).reshape(x.shape)
    for given, expected in ((x[:, :4900], want[:, :4900]), (x[:, ::2], want[:, ::2])):
        assert mask.rectified(np, given).tobytes() == expected.tobytes()
    part = x[:, 10:4500]
    mask.rectified(np, part, part)
    np.testing.assert_array_equal(x[:, 10:4500], want[:, 10:4500])


def test_numpys_buffer_is_as_long_as_before() -> None:
    before = np.getbufsize()
    with ranges.unbuffered():
        assert np.getbufsize() < before
    with pytest.raises(ZeroDivisionError), ranges.unbuffered():
        raise ZeroDivisionError
    assert np.getbufsize() == before
