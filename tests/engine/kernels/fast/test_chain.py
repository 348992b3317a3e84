"""Parts of chains against NumPy, one operator a chain and several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine  # noqa: F401
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.fast import arguments, part_maker
from engine.kernels.fast.chain import Chain

RANDOM = np.random.default_rng(0)


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return RANDOM.standard_normal(shape).astype(dtype)


def chain_of(name: str, arrays: list[Any], attrs: dict[str, Any]) -> tuple[Chain, Any]:
    """The chain of one operator, and what NumPy's kernel gives."""
    attrs = OPS[name].with_defaults(attrs)
    wanted = OPS[name].kernel(np, *arrays, **attrs)
    wanted = (wanted,) if OPS[name].single else tuple(wanted)
    inputs, outputs = [Spec.of(x) for x in arrays], [Spec.of(np.asarray(x)) for x in wanted]
    part = part_maker(OPS[name])(inputs, outputs, attrs)
    count, results = len(arrays), [*range(len(arrays), len(arrays) + len(wanted))]
    made = Chain([(part, [*range(count), *results])], [*inputs, *outputs], count, results)
    assert all(handle.wait(120) for handle in made.handles)
    made.complete()
    return made, wanted


LABELS = np.array([[1], [-100], [0], [3], [2]])
CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("matmul_v2", [numbers(5, 7), numbers(7, 3)], {}),
    ("matmul_v2", [numbers(7, 5), numbers(3, 7)], {"trans_x": True, "trans_y": True}),
    ("elementwise_add", [numbers(5, 33), numbers(33)], {}),
    ("elementwise_mul", [numbers(5, 1), numbers(33)], {}),
    ("relu", [np.array([[-1.0, np.nan, np.inf, 2.0, -np.inf]], np.float32)], {}),
    ("relu_grad", [numbers(3, 21), numbers(3, 21)], {}),
    ("tanh", [numbers(3, 21, dtype=np.float64)], {}),
    ("reduce_sum", [numbers(11, 37)], {"axis": [0]}),
    ("reduce_sum", [numbers(2, 3, 5, dtype=np.float64)], {"axis": [0, 1]}),
    ("reduce_sum", [numbers(9, 16)], {"axis": [0], "keepdim": True}),
    ("softmax_with_cross_entropy", [numbers(5, 4), LABELS], {}),
    ("softmax_with_cross_entropy_grad", [numbers(5, 1), numbers(5, 4), LABELS], {}),
    ("kept_mean", [numbers(5, 1), LABELS], {}),
    ("kept_mean", [numbers(5, 1), LABELS.astype(np.int32)], {"ignore_index": 3}),
    ("kept_mean", [numbers(2, 1), np.full((2, 1), -100)], {}),
    ("kept_mean_grad", [np.float32([1.5]).reshape(()), numbers(5, 1), LABELS], {}),
    ("kept_mean_grad", [np.array(0.5), numbers(70, 1, dtype=np.float64), np.arange(70)[:, None]], {}),
]


@pytest.mark.parametrize(("name", "arrays", "attrs"), CASES)
def test_a_part_computes_its_operator(name: str, arrays: list[Any], attrs: dict[str, Any]) -> None:
    made, wanted = chain_of(name, arrays, attrs)
    results = made(*arrays)
    assert results is not None
    for got, want in zip(results, wanted, strict=True):
        assert (got.shape, got.dtype) == (np.shape(want), want.dtype)
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6)


def test_elementwise_results_are_bitwise_numpys() -> None:
    for name, arrays, attrs in CASES[2:6]:
        made, (want,) = chain_of(name, arrays, attrs)
        results = made(*arrays)
        assert results is not None
        np.testing.assert_array_equal(results[0], want)


def test_it_refuses_what_it_cannot_compute() -> None:
    made, _ = chain_of("relu", [numbers(6, 6)], {})
    assert made(np.asfortranarray(numbers(6, 6))) is None
    made, _ = chain_of("softmax_with_cross_entropy", [numbers(5, 4), LABELS], {})
    assert made(numbers(5, 4), LABELS + 4) is None
    assert made(numbers(5, 4), LABELS) is not None


def test_numbers_of_numpy_are_arrays_without_dimensions() -> None:
    made, (want,) = chain_of("kept_mean_grad", [np.array(1.5, np.float32), numbers(5, 1), LABELS], {})
    results = made(np.float32(1.5), numbers(5, 1), LABELS)
    assert results is not None
    np.testing.assert_array_equal(results[0], want)


@pytest.mark.parametrize("quick", [True, False])
def test_values_inside_share_memory_that_is_no_longer_read(quick: bool, monkeypatch: Any) -> None:
    """x -> exp -> a -> relu -> b -> exp -> c -> add(c, x) -> d, of which only d leaves."""
    if not quick:  # another build of Python, where compiled code is given addresses
        monkeypatch.setattr(arguments, "is_quick", False)
        monkeypatch.setattr(arguments, "reference", arguments.address)
    x = numbers(4, 16)
    spec = Spec.of(x)
    calls = [("exp", [0, 1]), ("relu", [1, 2]), ("exp", [2, 3]), ("elementwise_add", [3, 0, 4])]
    parts = []
    for name, values in calls:
        attrs = OPS[name].with_defaults({})
        parts.append((part_maker(OPS[name])([spec] * (len(values) - 1), [spec], attrs), values))
    made = Chain(parts, [spec] * 5, 1, [4])
    assert all(handle.wait(120) for handle in made.handles)
    made.complete()
    results = made(x)
    assert results is not None
    np.testing.assert_allclose(results[0], np.exp(np.exp(x)) + x, rtol=1e-5)
    assert made._bytes == 2 * x.nbytes + 64
