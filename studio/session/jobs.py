"""What a worker does: train, show a model's Program, export; imports the engine and the user's code."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from studio.session.sample_job import read_samples

if TYPE_CHECKING:
    from engine.training.events import TrainingEvent

# What a worker tells: the events of ``engine.training.events`` and a few of its own.
Event: TypeAlias = Mapping[str, Any]
Emit: TypeAlias = Callable[[Event], None]

COMMANDS = ("pause", "resume", "stop_early", "interrupt", "cancel", "checkpoint_now")
RATE = "learning_rate="


def is_command(text: str) -> bool:
    """Whether this is a request to a training: one of COMMANDS, or such as ``learning_rate=0.001``."""
    return text in COMMANDS or text.startswith(RATE)


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


def train_job(config: dict[str, Any], resume: bool = False) -> dict[str, Any]:
    """The job that trains with ``config``; ``resume`` to go on from its newest sound checkpoint."""
    return {"job": "train", "config": config, "resume": resume}


def graph_job(config: dict[str, Any]) -> dict[str, Any]:
    """The job that traces the model of ``config`` without training it."""
    return {"job": "graph", "config": config}


def export_job(
    folder: str, prefix: str, checkpoint: str, spec: dict[str, Any], samples: int, optimize: bool = False
) -> dict[str, Any]:
    """The job that exports the run in ``folder`` and checks what it wrote."""
    return {
        "job": "export",
        "folder": folder,
        "prefix": prefix,
        "checkpoint": checkpoint,
        "spec": spec,
        "samples": samples,
        "optimize": optimize,
    }


def verify_job(prefix: str, folder: str, samples: int) -> dict[str, Any]:
    """The job that checks exported files again against the run in ``folder``."""
    return {"job": "verify", "prefix": prefix, "folder": folder, "samples": samples}


def perform(job: dict[str, Any], emit: Emit, inbox: Inbox) -> bool:
    """Do ``job`` and tell ``emit`` what happens; True where it went well. Never raises for the job's own
    errors."""
    from studio.session import rate_job

    kinds: dict[str, Callable[[dict[str, Any], Emit, Inbox], None]] = {
        "train": _train,
        "graph": _graph,
        "export": _export,
        "data": _data,
        "samples": read_samples,
        "find_rate": rate_job.find,
        "verify": _verify,
        "check_code": _check_code,
        "measure_code": _measure_code,
        "plan_code": _plan_code,
        "mistakes": _mistakes,
        "report": _report,
        "quantize": _quantize,
    }
    told = False

    def watch(event: Event) -> None:
        nonlocal told
        told = told or event["event"] == "failed"
        emit(event)

    try:
        kinds[job["job"]](job, watch, inbox)
    except Exception as error:
        if not told:
            emit(_failed(error, job))
        return False
    return True


def _train(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    from engine.training import TrainingConfig, TrainingRun
    from engine.training.describe import program_event

    config = TrainingConfig.from_dict(job["config"])

    def listen(event: TrainingEvent) -> None:
        emit(event)
        if event["event"] == "started":
            emit(program_event(run.network, config))

    run = TrainingRun(config, [listen], resume=job["resume"])
    inbox.attach(run.obey)
    run.run()


def _graph(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    from engine.training import TrainingConfig
    from engine.training.describe import program_event
    from engine.training.setup import build_network

    config = TrainingConfig.from_dict(job["config"])
    network, _ = build_network(config)
    emit(program_event(network, config))


def _export(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    from engine.training.export import export_run

    emit(
        export_run(
            Path(job["folder"]),
            job["prefix"],
            job["checkpoint"],
            job["spec"],
            job["samples"],
            emit,
            job["optimize"],
        )
    )


def _verify(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    from engine.training.reverify import verify_again

    emit(verify_again(job["prefix"], Path(job["folder"]), job["samples"], emit))


def _quantize(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    from studio.session.quantization.job import quantize

    quantize(job, emit)


def _data(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    from studio.session.data_job import look

    look(job, emit, inbox)


def _check_code(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    from studio.session.code.job import check_code

    check_code(job, emit)


def _measure_code(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    from studio.session.code.measure_job import measure_code

    measure_code(job, emit)


def _plan_code(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    from studio.session.code.plan_job import plan_code

    plan_code(job, emit)


def _mistakes(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    from studio.session.mistake_job import read_mistakes

    read_mistakes(job, emit)


def _report(job: dict[str, Any], emit: Emit, inbox: Inbox) -> None:
    from studio.session.report_job import report

    report(job, emit)


def _failed(error: Exception, job: dict[str, Any]) -> Event:
    from engine.training.events import failed_event
    from engine.training.problem import describe_problem
    from engine.training.setup import own_file

    files = own_file(str(job.get("config", {}).get("model", "")))
    return failed_event(describe_problem(error, files), 0, "")
