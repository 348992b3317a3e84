"""``spawn``: a function in several processes, which mpiexec starts."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine.core.errors import ArgumentError, WorkerError
from engine.distributed.objects import packed

_OPTIONS = ("start_method", "gpus", "selected_gpus", "xpus", "mlus", "ips", "backend", "print_config")


class MultiprocessContext:
    """The processes that ``spawn`` started."""

    def __init__(self, process: subprocess.Popen[bytes] | None, path: str | None = None) -> None:
        self._process, self._path = process, path

    def join(self, timeout: float | None = None) -> bool:
        """Wait until all have ended; False if they have not after ``timeout`` seconds.

        Raises:
            WorkerError: one failed; all have ended then, and its traceback stands on the standard error.
        """
        if self._process is None:
            return True
        try:
            status = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        except BaseException:
            self.terminate()
            raise
        self.finish()
        if status:
            raise WorkerError(f"spawn: a process failed with exit status {status}; its messages stand above")
        return True

    def terminate(self) -> None:
        """End all processes."""
        if self._process is not None:
            self._process.terminate()
        self.finish()

    def finish(self) -> None:
        """Wait until all have ended, and remove the file with the call where rank 0 did not come to it."""
        if self._process is not None:
            self._process.wait()
        if self._path is not None:
            Path(self._path).unlink(missing_ok=True)


def reference(func: Callable[..., Any]) -> dict[str, str]:
    """Module (a file for that of the script) and name by which another process finds ``func``.

    Raises:
        ArgumentError: it is not a function at the top of a module.
    """
    module, name = getattr(func, "__module__", None), getattr(func, "__qualname__", "")
    loaded = sys.modules.get(module or "")
    if getattr(loaded, name, None) is not func or module is None:
        raise ArgumentError(f"spawn: func must be a function at the top of a module: got {func!r}; move it")
    if module != "__main__":
        return {"module": module, "name": name}
    file = getattr(loaded, "__file__", None)
    if file is None or not Path(file).is_file():
        raise ArgumentError("spawn: func is typed in, other processes can't read it: save it in a file")
    return {"file": str(Path(file).resolve()), "name": name}


def _count(nprocs: int, options: dict[str, Any]) -> int:
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise ArgumentError(
            f"spawn: the option {unknown[0]!r} does not exist: there are {', '.join(_OPTIONS)}"
        )
    if nprocs == -1:
        chosen = options.get("gpus") or options.get("selected_gpus")
        if chosen:
            return len(str(chosen).split(","))
        return int(os.environ.get("CPU_NUM") or os.cpu_count() or 1)
    if not isinstance(nprocs, int) or nprocs < 1:
        raise ArgumentError(f"spawn: nprocs must be a number of processes, or -1: got {nprocs!r}")
    return nprocs


def spawn(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = -1,
    join: bool = True,
    daemon: bool = False,
    **options: Any,
) -> MultiprocessContext:
    """Run ``func(*args)`` in ``nprocs`` processes; -1: as many as ``gpus``, else ``CPU_NUM``, else cores.

    ``args`` are numbers, texts, arrays, Tensors, and lists, tuples and dicts of those. Without ``join`` it
    returns at once; when this process ends it waits for the others, or ends them if ``daemon``.

    Differs from Paddle: mpiexec starts the processes, which find ``func`` by module and name; one process is
    this one; the options but ``gpus`` have no effect.

    Raises:
        ArgumentError: ``func`` is not at the top of a module, or an unknown option.
        DTypeError: an argument of another class.
        DeviceError: the extra ``distributed`` is not installed.
        WorkerError: a process failed.
    """
    from engine.distributed.processes.starting import mpi_command, rank_command, rank_environment

    count = _count(nprocs, options)
    if count == 1:
        func(*args)
        return MultiprocessContext(None)
    # In a file for this user alone: mpiexec gives up where rank 0 reads its standard input too late.
    call = packed({**reference(func), "args": tuple(args), "path": list(sys.path)}, "spawn").tobytes()
    command = mpi_command(count, rank_command("-m", "engine.distributed.processes.spawned"))
    descriptor, path = tempfile.mkstemp(prefix="model-studio-spawn-")
    with open(descriptor, "wb") as file:
        file.write(call)
    process = subprocess.Popen([*command, path], stdin=subprocess.DEVNULL, env=rank_environment(count))
    context = MultiprocessContext(process, path)
    if join:
        context.join()
    else:
        atexit.register(context.terminate if daemon else context.finish)
    return context
