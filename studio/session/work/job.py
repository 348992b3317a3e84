"""Jobs: one dataclass with one function, ``run``, that a child process carries out.

A job is sent by the name of its class (``module:Class``) and its fields. The child imports that module when
the job arrives, so that neither side needs a list of jobs.
"""

from __future__ import annotations

import functools
import importlib
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, dataclass_transform, get_args, get_type_hints

from resources.training_events import Failed
from resources.typed_values import WireError, build, checked, fields_of
from studio.session.work.worker_events import WORKER_EVENTS

# What a worker reports: events that its job declares, ``failed``, and those of the worker itself.
Event: TypeAlias = Mapping[str, Any]
Emit: TypeAlias = Callable[[Event], None]

COMMANDS = ("pause", "resume", "stop_early", "interrupt", "cancel", "checkpoint_now")
RATE = "learning_rate="
LATEST = 1 << 34
"""Seconds since 1970; no event has a later time."""


class Request:
    """What the window asks of a job in progress: a frozen dataclass of this class, which the job lists in
    ``inbox.attach``; its fields are checked in the child."""


def is_command(text: str) -> bool:
    """Whether this is a command: one of COMMANDS, or one such as ``learning_rate=0.001``."""
    return text in COMMANDS or text.startswith(RATE)


def plain_message(message: str | Request) -> dict[str, Any]:
    """A command or request as it is sent."""
    if isinstance(message, Request):
        return {"command": "request", "request": type(message).__name__, "fields": fields_of(message)}
    return {"command": message}


class Inbox:
    """Commands and requests for the job in progress; those that come before it is ready wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handler: Callable[[Any], None] | None = None
        self._requests: dict[str, type[Request]] = {}
        self._waiting: list[dict[str, Any]] = []

    def put(self, message: dict[str, Any]) -> None:
        """Hand over what ``plain_message`` made; may be called from any thread.

        Raises:
            WireError: a request that the job does not have, or whose fields do not fit it.
        """
        with self._lock:
            if self._handler is None:
                self._waiting.append(message)
                return
            handler = self._handler
        handler(self._read(message))

    def attach(self, handler: Callable[[Any], None], *requests: type[Request]) -> None:
        """From now on ``handler`` receives commands (texts) and these ``requests``, those that wait first.

        Raises:
            WireError: as ``put``, about those that wait.
        """
        self._requests = {each.__name__: each for each in requests}
        while True:
            with self._lock:
                waiting, self._waiting = self._waiting, []
                if not waiting:
                    self._handler = handler
                    return
            for message in waiting:  # those that come meanwhile wait behind them
                handler(self._read(message))

    def _read(self, message: dict[str, Any]) -> str | Request:
        if message["command"] != "request":
            return str(message["command"])
        name = checked(message.get("request"), str, "request")
        if name not in self._requests:
            raise WireError(f"request: unknown: {name!r}")
        found: Request = build(self._requests[name], message.get("fields"), f"request {name}")
        return found


# The delay of jobs that follow each pause in typing: most end sooner.
TYPING_DELAY = 1.0


class Job(Protocol):
    """What ``@job`` makes of a class. It may also have

    - ``EVENTS``: the TypedDicts of the events that it reports; the parent refuses others, and wrong fields.
    - ``TITLE``: what it does, for the list of tasks, with ``{0}`` for its property ``subject``; the list
      omits a job without one.
    - ``run_folder``: the folder of the run that the subject is.
    - ``PAGE``: the page of the window that shows what it does.
    - ``PROCESS``: what messages call its process; its title where it has none.
    - ``REMEDY``: what to do where the process was killed; to start it again where it has none.
    - ``DELAY``: seconds before the list shows it, for a job that usually ends sooner.
    - ``OUTLIVES_ERRORS``: True if it continues where one of its events can't be shown; others are ended.
    - ``record(script)``: adds its commands to a :class:`studio.session.project.session_script.SessionScript`.
    - ``config``: the settings of a run, whose model is the user's file that a failure may be in.
    - ``agreed``: the digest of the user's code that it may run; without it none runs.
    """

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Carry it out, in the child; every import of the engine belongs here. Any exception is a failure."""


C = TypeVar("C")


