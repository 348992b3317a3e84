"""How child processes for untrusted files are started: without site-packages, with few variables."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

_ENGINE = Path(__file__).resolve().parents[2]
_VARIABLES = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TEMP")
# No HDF5 plug-ins, because an unknown filter must not load a library.
_ALWAYS = {"HDF5_PLUGIN_PRELOAD": "::"}
# Each BLAS thread reserves address space, which counts against a limit on memory.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)


def command(script: Path) -> list[str]:
    """The command that runs ``script`` with this Python.

    It runs without site-packages, user site and PYTHON* variables, so that its start takes little longer than
    its imports; ``import_folders`` gives their folders.
    """
    return [sys.executable, "-I", "-S", "-B", str(script)]


def environment(*inherited: str) -> dict[str, str]:
    """The variables of such a process: those that programs need to start, and those named."""
    return {name: os.environ[name] for name in (*_VARIABLES, *inherited) if name in os.environ} | _ALWAYS


def import_folders(*packages: str) -> list[str]:
    """The folders in which the packages are."""
    found = [find_spec(name) for name in packages]
    return sorted({str(Path(spec.origin).parent.parent) for spec in found if spec and spec.origin})


def engine_folder() -> Path:
    """The folder of the engine's own code."""
    return _ENGINE


def ending(code: int) -> str:
    """How a process with this exit code ended; below 0 it is the number of a signal."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"stopped by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"stopped by signal {-code}"
