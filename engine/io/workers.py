"""The main process's side of a DataLoader's workers: starting them, tasks and batches in order, their end."""

from __future__ import annotations

import ast
import contextlib
import itertools
import multiprocessing
import os
import signal
import sys
import time
import warnings
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from engine.core.errors import WorkerError
from engine.core.models.local_imports import serving
from engine.io.transport import Receiver, packed_for_spawn
from engine.io.worker import ERROR, EXHAUSTED, Job, work
from resources.exit_codes import exit_code
from resources.regular_files import read_regular

_GRACE = 5.0  # seconds that workers have to finish the batch they are at, before they are terminated

# The main process's ends of all pipes: a forked worker closes its copies, so that the others notice the end
# of the main process.
_ends: weakref.WeakSet[Connection] = weakref.WeakSet()


class _Worker:
    """One process and the two pipes to it."""

    def __init__(self, context: Any, job: Job | bytes, number: int) -> None:
        tasks, self.tasks = context.Pipe(duplex=False)
        self.results, results = context.Pipe(duplex=True)  # a socket, where descriptors travel
        self._receiver = Receiver(self.results)
        self._free: list[int] = []  # pieces of shared memory
        self._taken: deque[int] = deque()
        _ends.update((self.tasks, self.results))
        forked = context.get_start_method() == "fork"
        arguments = (job, number, tasks, results, None if forked else serving())
        self.process: BaseProcess = context.Process(
            target=_forked if forked else work, args=arguments, name=f"DataLoader-{number}", daemon=True
        )
        try:
            with warnings.catch_warnings():
                # Python 3.12 and later warn of any fork while threads run. Decision 0043.
                warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
                self.process.start()
        finally:
            tasks.close()
            results.close()

    def ask(self, epoch: int, task: Any) -> None:
        """Hand out a task. Nothing is said here where the worker is gone."""
        slot = self._free.pop() if self._free else len(self._taken)
        self._taken.append(slot)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.tasks.send((epoch, task, slot))

    def answer(self) -> tuple[str, Any, int]:
        """Wait for the answer to the oldest task. Raises EOFError or OSError where the worker is gone."""
        ready = wait([self.results, self.process.sentinel])
        if self.results not in ready and not self.results.poll():
            raise EOFError
        answer: tuple[str, Any, int] = self._receiver.receive()
        self._free.append(self._taken.popleft())
        return answer


def _forked(job: Job, number: int, tasks: Connection, results: Connection, local: None) -> None:
    for end in list(_ends):
        end.close()
    work(job, number, tasks, results)


class Workers:
    """Processes that make the batches of a loader. Batches come in the order of the tasks, whichever is ready
    first; those of an iterable dataset come from each worker in turn that still has some.

    Raises:
        WorkerError: a worker ended before its time.
    """

    def __init__(self, job: Job | bytes, count: int, ahead: int, method: str) -> None:
        context = multiprocessing.get_context(method)
        self.count = count
        self._ahead = ahead
        self._epoch = -1
        self._workers: list[_Worker] = []
        self._end = weakref.finalize(self, _shut_down, self._workers, os.getpid())
        try:
            for number in range(count):
                self._workers.append(_Worker(context, job, number))
        except BaseException:
            self.close()
            raise

    @property
    def closed(self) -> bool:
        return not self._end.alive

    def close(self) -> None:
        """End the workers and wait until they have gone."""
        self._end()

    def start(self, tasks: Iterator[Any], skip: int) -> None:
        """Begin an epoch, behind the first ``skip`` batches of an iterable dataset."""
        self._epoch += 1
        self._tasks = tasks
        self._skip = skip  # they come all the same: which worker made them depends on where each one ended
        self._turns = itertools.cycle(range(self.count))
        self._exhausted: set[int] = set()
        self._outstanding: deque[int] = deque()
        for _ in range(self._ahead * self.count):
            self._hand_out()

    def take(self) -> Any:
        """The next batch. Raises StopIteration after the last, and what a worker raised at this batch."""
        if self.closed:
            raise StopIteration
        try:
            kind, value = self._next()
        except BaseException as error:
            if not isinstance(error, StopIteration):
                self.close()  # interrupted or failed between two messages: the pipes may hold half of one
            raise
        if kind != ERROR:
            return value
        try:
            raise value.rebuilt()
        finally:
            del value  # it holds the error, whose traceback holds this frame and so the workers

    def _next(self) -> tuple[str, Any]:
        while self._outstanding:
            number = self._outstanding[0]
            kind, value = self._answer(number)
            self._outstanding.popleft()
            if kind == EXHAUSTED:
                self._exhausted.add(number)
                ours = [other for other in self._outstanding if other != number]
                lost = len(self._outstanding) - len(ours)
                self._outstanding = deque(ours)
                for _ in range(lost + 1):
                    self._hand_out()
                continue
            self._hand_out()
            if not self._skip:
                return kind, value
            self._skip -= 1
        raise StopIteration

    def _hand_out(self) -> None:
        """Give the next task to the next worker in turn that has not come to its end."""
        turns = itertools.islice(self._turns, self.count)
        number = next((number for number in turns if number not in self._exhausted), None)
        if number is None:
            return
        for task in itertools.islice(self._tasks, 1):
            self._workers[number].ask(self._epoch, task)
            self._outstanding.append(number)

    def _answer(self, number: int) -> tuple[str, Any]:
        worker = self._workers[number]
        answer: tuple[str, Any, int] | None = None
        # What was made for an epoch that was left early is dropped.
        while answer is None or answer[2] != self._epoch:
            with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
                answer = worker.answer()
                continue
            raise _gone(worker, number, self.count)
        return answer[0], answer[1]


