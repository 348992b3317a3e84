"""Plans begin with NumPy's kernels and take compiled ones between two calls."""

import threading

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, ModeError
from engine.core.operators.opdef import OPS
from engine.core.spans import watch
from engine.kernels import choice
from engine.program.run.plan import Plan
from engine.static import Program, program_guard

pytest.importorskip("llvmlite", reason="the extra 'fast' is not installed")

from engine.kernels.fast import Fast
from engine.kernels.fast import compiler as fast_compiler


@pytest.fixture
def held(monkeypatch):
    """A compiler of this test's own; its jobs wait until the event is set."""
    made = fast_compiler.Compiler()
    monkeypatch.setattr(fast_compiler, "_compiler", made)
    go = threading.Event()
    made.submit(lambda: go.wait(60) and None)
    with choice.kernels.guard("fast"):
        yield go
    go.set()
    made.stop()


def _drained(go):
    go.set()
    assert fast_compiler.compiler().wait(120)


def _plan():
    program = Program()
    paddle.enable_static()
    try:
        with program_guard(program, Program()):
            x = paddle.static.data("x", [3], "float32")
            result = paddle.cumsum(paddle.tanh(x))
    finally:
        paddle.disable_static()
    return Plan(program, program.global_block().ops, [x], [result], {})


def test_the_compiled_kernel_comes_between_two_calls(held, monkeypatch):
    calls = []

    def maker(inputs, attrs):
        calls.append((inputs, dict(attrs)))
        return Fast(lambda x, out=None: np.full_like(x, 7.0), [])

    monkeypatch.setattr(OPS["tanh"], "fast", maker)
    plan, x = _plan(), np.ones(3, np.float32)
    before = np.cumsum(np.tanh(x))
    np.testing.assert_array_equal(plan([x])[0], before)
    assert dict(plan.kernels()) == {"tanh": "compiling", "cumsum": "numpy"}
    _drained(held)
    np.testing.assert_array_equal(plan([x])[0], [7, 14, 21])
    assert dict(plan.kernels()) == {"tanh": "fast", "cumsum": "numpy"}
    ((inputs, attrs),) = calls
    assert str(inputs) == "[float32[3]]"
    assert attrs == {}


@pytest.mark.logs
def test_a_maker_that_fails_leaves_numpy(held, monkeypatch, caplog):
    def maker(inputs, attrs):
        raise ValueError("no such loop")

    monkeypatch.setattr("engine.kernels.fast.compiler._logged", set())  # other tests may have the same reason
    monkeypatch.setattr(OPS["tanh"], "fast", maker)
    plan, x = _plan(), np.ones(3, np.float32)
    _drained(held)
    np.testing.assert_array_equal(plan([x])[0], np.cumsum(np.tanh(x)))
    assert dict(plan.kernels()) == {"tanh": "numpy", "cumsum": "numpy"}
    (record,) = caplog.records
    assert record.getMessage().endswith("ValueError: no such loop (tanh [float32[3]])")


def test_a_maker_may_decline(held, monkeypatch):
    monkeypatch.setattr(OPS["tanh"], "fast", lambda inputs, attrs: None)
    plan = _plan()
    _drained(held)
    plan([np.ones(3, np.float32)])
    assert dict(plan.kernels())["tanh"] == "numpy"


def test_numpy_may_be_chosen(held, monkeypatch):
    monkeypatch.setattr(OPS["tanh"], "fast", lambda inputs, attrs: pytest.fail("calls"))
    with choice.kernels.guard("numpy"):
        plan = _plan()
    _drained(held)
    plan([np.ones(3, np.float32)])
    assert dict(plan.kernels())["tanh"] == "numpy"


def test_a_profiler_sees_compiled_kernels(held, monkeypatch):
    monkeypatch.setattr(OPS["tanh"], "fast", lambda inputs, attrs: Fast(lambda x, out=None: x.copy(), []))
    plan, x = _plan(), np.ones(3, np.float32)
    _drained(held)
    plan([x])

    class Recorder:
        shapes = details = False
        names: list[str] = []  # noqa: RUF012

        def add(self, kind, name, start, shapes=()):
            self.names.append(name)

    watch.start(Recorder())
    try:
        np.testing.assert_array_equal(plan([x])[0], np.cumsum(x))
    finally:
        watch.stop()
    assert Recorder.names == ["tanh", "cumsum"]
    np.testing.assert_array_equal(plan([x])[0], np.cumsum(x))


def test_a_choice_that_does_not_exist_is_refused():
    with choice.kernels.guard("quick"), pytest.raises(ArgumentError, match="auto, numpy, fast"):
        choice.wants_fast()


def test_fast_without_llvmlite_names_the_package_to_install(monkeypatch):
    monkeypatch.setattr(fast_compiler, "available", lambda: False)
    with choice.kernels.guard("auto"):
        assert not choice.wants_fast()
    with choice.kernels.guard("fast"), pytest.raises(ModeError, match=r"pip install 'model-studio\[fast\]'"):
        choice.wants_fast()
