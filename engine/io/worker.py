"""A worker of a DataLoader: the process that makes batches, and what a dataset may ask there about it."""

from __future__ import annotations

import os
import queue
import random
import signal
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Any, TypeAlias

import numpy as np

from engine.core import mode as modes
from engine.core.models.local_imports import LocalFiles, serve
from engine.core.place import CPUPlace, place_guard
from engine.core.random.generator import default_generator
from engine.eager.mode import RECORDING
from engine.io.dataset import Dataset
from engine.io.fetching import Fetcher
from engine.io.transport import Sender, packed, remembered, unpacked
from engine.kernels.cpu.threads import computing_threads

BATCH, EXHAUSTED, ERROR = "batch", "exhausted", "error"
_LOOK = 1.0  # seconds between looks at whether the main process is alive

Task: TypeAlias = "tuple[int, Any, int] | None"
"""The epoch, what the batch sampler yielded, the memory for the batch; None ends the worker."""


class WorkerInfo:
    """What ``get_worker_info`` gives in a worker: ``id``, ``num_workers``, ``dataset`` (the worker's own
    copy) and ``seed`` (that of worker 0)."""

    def __init__(self, id: int, num_workers: int, dataset: Dataset, seed: int) -> None:
        self.__dict__.update(id=id, num_workers=num_workers, dataset=dataset, seed=seed)

    def __setattr__(self, name: str, value: Any) -> None:
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader which one it is, as an IterableDataset must know to read its share; None in
    the main process."""
    return _info


@dataclass(frozen=True)
class Job:
    """What all workers of a loader do."""

    fetcher: Fetcher
    init_fn: Callable[[int], Any] | None
    workers: int
    seed: int
    shared: bool


@dataclass(frozen=True)
class Report:
    """An error of a worker, for the main process to raise."""

    error: Callable[[str], Exception] | Exception
    message: str
    trace: str

    def rebuilt(self) -> Exception:
        """The error, with the worker's traceback as a note."""
        error = self.error if isinstance(self.error, Exception) else self.error(self.message)
        error.add_note(self.trace)
        return error


def work(
    job: Job | bytes,
    number: int,
    tasks: Connection,
    results: Connection,
    local: LocalFiles | None = None,
) -> None:
    """Make the batches that are asked for until the main process has no more tasks or is gone.

    ``local``: what the main process imports from a model's folder, for a process that does not inherit it.
    """
    global _info
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C goes to all; the main process ends its workers
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if local is not None:
        serve(local)
    if isinstance(job, bytes):
        job = unpacked(job)
        assert isinstance(job, Job)
    _seed(job.seed, number)
    _info = WorkerInfo(number, job.workers, job.fetcher.dataset, job.seed)
    waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
    ended = threading.Event()
    # A thread of its own reads the tasks, so that the main process never waits to hand one over.
    threading.Thread(target=_receive, args=(tasks, waiting, ended), daemon=True).start()
    try:
        with computing_threads(1), modes.use(RECORDING), place_guard(CPUPlace()):
            _serve(job, number, waiting, ended, results)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the main process has closed the loader
    results.close()


def _serve(
    job: Job, number: int, waiting: queue.SimpleQueue[Task], ended: threading.Event, results: Connection
) -> None:
    epoch, fetcher, failed = -1, job.fetcher, None
    sender = Sender(results, job.shared)
    try:
        if job.init_fn is not None:
            job.init_fn(number)
    except Exception as error:
        failed = _report(number, error)
    while (task := waiting.get()) is not None and not ended.is_set():
        asked, indices, slot = task
        answer: tuple[str, Any, int]
        try:
            if failed is None:
                if asked != epoch:
                    fetcher.start()
                    epoch = asked
                answer = (*_answer(fetcher, indices), asked)
            else:
                answer, failed = (ERROR, failed, asked), None
            body, buffers = packed(answer)
        except Exception as error:
            body, buffers = packed((ERROR, _report(number, error), asked))
        sender.send(body, buffers, slot)


def _answer(fetcher: Fetcher, indices: Any) -> tuple[str, Any]:
    try:
        return BATCH, fetcher.fetch(indices)
    except StopIteration:
        if not fetcher.iterable:
            raise
        return EXHAUSTED, None


def _receive(tasks: Connection, waiting: queue.SimpleQueue[Task], ended: threading.Event) -> None:
    """Take tasks until there are no more; ends the process at once where the main process is gone."""
    parent, main = os.getppid(), parent_process()
    watched: list[Connection | int] = [tasks] if main is None else [tasks, main.sentinel]
    try:
        while True:
            ready = wait(watched, _LOOK)
            if os.getppid() != parent or (main is not None and main.sentinel in ready):
                os._exit(1)
            if tasks in ready:
                task: Task = tasks.recv()
                if task is None:
                    break
                waiting.put(task)
    except (EOFError, OSError):
        if os.getppid() != parent:
            os._exit(1)
    ended.set()
    waiting.put(None)


def _report(number: int, error: Exception) -> Report:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    return Report(
        remembered(error),
        str(error),
        f"DataLoader worker({number}) caught {type(error).__name__} with message:\n{text.rstrip()}",
    )


def _seed(seed: int, number: int) -> None:
    """Give each worker its own random numbers, those of Paddle."""
    random.seed(seed + number)
    default_generator().manual_seed(seed + number)
    entropy = [number, seed & 0xFFFFFFFF, seed >> 32, 0]
    np.random.seed(np.random.SeedSequence(entropy).generate_state(4))
