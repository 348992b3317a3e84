"""MPI as the engine uses it: loaded when there is a second process, arrays as bytes, never a pickle."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from engine.core.errors import DeviceError, ModeError
from resources import processes
from resources.processes import INSTALL


@cache
def library() -> ModuleType:
    """The module ``mpi4py.MPI``; loading it initializes MPI.

    Raises:
        DeviceError: mpi4py or the MPI library is not installed.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # RuntimeError: mpi4py without an MPI library
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DeviceError(f"distributed: several processes need MPI: {first}; {INSTALL}") from None
    found: ModuleType = MPI
    return found


def find_mpiexec() -> str:
    """The path of ``mpiexec``: the one of this Python's environment, else the first on PATH.

    Raises:
        DeviceError: there is none.
    """
    found = processes.find_mpiexec()
    if found is None:
        raise DeviceError(f"distributed: several processes are started by mpiexec: found none; {INSTALL}")
    return found


def require() -> None:
    """Look whether there is what several processes need, without loading it.

    Raises:
        DeviceError: the extra ``distributed`` is not installed.
    """
    why = processes.missing()
    if why:
        raise DeviceError(f"distributed: several processes need MPI: {why}")


def world(rank: int, size: int) -> Any:
    """The communicator of all ``size`` processes.

    Raises:
        ModeError: MPI counts the processes otherwise: another mpiexec started them, or none.
    """
    comm = library().COMM_WORLD
    if (comm.rank, comm.size) != (rank, size):
        raise ModeError(
            f"distributed: the environment says rank {rank} of {size} processes, MPI says {comm.rank} of "
            f"{comm.size}: start the script with `model-studio launch`, or with the mpiexec of the MPI that "
            f"mpi4py uses ({find_mpiexec()})"
        )
    return comm


def bytes_of(array: np.ndarray[Any, Any]) -> list[Any]:
    """The memory of a contiguous array as MPI takes it, whatever its dtype is."""
    return [array.reshape(-1).view(np.uint8), library().BYTE]
