"""RunQueue: settings that wait to be trained, one after another; kept next to the runs of the project."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from psygnal import Signal
from pydantic import BaseModel, ConfigDict, Field, field_serializer, field_validator

from resources.local_code import LocalCode
from resources.locks import Holder, wait_for
from resources.run_folders import NEXT_TRIAL
from studio.session.project.agreed_library import AgreedLibrary
from studio.session.project.project_file import ProjectError, read_document, write_document
from studio.session.project.undo import Change as UndoStep
from studio.session.runs.queue_order import moved, placed, reverted
from studio.session.sweep.plan import MOST_TRIALS
from studio.session.train.run_settings import RunSettings, setting_problems, title_of_setting

if TYPE_CHECKING:
    from studio.session.sweep.search.next_trial import NextTrial

NAME, LOCK = "queue.json", "queue.lock"
_WRITER_WAITS = 2.0  # seconds
_REMEDY = "remove the file, and queue the runs again"
_FOLDER = rf"^([A-Za-z0-9_-]{{1,120}}/(trial-[0-9]{{3,4}}|{NEXT_TRIAL}))?$"


class Waiting(BaseModel):
    """Settings that wait. ``folder`` is that of a sweep's trial below the folder of the runs; empty for a run
    that gets a new one. A trial that its search has not chosen yet has the settings that all trials share."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    number: int = Field(ge=1)
    settings: RunSettings
    folder: Annotated[str, Field(pattern=_FOLDER)] = ""

    @property
    def search(self) -> str:
        """The name of the sweep that chooses the trial when the queue comes to it; else empty."""
        sweep, _, name = self.folder.partition("/")
        return sweep if name == NEXT_TRIAL else ""


