"""The runs in a folder: a line about each from the ends of its journal."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from resources.interruptions import is_interruption
from resources.journal_version import newer_journal_version
from resources.locks import LOCK_NAME, holder_of
from resources.metrics import Metric, metric_of, task_of
from resources.settings.data import FIT
from resources.settings.model_inputs import ModelInputRow, parse_inputs
from studio.session.equality import EqualNaN
from studio.session.export.export_registry import EXPORTS, exported_files
from studio.session.runs.journal_ends import MOST_COUNTED, ends_of
from studio.session.runs.run_notes import NAME as NOTES
from studio.session.runs.run_notes import NOTHING, RunNotes, read_notes
from studio.session.runs.unreadable_runs import UNREADABLE, unreadable_note
from studio.session.train.compute_info import ComputeInfo, computing_of

JOURNAL = "journal.jsonl"
CHECKPOINTS = "checkpoints"
SOURCE = "source"
_STEP = re.compile(r"step-(\d{8,18})\.h5")
_LONGEST_REASON = 1000  # characters
_LAST_STEPS = 50
_LAST = ("finished", "stopped", "cancelled", "failed")
MISSING = "missing"
_NO_CHECKPOINT = "this run has no checkpoint"
_MISSING_NOTE = "its folder has disappeared: put it back, or choose Remove from list"


@dataclass(frozen=True, eq=False)
class Run(EqualNaN):
    """What a list shows of a run.

    ``state`` is running, finished, stopped, diverged, failed, or interrupted where it ended without a word
    (a crash, a kill, Ctrl-C), MISSING where its folder has disappeared since the list was read first, or
    UNREADABLE where its journal can't be read.
    ``checkpoint`` is the newest step checkpoint, empty where there is none. ``note`` says what of the
    journal could not be read, empty where all of it could. A trial has its ``sweep``'s name and what it
    chose there, in words. ``loss`` is the validation loss of the last epoch, ``seconds`` how long it
    trained; NaN where not known. ``notes`` is what a person has written about it, ``shape`` that of a
    sample that its model is fed, empty where it is not known, ``inputs`` those of a model that takes
    several, ``failure`` why it failed, or which error interrupted it. ``holder`` names the process that
    trains it now, as its lock says. ``parameters`` counts those of the model, 0 where that is not known;
    ``samples_per_second`` is the median of its last steps, NaN without one, ``kind`` that of its samples.
    ``export_bytes`` is the size of its smallest export, NaN without one.
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
    note: str = ""
    sweep: str = ""
    choices: str = ""
    loss: float = math.nan
    seconds: float = math.nan
    notes: RunNotes = NOTHING
    shape: tuple[int, ...] = ()
    inputs: tuple[ModelInputRow, ...] = ()
    failure: str = ""
    holder: str = ""
    computing: ComputeInfo = field(default_factory=ComputeInfo)
    task: str = "classes"
    r2: float = math.nan
    mae: float = math.nan
    parameters: int = 0
    samples_per_second: float = math.nan
    kind: str = "images"
    export_bytes: float = math.nan

    @property
    def metric(self) -> Metric:
        """What runs of its task are compared by."""
        return metric_of(self.task)

    @property
    def figure(self) -> float:
        """Its value of the metric; NaN where nothing was measured."""
        return self.r2 if self.task == "numbers" else self.accuracy

    @property
    def failed_early(self) -> bool:
        """Whether it failed before its first step, with a reason."""
        return bool(self.failure) and not self.step

    @property
    def in_use(self) -> str:
        """Why the run can't be resumed, renamed or removed now: a process trains it; empty if none does.

        A run of this window's own training is in use too.
        """
        return f"it is running in another window: {self.holder}" if self.holder else ""

    @property
    def of_script(self) -> str:
        """The script whose ``Model.fit`` this is; empty for a run of the studio's own."""
        return str(self.config.get("script") or "a script") if self.config.get("kind") == FIT else ""

    @property
    def missing(self) -> bool:
        """Whether its folder has disappeared."""
        return self.state == MISSING

    @property
    def unavailable(self) -> str:
        """Why its files can't be used: the folder is missing, or the journal not readable; else empty."""
        return self.note if self.state in (MISSING, UNREADABLE) else ""

    @property
    def exportable(self) -> str:
        """Empty where the run can be exported, else why not."""
        if self.unavailable:
            return self.unavailable
        if self.of_script:
            return f"it is a fit of {self.of_script}: save it there, with model.save(path, training=False)"
        return "" if self.checkpoint else _NO_CHECKPOINT

    @property
    def resumable(self) -> str:
        """Empty where the run can be continued, else why not."""
        if self.unavailable:
            return self.unavailable
        if self.of_script:
            return (
                f"it is a fit of {self.of_script}: run that again, with model.load of a checkpoint before fit"
            )
        if self.in_use:
            return self.in_use
        if not self.checkpoint:
            return _NO_CHECKPOINT
        if self.state == "finished":
            return "this run has finished; give it more epochs to continue"
        return ""


