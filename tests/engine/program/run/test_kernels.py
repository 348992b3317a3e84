"""Plans begin with NumPy's kernels and take compiled ones at one run, whatever the clock says."""

import os
import subprocess
import sys
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

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.kernels.fast import Fast
from engine.kernels.fast import compiler as fast_compiler
from engine.program.run.kernels import OneCall

RUNS = 3  # on NumPy's kernels here


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


def _sevens(inputs, attrs):
    return Fast(lambda x, out=None: np.full_like(x, 7.0), [])


def _one():
    """A call outside of a plan, with the interface of one."""
    call = OneCall(OPS["tanh"], {}, [X])
    return lambda values: [np.cumsum(call(*values))]


X = np.ones(3, np.float32)
PLAIN, COMPILED = np.cumsum(np.tanh(X)), np.array([7, 14, 21], np.float32)


@pytest.mark.parametrize("make", [_plan, _one])
@pytest.mark.parametrize("when", ["before", "early", "late"])
def test_one_run_takes_the_compiled_kernel_whenever_it_is_ready(held, monkeypatch, make, when):
    monkeypatch.setattr(OPS["tanh"], "fast", _sevens)
    if when == "before":  # as where the cache of another run has all code
        held.set()
    plan, timer = make(), threading.Timer(0.2, held.set)
    for run in range(1, RUNS + 3):
        if when == "early" and run == 3:
            _drained(held)
        if when == "late" and run == RUNS + 1:
            timer.start()
        np.testing.assert_array_equal(plan([X])[0], PLAIN if run <= RUNS else COMPILED)
    timer.cancel()
    assert held.is_set()


def test_a_plan_says_whose_kernels_it_calls(held, monkeypatch):
    calls = []

    def maker(inputs, attrs):
        calls.append((inputs, dict(attrs)))
        return _sevens(inputs, attrs)

    monkeypatch.setattr(OPS["tanh"], "fast", maker)
    plan = _plan()
    for _ in range(RUNS):
        plan([X])
    assert dict(plan.kernels()) == {"tanh": "compiling", "cumsum": "numpy"}
    held.set()
    plan([X])
    assert dict(plan.kernels()) == {"tanh": "fast", "cumsum": "numpy"}
    ((inputs, attrs),) = calls
    assert str(inputs) == "[float32[3]]"
    assert attrs == {}


def test_a_plan_that_runs_once_has_nothing_compiled(held, monkeypatch):
    monkeypatch.setattr(OPS["tanh"], "fast", lambda inputs, attrs: pytest.fail("calls"))
    _plan()([X])
    _drained(held)


def test_fast_takes_the_compiled_kernel_at_the_first_run(held, monkeypatch):
    monkeypatch.setattr(OPS["tanh"], "fast", _sevens)
    held.set()
    with choice.kernels.guard("fast"):
        plan = _plan()
    np.testing.assert_array_equal(plan([X])[0], COMPILED)


def test_a_forked_child_compiles_anew(held, monkeypatch):
    """The parent's thread, which is held here, is missing in it."""
    monkeypatch.setattr(OPS["tanh"], "fast", _sevens)
    plan = _plan()
    for _ in range(RUNS):
        plan([X])
    monkeypatch.setattr(fast_compiler, "_compiler", fast_compiler.Compiler())
    np.testing.assert_array_equal(plan([X])[0], COMPILED)


def test_numpy_stays_where_the_compiler_has_no_thread(held, monkeypatch):
    monkeypatch.setattr(OPS["tanh"], "fast", _sevens)
    plan = _plan()
    for _ in range(RUNS):
        plan([X])
    compiler = fast_compiler.compiler()
    threading.Timer(0.1, held.set).start()
    compiler.stop()  # drops what waits
    for _ in range(2):
        np.testing.assert_array_equal(plan([X])[0], PLAIN)
    assert not plan._kernels.due


def test_an_interrupted_wait_is_repeated(held, monkeypatch):
    monkeypatch.setattr(OPS["tanh"], "fast", _sevens)
    plan = _plan()
    for _ in range(RUNS):
        plan([X])

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(choice.Gate, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            plan([X])
    held.set()
    np.testing.assert_array_equal(plan([X])[0], COMPILED)


@pytest.mark.logs
def test_a_maker_that_fails_leaves_numpy(held, monkeypatch, caplog):
    def maker(inputs, attrs):
        raise ValueError("no such loop")

    monkeypatch.setattr("engine.kernels.fast.compiler._logged", set())  # other tests may have the same reason
    monkeypatch.setattr(OPS["tanh"], "fast", maker)
    held.set()
    plan = _plan()
    for _ in range(RUNS + 1):
        np.testing.assert_array_equal(plan([X])[0], PLAIN)
    assert not plan._kernels.due
    assert dict(plan.kernels()) == {"tanh": "numpy", "cumsum": "numpy"}
    (record,) = caplog.records
    assert record.getMessage().endswith("ValueError: no such loop (tanh [float32[3]])")


def test_a_maker_may_decline(held, monkeypatch):
    monkeypatch.setattr(OPS["tanh"], "fast", lambda inputs, attrs: None)
    held.set()
    plan = _plan()
    for _ in range(RUNS + 1):
        np.testing.assert_array_equal(plan([X])[0], PLAIN)
    assert dict(plan.kernels())["tanh"] == "numpy"


def test_numpy_may_be_chosen(held, monkeypatch):
    monkeypatch.setattr(OPS["tanh"], "fast", lambda inputs, attrs: pytest.fail("calls"))
    with choice.kernels.guard("numpy"):
        plan = _plan()
    _drained(held)
    for _ in range(RUNS + 2):
        plan([X])
    assert dict(plan.kernels())["tanh"] == "numpy"


def test_a_profiler_sees_compiled_kernels(held, monkeypatch):
    monkeypatch.setattr(OPS["tanh"], "fast", lambda inputs, attrs: Fast(lambda x, out=None: x.copy(), []))
    held.set()
    plan, x = _plan(), X
    for _ in range(RUNS + 1):
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
    with choice.kernels.guard("fast"), pytest.raises(ModeError, match=r"pip install llvmlite"):
        choice.wants_fast()


STEPS = """
import sys, time
import numpy as np
import engine as paddle

paddle.set_num_threads(2)
net = paddle.nn.Sequential(paddle.nn.Linear(784, 512), paddle.nn.ReLU(), paddle.nn.Linear(512, 10))
run = net if sys.argv[1] == "eager" else paddle.jit.to_static(net)
rule = paddle.optimizer.Adam(parameters=net.parameters())
x = paddle.to_tensor(np.ones((128, 784), "float32"))
for n in range(30):
    run(x).square().mean().backward()
    rule.step()
    rule.clear_grad()
    if n == 0:
        time.sleep(0.2)  # what the compiler's thread might do
        assert not [name for name in sys.modules if name.startswith("llvmlite")], "the first step imports it"
assert "llvmlite.binding" in sys.modules, "no step imports it"
"""


@pytest.mark.parametrize("mode", ["eager", "converted"])
def test_the_first_step_imports_no_compiler(mode):
    env = {**os.environ, "MODEL_STUDIO_KERNELS": "auto"}
    done = subprocess.run([sys.executable, "-c", STEPS, mode], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
