"""Trials on a Dask cluster that is there already (extra ``sweep``): imported for --scheduler only."""

from __future__ import annotations

import ast
import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from uuid import uuid4

from distributed import Client, Event, Future
from distributed.comm import CommClosedError
from distributed.security import Security
from tornado.util import TimeoutError as LoopTimeout

from engine.core.errors import ArgumentError, DataError, EngineError
from engine.files.run_source import keep_source
from resources.json_documents import DocumentError, parse
from studio.session.sweep.children import WIDTH, Ended, Progress, Tell, Waiting
from studio.session.sweep.files import read_run, require_run_files, write_run
from studio.session.sweep.live.live_run import LiveRun
from studio.session.sweep.models import code_of
from studio.session.sweep.pool import STOP_SECONDS, Job
from studio.session.sweep.remote import train_trial

CONNECT_SECONDS = 10.0
_POLL = 0.1
_LOOK = 1.0
"""Seconds between two looks at whether there are workers."""
NOTICE, AGAIN = 10.0, 60.0
"""Seconds without workers after which that is reported, and between two reports."""


class WithoutWorkers:
    """Since when the scheduler at ``address`` has no workers, and what is to be reported about it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._since: float | None = None
        self._next = 0.0

    def look(self, threads: int, now: float) -> str:
        """A line where there have been no threads of workers for so long; else nothing."""
        if threads:
            self._since = None
            return ""
        if self._since is None:
            self._since, self._next = now, now + NOTICE
        if now < self._next:
            return ""
        self._next = now + AGAIN
        return (
            f"--scheduler: it has had no workers for {now - self._since:.0f} s, the sweep waits for one: "
            f"{self._address}; start some: dask worker {self._address}"
        )


class ClusterPool:
    """Tasks of a Dask cluster; its workers have Model Studio installed and train in child processes.

    Args:
        address: ``tls://HOST:PORT`` (certificates as Dask's configuration says), or ``tcp://``.
        jobs: trainings at once; 0 for as many as the workers have threads.

    Raises:
        ArgumentError: no certificates. DataError: no connection, or no workers.
    """

    def __init__(self, address: str, jobs: int) -> None:
        self.tell: Tell = lambda report: None
        self._jobs = jobs
        self._client = _connected(address)
        self._tasks: dict[int, tuple[Job, Future[Any], dict[str, str]]] = {}
        self._messages: SimpleQueue[Any] = SimpleQueue()
        self._live: dict[str, tuple[str, LiveRun]] = {}  # by key of the task: which attempt, its journal
        self._stop = f"model-studio-sweep-{uuid4().hex}"
        self._asked = Event(self._stop, client=self._client)
        self._client.subscribe_topic(f"{self._stop}-live", self._messages.put)
        self._closed = threading.Event()
        self._without_workers = WithoutWorkers(address)
        self._watcher = threading.Thread(target=self._watch, name="cluster", daemon=True)
        self._watcher.start()

    @property
    def slots(self) -> int:
        """How many jobs may be under way: workers come and go. Raises DataError without a connection."""
        threads = max(1, self._threads())
        return min(self._jobs, threads) if self._jobs else threads

    def _threads(self) -> int:
        """The threads of all workers."""
        with _connection():
            known = self._client.scheduler_info()
            if "workers" not in known:
                raise ConnectionError("the scheduler does not answer")
            return sum(int(worker["nthreads"]) for worker in known["workers"].values())

    def start(self, job: Job) -> None:
        """Send a job. Raises DataError where its model or its run can't be sent."""
        sources, words = {}, list(job.words)
        if job.model:
            file = Path(job.model)
            sources[file.name] = source_text(file, job.agreed)
            words = [word.replace(f"{job.model}:", f"{file.name}:", 1) for word in words]
        if job.resume:
            words.append("--resume")
        text = json.dumps(
            {
                "name": job.folder.name,
                "words": words,
                "sources": sources,
                "stop": self._stop,
                "live": f"{self._stop}-live",
            }
        )
        files = read_run(job.folder) if job.resume else {}
        key = f"{self._stop}-{job.number}-{uuid4().hex[:8]}"
        with _connection():
            future = self._client.submit(train_trial, text, files, key=key, pure=False)
        self._tasks[job.number] = job, future, sources

    def stop(self) -> None:
        """Ask all jobs to write a checkpoint and end."""
        if self._tasks:
            with _connection():
                self._asked.set()

    def close(self, seconds: float = STOP_SECONDS) -> None:
        """Ask all to end, give up those that have not after ``seconds``, and leave the cluster."""
        try:
            if seconds:
                self.stop()
            deadline = time.monotonic() + seconds
            while self._tasks and time.monotonic() < deadline:
                self._closed.wait(_POLL)
        finally:
            self._closed.set()
            self._watcher.join()
            for key in list(self._live):
                self._end_live(key)
            with suppress(DataError), _connection():
                # Workers see that no client waits any more.
                self._client.cancel([future for _, future, _ in self._tasks.values()])
            self._client.close()

    def _watch(self) -> None:
        looked = time.monotonic()
        while not self._closed.wait(_POLL):
            if self._tasks and time.monotonic() >= looked + _LOOK:
                looked = time.monotonic()
                with suppress(DataError):  # the futures end with the connection
                    if message := self._without_workers.look(self._threads(), looked):
                        self.tell(Waiting(message))
            tasks = list(self._tasks.items())
            ended = [number for number, (_, future, _) in tasks if future.status != "pending"]
            self._follow()  # what came before those ends
            for number in ended:
                job, future, sources = self._tasks.pop(number)
                if (live := self._live.get(future.key)) is not None:
                    live[1].end()
                report = self._taken(job, future, sources)
                self._end_live(future.key)
                self.tell(report)

    def _follow(self) -> None:
        """Write the journals of what trains, as far as workers have sent them."""
        while not self._messages.empty():
            message: Any = self._messages.get()
            with suppress(TypeError, ValueError, KeyError):  # anyone who is connected can send some
                _, plain = message
                key, attempt, lines = (str(plain[name]) for name in ("task", "attempt", "lines"))
                tasks = list(self._tasks.values())
                job = next((job for job, future, _ in tasks if future.key == key), None)
                if job is not None:
                    self._add(job, key, attempt, lines)

    def _add(self, job: Job, key: str, attempt: str, lines: str) -> None:
        if key not in self._live:
            begun = LiveRun.begin(job.folder)
            if begun is None:
                return
            self._live[key] = attempt, begun
        before, live = self._live[key]
        if before != attempt:  # on another worker
            live.restart()
            self._live[key] = attempt, live
        for event in live.add(lines):
            if event["event"] in ("started", "epoch"):
                self.tell(Progress(job.number, event))

    def _end_live(self, key: str) -> None:
        """Release the run of a task, and remove what was shown of it unless the run itself has come."""
        if (found := self._live.pop(key, None)) is not None:
            found[1].end()
            found[1].discard()

    def _taken(self, job: Job, future: Future[Any], sources: dict[str, str]) -> Ended:
        """What a task gave, its run written to the job's folder."""
        try:
            if future.status == "error":
                raise DataError(f"cluster: the task was {_why(future)}")
            if future.status != "finished":
                return Ended(job.number, 1, (), lost=True)
            return written(job, future.result(), sources)
        except (EngineError, OSError) as error:
            return Ended(job.number, 1, (str(error),))
        except Exception as error:  # what Dask could not unpickle raises anything
            return Ended(job.number, 1, (f"cluster: {type(error).__name__}: {error}",))
        finally:
            future.release()


