"""The runs in a folder: a line about each from the ends of its journal, and the whole history of one."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from resources.locks import LOCK_NAME, holder_of

if TYPE_CHECKING:
    from engine.training.events import Epoch, Started

JOURNAL = "journal.jsonl"
CHECKPOINTS = "checkpoints"
SOURCE = "source"
_STEP = re.compile(r"step-(\d{8,18})\.h5")
_END_BYTES = 65536
_LAST = ("finished", "stopped", "cancelled", "failed")


@dataclass(frozen=True)
class Run:
    """What a list shows of a run.

    ``state`` is running, finished, stopped, diverged, failed, or interrupted where it ended without a word (a
    crash, a kill, Ctrl-C). ``checkpoint`` is the newest step checkpoint, empty where there is none.
    """

    path: str
    name: str
    state: str
    config: dict[str, Any]
    started: float
    step: int
    total_steps: int
    epoch: int
    accuracy: float
    checkpoint: str
    checkpoint_step: int

    @property
    def title(self) -> str:
        """Model and mode, as the list of runs shows it: ``lenet · static``."""
        model = str(self.config.get("model", "?")).rpartition(":")[2]
        return f"{model} · {'static' if self.config.get('static', True) else 'eager'}"

    @property
    def of_script(self) -> str:
        """The script whose ``Model.fit`` this is; empty for a run of the studio's own."""
        return str(self.config.get("script") or "a script") if "kind" in self.config else ""

    @property
    def exportable(self) -> str:
        """Empty where the run can be exported, else why not."""
        if self.of_script:
            return f"it is a fit of {self.of_script}: save it there, with model.save(path, training=False)"
        return "" if self.checkpoint else "this run has no checkpoint"

    @property
    def resumable(self) -> str:
        """Empty where the run can be continued, else why not."""
        if self.of_script:
            return (
                f"it is a fit of {self.of_script}: run that again, with model.load of a checkpoint before fit"
            )
        if self.state == "running":
            return "this run goes on in another process"
        if not self.checkpoint:
            return "this run has no checkpoint"
        if self.state == "finished":
            return "this run has finished; give it more epochs to continue"
        return ""


@dataclass(frozen=True)
class RunHistory:
    """All points and epochs of a run, and the confusion matrix of its last epoch."""

    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    epochs: list[dict[str, Any]] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    confusion: list[list[int]] = field(default_factory=list)
    classes: tuple[str, ...] = ()


class RunsFolder:
    """The runs in a folder; those whose journal has not changed are not read again."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int, int], Run | None]] = {}

    def read(self, folder: Path) -> list[Run]:
        """The runs in ``folder``, newest first; empty where there is no such folder. Unreadable ones are left
        out."""
        known: dict[Path, tuple[tuple[int, int, int], Run | None]] = {}
        try:
            places = list(folder.iterdir())
        except OSError:
            places = []
        for path in places:
            try:
                stat = (path / JOURNAL).stat()
                # A checkpoint is there before its line, and a run that goes on may end without one.
                mark = (stat.st_mtime_ns, stat.st_size, _changed(path / CHECKPOINTS))
            except OSError:
                continue
            before = self._known.get(path)
            same = before is not None and before[0] == mark
            if before is None or not same or (before[1] is not None and before[1].state == "running"):
                before = (mark, read_run_line(path))
            known[path] = before
        self._known = known
        runs = [run for _, run in known.values() if run is not None]
        return sorted(runs, key=lambda run: run.started, reverse=True)


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def list_runs(folder: Path) -> list[Run]:
    """The runs in ``folder``, as ``RunsFolder.read`` gives them."""
    return RunsFolder().read(folder)


def read_run_line(path: Path) -> Run | None:
    """A line about the run in ``path`` from the first and last events of its journal; None where it has
    none."""
    events = _ends(path / JOURNAL)
    started = next((event for event in events if event.get("event") == "started"), None)
    if started is None:
        return None
    state, step, epoch, accuracy = "interrupted", 0, 0, math.nan
    for event in events:
        kind = event.get("event")
        step = int(event.get("step", step))
        epoch = int(event.get("epoch", epoch))
        if kind == "epoch":
            accuracy = float(event["validation_accuracy"])
        if kind in _LAST:
            state = str(kind)
            reason = event.get("reason")
            if reason in ("interrupted", "diverged"):
                state = str(reason)
            if kind != "failed" and event.get("best_accuracy", -1) >= 0:
                accuracy = float(event["best_accuracy"])
        elif kind == "started":
            state = "interrupted"
    if state == "interrupted" and holder_of(path / LOCK_NAME) is not None:
        state = "running"
    checkpoint_step, checkpoint = latest_checkpoint(path)
    config = started.get("config", {})
    return Run(
        path=str(path), name=path.name, state=state, config=config if isinstance(config, dict) else {},
        started=float(started.get("time", 0.0)), step=step, total_steps=int(started.get("total_steps", 0)),
        # The one NaN, so that a run that was read again is equal to itself.
        epoch=epoch, accuracy=math.nan if math.isnan(accuracy) else accuracy, checkpoint=checkpoint,
        checkpoint_step=checkpoint_step,
    )  # fmt: skip


def latest_checkpoint(path: Path) -> tuple[int, str]:
    """Step and path of the newest checkpoint in a run's folder by its name; (0, "") where there is none."""
    try:
        names = [file.name for file in (path / CHECKPOINTS).iterdir()]
    except OSError:
        return 0, ""
    steps = [(int(match[1]), name) for name in names if (match := _STEP.fullmatch(name))]
    if not steps:
        return 0, ""
    step, name = max(steps)
    return step, str(path / CHECKPOINTS / name)


def read_history(path: Path) -> RunHistory:
    """Every point of the run in ``path``.

    Raises:
        DataError, FormatError: its journal can't be read. Imports the engine.
    """
    from engine.files.journal import read_run

    record = read_run(path)
    points = record.columns.get("step", {})
    epochs = record.columns.get("epoch", {})
    count = len(next(iter(epochs.values()))) if epochs else 0
    confusion: list[list[int]] = []
    classes: list[str] = []
    for event in record.events:
        if event.get("event") == "started":
            classes = cast("Started", event).get("classes", classes)
        elif event.get("event") == "epoch":
            confusion = cast("Epoch", event).get("confusion", confusion)
    return RunHistory(
        steps=points["step"].tolist() if points else [],
        losses=points["loss"].tolist() if points else [],
        accuracies=points["accuracy"].tolist() if points else [],
        epochs=[{name: column[i].item() for name, column in epochs.items()} for i in range(count)],
        notes=tuple(record.notes),
        confusion=confusion, classes=tuple(classes),
    )  # fmt: skip


def source_file(run: Run) -> Path | None:
    """The copy of the user's model that the run keeps; None for a built-in model."""
    model = str(run.config.get("model", ""))
    path, separator, _ = model.rpartition(":")
    if not separator:
        return None
    return Path(run.path) / SOURCE / path.replace("\\", "/").rpartition("/")[2]


def _ends(path: Path) -> list[dict[str, Any]]:
    """The events in the first and the last part of a journal; a run of a million steps is no slower to
    list."""
    try:
        with path.open("rb") as file:
            head = file.read(_END_BYTES)
            size = file.seek(0, 2)
            tail = b""
            if size > _END_BYTES:
                file.seek(max(_END_BYTES, size - _END_BYTES))
                tail = file.read()
    except OSError:
        return []
    events = []
    for line in head.split(b"\n") + tail.split(b"\n"):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            events.append(event)
    return events
