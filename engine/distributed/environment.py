"""What this process is among those of a job: rank, number of processes, endpoints."""

from __future__ import annotations

import os
from collections.abc import Sequence

from engine.core.errors import ArgumentError

SELECTED = "FLAGS_selected_gpus"
# What the launcher sets, then what mpiexec of MPICH and of Open MPI set in processes started by it alone.
RANK = ("PADDLE_TRAINER_ID", "PMI_RANK", "OMPI_COMM_WORLD_RANK")
SIZE = ("PADDLE_TRAINERS_NUM", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE")


def number(names: Sequence[str], default: int, least: int) -> int:
    """The integer that the first of the environment variables ``names`` that is set holds."""
    for name in names:
        text = os.environ.get(name)
        if text is None:
            continue
        if not text.strip().isdecimal() or int(text) < least:
            raise ArgumentError(f"distributed: {name} must be an integer >= {least}: got {text!r}; unset it")
        return int(text)
    return default


class ParallelEnv:
    """Rank, number of processes and endpoints of this process, read from the environment when it is made.

    ``rank`` (``local_rank``) is ``PADDLE_TRAINER_ID``, ``world_size`` (``nranks``) ``PADDLE_TRAINERS_NUM``,
    ``device_id`` (``dev_id``) the first number of ``FLAGS_selected_gpus``.

    Differs from Paddle: without those variables, rank and world_size are what mpiexec says.
    """

    def __init__(self) -> None:
        self._rank = number(RANK, 0, 0)
        self._world_size = number(SIZE, 1, 1)
        first = os.environ.get(SELECTED, "").partition(",")[0]
        self._device_id = int(first) if first.strip().isdecimal() else 0
        self._nrings = number(("FLAGS_nccl_nrings",), 1, 1)
        self._pg_timeout = number(("PADDLE_PG_TIMEOUT",), 1_800_000, 0)
        self._trainer_endpoints = os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",")
        self._current_endpoint = os.environ.get("PADDLE_CURRENT_ENDPOINT", "")

    @property
    def rank(self) -> int:
        """Which process this is, from 0."""
        return self._rank

    @property
    def world_size(self) -> int:
        """How many processes there are."""
        return self._world_size

    @property
    def device_id(self) -> int:
        """The number of the GPU that was given to this process."""
        return self._device_id

    @property
    def device_type(self) -> str:
        """The kind of a device that is neither CPU nor GPU: always empty."""
        return ""

    @property
    def current_endpoint(self) -> str:
        """``host:port`` of this process; empty where nothing says."""
        return self._current_endpoint

    @property
    def trainer_endpoints(self) -> list[str]:
        """``host:port`` of every process."""
        return self._trainer_endpoints

    @property
    def nrings(self) -> int:
        """``FLAGS_nccl_nrings``; nothing depends on it."""
        return self._nrings

    @property
    def pg_timeout(self) -> int:
        """``PADDLE_PG_TIMEOUT`` in milliseconds; nothing depends on it."""
        return self._pg_timeout

    local_rank = rank
    nranks = world_size
    dev_id = device_id
