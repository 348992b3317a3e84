"""What a Dask worker does for a sweep: one training in a child process, its run returned as JSON and bytes.

It takes a text of JSON and raw bytes, and gives the same: whatever may be unpickled on the way is Dask's own
transport between machines that trust each other (decision 65). While it trains, it sends the new lines of the
journal as events of Dask.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from distributed import Event, get_worker

from engine.core.errors import DataError
from engine.files.run_source import keep_source
from resources.json_documents import parse
from resources.regular_files import read_regular
from studio.session.sweep.children import Child, Ended, Report
from studio.session.sweep.files import read_run, require_run_files, write_run
from studio.session.sweep.live.journal_tail import JournalTail

_POLL = 0.1
_SEND = 0.5
"""Seconds between two messages about the journal."""
_GRACE = 30.0


def train_trial(text: str, files: dict[str, bytes]) -> tuple[str, dict[str, bytes]]:
    """Train as the JSON in ``text`` says, from the run in ``files`` where there are some.

    Args:
        text: ``name`` of the run's folder, ``words`` of the command train, ``sources`` (texts of the model's
            file by name), ``stop``, the name of the event that asks for the end, and ``live``, the topic to
            which the journal goes while it trains.

    Returns:
        A text of JSON with the exit status ``code`` and the last ``lines``, and the run's files.

    Raises:
        DataError: the files are none of a run.
    """
    job = parse(text.encode())
    with TemporaryDirectory(prefix="model-studio-sweep-", ignore_cleanup_errors=True) as place:
        folder = Path(place, _plain_name(job["name"]))
        sources = [Path(place, _plain_name(name)) for name in job["sources"]]
        for path in sources:
            path.write_text(job["sources"][path.name], encoding="utf-8")
        if files:
            write_run(folder, require_run_files(files))
            keep_source(folder, {path.name: read_regular(path) for path in sources})
        words = ["train", "--json", "--out", folder.name, *job["words"]]
        ended = _train(words, Path(place), job["stop"], job["live"], JournalTail(folder / "journal.jsonl"))
        return json.dumps({"code": ended.code, "lines": ended.lines}), read_run(folder)


def _plain_name(name: str) -> str:
    if Path(name).name != name or name in ("", ".", ".."):
        raise DataError(f"cluster: no name of a file: {name!r:.100}; nothing was begun")
    return name


def _train(words: list[str], place: Path, stop: str, live: str, tail: JournalTail) -> Ended:
    found: list[Report] = []
    child = Child(0, words, found.append, folder=place)
    try:
        worker = get_worker()
        key = worker.get_current_task()
        asked = Event(stop)
        attempt, sent = uuid4().hex, time.monotonic()
        while not child.join(_POLL):
            if time.monotonic() >= sent + _SEND:
                sent = time.monotonic()
                _send(worker, live, key, attempt, tail)
            if not _is_wanted(worker, key) or asked.is_set():
                child.stop()
                child.join(_GRACE)
                child.kill()
        _send(worker, live, key, attempt, tail)
    finally:  # a connection to the scheduler that is lost too
        child.stop()
        if not child.join(_GRACE):
            child.kill()
            child.join()
    return next(report for report in found if isinstance(report, Ended))


def _send(worker: Any, topic: str, key: str, attempt: str, tail: JournalTail) -> None:
    if lines := tail.read():
        worker.log_event(topic, {"task": key, "attempt": attempt, "lines": lines})


def _is_wanted(worker: Any, key: str) -> bool:
    """Whether a client still waits for the task: a client that cancels it or is gone changes its state."""
    task = worker.state.tasks.get(key)
    return task is not None and task.state == "executing"
