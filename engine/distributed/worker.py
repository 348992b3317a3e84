"""What mpiexec starts for each rank: prepares the process, runs the script, ends all ranks when one fails.

``mpiexec -n N python -m engine.distributed.worker [OPTIONS] (SCRIPT | -m MODULE) [ARGUMENT ...]``

An exception or ``sys.exit`` with a status in one rank would leave the others waiting for it without end: MPI
only notices processes that a signal ends. With ``--log-dir DIR`` rank N writes to ``DIR/workerlog.N``; with
``--channel DIR`` (a launcher's folder of pipes) it reports to the launcher that it began and how it exited,
and writes to the launcher's pipes where there is no folder of logs. The worker redirects its own descriptors,
since what mpiexec forwards can be lost when a job is aborted.
"""

from __future__ import annotations

import os
import runpy
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from engine.distributed import mpi
from engine.distributed.environment import RANK, SELECTED, SIZE, number
from engine.distributed.launch.forwarding import EVENTS_IN_LINES, send_event_line
from engine.distributed.launch.guard import send_event
from engine.distributed.processes.listeners import confine_listeners
from engine.distributed.waiting import WaitReports
from engine.kernels.cpu.cores import cores
from engine.kernels.cpu.threads import set_num_threads
from resources.own_packages import claim_names

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
FIRST_PORT = 6170
USAGE = "worker: expected [--log-dir DIR] [--channel DIR] (SCRIPT | -m MODULE) [ARGUMENT ...]"


@dataclass(frozen=True)
class Task:
    """What a rank was started for.

    Attributes:
        words: the script, or the module's name, and its arguments.
        log_dir, channel: folders of logs and of a launcher's pipes, or None.
    """

    words: list[str]
    module: bool = False
    log_dir: str | None = None
    channel: str | None = None


def parsed(arguments: list[str]) -> Task:
    """The task that the words of the command line give."""
    folders: dict[str, str] = {}
    while arguments[:1] in (["--log-dir"], ["--channel"]) and len(arguments) > 1:
        folders[arguments[0][2:].replace("-", "_")] = arguments[1]
        arguments = arguments[2:]
    module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if module else arguments
    if not arguments:
        raise SystemExit(USAGE)
    return Task(arguments, module, **folders)


def _redirect(task: Task, rank: int) -> None:
    if task.log_dir is not None:
        Path(task.log_dir).mkdir(parents=True, exist_ok=True)
        log = Path(task.log_dir) / f"workerlog.{rank}"
        out = err = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    elif task.channel is not None:
        # Without waiting for a launcher that is gone; its pipes have a reader as long as it is there.
        out, err = (
            os.open(Path(task.channel) / f"{name}.{rank}", os.O_WRONLY | os.O_NONBLOCK)
            for name in ("out", "err")
        )
        for pipe in (out, err):
            os.set_blocking(pipe, True)
    else:
        return
    for stream, target, descriptor in ((sys.stdout, out, 1), (sys.stderr, err, 2)):
        stream.flush()
        os.dup2(target, descriptor)
    for target in {out, err}:
        os.close(target)
    for text in (sys.stdout, sys.stderr):  # written line by line, so that the last lines are there
        text.reconfigure(line_buffering=True, write_through=False)  # type: ignore[union-attr]


def _describe(rank: int, size: int, local: int, here: int) -> None:
    """Set the variables that scripts read; endpoints that a launcher gave stay."""
    ends = os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",")
    if len(ends) != size or not all(ends):
        ends = [f"127.0.0.1:{FIRST_PORT + each}" for each in range(size)]
    os.environ.update(
        PADDLE_TRAINER_ID=str(rank),
        PADDLE_GLOBAL_RANK=str(rank),
        PADDLE_LOCAL_RANK=str(local),
        PADDLE_RANK_IN_NODE=str(local),
        PADDLE_LOCAL_SIZE=str(here),
        PADDLE_TRAINERS_NUM=str(size),
        PADDLE_GLOBAL_SIZE=str(size),
        PADDLE_TRAINER_ENDPOINTS=",".join(ends),
        PADDLE_CURRENT_ENDPOINT=ends[rank],
    )
    devices = os.environ.get(SELECTED, "").split(",")
    if len(devices) == here:  # one for each rank of this machine
        os.environ[SELECTED] = devices[local]


def _limit_threads(ranks: int) -> None:
    """Share the cores of this machine among its ranks: on all cores each, a step takes 13 times as long."""
    if any(name in os.environ for name in _THREADS):
        return
    count = max(1, cores() // ranks)
    os.environ.update(dict.fromkeys(_THREADS, str(count)))  # for processes that the script starts
    set_num_threads(count)


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


def prepare(task: Task | None = None) -> Any:
    """Join the other ranks; returns the communicator of all, None where there is one process without MPI."""
    wanted = number(SIZE[:1], 0, 1)
    if wanted == 1 and not any(name in os.environ for name in SIZE[1:]):
        comm, rank, size, local, here = None, 0, 1, 0, 1
    else:
        library = mpi.library()
        comm = library.COMM_WORLD
        rank, size = comm.rank, comm.size
    if task is not None:
        _redirect(task, rank)
    if task is not None and task.channel is not None:
        send_event(task.channel, rank=rank, pid=os.getpid())
    if comm is not None:
        if wanted not in (0, size):
            raise SystemExit(
                f"worker: {wanted} processes were asked for, MPI has {size}: mpiexec belongs to another MPI "
                f"than mpi4py; use {mpi.find_mpiexec()}"
            )
        machine = comm.Split_type(library.COMM_TYPE_SHARED)
        local, here = machine.rank, machine.size
        machine.Free()
        _unlink_shared_memory(comm)
        if here == size:
            confine_listeners()
    _describe(rank, size, local, here)
    _limit_threads(here)
    return comm


def _run(module: bool, arguments: list[str]) -> int:
    """Run the script as Python would; its exit status."""
    sys.argv[:] = arguments
    claim_names()
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


def _event_sender(task: Task) -> Callable[..., None] | None:
    """What sends events to the launcher; None if there is none."""
    if task.channel is not None:
        return partial(send_event, task.channel)
    if os.environ.get(EVENTS_IN_LINES):
        return partial(send_event_line, os.dup(2))  # also if the rank's own lines go to a log
    return None


_PASSED_ON = 0.1  # seconds for mpiexec to pass on the last lines, which it drops at an abort


def print_user_error(error: BaseException) -> None:
    """Print the traceback without the frames of the worker and of runpy."""
    mine = {__file__, runpy.__file__, "<frozen runpy>"}
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename in mine:
        frames = frames.tb_next
    # In one piece: of several, what comes after the first can be lost when the job is aborted.
    sys.stderr.write("".join(traceback.format_exception(error.with_traceback(frames))))
    sys.stderr.flush()


def main(arguments: list[str]) -> None:
    """Run what ``arguments`` say; a failure ends all ranks with its exit status."""
    task = parsed(arguments)
    send = _event_sender(task)
    try:
        comm = prepare(task)
    except EngineError as error:
        raise SystemExit(str(error)) from None
    if send is not None and comm is not None:
        WaitReports(partial(send, rank=comm.rank)).start()
    status = _run(task.module, task.words) & 0xFF  # as the system keeps it
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # its reader is gone
            stream.flush()
    if send is not None and (task.channel is not None or not status):  # else MPI_Abort's message has it
        send(rank=number(RANK[:1], 0, 0), status=status)
        if status:  # the launcher reports it; the message of MPI_Abort would be the last line
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    if status and comm is not None:
        time.sleep(_PASSED_ON)
        comm.Abort(status)
    sys.exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
