"""Models made to hang a process or to take its memory: each is refused or limited, in 5 s and 512 MB.

Attacked is what loads and runs an untrusted model file within the process (``jit.load`` and a call). What
must hold: an error of the engine, 5 seconds of processor time at most and no more than 512 MB of memory.
The engine is imported once; each model has a separate forked process, whose peak is measured.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.core.errors import EngineError, FormatError, LimitError
from engine.core.operators.opdef import OPS
from engine.files.untrusted import guarded
from engine.jit import load
from engine.program.saved.check_size import MOST_OPERATORS, size_faults
from engine.program.saved.serialize import from_plain
from tests.robust.hostile_models import MODELS
from tests.robust.untrusted_models import unsign

SECONDS, MEMORY = 5.0, 512 << 20
# In the ordinary run endless loops end sooner than by default.
LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
# The interpreter of a machine with other work needs longer; a hang is one all the same.
WALL = 60


def _attacked(prefix: Path) -> dict[str, Any]:
    """What loading and running the model gives, and what it takes."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.process_time()
    step = "load"
    try:
        layer = load(str(prefix))
        step = "run"
        with engine.model_limits(seconds=None if LONG else 0.5):
            layer(engine.ones([2, 4]))
        said, kind = "", "result"
    except EngineError as error:
        said, kind = str(error), type(error).__name__
    except BaseException as error:
        said, kind = str(error), f"not ours: {type(error).__name__}"
    after = resource.getrusage(resource.RUSAGE_SELF)
    scale = 1 if sys.platform == "darwin" else 1024
    return {
        "step": step,
        "kind": kind,
        "said": said[:2000],
        "seconds": time.process_time() - start,
        "memory": (after.ru_maxrss - before.ru_maxrss) * scale,
    }


def _in_child(prefix: Path) -> dict[str, Any]:
    """The same in a forked process, which is killed where it hangs."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(WALL)
            os.write(writer, json.dumps(_attacked(prefix)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(pid, 0)
    assert said, f"{prefix.name}: no answer, status {status}"
    found: dict[str, Any] = json.loads(said)
    return found


@pytest.fixture(autouse=True)
def _read_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are sound HDF5: the guarded reader, a process more for each of them, has its own tests."""
    monkeypatch.setattr(guarded, "check", lambda suspects: None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="measures in forked processes")
@pytest.mark.parametrize("name", MODELS)
def test_a_hostile_model_is_refused_or_limited(name: str, tmp_path: Path) -> None:
    found = _in_child(MODELS[name].write(tmp_path / name))
    assert found["kind"] in ("LimitError", "FormatError", "OutOfRangeError", "ShapeError", "ArgumentError"), (
        found
    )
    assert found["seconds"] < SECONDS, found
    assert found["memory"] < MEMORY, found
    if found["kind"] == "LimitError":
        assert "engine.model_limits(" in found["said"]


def test_more_operators_than_networks_have_are_refused() -> None:
    scale = {"type": "scale", "attrs": {}}
    plain = {"blocks": [{"vars": [], "ops": [scale] * (MOST_OPERATORS + 1)}], "inputs": [], "outputs": []}
    assert next(size_faults(plain)) == f"it has {MOST_OPERATORS + 1} operators; {MOST_OPERATORS} is the most"
    plain["blocks"][0]["ops"].pop()
    assert not list(size_faults(plain))


def test_blocks_that_see_much_of_each_other_are_refused() -> None:
    variables = [{"name": f"v{n}", "shape": [1]} for n in range(2_000)]
    blocks = [{"vars": variables, "ops": []}, *[{"vars": [], "ops": []} for _ in range(9_000)]]
    assert "see" in next(size_faults({"blocks": blocks}))
    assert not list(size_faults({"blocks": blocks[:100]}))


@pytest.mark.parametrize("name", ["values_kept_alive", "loop_of_doublings", "endless_loop_that_does_nothing"])
def test_the_error_names_the_limit_and_what_raises_it(name: str, tmp_path: Path) -> None:
    layer = load(str(MODELS[name].write(tmp_path / name)))
    limits = {"memory": "10 MB", "steps": 20, "seconds": 50}
    with engine.model_limits(**limits), pytest.raises(LimitError) as caught:
        layer(engine.ones([2, 4]))
    said = str(caught.value)
    assert "hostile_models.py" in said  # the line that made the operator
    assert "(ResourceExhausted)" in said
    assert ("--steps 200" if "endless" in name else "--memory") in said


def test_raised_limits_let_a_large_model_run(tmp_path: Path) -> None:
    layer = load(str(MODELS["loop_of_products"].write(tmp_path / "model")))
    with engine.model_limits(steps=3), pytest.raises(LimitError, match="3 iterations"):
        layer(engine.ones([2, 4]))
    layer = load(str(MODELS["full_of_three_gigabytes"].write(tmp_path / "large")))
    with pytest.raises(LimitError, match=r"12 9\d\d|3,221"):
        layer(engine.ones([2, 4]))


