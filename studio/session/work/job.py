"""Jobs: one dataclass with one function, ``run``, that a child process carries out.

A job is sent by the name of its class (``module:Class``) and its fields. The child imports that module when
the job arrives, so that neither side needs a list of jobs.
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, dataclass_transform, get_args, get_type_hints

from studio.session.work.types import build, checked, fields_of
from studio.session.work.wire import WireError

# What a worker reports: the events of ``engine.training.events`` and those that jobs declare.
Event: TypeAlias = Mapping[str, Any]
Emit: TypeAlias = Callable[[Event], None]

COMMANDS = ("pause", "resume", "stop_early", "interrupt", "cancel", "checkpoint_now")
RATE = "learning_rate="


def is_command(text: str) -> bool:
    """Whether this is a request to a job: one of COMMANDS, one such as ``learning_rate=0.001``, a JSON
    object."""
    return text in COMMANDS or text.startswith((RATE, "{"))


class Inbox:
    """Commands for the job in progress; those that come before it is ready wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handler: Callable[[str], None] | None = None
        self._waiting: list[str] = []

    def put(self, command: str) -> None:
        """Hand ``command`` over; may be called from any thread."""
        with self._lock:
            if self._handler is None:
                self._waiting.append(command)
                return
            handler = self._handler
        handler(command)

    def attach(self, handler: Callable[[str], None]) -> None:
        """From now on ``handler`` receives the commands, those that wait first."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            self._handler = handler
        for command in waiting:
            handler(command)


class Job(Protocol):
    """What ``@job`` makes of a class. It may also have

    - ``EVENTS``: the TypedDicts of the events that it reports; the parent checks them.
    - ``record(script)``: adds its commands to a :class:`studio.session.project.session_script.SessionScript`.
    - ``config``: the settings of a run, whose model is the user's file that a failure may be in.
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
        raise WireError(f"job: unknown: {module}:{name}: {error}") from error
    if not isinstance(cls, type) or "__job__" not in vars(cls):
        raise WireError(f"job: unknown: {module}:{name} is not a class made by @job")
    found: Job = build(cls, sent.get("fields"), f"job {name}")
    return found


def checked_event(event: Any, job: Job | None) -> Event:
    """An event that was received, its fields as its job declares them. Raises WireError."""
    found = checked(event, dict[str, Any], "event")
    kind = checked(found.get("event"), str, "event: its kind")
    checked(found.get("time"), float, f"event {kind}: its time")
    declared = _declared(type(job)).get(kind) if job is not None else None
    made: Event = found if declared is None else checked(found, declared, f"event {kind}")
    return made


def _declared(cls: type) -> dict[str, Any]:
    return {kind: each for each in getattr(cls, "EVENTS", ()) for kind in _kinds(each)}


def _kinds(event: Any) -> tuple[str, ...]:
    return get_args(get_type_hints(event)["event"])


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
    try:
        job = job_of(values)
    except WireError as error:
        emit(_failed(error, None))
        return False
    return perform(job, emit, inbox)


def _failed(error: Exception, job: Job | None) -> Event:
    from engine.training.events import failed_event
    from engine.training.problem import describe_problem
    from engine.training.setup import own_file

    files = own_file(str(getattr(job, "config", {}).get("model", "")))
    return failed_event(describe_problem(error, files), 0, "")
