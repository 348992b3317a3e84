"""Products and sums in plans give the bits of their operators, for all sizes, layouts and attributes."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine as paddle  # noqa: F401 - the operators
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.cpu import pool, products, threads
from engine.kernels.fast.compiler import compiler
from engine.kernels.fast.linalg import matmul
from engine.kernels.fast.reductions import reductions


def random(*shape, dtype="float32"):
    return np.random.default_rng(shape[-1]).standard_normal(shape).astype(dtype)


HEADS = random(2, 20, 6, 10).swapaxes(1, 2)
CASES = {
    "matrices": (random(40, 30), random(30, 50), False, False),
    "x transposed": (random(30, 40), random(30, 50), True, False),
    "y transposed": (random(40, 30), random(50, 30), False, True),
    "both": (random(30, 40), random(50, 30), True, True),
    "float64": (random(40, 30, dtype="float64"), random(30, 50, dtype="float64"), False, False),
    "x is transposed": (random(30, 40).T, random(30, 50), False, False),
    "rows of a batch": (random(3, 40, 30), random(30, 50), False, False),
    "rows of a batch of another layout": (random(40, 3, 30).swapaxes(0, 1), random(50, 30), False, True),
    "heads": (HEADS, HEADS, False, True),
    "broadcast": (random(3, 1, 20, 30), random(2, 30, 20), False, False),
    "a square": (random(50, 40), None, False, True),
    "one row": (random(1, 300), random(300, 50), False, False),
    "backwards": (random(40, 30)[::-1], random(30, 50), False, False),
}


@pytest.mark.parametrize("shard", [16, 1 << 20], ids=["shared", "alone"])
@pytest.mark.parametrize("name", CASES)
def test_a_product_is_that_of_the_operator(name, shard, monkeypatch):
    for module in (matmul, products):
        monkeypatch.setattr(module, "SHARD", shard)
    monkeypatch.setattr(threads, "_count", 2)
    x, y, turn_x, turn_y = CASES[name]
    y = x if y is None else y
    attrs = {"trans_x": turn_x, "trans_y": turn_y}
    expected = OPS["matmul_v2"].kernel(np, x, y, **attrs)
    fast = matmul.matmul([Spec.of(x), Spec.of(y)], attrs)
    if fast is None:
        assert "rows of a batch" in name  # the operator checks the layout of x
        return
    assert compiler().wait(120)
    assert fast.ready
    for count in (2, 1, 2):
        monkeypatch.setattr(threads, "_count", count)
        made = fast.kernel(x, y)
        assert (made.shape, made.strides, made.dtype) == (expected.shape, expected.strides, expected.dtype)
        if count == 2:
            np.testing.assert_array_equal(made, expected)
        else:
            np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-5)
    if name == "a square":
        np.testing.assert_array_equal(made, made.T)
    pool.dismiss()


@pytest.mark.parametrize("shard", [16, 1 << 20], ids=["shared", "alone"])
def test_a_product_of_rows_is_that_of_the_operator(shard, monkeypatch):
    for module in (matmul, products):
        monkeypatch.setattr(module, "SHARD", shard)
    monkeypatch.setattr(threads, "_count", 2)
    x, y = random(4, 20, 30), random(4, 20, 50)
    for one, other in ((x, y), (x, x), (x[0], y[0]), (np.asfortranarray(x), y[:, ::-1])):
        fast = matmul.of_rows([Spec.of(one), Spec.of(other)], {})
        assert compiler().wait(120)
        assert fast.ready
        expected = OPS["product_of_rows"].kernel(np, one, other)
        np.testing.assert_array_equal(fast.kernel(one, other), expected)
    pool.dismiss()


@pytest.mark.parametrize(
    ("shape", "attrs"),
    [
        ((40, 30), {"axis": [0]}),
        ((40, 30), {"axis": [-1], "keepdim": True}),
        ((4, 5, 6), {"axis": [0, 1]}),
        ((4, 5, 6), {"axis": [0, 1], "keepdim": True}),
    ],
)
def test_a_sum_is_that_of_the_operator(shape, attrs):
    x = random(*shape)
    fast = reductions.reduce_sum([Spec.of(x)], attrs)
    for given in (x, np.asfortranarray(x)):
        expected = OPS["reduce_sum"].kernel(np, given, **attrs)
        assert fast.kernel(given).tobytes() == expected.tobytes()
        assert fast.kernel(given).shape == expected.shape


@pytest.mark.parametrize("attrs", [{}, {"axis": [1]}, {"axis": [0, 1, 2]}, {"axis": [0], "reduce_all": True}])
def test_sums_that_stay_with_numpy(attrs):
    assert reductions.reduce_sum([Spec.of(random(4, 5, 6))], attrs) is None


@pytest.mark.parametrize("count", [1, 2])
def test_products_together_are_those_one_by_one(count, monkeypatch):
    monkeypatch.setattr(matmul, "SHARD", 16)
    monkeypatch.setattr(threads, "_count", count)
    x, y, g, z = random(40, 30), random(30, 50), random(4, 10, 50), random(4, 10, 30)
    made = [
        matmul.matmul([Spec.of(x), Spec.of(y)], {}),
        matmul.matmul([Spec.of(g), Spec.of(y)], {"trans_y": True}),
        matmul.of_rows([Spec.of(z), Spec.of(g)], {}),
    ]
    assert compiler().wait(120)
    assert {fast.together for fast in made} == {matmul.Together}
    together = matmul.Together([fast.kernel for fast in made])
    for backwards in (False, True, False):
        first = x[::-1] if backwards else x  # which BLAS can't read: the operators' kernels compute
        values = first, y, g, y, z, g
        found = together(*values)
        assert [each.shape for each in found] == [(40, 50), (4, 10, 30), (30, 50)]
        for n, fast in enumerate(made):
            np.testing.assert_array_equal(found[n], fast.kernel(*values[2 * n : 2 * n + 2]))
    pool.dismiss()
