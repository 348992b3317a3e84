"""Eager calls begin with NumPy's kernels and take compiled ones at one call, whatever the clock says."""

import gc
import threading
import weakref

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import EngineError
from engine.core.operators.opdef import OPS
from engine.core.spans import watch
from engine.eager import mode as eager_mode
from engine.kernels import choice
from engine.kernels.cpu import COMPILED
from engine.nn import functional as F
from engine.program.run import eager_kernels

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.kernels.fast import Fast, maker_of, register
from engine.kernels.fast import compiler as fast_compiler

register()  # before a test puts a maker of its own in place of one

RUNS = 12  # on NumPy's kernels here: two more than those before a kernel is requested
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def anew():
    """No call was counted before, and none is afterwards."""
    eager_kernels.restart()
    yield
    eager_kernels.restart()


@pytest.fixture
def held(monkeypatch):
    """A compiler of this test's own; its jobs wait until the event is set."""
    made = fast_compiler.Compiler()
    monkeypatch.setattr(fast_compiler, "_compiler", made)
    monkeypatch.setattr(choice, "counting", choice.opened(RUNS))
    go = threading.Event()
    made.submit(lambda: go.wait(60))
    with choice.kernels.guard("auto"):
        yield go
    go.set()
    made.stop()


def _sevens(inputs, attrs):
    return Fast(lambda x: np.full_like(x, 7.0), [])


def values(*shape, dtype="float32"):
    return RNG.standard_normal(shape).astype(dtype)


X = values(16, 64)


def softmax(x=X):
    return F.softmax(paddle.to_tensor(x)).numpy()


# -- the call that takes a compiled kernel -----------------------------------------------------------------
@pytest.mark.parametrize("when", ["before", "early", "late"])
def test_one_call_takes_the_compiled_kernel_whenever_it_is_ready(held, monkeypatch, when):
    monkeypatch.setattr(OPS["softmax"], "fast", _sevens)
    plain, timer = softmax(), threading.Timer(0.2, held.set)
    eager_kernels.restart()
    if when == "before":
        held.set()
    for call in range(1, RUNS + 4):
        if when == "early" and call == eager_kernels.BEGIN + 1:
            held.set()
            assert fast_compiler.compiler().wait(120)
        if when == "late" and call == RUNS + 1:
            timer.start()
        np.testing.assert_array_equal(softmax(), plain if call <= RUNS else np.full_like(X, 7.0))
    timer.cancel()


def test_each_kind_of_call_counts_for_itself(held, monkeypatch):
    monkeypatch.setattr(OPS["softmax"], "fast", _sevens)
    held.set()
    other = X.astype("float64")
    for _ in range(RUNS + 1):
        softmax()
    assert softmax()[0, 0] == 7.0
    assert softmax(other)[0, 0] != 7.0
    assert softmax(X[:8])[0, 0] != 7.0
    assert F.softmax(paddle.to_tensor(X), axis=0).numpy()[0, 0] != 7.0


def test_each_thread_counts_for_itself(held, monkeypatch):
    monkeypatch.setattr(OPS["softmax"], "fast", _sevens)
    held.set()
    for _ in range(RUNS + 1):
        softmax()
    seen = []
    thread = threading.Thread(
        target=lambda: seen.extend(float(softmax()[0, 0]) for _ in range(RUNS + 1)), name="other"
    )
    with choice.kernels.guard("auto"):
        choice.kernels.process, before = "auto", choice.kernels.process  # what a new thread sees
        thread.start()
        thread.join()
        choice.kernels.process = before
    assert [one == 7.0 for one in seen] == [False] * RUNS + [True]


def test_a_seed_begins_to_count_anew(held, monkeypatch):
    monkeypatch.setattr(OPS["softmax"], "fast", _sevens)
    held.set()
    runs = []
    for _ in range(2):
        paddle.seed(1)
        runs.append([float(softmax()[0, 0]) for _ in range(RUNS + 2)])
    assert runs[0] == runs[1]
    assert runs[0][-1] == 7.0 != runs[0][RUNS - 1]


def test_a_training_takes_them_when_its_gate_opens(held, monkeypatch):
    monkeypatch.setattr(OPS["softmax"], "fast", _sevens)
    held.set()
    gate = choice.Gate()
    with choice.gate.guard(gate):
        for _ in range(RUNS + 3):
            assert softmax()[0, 0] != 7.0
        gate.open()
        assert softmax()[0, 0] == 7.0
        assert softmax(X[:8])[0, 0] == 7.0  # sizes that come later are waited for
    assert gate.taken == {"softmax"}