def _network(prefix: Path) -> None:
    """Save a sound model of several layers, as this installation does."""
    network = engine.nn.Sequential(
        engine.nn.Conv2D(1, 4, 3, padding=1),
        engine.nn.BatchNorm2D(4),
        engine.nn.ReLU(),
        engine.nn.MaxPool2D(2),
        engine.nn.Flatten(),
        engine.nn.Linear(4 * 14 * 14, 10),
        engine.nn.Softmax(),
    )
    network.eval()
    engine.jit.save(
        network, str(prefix), input_spec=[engine.static.InputSpec([None, 1, 28, 28], "float32", "x")]
    )
    return network


def test_a_sound_untrusted_model_gives_the_same_numbers(tmp_path: Path) -> None:
    _network(tmp_path / "model")
    own = load(str(tmp_path / "model"))
    unsign(tmp_path / "model")
    foreign = load(str(tmp_path / "model"))
    x = engine.to_tensor(np.random.default_rng(0).random((8, 1, 28, 28), np.float32))
    assert not own.program().foreign
    assert foreign.program().foreign
    assert np.array_equal(own(x).numpy(), foreign(x).numpy())
    for layer in (own, foreign):
        layer.train()
        layer(x).square().sum().backward()
    pairs = [(a.grad, b.grad) for a, b in zip(own.parameters(), foreign.parameters(), strict=True)]
    found = [(a.numpy(), b.numpy()) for a, b in pairs if a is not None]
    assert len(found) >= 4
    assert all(np.array_equal(a, b) for a, b in found)


def test_plans_of_own_models_ask_no_meter(tmp_path: Path) -> None:
    _network(tmp_path / "model")
    own = load(str(tmp_path / "model"))
    unsign(tmp_path / "model")
    foreign = load(str(tmp_path / "model"))
    sources = []
    for layer in (own, foreign):
        x = engine.ones([1, 1, 28, 28])
        layer(x)
        runner = layer.functions["forward"].runner_for([x], None)
        sources.append(runner._plan([np.ones([1, 1, 28, 28], np.float32)], runner.outputs).source)
    assert "made(" not in sources[0]
    assert sources[1].count("made(") >= 6


def test_a_model_saved_again_stays_foreign(tmp_path: Path) -> None:
    _network(tmp_path / "model")
    unsign(tmp_path / "model")
    engine.jit.save(load(str(tmp_path / "model")), str(tmp_path / "again"))
    assert load(str(tmp_path / "again")).program().foreign


def test_limits_are_of_the_call_and_of_each_thread(tmp_path: Path) -> None:
    layer = load(str(MODELS["endless_loop_that_does_nothing"].write(tmp_path / "model")))
    said: dict[int, str] = {}

    def run(steps: int) -> None:
        with engine.model_limits(steps=steps, seconds=50), pytest.raises(LimitError) as caught:
            layer(engine.ones([2, 4]))
        said[steps] = str(caught.value)

    threads = [threading.Thread(target=run, args=(steps,)) for steps in (30, 60, 90)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f": {steps} iterations" in said[steps] for steps in (30, 60, 90))


def _gates() -> dict[str, dict[str, Any]]:
    """Attributes by which an operator of another kind could reach a Python function."""
    layout = {"inputs": [1], "outputs": [True], "given": [True], "targets": [0]}
    inner = {"of": "py_func", "attrs": {"attrs": {}}, "names": [], "places": [], "layout": [1]}
    direct = {"of": "py_func", "attrs": {"attrs": {}}, **layout}
    return {
        "gradient": direct,
        "gradient of a gradient": {"of": "gradient", "attrs": {"attrs": direct}, **layout},
        "gradient of with_values": {
            "of": "with_values",
            "attrs": {"attrs": inner},
            **layout,
            "inputs": [1, 0],
        },
        "with_values": inner,
        "with_values of with_values": {**inner, "of": "with_values", "attrs": {"attrs": inner}},
        "gradient of run_program": {**direct, "of": "run_program"},
        "py_layer": {"rule": {"dtype": "float32"}},
        "gradient of py_layer": {
            "of": "py_layer",
            "attrs": {"attrs": {"rule": "print"}},
            **layout,
            "inputs": [0, 1, 0],
        },
    }


@pytest.mark.parametrize("kind", _gates())
def test_no_wrapper_reaches_a_python_function(kind: str) -> None:
    plain = MODELS["thirty_doublings"].plain()
    found = next(o for o in plain["blocks"][0]["ops"] if o["type"] == "concat")
    (x, *_), (out,) = found["inputs"]["X"], found["outputs"]["Out"]
    found["attrs"] = _gates()[kind]
    if kind.startswith("gradient"):
        found["type"] = "gradient"
        found["inputs"], found["outputs"] = {"X": [x], "Out": [x], "Out@GRAD": [x]}, {"X@GRAD": [out]}
    else:
        found["type"] = kind.partition(" ")[0]
        opdef = OPS[found["type"]]
        found["inputs"] = {i.slot: [] if n else [x] for n, i in enumerate(opdef.inputs)}
        found["outputs"] = {opdef.outputs[0].slot: [out]}
    with pytest.raises(FormatError, match=r"Python functions|no gradient|takes no values|can not be values"):
        from_plain(plain, "model.pdmodel")
