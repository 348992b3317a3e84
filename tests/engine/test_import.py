"""What ``import engine`` loads and compiles, counted in a fresh process.

The time that it takes depends on both, and is not the same on two machines.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import pytest

import engine
from engine.core.operators.opdef import OPS

COUNT = """
import builtins, json, sys
import numpy  # what NumPy imports is not counted
import pathlib, tempfile  # some installations have imported these before, others not
before = set(sys.modules)
compiled = []
sys.addaudithook(lambda event, args: compiled.append(args[1]) if event == "compile" else None)
import engine
made = [f for f in compiled if isinstance(f, str) and f.startswith("<")]
loaded = sorted(set(sys.modules) - before)
x = engine.to_tensor([1.0, 2.0])
y = engine.tanh(x)
called = [f for f in compiled if isinstance(f, str) and f.startswith("<apply ")]
json.dump({"loaded": loaded, "made": made, "called": called}, sys.stdout)
"""


@pytest.fixture(scope="module")
def counted() -> dict[str, list[str]]:
    run = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def test_few_modules_are_imported(counted: dict[str, list[str]]) -> None:
    loaded = counted["loaded"]
    # Files of operators are all loaded: they fill OPS.
    assert len([m for m in loaded if m.startswith("engine.")]) <= 437
    assert len([m for m in loaded if not m.startswith("engine")]) <= 60


WAITING = (
    "h5py",
    "PIL",
    "ssl",
    "http.client",
    "email",
    "multiprocessing",
    "platformdirs",
    "llvmlite",
    "engine.kernels.fast",
    "engine.files",
    "engine.jit.convert",
    "engine.vision.datasets",
    "engine.distribution",
    "engine.hapi",
    "engine.fft",
    "engine.signal",
    "engine.tensor.short_time",
    "engine.text",
    "engine.audio",
    "engine.geometric",
    "engine.sparse",
    "engine.tensor.sparse",
)


@pytest.mark.parametrize("room", WAITING)
def test_rarely_used_modules_are_imported_on_first_use(counted: dict[str, list[str]], room: str) -> None:
    assert not [m for m in counted["loaded"] if m == room or m.startswith(room + ".")]


def test_apply_functions_are_written_at_their_first_call(counted: dict[str, list[str]]) -> None:
    made = counted["made"]
    assert made.count("<apply at first call>") == 2  # one for all operators, one for methods of two tensors
    assert len(made) <= 52  # the others are made by dataclasses and named tuples
    assert "<apply tanh>" in counted["called"]
    assert "<apply tanh>" not in counted["made"]
    assert len(counted["called"]) < len(OPS) // 10


@pytest.mark.parametrize(
    "name",
    [
        "audio",
        "callbacks",
        "dataset",
        "distribution",
        "fft",
        "geometric",
        "hapi",
        "hub",
        "incubate",
        "jit",
        "reader",
        "signal",
        "text",
        "vision",
    ],
)
def test_a_room_that_waited_is_the_imported_module(name: str) -> None:
    assert getattr(engine, name) is importlib.import_module(f"engine.{name}")


def test_names_that_waited_are_those_of_their_modules() -> None:
    for module in (engine.static, engine.jit, engine.vision, engine.framework):
        assert {name for name in module.__all__ if not hasattr(module, name)} == set()
    state_files = importlib.import_module("engine.framework.state_files")
    assert engine.load is engine.framework.load is state_files.load
    assert engine.static.save is importlib.import_module("engine.static.state_files").save


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'engine' has no attribute 'visionn'") as caught:
        engine.visionn  # noqa: B018
    assert caught.value.name == "visionn"
    assert caught.value.obj is engine