@dataclass_transform(frozen_default=True)
def job(cls: type[C]) -> type[C]:
    """Make the class a job: a frozen dataclass whose fields are checked when it arrives in the child."""
    made = dataclass(frozen=True)(cls)
    made.__job__ = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()  # type: ignore[attr-defined]
    return made


def name_of(job: Job) -> str:
    """The job's name: that of its class, as ``find_rate`` of ``FindRate``."""
    return str(type(job).__job__)  # type: ignore[attr-defined]


def title_of(job: Job) -> tuple[str, str]:
    """Its ``TITLE`` and ``subject``, empty where it has none."""
    return str(getattr(job, "TITLE", "")), str(getattr(job, "subject", ""))


def process_of(job: Job | None) -> str:
    """What messages call the process of a job; None is one that waits for its job."""
    if job is None:
        return "worker process"
    title, subject = title_of(job)
    return str(getattr(job, "PROCESS", "")) or title.format(subject) or name_of(job).replace("_", " ")


def remedy_of(job: Job | None) -> str:
    """What to do where the process of a job was killed."""
    return str(getattr(job, "REMEDY", "start it again"))


def delay_of(job: Job) -> float:
    """Its ``DELAY``, 0 where it has none."""
    return float(getattr(job, "DELAY", 0.0))


def plain_job(job: Job) -> dict[str, Any]:
    """The job as it is sent."""
    return {"job": f"{type(job).__module__}:{type(job).__qualname__}", "fields": fields_of(job)}


def job_of(values: Any) -> Job:
    """The job that was sent. Raises WireError: no such job, or its fields do not fit the class."""
    sent = checked(values, dict[str, Any], "job")
    module, _, name = checked(sent.get("job"), str, "job").partition(":")
    try:
        cls = getattr(importlib.import_module(module), name, None)
    except Exception as error:  # of the module's own code too
        raise WireError(f"job: unknown: {f'{module}:{name}'!r}: {error}") from error
    if not isinstance(cls, type) or "__job__" not in vars(cls):
        raise WireError(f"job: unknown: {f'{module}:{name}'!r} is not a class made by @job")
    found: Job = build(cls, sent.get("fields"), f"job {name}")
    return found


def checked_event(event: Any, job: Job | None) -> Event:
    """An event that was received. Raises WireError: its job does not declare it, or other fields."""
    if not isinstance(event, dict):
        raise WireError(f"event: must be a dict: got {type(event).__name__}")
    kind = checked(event.get("event"), str, "event: its kind")
    cls: Any = type(job)
    declared = _declared(cls)
    if kind not in declared:
        raise WireError(f"event: unknown: {kind!r}")
    made: Event = checked(event, declared[kind], f"event {kind}")
    moment = checked(made.get("time", 0.0), float, f"event {kind}.time")
    if not 0 <= moment < LATEST:
        raise WireError(f"event {kind}: not a time: {moment!r}")
    return made


@functools.lru_cache(64)
def _declared(cls: type) -> dict[str, Any]:
    events = (*WORKER_EVENTS, Failed, *getattr(cls, "EVENTS", ()))
    return {kind: each for each in events for kind in get_args(get_type_hints(each)["event"])}


def perform(job: Job, emit: Emit, inbox: Inbox) -> bool:
    """Carry out ``job`` and report to ``emit``; True where it succeeded. Its own errors become one event
    ``failed``."""
    reported = False

    def watch(event: Event) -> None:
        nonlocal reported
        emit(event)
        reported = reported or event["event"] == "failed"

    try:
        job.run(watch, inbox)
    except Exception as error:
        if not reported:
            emit(_failed(error, job))
        return False
    return True


def perform_sent(values: Any, emit: Emit, inbox: Inbox) -> bool:
    """``perform`` with the job that ``plain_job`` described; one that can't be read is a failure as well."""
    from engine.core.models.local_imports import only_agreed

    try:
        job = job_of(values)
    except WireError as error:
        emit(_failed(error, None))
        return False
    with only_agreed(str(getattr(job, "agreed", ""))):
        return perform(job, emit, inbox)


def _failed(error: Exception, job: Job | None) -> Event:
    from engine.training.events import failed_event
    from engine.training.problem import describe_problem
    from engine.training.setup import own_file

    files = own_file(str(getattr(job, "config", {}).get("model", "")))
    return failed_event(describe_problem(error, files), 0, "")
