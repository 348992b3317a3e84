"""One process: a group of itself, without MPI; what says which process this is."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import engine as paddle
from engine import distributed as dist
from engine.core.errors import (
    ArgumentError,
    ConditionError,
    ConversionError,
    DeviceError,
    DTypeError,
    FormatError,
    ModeError,
    ShapeError,
)
from engine.distributed import mpi, worker
from engine.distributed.environment import RANK, SIZE
from engine.distributed.objects import packed, unpacked


@pytest.fixture(autouse=True)
def _no_job(monkeypatch):
    for name in (*RANK, *SIZE, "PADDLE_TRAINER_ENDPOINTS", "PADDLE_CURRENT_ENDPOINT", "FLAGS_selected_gpus"):
        monkeypatch.delenv(name, raising=False)


def test_collectives_leave_the_only_process_as_it_is():
    with pytest.warns(UserWarning, match="Currently not a parallel execution environment"):
        assert dist.init_parallel_env() is None
    assert (dist.get_rank(), dist.get_world_size(), dist.is_initialized()) == (0, 1, False)
    x = paddle.to_tensor([1.0, 2.0])
    for task in (dist.all_reduce(x), dist.broadcast(x, 0), dist.reduce(x, 0), dist.scatter(x, [x], 0)):
        assert task.wait()
        assert task.is_completed()
    assert x.tolist() == [1.0, 2.0]
    gathered, exchanged, collected, reported = [], [], [], []
    dist.all_gather(gathered, x)
    dist.alltoall([x], exchanged)
    dist.gather(x, collected)
    assert [t.tolist() for t in gathered + exchanged + collected] == [[1.0, 2.0]] * 3
    out = paddle.zeros([2])
    dist.reduce_scatter(out, [x])
    dist.alltoall_single(out, out)
    dist.all_gather_object(reported, {"a": (1, None)})
    assert (out.tolist(), reported) == ([1.0, 2.0], [{"a": (1, None)}])
    dist.barrier()
    dist.wait(x)
    assert dist.get_backend() == "MPI"


def test_mpi_is_not_loaded_for_one_process():
    assert not mpi.library.cache_info().currsize


def test_the_environment_says_which_process_this_is(monkeypatch):
    monkeypatch.setenv("PMI_RANK", "1")
    monkeypatch.setenv("PMI_SIZE", "3")
    assert (dist.ParallelEnv().rank, dist.ParallelEnv().world_size) == (1, 3)
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "4")
    monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", "a:1,b:2")
    monkeypatch.setenv("FLAGS_selected_gpus", "3,1")
    env = dist.ParallelEnv()
    assert (env.rank, env.local_rank, env.world_size, env.nranks, env.device_id) == (2, 2, 4, 4, 3)
    assert env.trainer_endpoints == ["a:1", "b:2"]
    with pytest.raises(ModeError, match=r"4 processes; call paddle\.distributed\.init_parallel_env"):
        dist.all_reduce(paddle.ones([1]))
    monkeypatch.setenv("PADDLE_TRAINER_ID", "-1")
    with pytest.raises(ArgumentError, match="PADDLE_TRAINER_ID must be an integer >= 0: got '-1'"):
        dist.get_rank()


def test_without_the_extra_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    mpi.library.cache_clear()
    with pytest.raises(DeviceError, match=r"pip install 'model-studio\[distributed\]'$") as caught:
        dist.init_parallel_env()
    assert "\n" not in str(caught.value)
    assert not dist.is_initialized()


def test_collectives_refuse_invalid_arguments():
    x = paddle.ones([3])
    with pytest.raises(DTypeError, match="takes Tensors: got list"):
        dist.all_reduce([1.0])
    with pytest.raises(ArgumentError, match="op must be one of"):
        dist.all_reduce(x, 7)
    with pytest.raises(ConditionError, match="rank 1 is not in the group"):
        dist.broadcast(x, 1)
    with pytest.raises(ArgumentError, match="for each of the 1 processes: got 2 items"):
        dist.alltoall([x, x], [])
    with pytest.raises(ArgumentError, match="both tensor or tensor list"):
        dist.alltoall([x], x)
    with pytest.raises(ShapeError, match="add up to the first dimension 3"):
        dist.alltoall_single(x, x, [2])
    with pytest.raises(ArgumentError, match="is this process"):
        dist.send(x, 0)
    with pytest.raises(ArgumentError, match="this process is alone"):
        dist.recv(x, 0)
    with pytest.raises(NotImplementedError, match=r"op must be paddle\.distributed\.isend"):
        dist.P2POp(dist.send, x, 0)
    with pytest.raises(ArgumentError, match="different ones of the 1 processes"):
        dist.new_group([0, 1])
    with pytest.raises(ConditionError, match="there is no such group"):
        dist.destroy_process_group()
    with pytest.warns(UserWarning, match="Group 99 is not initialized"):
        assert dist.get_group(99) is None
    paddle.enable_static()
    try:
        with pytest.raises(ConversionError, match=r"all_reduce: .* lives outside of the Program"):
            dist.all_reduce(x)
    finally:
        paddle.disable_static()


def test_values_travel_without_pickle():
    value = [None, True, 2**80, -0.0, "ü", b"\0", (1, [2]), {"k": {1: 2}}, np.arange(6).reshape(2, 3).T]
    *rest, array = unpacked(packed(value, "test"))
    assert rest == value[:-1]
    np.testing.assert_array_equal(array, value[-1])
    with pytest.raises(DTypeError, match="object does not travel between processes"):
        packed([object()], "test")
    with pytest.raises(DTypeError, match="ndarray does not travel"):
        packed(np.array([object()]), "test")
    data = packed({"a": np.ones(4)}, "test")
    for damaged in (data[:5], data[:-1], np.concatenate([data[:8], data[9:]])):
        with pytest.raises(FormatError, match="a value from another process is damaged"):
            unpacked(damaged)


def test_arguments_of_the_worker():
    assert worker.parsed(["a.py", "-m", "b"]) == worker.Task(["a.py", "-m", "b"])
    words = ["--channel", "pipes", "--log-dir", "logs", "-m", "b", "--x"]
    assert worker.parsed(words) == worker.Task(["b", "--x"], True, "logs", "pipes")
    for wrong in ([], ["-m"], ["--log-dir", "logs"]):
        with pytest.raises(SystemExit, match="expected"):
            worker.parsed(wrong)
