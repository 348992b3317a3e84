"""spawn: functions by module and name in processes of their own, or here where one is asked for."""

from __future__ import annotations

import importlib
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
import pytest

import engine as paddle
from engine import distributed as dist
from engine.core.errors import ArgumentError, DTypeError, WorkerError
from engine.distributed.processes.spawned import function_of
from engine.distributed.processes.spawning import reference

FUNCTIONS = """
import engine.distributed as dist
from pathlib import Path

def total(folder, tensor, numbers):
    dist.init_parallel_env()
    dist.all_reduce(tensor)
    Path(folder, f"{dist.get_rank()}.txt").write_text(f"{tensor.tolist()} {numbers.sum()} {__name__}")

def failing():
    if dist.get_rank() == 1:
        raise ValueError("no such luck")
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """A module of a user, and a folder of its own for temporary files."""
    (tmp_path / "spawn_functions.py").write_text(FUNCTIONS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    yield importlib.import_module("spawn_functions")
    monkeypatch.delitem(sys.modules, "spawn_functions")


def test_a_function_runs_in_two_processes(functions, tmp_path):
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    numbers = np.ones(300_000)  # more than a pipe holds
    context = dist.spawn(functions.total, (str(tmp_path), paddle.ones([2]), numbers), nprocs=2, join=False)
    assert context.join(120)
    for rank in range(2):
        assert (tmp_path / f"{rank}.txt").read_text() == "[2.0, 2.0] 300000.0 spawn_functions"
    assert not list((tmp_path / "temporary").iterdir())


def test_a_failure_is_reported_where_spawn_was_called(functions, tmp_path, capfd):
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    with pytest.raises(WorkerError, match="failed with exit status 1"):
        dist.spawn(functions.failing, nprocs=2)
    assert "ValueError: no such luck" in capfd.readouterr().err
    assert not list((tmp_path / "temporary").iterdir())


def test_one_process_is_this_one():
    found = []
    assert dist.spawn(found.append, ([1],), nprocs=1).join()
    assert found == [[1]]


def test_spawn_starts_the_number_of_processes_asked_for(monkeypatch):
    monkeypatch.setenv("CPU_NUM", "1")
    found = []
    dist.spawn(found.append, (1,))
    dist.spawn(found.append, (2,), gpus="3")
    assert found == [1, 2]
    for wrong in (0, -2, "two"):
        with pytest.raises(ArgumentError, match="nprocs must be a number of processes"):
            dist.spawn(found.append, (3,), nprocs=wrong)
    with pytest.raises(ArgumentError, match="option 'cpus' does not exist"):
        dist.spawn(found.append, (3,), cpus="0")


def test_spawn_refuses_local_functions_and_unsendable_arguments(functions):
    with pytest.raises(ArgumentError, match="at the top of a module"):
        dist.spawn(lambda: None, nprocs=2)
    with pytest.raises(DTypeError, match="spawn: object does not travel"):
        dist.spawn(functions.total, (object(),), nprocs=2)


def test_the_functions_of_a_script_are_found_in_its_file(tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text("def train():\n    return __name__\n", encoding="utf-8")
    main = types.ModuleType("__main__")
    exec(compile(script.read_text(), str(script), "exec"), main.__dict__)
    monkeypatch.setitem(sys.modules, "__main__", main)
    with pytest.raises(ArgumentError, match="save it in a file"):
        reference(main.train)
    main.__file__ = str(script)
    call = reference(main.train)
    assert call == {"file": str(Path(script).resolve()), "name": "train"}
    assert function_of(call)() == "__mp_main__"
