"""Compiled loops of recurrent layers against NumPy's, in float64, and who takes them."""

import itertools
import threading

import numpy as np
import pytest

import engine as paddle

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels import choice
from engine.kernels.cpu import pool
from engine.kernels.fast import register
from engine.kernels.fast.compiler import PROTOTYPE
from engine.kernels.fast.sequences import recurrent
from engine.kernels.fast.target import target

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


@pytest.fixture(scope="module", autouse=True)
def _makers():
    register()


def _compiled(name, inputs, attrs):
    specs = [None if a is None else Spec.of(a) for a in inputs]
    made = OPS[name].fast(specs, attrs)
    assert all(h.wait(60) for h in made.handles)
    return made.kernel(*inputs)


def _inputs(mode, dtype, sizes, state=True, bias=True, seed=0):
    steps, batch, features, size = sizes
    rows = GATES[mode] * size
    rng = np.random.default_rng(seed)

    def some(*shape):
        return (rng.standard_normal(shape) * 0.6).astype(dtype)

    x = some(batch, steps, features).transpose(1, 0, 2)
    h0, c0 = (some(batch, size), some(batch, size)) if state else (None, None)
    b_ih, b_hh = (some(rows), some(rows)) if bias else (None, None)
    given = (x, some(rows, features), some(rows, size), b_ih, b_hh, h0, c0 if mode == "LSTM" else None, None)
    flows = (some(batch, steps, size).transpose(1, 0, 2), some(batch, size))
    return given, (*flows, some(batch, size) if mode == "LSTM" else None)


def _agree(found, wanted, tolerance):
    for a, b in zip(found, wanted, strict=True):
        assert (a is None) == (b is None)
        if b is not None:
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ((5, 3, 2, 7), {}),
        ((1, 1, 1, 1), {"state": False}),
        ((3, 37, 4, 16), {"bias": False}),
        ((4, 2, 3, 33), {"state": False, "bias": False}),
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_compiled_loops_agree_with_numpy(monkeypatch, mode, near, sizes, options, reverse):
    """Also where the products of x are computed before the loop, as they are for large weights."""
    if not near:
        monkeypatch.setattr(recurrent, "NEAR", 0)
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 2e-5)):
        given, flows = _inputs(mode, dtype, sizes, **options)
        attrs = {"mode": mode, "is_reverse": reverse}
        wanted = OPS["rnn"].kernel(np, *given, **attrs)
        found = _compiled("rnn", given, attrs)
        _agree(found, wanted, tolerance)
        y, _, _, gates, cells = wanted
        for g_y, of_x in ((flows[0], True), (None, False)):
            back = (*given[:3], y, gates, cells, *given[3:], g_y, *flows[1:])
            all_attrs = {**attrs, "of_x": of_x}
            wanted_back = OPS["rnn_grad"].kernel(np, *back, **all_attrs)
            _agree(_compiled("rnn_grad", back, all_attrs), wanted_back, 10 * tolerance)


@pytest.mark.parametrize("threads", [1, 2])
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch, threads):
    given, _ = _inputs("LSTM", np.float32, (4, 40, 5, 24))
    attrs = {"mode": "LSTM", "is_reverse": False}
    found = _compiled("rnn", given, attrs)
    monkeypatch.setattr(
        pool, "parallel", lambda address, args, count: _in_calls(address, args, count, threads)
    )
    for a, b in zip(_compiled("rnn", given, attrs), found, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize("batch", range(1, 6))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_that_stay_are_laid_out_once(mode, batch, dtype):
    attrs = {"mode": mode, "is_reverse": batch % 2 == 0}
    for size in (7, 8, 75):  # parts of a vector, one, several tiles
        given, _ = _inputs(mode, dtype, (3, batch, 9, size))
        made = OPS["rnn"].fast([None if a is None else Spec.of(a) for a in given], attrs)
        assert all(h.wait(60) for h in made.handles)
        kernel = made.fixed()
        for seed in range(2):
            x = _inputs(mode, dtype, (3, batch, 9, size), seed=seed)[0][0]
            wanted = OPS["rnn"].kernel(np, x, *given[1:], **attrs)
            _agree(kernel(x, *given[1:]), wanted, 2e-5 if dtype is np.float32 else 1e-12)


def test_a_small_batch_is_two_shards_and_a_large_one_more():
    for near, batch, shard in (
        (True, 32, 16),
        (True, 256, 16),
        (False, 32, 16),
        (False, 256, 64),
        (True, 3, 3),
        (True, 37, 10),
    ):
        assert recurrent.Sizes(10, batch, 64, near).shard() == shard


def _in_calls(address, args, count, threads):
    """The shards in as many calls as there are threads."""
    ends = [count * n // threads for n in range(threads + 1)]
    for begin, end in itertools.pairwise(ends):
        PROTOTYPE(address)(args, begin, end)


def test_lengths_leave_the_loop_to_numpy():
    given, _ = _inputs("LSTM", np.float64, (4, 3, 2, 5))
    specs = [None if a is None else Spec.of(a) for a in (*given[:7], np.array([4, 0, 2]))]
    assert OPS["rnn"].fast(specs, {"mode": "LSTM", "is_reverse": False}) is None


def test_nan_and_infinity_propagate():
    given, _ = _inputs("LSTM", np.float32, (3, 4, 2, 5))
    given[0][1, 0, 0], given[0][1, 1, 0], given[0][0, 2, 1] = np.nan, np.inf, -np.inf
    attrs = {"mode": "LSTM", "is_reverse": False}
    wanted = OPS["rnn"].kernel(np, *given, **attrs)
    found = _compiled("rnn", given, attrs)
    assert np.isnan(wanted[0]).any()
    np.testing.assert_array_equal(np.isnan(found[0]), np.isnan(wanted[0]))


def test_a_converted_network_trains_with_them(monkeypatch):
    calls = []
    parallel = pool.parallel
    monkeypatch.setattr(pool, "parallel", lambda *given: calls.append(1) or parallel(*given))

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.rnn = paddle.nn.LSTM(3, 5, num_layers=2, direction="bidirect")

        def forward(self, x):
            return (self.rnn(x)[0] ** 2).mean()

    def gradients(forward):
        forward(x).backward()
        found = [p.grad.numpy() for p in net.parameters()]
        net.clear_gradients()
        return found

    net, x = Net(), paddle.randn([4, 6, 3])
    wanted = gradients(net)
    with choice.kernels.guard("fast"):
        converted = paddle.jit.to_static(net)
        gradients(converted)
        _settle()
        calls.clear()
        for a, b in zip(gradients(converted), wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    # Two layers in two directions, and back; with wide vectors, gradients of weights are a call of their own.
    assert len(calls) == (12 if target().lanes >= 8 else 8)


def _settle():
    """Wait until the compiler has answered all requests."""

    from engine.kernels.fast.compiler import compiler

    done = threading.Event()
    compiler().submit(lambda: compiler().submit(done.set))
    assert done.wait(60)
