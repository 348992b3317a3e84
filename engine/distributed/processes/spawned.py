"""What a process of ``spawn`` runs: rank 0 reads the file with the call, all do it."""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.distributed import mpi
from engine.distributed.environment import ParallelEnv
from engine.distributed.groups import Group
from engine.distributed.objects import broadcast_value, unpacked
from resources.regular_files import LARGE_FILE, read_regular


def function_of(call: dict[str, Any]) -> Callable[..., Any]:
    """The function that a call names; the script of ``__main__`` runs under multiprocessing's name for it."""
    found: Callable[..., Any]
    if "file" in call:
        found = runpy.run_path(call["file"], run_name="__mp_main__")[call["name"]]
    else:
        found = getattr(importlib.import_module(call["module"]), call["name"])
    return found


def main() -> None:
    """Receive the call from rank 0, and do it."""
    env = ParallelEnv()
    group = Group(env.rank, 0, range(env.world_size), mpi.world(env.rank, env.world_size))
    value = None
    if env.rank == 0:
        file = Path(sys.argv[1])
        value = unpacked(np.frombuffer(read_regular(file, LARGE_FILE), np.uint8))
        file.unlink()
    call = broadcast_value(value, 0, group, "spawn")
    sys.path[:] = call["path"]
    function_of(call)(*call["args"])


if __name__ == "__main__":
    main()
