"""Softmax, cross entropy and layer normalization as compiled code against the operators' own kernels."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine  # noqa: F401
from engine.core.errors import OutOfRangeError
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.fast.normalization import batch_norm, norms
from engine.kernels.fast.reductions import reductions, softmax

EXACT = {np.float32: 4e-6, np.float64: 1e-13}
SIZES = [(64, 10), (3, 100), (40, 16), (300, 1), (37, 1031)]


@pytest.fixture(autouse=True)
def _any_size(monkeypatch):
    monkeypatch.setattr(softmax, "_LEAST", 0)
    monkeypatch.setattr(norms, "_LEAST", 0)
    monkeypatch.setattr(batch_norm, "_LEAST", 0)
    monkeypatch.setattr(reductions, "_LEAST", 0)


def compare(name, maker, inputs, attrs, dtype):
    attrs = OPS[name].with_defaults(attrs)
    fast = maker([None if x is None else Spec.of(x) for x in inputs], attrs)
    assert fast.handles[0].wait(120)
    with np.errstate(all="ignore"):
        wanted, results = OPS[name].kernel(np, *inputs, **attrs), fast.kernel(*inputs)
    if OPS[name].single:
        wanted, results = (wanted,), (results,)
    for got, want in zip(results, wanted, strict=True):
        if want is None:
            assert got is None
            continue
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        allowed = EXACT[dtype] * max(1.0, np.abs(want[np.isfinite(want)]).max(initial=0))
        np.testing.assert_allclose(got, want, rtol=EXACT[dtype], atol=allowed)


def values(shape, dtype, special=True):
    x = (np.random.default_rng(0).standard_normal(shape) * 5).astype(dtype)
    if special:
        x[0, 0] = np.nan
        x[1, -1] = np.inf
        x[2] = -np.inf
        x[-1, 0] = -np.inf
    return x


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("shape", SIZES)
def test_softmax(shape, dtype):
    x = values(shape, dtype)
    compare("softmax", softmax.softmax, [x], {}, dtype)
    compare("log_softmax", softmax.log_softmax, [x], {"axis": 1}, dtype)
    compare("softmax", softmax.softmax, [np.asfortranarray(x)], {}, dtype)
    assert softmax.softmax([Spec.of(x)], {"axis": 0}) is None


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("shape", SIZES)
def test_the_gradient_of_softmax(shape, dtype):
    flow, soft = values(shape, dtype), values(shape, dtype, special=False)
    compare("softmax_grad", softmax.softmax_grad, [flow, soft], {}, dtype)
    compare("softmax_grad", softmax.softmax_grad, [flow, np.asfortranarray(soft)], {}, dtype)
    assert softmax.softmax_grad([Spec.of(flow), Spec.of(soft)], {"axis": 0}) is None


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("shape", SIZES)
def test_cross_entropy(shape, dtype):
    rng = np.random.default_rng(1)
    x = values(shape, dtype)
    g = rng.standard_normal((shape[0], 1)).astype(dtype)
    for kind in (np.int64, np.int32):
        label = rng.integers(0, shape[1], (shape[0], 1)).astype(kind)
        for ignored in (-100, int(label[1, 0])):
            attrs = {"ignore_index": ignored}
            compare("softmax_with_cross_entropy", softmax.cross_entropy, [x, label], attrs, dtype)
            inputs = [g, values(shape, dtype), label]
            name = "softmax_with_cross_entropy_grad"
            compare(name, softmax.cross_entropy_grad, inputs, attrs, dtype)


def test_an_invalid_label_raises():
    x, label = values((64, 10), np.float32, special=False), np.zeros((64, 1), np.int64)
    g = np.ones((64, 1), np.float32)
    for wrong in (10, -1):
        label[33] = wrong
        for maker, inputs in (
            (softmax.cross_entropy, [x, label]),
            (softmax.cross_entropy_grad, [g, x, label]),
        ):
            name = "softmax_with_cross_entropy" + ("_grad" if len(inputs) == 3 else "")
            fast = maker([Spec.of(each) for each in inputs], OPS[name].with_defaults({}))
            assert fast.handles[0].wait(120)
            with pytest.raises(OutOfRangeError, match=f"label {wrong} is not a class number"):
                fast.kernel(*inputs)


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("shape", [(64, 10), (3, 2, 16), (40, 33), (70, 1031)])
@pytest.mark.parametrize("parts", ["scale and bias", "scale", "bias", ""])
def test_layer_norm(shape, parts, dtype):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(dtype)
    x[0, 0] = np.nan
    attrs = {"begin_norm_axis": len(shape) - 1, "epsilon": 1e-3}
    length = shape[-1]
    scale, bias = (
        rng.standard_normal(length).astype(dtype) if part in parts else None for part in ("scale", "bias")
    )
    compare("layer_norm", norms.layer_norm, [x, scale, bias], attrs, dtype)
    x[0, 0] = 0.5
    _, mean, variance = OPS["layer_norm"].kernel(np, x, scale, bias, **attrs)
    g = rng.standard_normal(shape).astype(dtype)
    compare("layer_norm_grad", norms.layer_norm_grad, [x, g, mean, variance, scale], attrs, dtype)
    if len(shape) == 2:
        g = np.asfortranarray(g)
        compare("layer_norm_grad", norms.layer_norm_grad, [x, g, mean, variance, scale], attrs, dtype)


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("order", ["NCHW", "samples last", "channels last", "a slice"])
@pytest.mark.parametrize("shape", [(5, 3, 7, 9), (40, 4, 13, 13), (64, 6)])
def test_batch_norm(shape, order, dtype):
    rng = np.random.default_rng(0)

    def laid(x):
        if order == "samples last":
            return np.ascontiguousarray(np.moveaxis(x, 0, -1)).transpose([x.ndim - 1, *range(x.ndim - 1)])
        if order == "channels last":
            return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
        return np.repeat(x, 2, axis=0)[::2] if order == "a slice" else x

    x, g = (laid((rng.standard_normal(shape) * 3 + 1).astype(dtype)) for _ in range(2))
    x[0, 1, ...] = np.nan
    scale, bias, mean, variance = rng.standard_normal((4, shape[1])).astype(dtype)
    for name, maker in (
        ("batch_norm", batch_norm.batch_norm),
        ("fused_batch_norm_relu", batch_norm.batch_norm_relu),
    ):
        compare(name, maker, [x, scale, bias, mean, variance], {"momentum": 0.8}, dtype)
    x[0, 1, ...] = 0.5
    attrs = OPS["batch_norm"].with_defaults({})
    y, *_, used, inverse = OPS["batch_norm"].kernel(np, x, scale, bias, mean, variance, **attrs)
    relu = batch_norm.batch_norm_relu_grad
    for given in (g, np.ascontiguousarray(g)):
        compare("batch_norm_grad", batch_norm.batch_norm_grad, [x, scale, given, used, inverse], {}, dtype)
        compare("fused_batch_norm_relu_grad", relu, [x, scale, given, y, used, inverse], {}, dtype)
    specs = [Spec.of(each) for each in (x, scale, bias, mean, variance)]
    assert batch_norm.batch_norm(specs, {"use_global_stats": True}) is None


def test_the_gradient_of_batch_norm_and_relu_may_be_written_into_that_of_its_result():
    rng = np.random.default_rng(0)
    x, g, y = rng.standard_normal((3, 8, 4, 6, 6)).astype("float32")
    scale, mean, inverse = rng.standard_normal((3, 4)).astype("float32")
    y[0, 0, 0], g[0, 0, 0] = 0, np.inf  # is not let through
    given = [x, scale, g, y, mean, inverse]
    fast = batch_norm.batch_norm_relu_grad([Spec.of(each) for each in given], {})
    assert fast.handles[0].wait(120)
    wanted = fast.kernel(*given)
    results = fast.kernel(*given, out=[g, None, None])
    assert results[0] is g
    for got, want in zip(results, wanted, strict=True):
        assert np.isfinite(want).all()
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((20, 6, 14, 15), (1, 2, 3, 0)),  # samples last
        ((20, 6, 14, 15), (2, 1, 3, 0)),  # in rows of channels
        ((20, 6, 14, 15), (0, 1, 2, 3)),
        ((20, 6, 2, 3), (0, 1, 3, 2)),  # runs that are too short
        ((5000, 3, 2), (1, 2, 0)),  # a run is added up in pieces
    ],
)
def test_sums_of_channels(shape, order, keepdim, dtype):
    x = (np.random.default_rng(0).standard_normal(shape) + 1).astype(dtype)
    x = np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
    axes = [n for n in range(x.ndim) if n != 1]
    compare("reduce_sum", reductions.reduce_sum, [x], {"axis": axes, "keepdim": keepdim}, dtype)
    x[(slice(0, 1),) * x.ndim] = np.nan
    attrs = OPS["reduce_sum"].with_defaults({"axis": axes, "keepdim": keepdim})
    found = reductions.reduce_sum([Spec.of(x)], attrs).kernel(x)
    assert np.flatnonzero(np.isnan(found)).tolist() == [0]