class RunsFolder:
    """The runs in a folder; those whose journal has not changed are not read again.

    A run whose folder disappears stays as MISSING until it is forgotten or other folders are read.
    ``folders`` are those of the runs and sweeps that were read last, ``sweeps`` has what trials chose.
    """

    def __init__(self) -> None:
        from studio.session.sweep.listing import SweepTexts

        self._known: dict[Path, tuple[tuple[int, ...], Run | None]] = {}
        self.sweeps = SweepTexts()
        self._places_before: dict[Path, tuple[str, str]] = {}
        self._read_before: tuple[Path, tuple[Path, ...]] | None = None
        self._forgotten: set[Path] = set()
        self.folders: list[Path] = []

    def forget(self, runs: Sequence[str]) -> None:
        """Do not list these while their folders are missing."""
        self._forgotten.update(map(Path, runs))

    def read(self, folder: Path, further: Sequence[Path] = ()) -> list[Run]:
        """The runs in ``folder`` and in the sweeps there, newest first, those of a sweep together.

        Empty where there is no such folder.

        Args:
            further: runs, sweeps and folders of them that lie elsewhere.
        """
        known: dict[Path, tuple[tuple[int, ...], Run | None]] = {}
        places = self._places(folder)
        for path in further:
            alone = {path: ("", "")} if (path / JOURNAL).is_file() else self._places(path)
            places = {**alone, **places}
        for path in places:
            # As texts: pathlib takes several times as long as the system, for each of a thousand runs.
            base = str(path)
            try:
                stat = os.stat(f"{base}/{JOURNAL}")
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                run = _unreadable_run(path, self._listed(path))
                if run is not None:
                    known[path] = (), run
                continue
            # A checkpoint is there before its line, and a run that goes on may end without one.
            mark = (
                stat.st_mtime_ns,
                stat.st_ctime_ns,  # of permissions
                stat.st_size,
                _changed(f"{base}/{CHECKPOINTS}"),
                _changed(f"{base}/{NOTES}"),
                _changed(f"{base}/{LOCK_NAME}"),
                _changed(f"{base}/{EXPORTS}"),
            )
            before = self._known.get(path)
            same = before is not None and before[0] == mark
            run = self._listed(path)
            if before is None or not same or (run is not None and (run.holder or run.state == UNREADABLE)):
                before = (mark, read_run_line(path) or _unreadable_run(path, run))
            known[path] = before
            self._forgotten.discard(path)
        if self._read_before == (folder, tuple(further)):
            self._keep_missing(known, places)
        self._read_before = folder, tuple(further)
        self._known, self._places_before = known, places
        self.folders = list(
            dict.fromkeys(
                path.parent if places[path][0] else path
                for path, (_, run) in known.items()
                if run is not None
            )
        )
        runs = [_as_trial(run, *places[path]) for path, (_, run) in known.items() if run is not None]
        newest: dict[str, float] = {}
        for run in runs:
            newest[run.sweep] = max(run.started, newest.get(run.sweep, run.started))
        # Within a sweep the first trial first.
        return sorted(
            runs,
            key=lambda run: (
                -(newest[run.sweep] if run.sweep else run.started),
                run.sweep,
                run.name if run.sweep else "",
            ),
        )

    def _listed(self, path: Path) -> Run | None:
        """The run in ``path`` as it was listed before."""
        return self._known.get(path, ((), None))[1]

    def drop_missing(self) -> None:
        """List no run that is missing when the folders are read next."""
        self._read_before = None

    def _keep_missing(
        self, known: dict[Path, tuple[tuple[int, ...], Run | None]], places: dict[Path, tuple[str, str]]
    ) -> None:
        """Add the runs that were there when the same folders were read before, and whose folder is not."""
        for path, (_, run) in self._known.items():
            # One that is there but is not listed lost its journal, or was taken out of the list.
            if run is not None and not (path in known or path in self._forgotten or os.path.lexists(path)):
                known[path] = (), replace(run, state=MISSING, note=_MISSING_NOTE, holder="")
                places[path] = self._places_before.get(path, ("", ""))

    def choices(self, trial: Path) -> str:
        """What the trial in that folder chose or will choose, in words; empty for another run."""
        return self.sweeps.choices(trial)

    def _places(self, folder: Path) -> dict[Path, tuple[str, str]]:
        """Folders that may hold a run, with the sweep that each belongs to and what it chose there."""
        try:
            paths = list(folder.iterdir())
        except (OSError, ValueError):  # a project file may name a folder with a null character
            return {}
        places: dict[Path, tuple[str, str]] = {}
        for path in (folder, *paths):
            trials = self.sweeps.trials(path)
            if trials is not None:
                places.update({trial: (path.name, words) for trial, words in trials.items()})
            elif path != folder:
                places.setdefault(path, ("", ""))
        return places


def _as_trial(run: Run, sweep: str, choices: str) -> Run:
    if not sweep:
        return run
    return replace(run, name=f"{sweep}/{run.name}", sweep=sweep, choices=choices)


