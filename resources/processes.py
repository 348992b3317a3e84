"""Checks whether the packages for several processes are installed, without loading MPI or the engine."""

from __future__ import annotations

import importlib.util
import shutil
import sysconfig

from resources.installing import extra

INSTALL = extra("distributed")


def find_mpiexec() -> str | None:
    """The path of ``mpiexec``: the one of this Python's environment, else the first on PATH."""
    return shutil.which("mpiexec", path=sysconfig.get_path("scripts")) or shutil.which("mpiexec")


def missing() -> str:
    """What is not installed of what several processes need, and how to install it; empty where all is."""
    try:
        found = importlib.util.find_spec("mpi4py")
    except ValueError:  # a test hides it
        found = None
    if found is None:
        return f"mpi4py is not installed; {INSTALL}"
    return "" if find_mpiexec() else f"found no mpiexec; {INSTALL}"
