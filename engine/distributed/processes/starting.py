"""How processes of a job are started: the command of a rank, and the environment that all of them get."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.distributed.environment import RANK, SIZE
from engine.distributed.launch.forwarding import EVENTS_IN_LINES
from engine.distributed.mpi import find_mpiexec, require
from engine.distributed.processes.listeners import LOOPBACK

_ROOT = str(Path(__file__).resolve().parents[3])
_START = str(Path(__file__).with_name("start_rank.py"))
_GUARD = str(Path(__file__).resolve().parents[1] / "launch" / "guard.py")
_DEVICES = "UCX_NET_DEVICES"  # of MPICH's wheel for Linux
# Variables that an outer job sets for its processes, besides RANK and SIZE; a new job sets others.
_OF_A_RANK = (
    EVENTS_IN_LINES,
    "PADDLE_CURRENT_ENDPOINT",
    "PADDLE_GLOBAL_RANK",
    "PADDLE_GLOBAL_SIZE",
    "PADDLE_LOCAL_RANK",
    "PADDLE_LOCAL_SIZE",
    "PADDLE_LOG_DIR",
    "PADDLE_NNODES",
    "PADDLE_RANK_IN_NODE",
    "PADDLE_RESTART_COUNT",
    "PADDLE_TRAINER_ENDPOINTS",
)


def rank_command(*words: str, channel: str | None = None) -> list[str]:
    """What runs in each rank: the worker with ``words``; under a guard where a launcher's folder of pipes is
    given."""
    if channel is None:
        return [sys.executable, _START, *words]
    return [sys.executable, _GUARD, channel, _START, *words]


def mpi_command(count: int, rank: Sequence[str], *options: str) -> list[str]:
    """The command that starts ``rank`` ``count`` times.

    Raises:
        DeviceError: mpi4py is not installed, or there is no mpiexec.
    """
    require()
    return [find_mpiexec(), *options, "-n", str(count), *rank]


def rank_environment(count: int, more: Mapping[str, str] | None = None, local: bool = True) -> dict[str, str]:
    """The variables of this process for the ``count`` ranks of a new job, which finds this engine.

    ``local``: all ranks are on this machine, so MPI listens on the loopback device only.
    """
    found = os.environ.get("PYTHONPATH")
    inherited = {
        name: text
        for name, text in os.environ.items()
        if name not in (*RANK, *SIZE, *_OF_A_RANK) and not name.startswith(("PMI_", "PMIX_", "HYDI_"))
    }
    if local:
        inherited.setdefault(_DEVICES, LOOPBACK)
    elif inherited.get(_DEVICES) == LOOPBACK:  # of an outer job
        del inherited[_DEVICES]
    path = os.pathsep.join([_ROOT, found] if found else [_ROOT])
    return inherited | {"PADDLE_TRAINERS_NUM": str(count), "PYTHONPATH": path} | dict(more or {})