def _unreadable_run(path: Path, before: Run | None) -> Run | None:
    """The row of the run in ``path`` where its journal can't be read, as it was ``before``; else None."""
    note = unreadable_note(path / JOURNAL, before is not None or bool(latest_checkpoint(path)[1]))
    if not note:
        return None
    if before is not None:
        return replace(before, state=UNREADABLE, note=note, holder="", failure="")
    return Run(
        path=str(path),
        name=path.name,
        state=UNREADABLE,
        config={},
        started=0.0,
        step=0,
        total_steps=0,
        epoch=0,
        accuracy=math.nan,
        checkpoint="",
        checkpoint_step=0,
        note=note,
    )


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def list_runs(folder: Path) -> list[Run]:
    """The runs in ``folder``, as ``RunsFolder.read`` gives them."""
    return RunsFolder().read(folder)


def read_run_line(path: Path) -> Run | None:
    """A line about the run in ``path`` from the first and last events of its journal; None where it has
    none. Damaged lines are skipped, and counted in ``note``."""
    events, damaged = ends_of(path / JOURNAL)
    started = next((event for event in events if event.get("event") == "started"), None)
    if started is None and not damaged:
        return None
    state, step, epoch, loss, seconds = "interrupted", 0, 0, math.nan, math.nan
    figures = dict.fromkeys(("accuracy", "r2", "mae"), math.nan)
    failure, speeds = "", list[float]()
    for event in events:
        kind = event.get("event")
        step = event.get("step", step)
        epoch = event.get("epoch", epoch)
        if kind == "epoch":
            figures = {name: float(event.get(f"validation_{name}", math.nan)) for name in figures}
            loss = float(event.get("validation_loss", math.nan))
        speed = event.get("samples_per_second") if kind == "step" else None
        if isinstance(speed, int | float) and 0 < speed < math.inf:
            speeds.append(speed)
        if kind in _LAST:
            state = str(kind)
            failure = _reason(event) if kind == "failed" else ""
            if kind == "failed" and is_interruption(event):
                state = "interrupted"
            reason = event.get("reason")
            if reason in ("interrupted", "diverged"):
                state = str(reason)
            seconds = float(event.get("seconds", math.nan))
            best, best_r2 = float(event.get("best_accuracy", -1)), float(event.get("best_r2", math.nan))
            if kind != "failed" and best >= 0:
                figures["accuracy"] = best
            if math.isfinite(best_r2):
                figures["r2"] = best_r2
        elif kind == "started":
            state, failure = "interrupted", ""
    holder = holder_of(path / LOCK_NAME)
    if state == "interrupted" and holder is not None:
        state = "running"
    checkpoint_step, checkpoint = latest_checkpoint(path)
    started = started or {}
    lines = "1 damaged line was" if damaged == 1 else f"{damaged} damaged lines were"
    notes, trouble = read_notes(path)
    skipped = f"{JOURNAL}: {lines} skipped" if damaged else ""
    newer = next(filter(None, map(newer_journal_version, events)), None)
    version = f"{JOURNAL}: written by a newer version of Model Studio: version {newer}; update Model Studio"
    return Run(
        path=str(path),
        name=path.name,
        state=state,
        config=started.get("config", {}),
        started=float(started.get("time", 0.0)),
        step=step,
        total_steps=started.get("total_steps", 0),
        epoch=epoch,
        accuracy=figures["accuracy"],
        r2=figures["r2"],
        mae=figures["mae"],
        task=task_of(started),
        checkpoint=checkpoint,
        checkpoint_step=checkpoint_step,
        note="\n".join(filter(None, (version if newer else "", skipped, trouble))),
        loss=loss,
        seconds=seconds,
        notes=notes,
        shape=_shape(started.get("shape")),
        inputs=_inputs(started.get("inputs")),
        failure=failure,
        holder="" if holder is None else str(holder),
        computing=computing_of(events),
        parameters=_count(started.get("parameters")),
        samples_per_second=median(speeds[-_LAST_STEPS:]) if speeds else math.nan,
        kind=str(started.get("kind", "images"))[:_LONGEST_REASON],
        export_bytes=min((each.size for each in exported_files([str(path)], [])), default=math.nan),
    )


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value <= MOST_COUNTED else 0


def _shape(value: object) -> tuple[int, ...]:
    sizes = value if isinstance(value, list) else []
    sound = all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in sizes)
    return tuple(sizes) if sound else ()


def _inputs(value: object) -> tuple[ModelInputRow, ...]:
    """The inputs of a model that takes several; none for one, and where the journal is not as written."""
    try:
        return parse_inputs("; ".join(map(str, value))) if isinstance(value, list) else ()
    except ValueError:
        return ()


def _reason(event: dict[str, Any]) -> str:
    """Why a run failed, with the user's line where the message does not name it."""
    text = str(event.get("message", ""))[:_LONGEST_REASON]
    file = str(event.get("file", "")).replace("\\", "/").rpartition("/")[2][:_LONGEST_REASON]
    place = f"{file}:{event.get('line')}"
    return f"{text} ({place})" if file and place not in text else text


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


def source_file(run: Run) -> Path | None:
    """The copy of the user's model that the run keeps; None for a built-in model."""
    model = str(run.config.get("model", ""))
    path, separator, _ = model.rpartition(":")
    if not separator:
        return None
    return Path(run.path) / SOURCE / path.replace("\\", "/").rpartition("/")[2]