@contextmanager
def _connection() -> Iterator[None]:
    """Turn whatever Dask raises where the scheduler can't be reached any more into a DataError."""
    try:
        yield
    except Exception as error:
        raise DataError(
            f"--scheduler: the connection is lost: {error}; see that it runs, then continue with --resume"
        ) from error


def _why(future: Future[Any]) -> str:
    error = future.exception()
    hint = "is Model Studio installed there, in this version?" if isinstance(error, ImportError) else ""
    return f"ended by an error: {type(error).__name__}: {error}; {hint or 'look at the log of the worker'}"


def written(job: Job, result: Any, sources: dict[str, str]) -> Ended:
    """Write the run that a task returned; the code in it is what was sent, not what came back.

    Raises:
        DataError: it is nothing of the kind. SaveError: it can't be written.
    """
    try:
        text, files = result
        plain = parse(text.encode())
        code, lines = plain["code"], [str(line)[:WIDTH] for line in plain["lines"]][-10:]
        if type(code) is not int:
            raise TypeError(f"exit status {code!r:.50}")
    except (TypeError, ValueError, KeyError, AttributeError, DocumentError) as error:
        raise DataError(f"cluster: a trial gave no result: {error}; is it the same version there?") from error
    checked = require_run_files(files)
    if checked:
        write_run(job.folder, checked)
        keep_source(job.folder, {name: text.encode() for name, text in sources.items()})
    return Ended(job.number, code, tuple(lines))


def source_text(file: Path, agreed: str = "") -> str:
    """The text of a model's file, which must stand alone: files next to it are not sent.

    Raises:
        DataError: it does not, or its digest is not ``agreed`` where that is given.
    """
    code = code_of(str(file))
    text = next(iter(code.sources.values()))
    if len(code.sources) > 1:
        raise DataError(
            f"model: only one file is sent to the cluster, and {file} imports "
            f"{', '.join(list(code.sources)[1:])} from next to it; put all into one file"
        )
    if agreed and code.digest != agreed:
        raise DataError(f"model: the file has changed since the sweep began: {file}; begin a new sweep")
    try:
        ast.parse(text)
        return text.decode()
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise DataError(f"model: can't be sent: {file}: {error}; correct the file") from error


def is_news(record: logging.LogRecord) -> bool:
    """False for what Dask's own closing leaves in its event loop: timeouts of a busy machine that are unread,
    and calls that were under way when their connection was closed."""
    error = record.exc_info[1] if record.exc_info else None
    unread = "was never retrieved" in record.getMessage()
    if isinstance(error, CommClosedError) or str(error) == "ConnectionPool is closed":
        return False
    return not (unread and isinstance(error, (TimeoutError, LoopTimeout)))


def _connected(address: str) -> Client:
    for name in ("client", "comm", "core"):  # the errors here repeat what they log
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
    for name in ("asyncio", "tornado.application", "distributed.batched"):
        logging.getLogger(name).addFilter(is_news)
    encrypted = address.startswith("tls://")
    security = Security(require_encryption=True) if encrypted else None
    if security is not None and not (security.tls_ca_file and security.tls_client_cert):
        raise ArgumentError(
            "--scheduler: tls needs certificates: Dask's configuration names none; set distributed.comm.tls "
            "in ~/.config/dask, or DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..__CLIENT__CERT and ..__CLIENT__KEY"
        )
    try:
        client: Client = Client(address, timeout=CONNECT_SECONDS, security=security, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise DataError(f"--scheduler: no connection: {address}: {error}; is it running there?") from error
    if not client.scheduler_info()["workers"]:
        client.close()
        raise DataError(f"--scheduler: it has no workers: {address}; start some: dask worker {address}")
    return client
