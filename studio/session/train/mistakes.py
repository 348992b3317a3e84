"""Mistakes: the matrices and images of the run that is shown, and what people say is wrong with them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.session.data.corrections import ProjectCorrections, correction_in
from studio.session.problem_view import ProblemView, problem_from_event, problem_from_message
from studio.session.project.undo import Change, UndoStack
from studio.session.runs.epoch_tables import EpochTable, table_of
from studio.session.runs.thinned import thinned
from studio.session.train.mistakes_job import ReadMistakes
from studio.session.train.mistakes_view import MistakesView, SampleFilter, SampleView
from studio.session.work.file_thread import FileThreads
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask

if TYPE_CHECKING:
    from engine.training.corrections import Correction
    from engine.training.measuring.predictions import Predictions
    from studio.session.train.number_errors import WrongNumber

PAGE = 40
MOST_TABLES = 200  # with their hardest samples 10 kB each; the journal has all
NO_IMAGES = "The samples of this epoch are not kept with the run."


class Mistakes:
    """Keeps the view up to date. Nothing here waits: files are read by a thread, images by a child.

    Args:
        tasks: starts the jobs; the next worker is made ready ahead: who looks at one cell looks at more.
        report: called with problems that are also shown outside the page.
        corrections: where the corrections of the project are now.
        files: read and write them.
        undo_stack: each correction is a step of it.
    """

    def __init__(
        self,
        tasks: RunningTasks,
        report: Callable[[ProblemView], None],
        corrections: Callable[[], ProjectCorrections],
        files: FileThreads,
        undo_stack: UndoStack,
    ) -> None:
        self.view = MistakesView()
        self._files, self._reading, self._data = files, files.reading, ""
        self._tasks, self._report = tasks, report
        self._corrections, self._undo_stack = corrections, undo_stack
        self._changes = 0  # of the corrections, that were written
        self._task: JobTask | None = None
        self._known: tuple[str, int, Predictions | None] | None = None
        self._then: Callable[[Predictions | None], None] | None = None
        self._live: dict[int, Any] = {}  # by step, images that came with the events of this training
        self._follows = True

    # ----- which run and epoch -----

    def show(self, folder: str, data: str, tables: Sequence[EpochTable], classes: tuple[str, ...]) -> None:
        """Show the matrices of this run, the last one first; an empty ``folder`` shows nothing."""
        view = self.view
        same = (folder, classes, len(tables)) == (view.folder, view.classes, len(view.tables))
        if same and list(tables) == view.tables:
            return
        if folder != view.folder:
            self.close_gallery()
            self._live.clear()
            self._follows = True
        view.folder, view.tables, view.classes = folder, list(tables), classes
        self._data = data
        self.read_corrections()
        self.choose_table(len(tables) - 1 if self._follows else min(view.shown, len(tables) - 1))

    def add_epoch(self, folder: str, event: Mapping[str, Any]) -> None:
        """An epoch of the training that goes on was measured."""
        table = table_of(event)
        if table is None or folder != self.view.folder:
            return
        view, shown = self.view, self.view.table
        earlier = [each for each in view.tables if each.step < table.step]
        if event.get("pictures") is not None:
            self._live = {table.step: event["pictures"]}
        view.tables = thinned([*earlier, table], MOST_TABLES, shown)
        # Images that someone looks at stay; the epoch after that is followed again.
        if (self._follows and not view.what) or not earlier:
            self.choose_table(len(view.tables) - 1)
        else:
            last = len(view.tables) - 1
            view.shown = next((place for place, each in enumerate(view.tables) if each is shown), last)
            view.tables_changed.emit()

    def rewind(self, step: int) -> None:
        """The run goes on from an earlier checkpoint: later epochs come once more."""
        self.view.tables = [table for table in self.view.tables if table.step <= step]
        self.choose_table(len(self.view.tables) - 1)

    def choose_table(self, place: int) -> None:
        """Show the matrix at this place, and its hardest samples; the last one is followed by those to
        come."""
        view = self.view
        view.shown = place if 0 <= place < len(view.tables) else -1
        self._follows = view.shown in (-1, len(view.tables) - 1)
        view.tables_changed.emit()
        table = view.table
        images = None if table is None else self._live.get(table.step)
        view.hardest = [] if table is None or images is None else _hard_samples(table, images)
        view.hardest_changed.emit()
        if table is not None and images is None:
            self._with_predictions(self._show_hardest)

    def _show_hardest(self, found: Predictions | None) -> None:
        table = self.view.table
        if found is not None:
            self.view.hardest = [
                replace(_sample(found, int(place)), image=image)
                for place, image in zip(found.hardest, found.pictures, strict=True)
            ]
        elif table is not None:  # not kept, or a run of an earlier version: the journal names them
            self.view.hardest = _hard_samples(table, [None] * len(table.hardest))
            if not self.view.what:
                self._read_images(self.view.hardest)
        self.view.hardest_changed.emit()

    # ----- the gallery -----

    def open_cell(self, label: int, answer: int) -> None:
        """Open the images of class ``label`` that were taken for ``answer``."""
        self.open_samples(SampleFilter(label, answer))

    def open_samples(self, chosen: SampleFilter) -> None:
        """Open the test samples that a filter lets through."""
        self.view.filter = chosen
        self._open("samples", 0, 0)

    def open_hardest(self, place: int) -> None:
        """Open the hardest samples with the one at ``place`` selected."""
        self.view.filter = SampleFilter()
        self._open("hardest", place // PAGE, place % PAGE)

    def turn_page(self, by: int) -> None:
        """Go on by so many pages."""
        page = self.view.page + by
        if 0 <= page < self.view.pages:
            self._open(self.view.what, page, 0)

    def select(self, place: int) -> None:
        """Mean another one of the samples of the page."""
        if 0 <= place < len(self.view.samples) and place != self.view.selected:
            self.view.selected = place
            self.view.gallery_changed.emit()

    def close_gallery(self) -> None:
        """Show no gallery."""
        self._stop_worker()
        view = self.view
        if view.what:
            view.what, view.samples, view.loading, view.message = "", [], False, ""
            view.gallery_changed.emit()

    def _open(self, what: str, page: int, selected: int) -> None:
        view = self.view
        self._stop_worker()
        view.what, view.page, view.selected = what, page, selected
        view.samples, view.message, view.loading = [], "", True
        view.gallery_changed.emit()
        self._with_predictions(self._fill)

    def _fill(self, found: Predictions | None) -> None:
        view = self.view
        if not view.what or view.table is None:
            return
        total = 0
        if found is not None and view.what == "samples":
            places = found.matching(**asdict(view.filter))
            total, begin = len(places), view.page * PAGE
            samples = [_sample(found, int(place)) for place in places[begin : begin + PAGE]]
        elif view.what == "hardest":
            hardest = [_with_answers(sample, found) for sample in view.hardest]
            total = len(hardest)
            samples = hardest[view.page * PAGE : (view.page + 1) * PAGE]
        else:
            samples = []
            view.message = NO_IMAGES if _any_in(view.table, view.filter) else ""
        view.total, view.pages = total, max(1, -(-total // PAGE))
        view.samples = samples
        view.loading = bool(view.samples)
        view.gallery_changed.emit()
        self._read_images(view.samples)

    def _read_images(self, samples: list[SampleView]) -> None:
        self._stop_worker()
        if samples:
            self._task = self._tasks.start(
                ReadMistakes(
                    self.view.folder,
                    tuple(each.index for each in samples),
                    tuple(each.label for each in samples),
                ),
                self._follow,
            )

    def _take_images(self, event: Mapping[str, Any]) -> None:
        view = self.view
        if view.what:
            view.samples, view.loading = _filled(view.samples, event), False
            view.gallery_changed.emit()
        else:
            view.hardest = _filled(view.hardest, event)
            view.hardest_changed.emit()

    # ----- corrections -----

    def read_corrections(self) -> None:
        """Read those of the project anew."""
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        from engine.training.corrections import data_name

        corrections, data, changes = self._corrections(), self._data, self._changes

        def read() -> tuple[str, list[Correction] | Exception]:
            try:
                return data_name(data) if data else "", corrections.read()
            except Exception as error:
                return "", error

        def take(found: tuple[str, list[Correction] | Exception]) -> None:
            if data == self._data:
                self.view.data = found[0]
            if isinstance(found[1], Exception):
                self._report(problem_from_message(str(found[1]), "The corrections could not be read"))
            elif corrections.path == self._corrections().path and changes == self._changes:
                self._show_corrections(found[1])  # else newer ones are shown

        self._reading.do(read, take, "corrections")

    def relabel(self, sample: SampleView, label: int) -> None:
        """Say that the image is of class ``label``."""
        self._correct(sample.digest, sample.split_index, action="relabel", label=label, was=sample.label)

    def drop(self, sample: SampleView) -> None:
        """Say that the image is not to be used."""
        self._correct(sample.digest, sample.split_index, action="drop", label=-1, was=sample.label)

    def correct_numbers(self, sample: WrongNumber, target: tuple[float, ...]) -> None:
        """Say that the numbers to predict of the sample are ``target``; without numbers, that it is not to be
        used."""
        action = "value" if target else "drop"
        self._correct(
            sample.digest,
            sample.split_index,
            action=action,
            label=-1,
            was=0,
            target=target,
            were=sample.target,
        )

    def take_back(self, correction: Correction) -> None:
        """Take a correction back."""
        self._write(lambda file: file.remove(correction), "Take correction back", correction)

    def _correct(self, digest: str, split_index: int, **said: Any) -> None:
        from engine.training.corrections import Correction

        if not digest:  # its sample was not read yet
            return
        correction = Correction(self.view.data, digest, index=split_index, time=time.time(), **said)
        titles = {"relabel": "Correct label", "value": "Correct number", "drop": "Exclude sample"}
        self._write(lambda file: file.add(correction), titles[correction.action], correction)

    def _write(
        self, change: Callable[[ProjectCorrections], list[Correction]], step: str, about: Correction
    ) -> None:
        """Change the file; ``step`` names the step of undo, ``about`` has the sample that is meant."""
        title = "The correction could not be kept"
        if self._files.why_held:
            self._report(problem_from_message(f"correction: {self._files.why_held}", title))
            return
        corrections = self._corrections()
        versions: list[Correction | None] = []

        def write() -> list[Correction] | Exception:
            try:
                versions.append(correction_in(corrections.read(), about))
                found = change(corrections)
                versions.append(correction_in(found, about))
                return found
            except Exception as error:
                return error

        def take(found: list[Correction] | Exception) -> None:
            if isinstance(found, Exception):
                self._report(problem_from_message(str(found), title))
            elif corrections.path == self._corrections().path:
                self._changes += 1
                self._show_corrections(found)
                before, after = versions
                if before != after:
                    undo, redo = (lambda: self._restore(about, before)), (lambda: self._restore(about, after))
                    self._undo_stack.push(Change(step, undo, redo))

        self._files.writing.do(write, take)

    def _restore(self, about: Correction, wanted: Correction | None) -> None:
        """Let a sample have this correction, or none."""
        put = (lambda file: file.remove(about)) if wanted is None else (lambda file: file.add(wanted))
        self._write(put, "", about)

    def _show_corrections(self, found: list[Correction]) -> None:
        if found != self.view.corrections:
            self.view.corrections = found
            self.view.corrections_changed.emit()

    # ----- behind -----

    def _with_predictions(self, then: Callable[[Predictions | None], None]) -> None:
        """Call ``then`` with those of the epoch on screen, now or as soon as they are read; only the last
        caller is answered."""
        table, folder = self.view.table, self.view.folder
        self._then = None
        if table is None:
            return
        if self._known is not None and self._known[:2] == (folder, table.step):
            then(self._known[2])
            return
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        from engine.training.measuring.predictions import PredictionsFolder

        self._then, step = then, table.step

        def take(found: Predictions | None, trouble: str = "") -> None:
            table = self.view.table
            if table is None or (folder, step) != (self.view.folder, table.step):
                return
            if trouble:
                self._report(problem_from_message(trouble, "The run's images could not be read"))
            self._known = (folder, step, found)
            then, self._then = self._then, None
            if then is not None:
                then(found)

        self._reading.attempt(
            lambda: PredictionsFolder(Path(folder)).read(step),
            take,
            lambda error: take(None, str(error)),
            (Exception,),
            "predictions",
        )

    def take(self) -> None:
        """Bring the view up to date with what the child has read."""
        if self._task is not None:
            task, ended = self._task, self._task.take()
            if ended and task is self._task:
                self._stop_worker()
                if self.view.what:
                    self._tasks.warm_up()

    def _follow(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "mistakes":
            self._take_images(event)
        elif event["event"] == "failed" or (event["event"] == "worker_ended" and event["message"]):
            if self.view.what and self.view.loading:
                problem = problem_from_event(event, "The images could not be read")
                self.view.loading, self.view.message = False, problem.message
                self.view.gallery_changed.emit()

    def _stop_worker(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.close()

    def close(self) -> None:
        """End the child."""
        self._stop_worker()


def _any_in(table: EpochTable, chosen: SampleFilter) -> bool:
    """Whether a matrix counts samples of the classes of a filter."""
    rows = slice(None) if chosen.label < 0 else slice(chosen.label, chosen.label + 1)
    columns = slice(None) if chosen.answer < 0 else slice(chosen.answer, chosen.answer + 1)
    return bool(table.counts[rows, columns].any())


def _sample(found: Predictions, place: int) -> SampleView:
    return SampleView(
        place,
        int(found.labels[place]),
        int(found.answers[place]),
        float(found.of_truth[place]),
        float(found.of_answer[place]),
        tuple(map(float, found.probabilities[place])) if len(found.probabilities) else (),
    )


def _with_answers(sample: SampleView, found: Predictions | None) -> SampleView:
    """A sample of the journal with what the file of predictions knows of it."""
    if found is None or sample.index >= len(found.labels):
        return sample
    return replace(_sample(found, sample.index), image=sample.image)


def _filled(samples: list[SampleView], event: Mapping[str, Any]) -> list[SampleView]:
    """The samples with their images, where the event is about them."""
    if [each.index for each in samples] != list(event["places"]):
        return samples
    rows = zip(samples, event["images"], event["digests"], event["split_places"], strict=True)
    return [
        replace(sample, image=image, digest=digest, split_index=place)
        for sample, image, digest, place in rows
    ]


def _hard_samples(table: EpochTable, images: Sequence[Any]) -> list[SampleView]:
    return [
        SampleView(hard["index"], hard["label"], hard["predicted"], float(hard["probability"]), image=image)
        for hard, image in zip(table.hardest, images, strict=False)
    ]
