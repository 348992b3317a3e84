"""FileThreads: file operations of the session in threads, so that a slow disk does not stop the window."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar, cast

T = TypeVar("T")


@dataclass(frozen=True)
class _Request:
    work: Callable[[], Callable[[], object]]
    key: str


class FileThread:
    """Carries out requests one after another, in order.

    The thread frees no request, since it may hold objects of Qt: the caller of ``take`` or ``end`` does.

    Until ``begin`` the caller itself carries them out at once, as scripts and the command line need it. After
    it a thread does, which starts with the first request; results are handed on by ``take``.

    Args:
        name: of the thread.
        wake: called from the thread when there is something to ``take``.
    """

    def __init__(self, name: str, wake: Callable[[], object]) -> None:
        self._name, self._wake = name, wake
        self._waiting: deque[_Request] = deque()
        # Each with its request, which holds objects of its caller.
        self._answers: deque[tuple[_Request, Callable[[], object]]] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._begun = self._working = self._closed = False

    def begin(self) -> None:
        """Use a thread from now on."""
        self._begun = True

    @property
    def working(self) -> bool:
        """Whether a request waits or is being carried out."""
        with self._changed:
            return self._working or bool(self._waiting)

    def do(self, work: Callable[[], T], then: Callable[[T], object] | None = None, key: str = "") -> None:
        """Carry out ``work``, then call ``then`` with its result in the thread of the caller of ``take``.

        ``work`` must not import the engine for the first time: two threads that import parts of it at once
        can lock each other out. An error that it raises is raised by ``take``.

        Args:
            key: the request replaces an earlier one of this key that has not begun.
        """
        if not self._begun:
            answered = work()
            if then is not None:
                then(answered)
            return
        with self._changed:
            if self._closed:
                return
            if key:
                self._waiting = deque(each for each in self._waiting if each.key != key)
            self._waiting.append(_Request(partial(_answer, work, then), key))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def attempt(
        self,
        work: Callable[[], T],
        then: Callable[[T], object],
        failed: Callable[[Exception], object] | None,
        errors: tuple[type[Exception], ...],
        key: str = "",
    ) -> None:
        """Carry out ``work`` as ``do``; one of ``errors`` goes to ``failed``, or is raised without it."""

        def tried() -> tuple[T | None, Exception | None]:
            try:
                return work(), None
            except errors as error:
                return None, error

        def take(found: tuple[T | None, Exception | None]) -> None:
            if found[1] is None:
                then(cast(T, found[0]))
            elif failed is None:
                raise found[1]
            else:
                failed(found[1])

        self.do(tried, take, key)

    def take(self) -> None:
        """Hand on the results that are there."""
        try:
            while (answer := self._next_answer()) is not None:
                answer[1]()
        finally:
            if self._answers and not self._closed:  # one could not be used
                self._wake()

    def _next_answer(self) -> tuple[_Request, Callable[[], object]] | None:
        with self._changed:  # the thread does not hold it any more
            return self._answers.popleft() if self._answers and not self._closed else None

    def wait(self, timeout: float) -> bool:
        """Wait until all is done and hand on the results; False if ``timeout`` seconds passed before."""
        end = time.monotonic() + timeout
        while self.working or (self._answers and not self._closed):
            with self._changed:
                if self._working or self._waiting:
                    self._changed.wait(max(0.0, end - time.monotonic()))
            self.take()
            if time.monotonic() >= end and self.working:
                return False
        return True

    def close(self) -> None:
        """Begin nothing more, and hand nothing on. An operation in progress does not keep the process."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._answers.clear()
            self._changed.notify_all()

    def end(self) -> None:
        """Close, and wait for the thread, which then holds nothing any more."""
        self.close()
        if self._thread is not None:
            self._thread.join()
            self._answers.clear()

    def _run(self) -> None:
        while (request := self._next()) is not None:
            answer = request.work()
            with self._changed:
                self._answers.append((request, answer))
                del request, answer
                closed = self._closed
            if not closed:
                self._wake()

    def _next(self) -> _Request | None:
        with self._changed:
            self._working = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return None
            self._working = True
            return self._waiting.popleft()


def _answer(work: Callable[[], T], then: Callable[[T], object] | None) -> Callable[[], object]:
    try:
        result = work()
    except Exception as error:
        return partial(_fail, error)
    return _nothing if then is None else partial(then, result)


def _fail(error: Exception) -> None:
    raise error


def _nothing() -> None:
    """The caller needs no result, or only to know that it is its turn."""


class FileThreads:
    """The threads of a session: ``listing`` reads lists, ``reading`` what is shown of one run or file, and
    ``writing`` writes, in the order of the changes; ``drawing`` lays diagrams out, and ``checkpoints`` reads
    the checkpoints of a run, which may be large.

    ``why_held`` says why runs and files of the project can't be changed now; it is empty where they can.
    """

    def __init__(self, wake: Callable[[], object]) -> None:
        self.listing = FileThread("listing", wake)
        self.reading = FileThread("reading", wake)
        self.writing = FileThread("writing", wake)
        self.drawing = FileThread("drawing", wake)
        self.checkpoints = FileThread("checkpoints", wake)
        self.why_held = ""
        self._all = (self.listing, self.reading, self.writing, self.drawing, self.checkpoints)

    def begin(self) -> None:
        """Use threads from now on."""
        for each in self._all:
            each.begin()

    def take(self) -> None:
        """Hand on the results that are there."""
        for each in self._all:
            each.take()

    def when_written(self, then: Callable[[], object]) -> None:
        """Call ``then``, which starts what reads files, when all that waits to be written now is written."""
        self.writing.do(_nothing, lambda _: then())

    def close(self, timeout: float) -> bool:
        """Finish what is to be written, and read nothing more; False where it was not written in time."""
        written = self.writing.wait(timeout)
        for each in self._all:
            each.close()
        return written
