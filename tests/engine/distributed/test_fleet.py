"""fleet in one process, and what it refuses; several: parallel_ranks.py."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, ModeError, UnsupportedError
from engine.distributed import fleet


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(fleet.fleet, "_user_defined_strategy", None)


def test_one_process_is_its_first_worker():
    with pytest.raises(ModeError, match=r"fleet\.distributed_model: call fleet\.init"):
        fleet.distributed_model(paddle.nn.Linear(1, 1))
    strategy = fleet.DistributedStrategy()
    assert fleet.init(is_collective=True, strategy=strategy) is fleet.fleet
    assert (fleet.worker_index(), fleet.worker_num(), fleet.is_first_worker()) == (0, 1, True)
    assert (fleet.is_worker(), fleet.is_server(), fleet.server_num()) == (True, False, 0)
    fleet.barrier_worker()
    net = paddle.nn.Linear(1, 1)
    sgd = paddle.optimizer.SGD(0.1, net.parameters())
    assert fleet.distributed_model(net) is net
    assert fleet.distributed_optimizer(sgd) is sgd
    np.testing.assert_array_equal(fleet.util.all_reduce([1, 2]), [1, 2])
    assert fleet.util.all_gather({"a": 1}) == [{"a": 1}]
    assert fleet.util.get_file_shard(["a", "b"]) == ["a", "b"]


def test_files_are_dealt_out(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "3")
    parts = []
    for rank in range(3):
        monkeypatch.setenv("PADDLE_TRAINER_ID", str(rank))
        parts.append(fleet.util.get_file_shard(list("abcdefg")))
    assert parts == [["a", "b", "c"], ["d", "e"], ["f", "g"]]


def test_settings_are_kept_apart_and_checked():
    one, two = fleet.DistributedStrategy(), fleet.DistributedStrategy()
    one.fuse_grad_size_in_MB = 16
    one.nccl_comm_num = 2
    one.gradient_scale_configs["scale_strategy"] = "sum"
    one.hybrid_configs = {"dp_degree": 2, "mp_degree": 1}
    one.pipeline = False
    assert (two.fuse_grad_size_in_MB, two.last_comm_group_size_MB) == (32, 1.0)
    assert two.gradient_scale_configs == {"scale_strategy": "avg"}
    assert (one.hybrid_configs["dp_degree"], two.hybrid_configs["dp_degree"]) == (2, -1)
    with pytest.raises(UnsupportedError, match="pipeline is not supported: only data-parallel"):
        one.pipeline = True
    with pytest.raises(UnsupportedError, match=r"amp is not supported: use paddle\.amp\.auto_cast"):
        one.amp = True
    with pytest.raises(UnsupportedError, match="hybrid_configs: mp_degree=2"):
        one.hybrid_configs = {"mp_degree": 2}
    with pytest.raises(TypeError, match="fuse_grads is not a attribute of DistributedStrategy"):
        one.fuse_grads = 1


def test_names_for_servers_raise_with_the_reason(monkeypatch):
    for name in ("init_server", "HybridCommunicateGroup", "save_inference_model"):
        with pytest.raises(AttributeError, match=rf"paddle\.distributed\.fleet\.{name}: is absent: it "):
            getattr(fleet, name)
    with pytest.raises(AttributeError, match=r"fleet\.utils\.LocalFS: is absent: it wraps"):
        fleet.utils.LocalFS  # noqa: B018
    with pytest.raises(UnsupportedError, match="parameter servers do not exist here"):
        fleet.UserDefinedRoleMaker(role=fleet.Role.SERVER)
    with pytest.raises(ArgumentError, match="role_maker must be"):
        fleet.init("worker")
    monkeypatch.setenv("TRAINING_ROLE", "PSERVER")
    with pytest.raises(UnsupportedError, match="TRAINING_ROLE 'PSERVER'"):
        fleet.init()
