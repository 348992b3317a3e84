"""Compiled updates of optimizers are bitwise identical to NumPy's, for any layout of gradients."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine as paddle
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels import choice
from engine.kernels.fast import register, updates
from engine.kernels.fast.compiler import compiler
from engine.ops.training import flat_updates  # noqa: F401

SHAPES = {
    "one": [(1,)],
    "small": [(3, 3), (5,), (0, 4), (64, 7), (1, 1)],
    "over shards": [(8191,), (2, 3), (100, 170), (17,)],
}
MOMENTUM = {"regularization_method": "l2_decay", "regularization_coeff": 0.1}
CASES = [
    ("sgd_flat", updates.sgd, {}),
    ("momentum_flat", updates.momentum, {}),
    ("momentum_flat", updates.momentum, {"use_nesterov": True, "rescale_grad": 0.5, **MOMENTUM}),
    ("adam_flat", updates.adam, {"beta1": 0.8}),
    ("adamw_flat", updates.adamw, {"coeff": 0.02, "lr_ratio": 0.5}),
    ("adamw_flat", updates.adamw, {"with_decay": False}),
    ("adagrad_flat", updates.adagrad, {}),
    ("rmsprop_flat", updates.rmsprop, {"momentum": 0.5}),
    ("rmsprop_flat", updates.rmsprop, {"centered": True}),
    ("adadelta_flat", updates.adadelta, {"rho": 0.9}),
    ("adamax_flat", updates.adamax, {"beta2": 0.98}),
]


def _inputs(name, shapes, dtype):
    rng = np.random.default_rng(0)
    count = sum(int(np.prod(shape)) for shape in shapes)
    grads = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    grads[0][...] = np.nan
    if len(grads) > 3:
        grads[3] = np.asfortranarray(grads[3])
    values = {
        "param": rng.standard_normal(count),
        "velocity": rng.standard_normal(count),
        "moment1": rng.standard_normal(count),
        "moment2": rng.standard_normal(count) ** 2,
        "moment": rng.standard_normal(count),
        "mean_square": rng.standard_normal(count) ** 2 + 1,
        "mean_grad": rng.standard_normal(count) / 9,
        "inf_norm": rng.standard_normal(count) ** 2,
        "avg_squared_grad": rng.standard_normal(count) ** 2,
        "learning_rate": [0.01],
        "avg_squared_update": rng.standard_normal(count) ** 2,
        "beta1_pow": [0.9] * len(grads),
        "beta2_pow": [0.99] * len(grads),
    }
    given = {slot: np.array(value, dtype) for slot, value in values.items()}
    given["grads"] = grads
    if name == "adagrad_flat":
        given["moment"] **= 2  # a sum of squares
    return [given.get(slot) for slot in OPS[name].input_names]


def _spec(value):
    if isinstance(value, list):
        return [Spec.of(each) for each in value]
    return None if value is None else Spec.of(value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize(("name", "maker", "attrs"), CASES)
def test_updates_give_the_bits_of_numpy(name, maker, attrs, shapes, dtype):
    attrs = OPS[name].with_defaults(attrs)
    by_numpy = _inputs(name, SHAPES[shapes], dtype)
    compiled = _inputs(name, SHAPES[shapes], dtype)
    fast = maker([_spec(value) for value in compiled], attrs)
    assert fast.handles[0].wait(120)
    for _ in range(2):
        wanted = OPS[name].kernel(np, *by_numpy, **attrs)
        results = fast.kernel(*compiled)
    assert type(results) is type(wanted)
    for got, want in zip(compiled, by_numpy, strict=True):
        if want is not None and not isinstance(want, list):
            np.testing.assert_array_equal(got, want)


def test_noncontiguous_arrays_are_left_to_numpy():
    attrs = OPS["adam_flat"].with_defaults({})
    by_numpy, compiled = (_inputs("adam_flat", SHAPES["small"], np.float32) for _ in range(2))
    wide = np.zeros((compiled[0].size, 2), np.float32)
    wide[:, 0] = compiled[0]
    compiled[0] = wide[:, 0]
    fast = updates.adam([_spec(value) for value in compiled], attrs)
    assert fast.handles[0].wait(120)
    OPS["adam_flat"].kernel(np, *by_numpy, **attrs)
    fast.kernel(*compiled)
    np.testing.assert_array_equal(compiled[0], by_numpy[0])


def test_a_skipped_update_changes_nothing():
    attrs = OPS["adam_flat"].with_defaults({})
    inputs = _inputs("adam_flat", SHAPES["small"], np.float32)
    before = [None if x is None or isinstance(x, list) else x.copy() for x in inputs]
    fast = updates.adam([_spec(value) for value in inputs], attrs)
    assert fast.handles[0].wait(120)
    fast.kernel(*inputs[:-1], np.array([True]))
    for now, then in zip(inputs, before, strict=True):
        if then is not None:
            np.testing.assert_array_equal(now, then)


def test_half_precision_stays_with_numpy():
    half = Spec([4], "float16")
    assert updates.sgd([half, Spec([1], "float16"), [half]], {}) is None


def test_an_optimizer_takes_the_compiled_update():
    def train():
        paddle.seed(0)
        net = paddle.nn.Sequential(paddle.nn.Linear(5, 7), paddle.nn.Linear(7, 3))
        optimizer = paddle.optimizer.Adam(parameters=net.parameters())
        x = paddle.to_tensor(np.ones((4, 5), np.float32))
        for step in range(4):
            (net(x) ** 2).sum().backward()
            optimizer.step()
            optimizer.clear_grad(set_to_zero=False)
            if step == 1 and choice.kernels.get() == "fast":
                assert compiler().wait(120)
        calls = list(optimizer._together._calls.values())
        return [p.numpy() for p in net.parameters()], [call.report() for call in calls]

    plain, whose = train()
    assert whose == ["numpy"]
    register()
    with choice.kernels.guard("fast"):
        compiled, whose = train()
    assert whose == ["fast"]
    for got, want in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(got, want)


def test_numbers_beyond_float32_are_infinite_as_in_numpy():
    values = _inputs("sgd_flat", SHAPES["small"], "float32")
    expected = [np.copy(values[0]), np.array([1e39]), values[2]]  # float32(1e39) is infinity
    OPS["sgd_flat"].kernel(np, *expected)
    register()
    fast = updates.sgd([_spec(v) for v in values], {})
    assert compiler().wait(120)
    given = [np.copy(values[0]), np.array([1e39]), values[2]]
    fast.kernel(*given)
    np.testing.assert_array_equal(given[0], expected[0])