def test_trainings_of_before_are_forgotten():
    gates = []
    for _ in range(eager_kernels.GATES + 3):
        gate = choice.Gate()
        with choice.kernels.guard("auto"), choice.gate.guard(gate):
            softmax()
        gates.append(weakref.ref(gate))
    del gate
    gc.collect()
    assert [one() is not None for one in gates] == [False] * 3 + [True] * eager_kernels.GATES


def test_few_elements_stay_with_numpy(held, monkeypatch):
    monkeypatch.setattr(OPS["softmax"], "fast", lambda inputs, attrs: pytest.fail("softmax"))
    for _ in range(RUNS + 2):
        softmax(X[:1])
    assert eager_kernels.reports() == []


def test_numpy_may_be_chosen(held, monkeypatch):
    monkeypatch.setattr(OPS["softmax"], "fast", lambda inputs, attrs: pytest.fail("softmax"))
    with choice.kernels.guard("numpy"):
        for _ in range(RUNS + 2):
            softmax()
    assert eager_kernels.reports() == []


def test_calls_say_whose_kernel_they_take(held, monkeypatch):
    monkeypatch.setattr(OPS["softmax"], "fast", _sevens)
    monkeypatch.setattr(OPS["log_softmax"], "fast", lambda inputs, attrs: None)
    for _ in range(RUNS):
        softmax()
        F.log_softmax(paddle.to_tensor(X))
    assert [(one.name, one.kernel) for one in eager_kernels.reports()] == [
        ("softmax", "compiling"),
        ("log_softmax", "compiling"),
    ]
    held.set()
    softmax()
    F.log_softmax(paddle.to_tensor(X))
    first, second = eager_kernels.reports()
    assert (first.kernel, str(first.specs[0]), first.why) == ("fast", "float32[16, 64]", "")
    assert (second.kernel, second.why) == ("numpy", "as good")


def test_kinds_that_are_not_called_again_are_forgotten(monkeypatch):
    monkeypatch.setattr(eager_kernels, "MOST", 4)
    with choice.kernels.guard("auto"):
        for size in range(300, 350):
            softmax(values(1, size))
        assert 4 <= len(eager_kernels.reports()) <= 8
        for size in range(300, 350):
            softmax()  # called often, so kept
            softmax(values(1, size))
        (kept,) = [one for one in eager_kernels.reports() if one.specs[0].shape == X.shape]
    assert kept.kernel == "fast"


# -- values ------------------------------------------------------------------------------------------------
def conv(x, w):
    return F.conv2d(x, w, padding=1)


def depthwise(x, w):
    return F.conv2d(x, w, groups=16, padding=1, stride=2)


def batch_norm(x, w, b):
    mean, variance = paddle.zeros([16]), paddle.ones([16])
    made = F.batch_norm(x, mean, variance, w, b, training=True)
    return made + mean.reshape([1, 16, 1, 1]) * variance.reshape([1, 16, 1, 1])


def cross_entropy(x):
    labels = paddle.to_tensor(np.arange(64).reshape(64, 1) % 10)
    return F.cross_entropy(x, labels, reduction="none")


def recurrent(kind):
    def run(x):
        paddle.seed(3)
        layer = getattr(paddle.nn, kind)(8, 8)
        return layer(x)[0]

    return run


FAMILIES = {
    "conv2d": (conv, [(16, 8, 12, 12), (16, 8, 3, 3)]),
    "depthwise_conv2d": (depthwise, [(16, 16, 12, 12), (16, 1, 3, 3)]),
    "pool2d": (lambda x: F.max_pool2d(x, 2), [(16, 16, 12, 12)]),
    "pool2d avg": (lambda x: F.avg_pool2d(x, 2), [(16, 16, 12, 12)]),
    "batch_norm": (batch_norm, [(16, 16, 12, 12), (16,), (16,)]),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, [64], w, b), [(32, 64), (64,), (64,)]),
    "softmax": (F.softmax, [(32, 64)]),
    "log_softmax": (F.log_softmax, [(32, 64)]),
    "softmax_with_cross_entropy": (cross_entropy, [(64, 10)]),
    "conv2d_transpose": (lambda x, w: F.conv2d_transpose(x, w, stride=2), [(16, 8, 8, 8), (8, 16, 3, 3)]),
    "gelu": (F.gelu, [(64, 128)]),
    "sigmoid": (F.sigmoid, [(64, 128)]),
    "silu": (F.silu, [(64, 128)]),
    "softplus": (F.softplus, [(64, 128)]),
    "mish": (F.mish, [(64, 128)]),
    "elu": (F.elu, [(64, 128)]),
    "relu_grad": (F.relu, [(256, 512)]),
    "rnn LSTM": (recurrent("LSTM"), [(8, 6, 8)]),
    "rnn GRU": (recurrent("GRU"), [(8, 6, 8)]),
    "rnn Simple": (recurrent("SimpleRNN"), [(8, 6, 8)]),
}


