"""A run's folder: journal.jsonl, run.h5, checkpoints/ and source/ with its mark, written and read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from engine.core.errors import ArgumentError, DataError, EngineError, FormatError, InUseError, SaveError
from engine.files.atomic import atomic_write, make_folder, saving
from engine.files.checkpoint import (
    BEST_NAME,
    Skipped,
    latest_checkpoint,
    list_checkpoints,
    prune_checkpoints,
    read_checkpoint,
    write_best,
    write_checkpoint,
)
from engine.files.folders import remove_abandoned_folders, remove_folder
from engine.files.journal import (
    JOURNAL_NAME,
    PACKED_NAME,
    JournalEvent,
    JournalWriter,
    pack_run,
    parse_event,
)
from engine.files.run_source import SOURCE, keep_source, refuse_links, remove_source
from engine.files.space import estimated_bytes, over_limit, require_room, used_bytes
from engine.training.folder.event_lines import as_lines
from engine.training.folder.recorded import has_record, require_known_events
from engine.training.folder.retained_events import RetainedEvents, elapsed_at
from engine.training.measuring.predictions import (
    MOST_BYTES,
    NumberPredictions,
    Predictions,
    PredictionsFolder,
)
from engine.training.network.models import FOLDER as BUILT_IN_MODELS
from resources.locks import LOCK_NAME, Holder, Lock, holder_of, take
from resources.regular_files import LARGE_FILE, read_regular
from resources.training_events import LAST_KINDS, TrainingEvent

CHECKPOINTS = "checkpoints"
INFERENCE = "inference"
CORRECTIONS = "corrections.json"

OnFailure: TypeAlias = Callable[[str, str], None]
"""Called with the path and the message of a write that failed."""


class RunFolder:
    """Reads and writes the files of one run.

    A journal that can't be written never stops a training: the events are held in memory, the failure is
    reported once, and the next event tries again. ``elapsed`` has the seconds of training
    that the journal of a resumed run records, once it is open.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.journal_path = self.path / JOURNAL_NAME
        self.checkpoints_path = self.path / CHECKPOINTS
        self.source_path = self.path / SOURCE
        self._predictions = PredictionsFolder(self.path)
        self._journal: JournalWriter | None = None
        self._waiting: list[dict[str, Any]] = []
        self._failing = False
        self._from: RetainedEvents | None = None
        self.elapsed = 0.0
        self._made_folder = False
        self._lock: Lock | None = None

    # ----- before the training -----

    def claim(self, new: bool) -> None:
        """Keep other trainings out of the folder until ``close``; a ``new`` run's folder is made if need be.

        Raises:
            InUseError: another training works in it. SaveError: it can't be made or written.
        """
        if self._lock is not None or not (new or os.path.isdir(self.path)):
            return
        self._made_folder = not os.path.exists(self.path)
        if new:
            make_folder(self.path)
        place = self.path / LOCK_NAME
        with saving(place):
            taken = take(place)
        if isinstance(taken, Holder):
            raise self._in_use(taken)
        self._lock = taken

    def require_free(self) -> None:
        """Raises InUseError where another training works in the folder."""
        holder = holder_of(self.path / LOCK_NAME)
        if holder is not None:
            raise self._in_use(holder)

    def _in_use(self, holder: Holder) -> InUseError:
        return InUseError(
            f"out: a training is running in this folder: {self.path}, {holder}; wait until it "
            "has ended or stop it, or choose another folder"
        )

    def require_new(self) -> None:
        """Refuse to write over another run; one that ended before its first checkpoint and step is none.

        Raises:
            ArgumentError: the folder holds one.
        """
        if self._has_checkpoints():
            raise ArgumentError(
                f"out: the folder already holds a run: {self.path}; choose another folder, or resume that run"
            )
        if has_record(self.journal_path):
            raise ArgumentError(
                f"out: the folder already holds the journal of a run, and no checkpoint to resume it from: "
                f"{self.path}; choose another folder, or remove this one"
            )

    def _is_taken(self) -> bool:
        return self._has_checkpoints() or has_record(self.journal_path)

    def _has_checkpoints(self) -> bool:
        return bool(list_checkpoints(self.checkpoints_path)) or os.path.exists(
            self.checkpoints_path / BEST_NAME
        )

    def refuse_links(self) -> None:
        """Refuse a run in which links lead elsewhere. Raises DataError."""
        refuse_links(self.path)

    def latest_checkpoint(self, command: str = "resume") -> tuple[Path, tuple[Skipped, ...]]:
        """The newest sound checkpoint, and the damaged ones that are newer.

        Args:
            command: what it is asked for, ``resume`` or ``export``.

        Raises:
            DataError: there is none; says which were skipped and why. Or a newer one can't be read now.
            NewerVersionError: a newer version wrote one of them, or (to resume) the journal.
        """
        if command == "resume":
            require_known_events(self.journal_path)
        try:
            latest = latest_checkpoint(self.checkpoints_path)
        except DataError as error:
            listed = error.filename != str(self.checkpoints_path)
            older = ", or move it away to resume from an older one" if listed else ""
            refused = DataError(f"{command}: {error}{older}")
            refused.errno, refused.filename = error.errno, error.filename
            raise refused from error
        if latest.entry is None:
            reasons = "; ".join(each.problem for each in latest.skipped)
            skipped = f" ({reasons})" if reasons else ""
            do = f"start a new run in {'another' if self._is_taken() else 'this'} folder"
            if command != "resume":
                do = "train first, or give the folder of a run"
            raise DataError(
                f"{command}: there is no sound checkpoint: {self.checkpoints_path}{skipped}; {do}"
            )
        return latest.entry.path, latest.skipped

    def checkpoint_of(self, resume: bool | str | Path) -> tuple[Path, tuple[Skipped, ...]]:
        """The checkpoint to resume from: the one that ``resume`` names; for True as ``latest_checkpoint``."""
        if resume is True:
            return self.latest_checkpoint()
        require_known_events(self.journal_path)
        return Path(str(resume)), ()

    def read_checkpoint(self, path: Path) -> dict[str, Any]:
        """The tree of a checkpoint. Raises DataError or FormatError."""
        tree = read_checkpoint(path)
        if not isinstance(tree, dict) or not isinstance(tree.get("config"), dict):
            raise FormatError(
                f"{path}: not the checkpoint of a training: it holds no config; choose another checkpoint, "
                "or start a new run"
            )
        return tree

    def read_best(self) -> dict[str, Any]:
        """The tree of the best checkpoint. Raises DataError or FormatError."""
        return self.read_checkpoint(self.checkpoints_path / BEST_NAME)

    def read_step(self, step: int) -> dict[str, Any] | None:
        """The tree of the checkpoint of ``step``; None where there is none that can be read."""
        for entry in list_checkpoints(self.checkpoints_path):
            if entry.step == step:
                with suppress(DataError, FormatError):
                    return self.read_checkpoint(entry.path)
        return None

    def best_step(self) -> int:
        """The step of the best checkpoint; -1 where there is none that can be read."""
        try:
            return int(self.read_best()["progress"]["step"])
        except (EngineError, KeyError, TypeError, ValueError):
            return -1

    def open(
        self, model_files: Mapping[Path, bytes], retained: RetainedEvents | None, corrections: bytes = b""
    ) -> None:
        """Make the folder ready for writing; the journal is cut back to what ``retained`` holds.

        A new run keeps the content of the file of ``corrections`` that its data was loaded with.

        Without that the run is a new one, and what a run left that ended before its first step goes.

        Raises:
            SaveError: the folder can't be made or written. DataError: links among the code that lies there.
        """
        self.claim(new=True)
        self._from = retained
        with saving(self.checkpoints_path):
            remove_abandoned_folders(self.checkpoints_path)
        make_folder(self.checkpoints_path)
        if retained is None:
            # A resumed run uses the user's code; built-in models need no copy.
            files = [file for file in model_files if not file.is_relative_to(BUILT_IN_MODELS)]
            names = [file.relative_to(files[0].parent).as_posix() for file in files]
            keep_source(self.path, {name: model_files[file] for name, file in zip(names, files, strict=True)})
            self._remove_records()
            if corrections:
                atomic_write(self.path / CORRECTIONS, lambda file: file.write(corrections))
        else:
            self._cut_back(retained)
        self._journal = JournalWriter(self.journal_path)

    def keep_record(self, started: TrainingEvent, on_failure: OnFailure) -> None:
        """Begin the journal of a run that could not begin, so that it can say why it failed."""
        if self._journal is None:
            with suppress(EngineError, OSError):  # a folder that can't be written is what it failed of
                self.open({}, None)
                self.record(started, on_failure)

    def _remove_records(self) -> None:
        with saving(self._predictions.path):
            self._predictions.remove_after(-1)
        for name in (JOURNAL_NAME, PACKED_NAME, CORRECTIONS):
            with saving(self.path / name):
                (self.path / name).unlink(missing_ok=True)

    def _cut_back(self, retained: RetainedEvents) -> None:
        """Remove what will be written again, and lines of the journal that are not events.

        The newest checkpoint first: whatever interrupts this, the journal reaches as far as the checkpoints.
        """
        for entry in reversed(list_checkpoints(self.checkpoints_path)):
            if entry.step > retained.step:
                with saving(entry.path):
                    entry.path.unlink(missing_ok=True)
        with saving(self._predictions.path):
            self._predictions.remove_after(retained.step)
        with saving(self.path / PACKED_NAME):
            # The journal grows to the length again that it was packed at, and is another one then.
            (self.path / PACKED_NAME).unlink(missing_ok=True)
        self._rewrite_journal(retained.has)

    def _rewrite_journal(self, wanted: Callable[[JournalEvent], bool]) -> None:
        if not os.path.exists(self.journal_path):
            return
        lines = []
        for line in read_regular(self.journal_path, LARGE_FILE).splitlines(keepends=True):
            with suppress(FormatError):
                event = parse_event(line)
                if line.endswith(b"\n") and wanted(event):
                    lines.append(line)
                    self.elapsed = max(self.elapsed, elapsed_at(event))
        atomic_write(self.journal_path, lambda file: file.write(b"".join(lines)))

    # ----- while training -----

    def record(self, event: TrainingEvent, on_failure: OnFailure) -> None:
        """Write ``event`` into the journal; the last event of a run also packs it into run.h5."""
        if self._journal is None:
            return
        self._waiting += as_lines(event)
        try:
            while self._waiting:
                self._journal.write(self._waiting[0])
                del self._waiting[0]
            self._failing = False
            if event["event"] in LAST_KINDS:
                self._journal.sync()
                pack_run(self.path)
        except (OSError, EngineError) as error:
            if not self._failing:
                self._failing = True
                on_failure(str(getattr(error, "filename", None) or self.journal_path), str(error))

    def append(self, event: TrainingEvent) -> None:
        """Write the last event of a run whose own process could not.

        Raises:
            InUseError: a training works in the folder. SaveError: it can't be written.
        """
        self.claim(new=False)
        try:
            if self._lock is not None and os.path.exists(self.journal_path):
                with JournalWriter(self.journal_path) as journal:
                    for line in as_lines(event):
                        journal.write(line)
        finally:
            self.close()

    def sync_journal(self, on_failure: OnFailure) -> None:
        """Bring the journal to the disk: before the checkpoint that covers its events."""
        if self._journal is not None:
            try:
                self._journal.sync()
            except EngineError as error:
                on_failure(str(self.journal_path), str(error))

    def prune(self, keep: int) -> None:
        """Remove the checkpoints that are too many. Raises DataError."""
        prune_checkpoints(self.checkpoints_path, keep)

    def write_checkpoint(self, step: int, tree: dict[str, Any], keep: int, limit: int = 0) -> Path:
        """Write a checkpoint and remove those that are too many.

        Args:
            limit: bytes that journal and checkpoints may take together, the newest and the best checkpoint
                alone if need be; 0 for none.

        Raises:
            SaveError: no room, or more than ``limit``; nothing was written.
        """
        place = self.checkpoints_path / f"step-{step:08d}.h5"
        older = [entry.path for entry in list_checkpoints(place.parent)]
        self._require_room(place, tree, limit, spared=older)
        path = write_checkpoint(self.checkpoints_path, step, tree)
        self.prune(keep)
        for fewer in range(min(keep, len(older)), 0, -1):
            if not limit or self._used() <= limit:
                break
            prune_checkpoints(self.checkpoints_path, fewer)
        return path

    def write_best(self, tree: dict[str, Any], limit: int = 0) -> None:
        """Replace the best checkpoint. Raises SaveError as ``write_checkpoint``."""
        best = self.checkpoints_path / BEST_NAME
        older = [entry.path for entry in list_checkpoints(self.checkpoints_path)[:-1]]
        self._require_room(best, tree, limit, spared=[best, *older])
        write_best(self.checkpoints_path, tree)
        if limit and self._used() > limit:
            prune_checkpoints(self.checkpoints_path, 1)

    def write_predictions(
        self, step: int, predictions: Predictions | NumberPredictions, best_step: int, limit: int = 0
    ) -> None:
        """Keep what was measured after ``step``; with a ``limit`` these files take a twentieth of it.

        Raises SaveError.
        """
        most = min(MOST_BYTES, limit // 20) if limit else MOST_BYTES
        self._predictions.write(step, predictions, best_step, most)

    def _require_room(self, place: Path, tree: dict[str, Any], limit: int, spared: list[Path]) -> None:
        """Refuse a file for which the disk or the limit has no room, those ``spared`` taken as removed."""
        length = estimated_bytes(tree)
        require_room(place, length)
        if limit:
            needed = self._used() - used_bytes(spared) + length
            if needed > limit:
                raise over_limit(place, needed, limit)

    def _used(self) -> int:
        """Bytes of the journal, of the predictions and of all checkpoints."""
        places = [self.journal_path, self.path / PACKED_NAME, self.checkpoints_path / BEST_NAME]
        places += [path for _, path in self._predictions.entries()]
        return used_bytes([*places, *(entry.path for entry in list_checkpoints(self.checkpoints_path))])

    # ----- afterwards -----

    def discard(self, on_failure: OnFailure) -> None:
        """Remove what this run wrote; of a resumed run only what came after the checkpoint that it
        resumed from.

        Whatever interrupts this leaves a run that can be resumed, or a folder that a new run takes over.
        """
        self._close_journal()
        try:
            if self._from is not None:
                self._cut_back(self._from)
                return
            # Without steps, so that it does not keep a new run out once the checkpoints are gone.
            self._rewrite_journal(lambda event: event.get("event") == "started")
            remove_folder(self.checkpoints_path)
            remove_source(self.path)
            self._remove_records()
        except OSError as error:
            on_failure(
                str(error.filename or self.path),
                f"cancel: not everything could be removed: {error}; remove it",
            )
        finally:
            self.close()

    def close(self) -> None:
        """Close the journal and let others into the folder; closing twice is harmless.

        A folder that was made for the run and is empty again goes.
        """
        try:
            self._close_journal()
        finally:  # interrupted too
            lock, self._lock = self._lock, None
            if lock is not None:
                lock.release()
                if self._made_folder:
                    # Whatever someone else put there meanwhile stays, and the folder with it.
                    with suppress(OSError):
                        self.path.rmdir()

    def _close_journal(self) -> None:
        journal, self._journal = self._journal, None
        if journal is not None:
            # The last lines of a run were synced, or their loss was reported; the lock must be released.
            with suppress(SaveError):
                journal.close()