class _QueueFile(BaseModel):
    """What queue.json holds. Version 2 is the first that has trials of searches."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["model-studio queue"] = "model-studio queue"
    version: Literal[1, 2] = 2
    waiting: list[Waiting] = Field(default_factory=list, max_length=MOST_TRIALS)

    @field_validator("version")
    @classmethod
    def _as_written_now(cls, version: int) -> int:
        return 2

    @field_serializer("version")
    def _as_earlier_versions_read_it(self, version: int) -> int:
        return version if any(each.search for each in self.waiting) else 1


_Mark: TypeAlias = tuple[Path, int, int]  # the file, when it was changed, and its size
Change: TypeAlias = Callable[[list[Waiting]], list[Waiting]]


class RunQueue:
    """What waits in the project, the next one first; ``changed`` emits each change.

    All windows on the project share the file and change it under its lock. Each starts runs only after it was
    asked to: ``held`` is True for a queue that was found there, and after a training was interrupted. ``why``
    says what it is held for.

    Args:
        start: begins a training with these settings in this folder (None for a new one).
        busy: whether a training runs in this window.
    """

    changed = Signal()

    def __init__(
        self,
        library: AgreedLibrary,
        start: Callable[[RunSettings, Path | None], None],
        busy: Callable[[], bool],
    ) -> None:
        self._library, self._start, self._busy = library, start, busy
        self._mark: _Mark | None = None
        self._changes = 0  # those made here
        self._tried: set[str] | None = None  # interrupted trials taken again since the queue was released
        self.waiting: list[Waiting] = []
        self.held = False
        self.why = ""
        self.beginning: Waiting | None = None  # taken out, its training not yet begun
        self._adding: list[tuple[UndoStep, list[Waiting]]] = []  # what undo takes out while it waits

    @property
    def folder(self) -> Path:
        """The folder of the project's runs."""
        return self._library.runs_folder

    def look(self) -> None:
        """Follow the project that is open, and what other windows have queued."""
        path, before, changes = self._library.runs_folder / NAME, self._mark, self._changes

        def read() -> tuple[_Mark, list[Waiting] | ProjectError] | None:
            """None for a file that has not changed."""
            mark = _mark_of(path)
            if mark == before:
                return None
            try:
                return mark, self._read(path)
            except ProjectError as error:
                return mark, error

        def take(found: tuple[_Mark, list[Waiting] | ProjectError] | None) -> None:
            if found is not None and (before, changes) == (self._mark, self._changes):
                self._take(*found)

        self._library.files.listing.do(read, take, "queue")

    def _take(self, mark: _Mark, found: list[Waiting] | ProjectError) -> None:
        another = self._mark is None or self._mark[0] != mark[0]
        self._mark = mark
        waiting = [] if isinstance(found, ProjectError) else found
        if isinstance(found, ProjectError):
            self._library.report(str(found), "The queue could not be read")
        if another:
            self.held, self.why = bool(waiting), ""
        if waiting != self.waiting or another:
            self.waiting = waiting
            self.changed.emit()

    def move_along(self) -> None:
        """The runs were moved to where the project is now: what waits goes with them."""
        old, new = self._mark[0] if self._mark is not None else None, self._library.runs_folder / NAME
        waiting, found = self.waiting, list[Waiting]()
        if old is None or old == new or not waiting:
            return

        def change(there: list[Waiting]) -> list[Waiting]:
            found.extend(there)
            return there or waiting

        def moved(reason: str) -> None:
            if reason:
                self._library.report(reason, "The queue could not be moved with the project")
            elif not found:
                self._mark = (new, 0, 0)
                nothing = lambda _: None  # noqa: E731
                files = self._library.files
                files.writing.attempt(lambda: old.unlink(missing_ok=True), nothing, nothing, (OSError,))

        self._update(change, moved)

    # ----- changes with undo; each returns why not where that is known at once; else it is reported -----

    def add(self, settings: Sequence[RunSettings], folders: Sequence[str] = ()) -> str:
        """Queue settings, behind what waits already; they start at once where nothing trains.

        Args:
            folders: those of a sweep's trials, one for each of the settings.
        """
        places = folders or [""] * len(settings)

        def change(waiting: list[Waiting]) -> list[Waiting]:
            first = max((each.number for each in waiting), default=0) + 1
            more = [
                Waiting(number=first + place, settings=each, folder=folder)
                for place, (each, folder) in enumerate(zip(settings, places, strict=True))
            ]
            if len(waiting) + len(more) > MOST_TRIALS:
                raise ProjectError(f"queue: too many runs: {len(waiting) + len(more)}; at most {MOST_TRIALS}")
            return waiting + more

        title = "Queue sweep" if folders else "Queue run" if len(settings) == 1 else "Queue runs"
        return self._change(title, change, self.go_on)

    def add_shown(self, settings: RunSettings) -> None:
        """Queue the settings of the window; a problem is reported."""
        reason = self.add([settings])
        if reason:
            self._library.report(reason, "The run could not be queued")

    def remove(self, numbers: Sequence[int]) -> str:
        """Take settings out of the queue."""
        return self._change(
            "Remove from queue", lambda waiting: [each for each in waiting if each.number not in numbers]
        )

    def move(self, numbers: Sequence[int], by: int) -> str:
        """Let settings start earlier (-1) or later (1)."""
        return self._change("Move in queue", lambda waiting: moved(waiting, numbers, by))

    def place(self, numbers: Sequence[int], before: int) -> str:
        """Let settings start before the entry of the number ``before``; 0 for after all others."""
        return self._change("Move in queue", lambda waiting: placed(waiting, numbers, before))

    def hold(self, why: str = "") -> None:
        """Start nothing more until ``release``."""
        if not self.held or why != self.why:
            self.held, self.why = True, why
            self.changed.emit()

    def release(self) -> None:
        """Start what waits, one after another."""
        self.held, self.why = False, ""
        self._tried = set()
        self.changed.emit()
        self.go_on()

    def after(self, folder: str) -> None:
        """The training in ``folder`` has ended: note it in its sweep, and start what is next."""
        from studio.session.sweep.document import NAME as SWEEP
        from studio.session.sweep.queued import note_trial

        def note() -> str:
            in_sweep = folder and Path(folder).with_name(SWEEP).is_file()
            return note_trial(Path(folder)) if in_sweep else ""

        def take(trouble: str) -> None:
            if trouble:
                self._library.report(trouble, "The sweep could not be brought up to date")
            self.go_on()

        self._library.files.writing.do(note, take)

    def go_on(self) -> None:
        """Start the next one, unless a training runs or the queue is held; one that can't start holds it."""
        if self.beginning is not None or not self.waiting or self.held or self._busy():
            return
        first, folder = self.waiting[0], self.folder
        taken: list[Waiting] = []
        again: list[bool] = []  # a trial that was interrupted does not use up the entry
        codes: list[LocalCode | None] = []  # that are not agreed to
        if first.search:
            import engine.training.config  # noqa: F401  # here, not in the thread: see RunChanges

        def take(waiting: list[Waiting]) -> list[Waiting]:
            if first not in waiting:
                return waiting
            found = self._next_trial(first, folder) if first.search else None
            if found is not None:
                place = f"{first.search}/{found.name}"
                taken.append(first.model_copy(update={"settings": found.settings, "folder": place}))
                self._library.note_choices(folder / place, found.choices)
                again.append(found.again)
            elif not first.search:
                taken.append(first)
            codes.extend(self._library.needs_agreement(each.settings) for each in taken)
            return waiting if any(again) else [each for each in waiting if each != first]

        def put_back(waiting: list[Waiting]) -> list[Waiting]:
            if first.search:
                from studio.session.sweep.search.next_trial import give_back

                state: Literal["interrupted", "waiting"] = "interrupted" if any(again) else "waiting"
                give_back(folder / first.search, Path(taken[0].folder).name, state)
            return waiting if any(again) else [first, *waiting]

        def took(reason: str) -> None:
            # Else another window has taken it, a training began, or another project was opened.
            begins = bool(taken) and not self._busy() and folder == self.folder
            if begins:
                reason = self._begin(taken[0], codes[0])
            self.beginning = None
            if taken and (reason or not begins):
                self._update(put_back, lambda _: None, folder)
            if reason:
                self.hold(reason)
                self._library.report(f"queue: {reason}", "The next run of the queue could not start")
            else:
                self._forget_begun()
                self.go_on()

        self.beginning = first
        self._update(take, took)

    def _next_trial(self, first: Waiting, folder: Path) -> NextTrial | None:
        """The trial that its search chooses now, or one that was interrupted; None where it has no more."""
        from studio.session.sweep.search.next_trial import take_next

        found = take_next(folder / first.search, self._tried)
        if found is not None and found.again and self._tried is not None:
            self._tried.add(found.name)
        return found

    def _begin(self, first: Waiting, code: LocalCode | None) -> str:
        wrong = next(iter(setting_problems(first.settings).items()), None)
        if wrong is not None:
            return f"{title_of_setting(wrong[0])} {wrong[1]}"
        if code is not None:
            return f"{code.file}: this file is code that was not agreed to yet; start a run with it once"
        self._start(first.settings, self._library.runs_folder / first.folder if first.folder else None)
        return ""

    def _forget_begun(self) -> None:
        """Undo takes runs out of the queue only while they wait."""
        for step, added in list(self._adding):
            if not any(each in self.waiting for each in added):
                self._adding.remove((step, added))
                self._library.undo_stack.remove(step)

    def _change(self, title: str, change: Change, then: Callable[[], object] = lambda: None) -> str:
        """Change the file, then call ``then``; returns why not where that is known at once."""
        versions: list[list[Waiting]] = []

        def noted(waiting: list[Waiting]) -> list[Waiting]:
            versions[:] = [list(waiting), change(list(waiting))]
            return list(versions[1])

        def push() -> None:
            before, after = versions
            if before == after:
                return
            undo, redo = (lambda: self._revert(after, before)), (lambda: self._revert(before, after))
            step = UndoStep(title, undo, redo)
            self._library.undo_stack.push(step)
            if added := [each for each in after if each not in before]:
                self._adding.append((step, added))

        def changed() -> None:
            push()
            then()

        return self._carry_out(noted, changed)

    def _revert(self, was: list[Waiting], wanted: list[Waiting]) -> None:
        reason = self._carry_out(lambda waiting: reverted(waiting, was, wanted), self.go_on)
        if reason:
            self._library.report(reason, "The queue could not be changed")

    def _carry_out(self, change: Change, then: Callable[[], object]) -> str:
        known: list[str] = []
        returned = False

        def took(reason: str) -> None:
            known.append(reason)
            if not reason:
                then()
            elif returned:
                self._library.report(reason, "The queue could not be changed")

        self._update(change, took)
        returned = True
        return known[0] if known else ""

    def _update(self, change: Change, then: Callable[[str], object], place: Path | None = None) -> None:
        """Change the file as it is now, which another window may have written; ``then`` gets why not.

        ``place`` is the folder of the runs if it is not that of the open project.
        """
        from engine.core.errors import EngineError
        from engine.files.atomic import make_folder

        if self._library.moving:
            then(self._library.moving)
            return
        folder = place or self._library.runs_folder

        def write() -> list[Waiting] | str:
            try:
                make_folder(folder)
                lock = wait_for(folder / LOCK, _WRITER_WAITS)
                if isinstance(lock, Holder):
                    return f"queue: {folder / NAME}: another window is writing it: {lock}; try again"
                try:
                    waiting = change(self._read(folder / NAME))
                    if waiting:
                        write_document(folder / NAME, _QueueFile(waiting=waiting))
                    else:
                        (folder / NAME).unlink(missing_ok=True)
                finally:
                    lock.release()
            except (OSError, EngineError, ProjectError) as error:
                return str(error)
            return waiting

        def take(found: list[Waiting] | str) -> None:
            if not isinstance(found, str) and folder == self._library.runs_folder:
                self.waiting = found
                self._changes += 1
                self.changed.emit()
            then(found if isinstance(found, str) else "")

        self._library.files.writing.do(write, take)

    @staticmethod
    def _read(path: Path) -> list[Waiting]:
        if path.is_symlink():
            raise ProjectError(f"{path}: a link to elsewhere: {os.readlink(path)}; {_REMEDY}")
        return read_document(path, _QueueFile, _REMEDY).waiting if path.is_file() else []


def _mark_of(path: Path) -> _Mark:
    try:
        stat = path.stat()
        return path, stat.st_mtime_ns, stat.st_size
    except (OSError, ValueError):
        return path, 0, 0
