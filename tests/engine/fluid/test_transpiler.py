"""DistributeTranspiler in one process; several: tests/engine/distributed/static_ranks.py."""

from __future__ import annotations

import pytest

from engine import fluid
from engine.distributed.environment import RANK, SIZE


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    for name in (*RANK, *SIZE):
        monkeypatch.delenv(name, raising=False)


def made(mode, collective_mode=None):
    config = fluid.DistributeTranspilerConfig()
    config.mode, config.collective_mode = mode, collective_mode
    return fluid.transpiler.DistributeTranspiler(config)


@pytest.mark.parametrize("mode", ["nccl2", "collective"])
def test_one_process_trains_the_program_itself(mode):
    main, startup = fluid.Program(), fluid.Program()
    transpiler = made(mode)
    with pytest.raises(ValueError, match=r"call transpile\(\) first"):
        transpiler.get_trainer_program()
    transpiler.transpile(0, main, trainers="127.0.0.1:6170", startup_program=startup)
    assert transpiler.get_trainer_program(wait_port=False) is main
    assert not main.global_block().ops
    assert not startup.global_block().ops


def test_unsupported_modes_and_trainers_are_refused():
    with pytest.raises(NotImplementedError, match="mode 'pserver' does not exist here; set config"):
        fluid.DistributeTranspiler().transpile(0)
    with pytest.raises(NotImplementedError, match="mode 'local_sgd' does not exist here"):
        made("collective", "local_sgd").transpile(0)
    with pytest.raises(ValueError, match="trainer 1 of 2: this is process 0 of 1; start the script with"):
        made("nccl2").transpile(1, trainers=2)