def run(function, arrays, runs=1):
    """The values and gradients of ``function`` in the last of several calls, and whose kernels it took."""
    for _ in range(runs):
        tensors = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
        result = function(*tensors)
        (result * result).sum().backward()
    whose = {one.name: one.kernel for one in eager_kernels.reports()}
    return [result.numpy(), *(t.grad.numpy() for t in tensors)], whose


@pytest.mark.parametrize("layout", ["plain", "strided"])
@pytest.mark.parametrize("family", FAMILIES)
def test_values_and_gradients_are_those_of_numpy(family, layout):
    function, shapes = FAMILIES[family]
    arrays = [values(*shape) for shape in shapes]
    if layout == "strided":
        arrays = [np.asfortranarray(a) for a in arrays]
    expected, _ = run(function, arrays)
    with choice.kernels.guard("fast"):
        found, whose = run(function, arrays, runs=2)
    assert whose[family.split()[0]] == "fast", whose
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4 * max(1.0, np.abs(other).max()))


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("family", ["conv2d", "softmax", "layer_norm"])
def test_other_dtypes_are_computed_too(family, dtype):
    function, shapes = FAMILIES[family]
    arrays = [values(*shape, dtype=dtype) for shape in shapes]
    expected, _ = run(function, arrays)
    with choice.kernels.guard("fast"):
        found, whose = run(function, arrays, runs=2)
    if dtype == "float16":
        assert "fast" not in whose.values()
    tolerance = 1e-2 if dtype == "float16" else 1e-9
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * max(1.0, np.abs(other).max()))


def test_second_derivatives_are_those_of_numpy():
    def second():
        x = paddle.to_tensor(X, stop_gradient=False)
        (first,) = paddle.grad(F.log_softmax(x).square().sum(), x, create_graph=True)
        first.square().sum().backward()
        return x.grad.numpy()

    expected = second()
    with choice.kernels.guard("fast"):
        np.testing.assert_allclose(second(), expected, rtol=1e-3, atol=1e-4)
        assert "fast" in {one.kernel for one in eager_kernels.reports()}


def test_calls_that_are_watched_take_the_same_kernels():
    """Checks for NaN, hooks and mixed precision see results of the kernels that compute without them."""
    seen = []

    def watcher(opdef, inputs, attrs, results):
        seen.extend(each.numpy() for each in results)

    with choice.kernels.guard("fast"):
        expected = softmax()
        eager_mode.watch(watcher)
        try:
            np.testing.assert_array_equal(softmax(), expected)
        finally:
            eager_mode.unwatch(watcher)
    np.testing.assert_array_equal(seen[-1], expected)
    assert [(one.calls, one.kernel) for one in eager_kernels.reports()] == [(1, "fast")]


def test_a_wrong_call_is_explained_as_before():
    x, w = paddle.to_tensor(values(2, 3, 8, 8)), paddle.to_tensor(values(4, 5, 3, 3))
    with pytest.raises(EngineError) as expected:
        F.conv2d(x, w)
    with choice.kernels.guard("fast"):
        for _ in range(2):
            with pytest.raises(EngineError) as found:
                F.conv2d(x, w)
            assert str(found.value) == str(expected.value)


def test_running_statistics_change_in_place():
    def statistics():
        paddle.seed(0)
        layer = paddle.nn.BatchNorm2D(8)
        for _ in range(3):
            layer(paddle.to_tensor(np.arange(8 * 8 * 36, dtype="float32").reshape(8, 8, 6, 6)))
        return layer._mean.numpy(), layer._variance.numpy()

    expected = statistics()
    with choice.kernels.guard("fast"):
        for one, other in zip(statistics(), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


# -- reports -----------------------------------------------------------------------------------------------
class _Recorder:
    shapes = details = False

    def __init__(self):
        self.names = []

    def add(self, kind, name, start, shapes=()):
        self.names.append(name)


@pytest.mark.parametrize("calls", [1, RUNS + 2])
def test_a_profiler_sees_each_call_once(held, monkeypatch, calls):
    monkeypatch.setattr(OPS["softmax"], "fast", _sevens)
    held.set()
    for _ in range(calls):
        softmax()
    recorder = _Recorder()
    watch.start(recorder)
    try:
        for _ in range(RUNS + 2):
            softmax()
    finally:
        watch.stop()
    softmax()
    assert recorder.names == ["softmax"] * (RUNS + 2)


def test_each_operator_of_the_table_has_a_maker():
    for name, large in COMPILED.items():
        assert OPS[name].large == large
        assert maker_of(OPS[name]) is not None, name
