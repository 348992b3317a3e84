"""What mpiexec starts for each rank: prepares the process, runs the script, ends all ranks when one fails.

``mpiexec -n N python -m engine.distributed.worker [--log-dir DIR] (SCRIPT | -m MODULE) [ARGUMENT ...]``

An exception or ``sys.exit`` with a status in one rank would leave the others waiting for it without end: MPI
only notices processes that a signal ends. With ``--log-dir`` rank N writes to ``DIR/workerlog.N``; the worker
redirects its own descriptors, since what mpiexec forwards can be lost when a job is aborted.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from engine.core.errors import EngineError
from engine.distributed import mpi
from engine.distributed.environment import SIZE, number

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_FIRST_PORT = 6170
USAGE = "worker: expected [--log-dir DIR] (SCRIPT | -m MODULE) [ARGUMENT ...]"


def parsed(arguments: list[str]) -> tuple[str | None, bool, list[str]]:
    """The folder of logs or None, whether a module is run, and its name or the script with its arguments."""
    folder: str | None = None
    if arguments[:1] == ["--log-dir"] and len(arguments) > 1:
        folder, arguments = arguments[1], arguments[2:]
    module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if module else arguments
    if not arguments:
        raise SystemExit(USAGE)
    return folder, module, arguments


def _redirect(folder: str, rank: int) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    log = os.open(Path(folder) / f"workerlog.{rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
        stream.flush()
        os.dup2(log, descriptor)
    os.close(log)
    for text in (sys.stdout, sys.stderr):  # a file is written line by line, so that the last lines are there
        text.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def _describe(rank: int, size: int, local: int) -> None:
    """Set the variables that scripts read; endpoints that a launcher gave stay."""
    ends = os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",")
    if len(ends) != size or not all(ends):
        ends = [f"127.0.0.1:{_FIRST_PORT + each}" for each in range(size)]
    os.environ.update(
        PADDLE_TRAINER_ID=str(rank), PADDLE_GLOBAL_RANK=str(rank),
        PADDLE_LOCAL_RANK=str(local), PADDLE_RANK_IN_NODE=str(local),
        PADDLE_TRAINERS_NUM=str(size), PADDLE_GLOBAL_SIZE=str(size),
        PADDLE_TRAINER_ENDPOINTS=",".join(ends), PADDLE_CURRENT_ENDPOINT=ends[rank],
    )  # fmt: skip


def _limit_threads(ranks: int) -> None:
    """Share the cores of this machine among its ranks: on all cores each, a step takes 13 times as long."""
    if any(name in os.environ for name in _THREADS):
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = max(1, cores // ranks)
    os.environ.update(dict.fromkeys(_THREADS, str(count)))  # for processes that the script starts
    threadpool_limits(limits=count)


def _unlink_shared_memory(comm: Any) -> None:
    """Remove the names of MPICH's shared memory, which a killed job would leave; the memory stays mapped."""
    maps = Path("/proc/self/maps")
    comm.Barrier()  # every rank has opened it
    if maps.exists():
        for line in maps.read_text(encoding="utf-8", errors="replace").splitlines():
            path = line.partition("/dev/shm/")[2]
            if path.startswith("mpich_") and " " not in path:
                with suppress(OSError):  # another rank of this machine was first
                    os.unlink(f"/dev/shm/{path}")
    comm.Barrier()


def prepare(folder: str | None) -> Any:
    """Join the other ranks; returns the communicator of all."""
    library = mpi.library()
    comm = library.COMM_WORLD
    if folder is not None:
        _redirect(folder, comm.rank)
    wanted = number(SIZE[:1], comm.size, 1)
    if wanted != comm.size:
        raise SystemExit(
            f"worker: {wanted} processes were asked for, MPI has {comm.size}: mpiexec belongs to another MPI "
            f"than mpi4py; use {mpi.find_mpiexec()}"
        )
    here = comm.Split_type(library.COMM_TYPE_SHARED)
    _describe(comm.rank, comm.size, here.rank)
    _limit_threads(here.size)
    here.Free()
    _unlink_shared_memory(comm)
    return comm


def _run(module: bool, arguments: list[str]) -> int:
    """Run the script as Python would; its exit status."""
    sys.argv[:] = arguments
    try:
        if module:
            sys.path.insert(0, os.getcwd())
            runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        print_user_error(error)
        return 1
    return 0


def print_user_error(error: BaseException) -> None:
    """Print the traceback without the frames of the worker and of runpy."""
    mine = {__file__, runpy.__file__, "<frozen runpy>"}
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename in mine:
        frames = frames.tb_next
    traceback.print_exception(error.with_traceback(frames))


def main(arguments: list[str]) -> None:
    """Run what ``arguments`` say; a failure ends all ranks with its exit status."""
    folder, module, rest = parsed(arguments)
    try:
        comm = prepare(folder)
    except EngineError as error:
        raise SystemExit(str(error)) from None
    status = _run(module, rest)
    if status:
        sys.stdout.flush()
        sys.stderr.flush()
        comm.Abort(status)


if __name__ == "__main__":
    main(sys.argv[1:])
