"""Names of fluid that scripts of 1.5 and 1.6 use around networks: Programs, places, processes, readers."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import fluid
from engine.core.errors import ArgumentError

NAMES = (
    "Executor",
    "CPUPlace",
    "CUDAPlace",
    "CUDAPinnedPlace",
    "LoDTensor",
    "Program",
    "ParamAttr",
    "Scope",
    "Variable",
    "cpu_places",
    "cuda_places",
    "core.CUDAPlace",
    "core.get_cuda_device_count",
    "core.VarDesc.VarType.FP32",
    "core.EOFException",
    "framework.in_dygraph_mode",
    "framework._dygraph_tracer",
    "framework.Parameter",
    "framework.default_startup_program",
    "default_main_program",
    "default_startup_program",
    "program_guard",
    "global_scope",
    "scope_guard",
    "require_version",
    "is_compiled_with_cuda",
    "save_dygraph",
    "load_dygraph",
    "save",
    "load",
    "executor.Executor",
    "unique_name.guard",
    "dygraph.parallel.Env",
    "dygraph.parallel.prepare_context",
    "dygraph.parallel.DataParallel",
    "dygraph.BackwardStrategy",
    "dygraph.checkpoint.save_persistables",
    "contrib.reader.distributed_batch_reader",
    "data_feeder.check_type",
    "data_feeder.convert_dtype",
)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_there(name: str) -> None:
    found: Any = fluid
    for part in name.split("."):
        found = getattr(found, part)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Executer'"):
        _ = fluid.Executer


def test_every_name_that_is_listed_is_there() -> None:
    for module in ("", ".core", ".framework", ".executor", ".dygraph", ".dygraph.parallel", ".lod_tensor"):
        found = importlib.import_module(f"engine.fluid{module}")
        assert [n for n in found.__all__ if not hasattr(found, n)] == []


def test_the_tracers_tape_can_be_cleared_and_what_was_computed_stays() -> None:
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(np.ones((2,), np.float32))
        fluid.framework._dygraph_tracer()._clear_ops()
        assert x.numpy().tolist() == [1, 1]
    assert fluid.framework._dygraph_tracer() is None


def test_env_says_what_the_launcher_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fluid.dygraph.parallel.Env is paddle.distributed.ParallelEnv
    env = fluid.dygraph.parallel.Env()
    assert (env.nranks, env.local_rank, env.dev_id, env.trainer_endpoints) == (1, 0, 0, [""])
    assert fluid.dygraph.parallel.prepare_context() is None
    for name, value in (
        ("PADDLE_TRAINERS_NUM", "2"),
        ("PADDLE_TRAINER_ID", "1"),
        ("FLAGS_selected_gpus", "3"),
        ("PADDLE_TRAINER_ENDPOINTS", "127.0.0.1:6170,127.0.0.1:6171"),
        ("PADDLE_CURRENT_ENDPOINT", "127.0.0.1:6171"),
    ):
        monkeypatch.setenv(name, value)
    env = fluid.dygraph.parallel.Env()
    assert (env.nranks, env.local_rank, env.dev_id) == (2, 1, 3)
    assert env.trainer_endpoints == ["127.0.0.1:6170", "127.0.0.1:6171"]
    assert env.current_endpoint == env.trainer_endpoints[1]


def test_data_parallel_of_one_process_is_its_network() -> None:
    with fluid.dygraph.guard():
        strategy = fluid.dygraph.parallel.prepare_context()
        inner = fluid.dygraph.FC("net", 2)
        net = fluid.dygraph.parallel.DataParallel(inner, strategy)
        x = fluid.dygraph.to_variable(np.ones((1, 3), np.float32))
        out = net(x)
        assert net.scale_loss(out) is out
        net.apply_collective_grads()
        assert (
            list(net.state_dict()) == [p.name for p in inner.parameters()] == ["net/FC_0.w_0", "net/FC_0.b_0"]
        )


@pytest.mark.parametrize("rank", [0, 1])
def test_every_process_reads_its_own_batches_and_as_many(
    rank: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setenv("PADDLE_TRAINER_ID", str(rank))
    read = fluid.contrib.reader.distributed_batch_reader(lambda: iter(range(5)))
    assert list(read()) == [rank, rank + 2]
    assert list(read()) == [rank, rank + 2]
    assert f"start data reader (trainers_num: 2, trainer_id: {rank})" in capsys.readouterr().out
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    with pytest.raises(ArgumentError, match="PADDLE_TRAINER_ID"):
        fluid.contrib.reader.distributed_batch_reader(lambda: iter(range(5)))