def _gone(worker: _Worker, number: int, count: int) -> WorkerError:
    process = worker.process
    process.join(_GRACE)
    code = exit_code(process)
    if code is None or code >= 0:
        how = f"ended with exit code {code}"
        remedy = "see what it printed, or load with num_workers=0 to see the error"
    else:
        how = f"was killed by {_signal_name(-code)}"
        remedy = "was memory short? try fewer workers or smaller batches"
    return WorkerError(
        f"DataLoader: worker {number} of {count} (process {process.pid}) {how} before its batch was there; "
        f"{remedy}"
    )


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} (signal {number})"
    except ValueError:
        return f"signal {number}"


def _shut_down(workers: Sequence[_Worker], owner: int) -> None:
    if os.getpid() != owner:  # a process that was forked from the main process
        return
    for worker in workers:
        with contextlib.suppress(OSError):
            worker.tasks.send(None)
        worker.tasks.close()
        worker.results.close()  # a worker that waits to hand over a batch stops waiting
    until = time.monotonic() + _GRACE
    for worker in workers:
        worker.process.join(max(0.0, until - time.monotonic()))
    late = [worker.process for worker in workers if worker.process.is_alive()]
    for process in late:
        process.terminate()
    for process in late:
        process.join(1.0)
        if process.is_alive():
            process.kill()
            process.join()
    for worker in workers:
        exit_code(worker.process)  # else it may not be closed
        worker.process.close()


def start_method() -> str:
    """How workers start: ``fork`` on Linux, as in Paddle, else ``spawn``; a script's ``set_start_method``
    decides."""
    chosen = multiprocessing.get_start_method(allow_none=True)
    if chosen == "fork" or (sys.platform == "linux" and chosen != "spawn"):
        return "fork"
    return "spawn"


def spawnable(job: Job) -> bytes | str:
    """``job`` pickled for workers that are spawned; or, as text, why it can't go there."""
    main = sys.modules["__main__"]
    path = getattr(main, "__file__", None)
    if path is not None and not _guarded(path):
        return f"{os.path.basename(path)} has no `if __name__ == '__main__':`, without which a worker runs it"
    pickled = packed_for_spawn(job)
    if path is None and isinstance(pickled, bytes) and b"__main__" in pickled:
        return "the dataset or a function of the loader is defined in no file"
    return pickled


def _guarded(path: str) -> bool:
    """Whether the script at ``path`` can be imported without being run."""
    try:
        tree = ast.parse(read_regular(path))
    except (OSError, SyntaxError, ValueError):
        return False
    names = (node for top in tree.body if isinstance(top, ast.If) for node in ast.walk(top.test))
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in names)
