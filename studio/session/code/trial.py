"""A trial of an edited text: a child process imports a copy and reports its findings or the error."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypedDict

from resources.scratch import make_scratch
from studio.session.work.job import Emit, Job


class Wrong(TypedDict):
    """Fields of an event that says what is wrong, and in which line (0 where it is not known)."""

    time: float
    what: str
    do: str
    line: int


class TextJob(Job, Protocol):
    """A job about the class ``class_name`` of a text; see ``MeasureCode``."""

    @property
    def text(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def class_name(self) -> str: ...
    @property
    def input_text(self) -> str: ...


def tried(job: TextJob, emit: Emit, failed: str, find: Callable[[str, Path], Mapping[str, Any]]) -> None:
    """Tell what ``find`` gives for the model of a copy of the text (``FILE.py:Class``, and the file).

    If it raises, an event ``failed`` is emitted with what, do and line (0 if unknown).
    """
    from engine.training.network.models import ModelSource, load_model

    scratch = make_scratch()
    try:
        copy = scratch.path.resolve() / Path(job.file).name
        copy.write_text(job.text, encoding="utf-8", newline="")
        try:
            # Imported here, with what stands next to the file; the training then finds it imported.
            load_model(ModelSource(job.file, copy, job.class_name, False), Path(job.file).parent)
            emit(find(f"{copy}:{job.class_name}", copy))
        except Exception as error:
            emit(_failed(error, job, copy, failed))
    finally:
        scratch.remove()


def _failed(error: Exception, job: TextJob, copy: Path, event: str) -> dict[str, Any]:
    from engine.training.problem import describe_problem

    problem = describe_problem(error, [str(copy)])
    name = Path(job.file).name
    what, do = (part.replace(str(copy), name) for part in (problem.what, problem.do))
    line = problem.line if problem.file in ("", str(copy)) else 0
    return {"event": event, "time": time.time(), "what": what, "do": do, "line": line}
