"""Modules that only have names of today's: importable as if each were a file, in every way of importing."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import fluid
from engine.fluid.renamed.modules import MODULES

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize("name", MODULES)
def test_every_name_of_a_module_is_that_of_its_source(name: str) -> None:
    module = importlib.import_module(f"engine.fluid.{name}")
    text, sources = MODULES[name]
    path = name.split(".")
    if name != "layers.rnn":  # the function has this name
        assert functools.reduce(getattr, path, fluid) is module
    assert module.__doc__ == text
    assert importlib.util.find_spec(f"engine.fluid.{name}") is module.__spec__
    for source, names in sources.items():
        for each in names:
            assert getattr(module, each) is getattr(importlib.import_module(source), each)
    assert module.__all__ == dir(module) == sorted(n for names in sources.values() for n in names)
    with pytest.raises(AttributeError, match=f"module 'engine.fluid.{name}' has no attribute 'nothing'"):
        _ = module.nothing


IMPORTS = """
from engine.core import alias
alias.install()
import paddle.fluid.unique_name as names
from paddle.fluid.backward import append_backward
from paddle.fluid.compiler import *
import engine.fluid
assert names is engine.fluid.unique_name
assert CompiledProgram is engine.static.CompiledProgram
"""


def test_the_first_import_of_fluid_may_be_that_of_such_a_module(tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", IMPORTS]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
