"""Mistakes on the page Train: matrix, hardest samples, the gallery, corrections and files of a matrix."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from resources.quantities import percent, value
from resources.words import shown, tr
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.drawing_files import save_drawing
from studio.controllers.explain.why_controller import WhyController
from studio.controllers.train.train_controller import TrainController
from studio.session import commands
from studio.session.explain.sample_explaining import WantedSample
from studio.session.runs.epoch_tables import EpochTable
from studio.session.runs.run_history import RunHistory
from studio.session.runs.run_names import file_name
from studio.session.runs.runs_folder import JOURNAL
from studio.session.selection import Selected
from studio.session.session import Session
from studio.session.train.mistakes_view import SampleFilter, SampleView
from studio.session.train.run_settings import title_of
from studio.windows.data.corrections_dialog import CorrectionsDialog
from studio.windows.main_window import MainWindow
from studio.windows.train.sample_gallery import SampleGallery
from studio.windows.train.sample_images import Sample
from studio.windows.train.train_page import TrainPage
from widgets import theme
from widgets.confusion.export import SUFFIXES

if TYPE_CHECKING:
    from engine.training.corrections import Correction


DASH = "\u2013"
WORST_CLASSES = 4


class MistakesController(QObject):
    """Joins ``session.mistakes`` to the two cards, the gallery and the list of corrections."""

    def __init__(
        self,
        session: Session,
        page: TrainPage,
        train: TrainController,
        window: MainWindow,
        actions: Actions,
        why: WhyController,
    ) -> None:
        super().__init__(page)
        self._why = why
        self._session, self._page, self._window, self._actions = session, page, window, actions
        self._mistakes = session.mistakes
        self._view = session.mistakes.view
        self.gallery, self.list = SampleGallery(window), CorrectionsDialog(window)
        self._bonds = Bindings()
        bonds, view = self._bonds, self._view
        for signal, slot in (
            (view.tables_changed, self._show_table),
            (view.hardest_changed, self._show_hardest),
            (view.gallery_changed, self._show_gallery),
            (view.corrections_changed, self._show_corrections),
        ):
            bonds.follow(signal, slot)
        bonds.follow(session.train.new_epoch, self._add_epoch)
        bonds.follow(session.train.rewound, self._rewound)
        bonds.follow(session.train.events.why_not, lambda _: self._show_why_not())
        bonds.follow(session.project_changed, lambda _: self._mistakes.read_corrections())
        train.run_shown.connect(self._show_run)
        self._connect(actions)
        actions.handle(commands.CORRECTIONS, self.open_corrections)
        actions.handle(commands.TRAIN_CORRECTED, self.train_again)
        for show in (self._show_table, self._show_hardest, self._show_corrections):
            bonds.again(show, now=True)
        bonds.again(self._show_gallery)

    def _connect(self, actions: Actions) -> None:
        page, mistakes, gallery = self._page, self._mistakes, self.gallery
        page.confusion_card.epoch_chosen.connect(mistakes.choose_table)
        page.confusion_card.cell_chosen.connect(mistakes.open_cell)
        page.confusion_card.save_requested.connect(self.save_matrix)
        page.hardest.chosen.connect(mistakes.open_hardest)
        page.samples_requested.connect(lambda: mistakes.open_samples(SampleFilter()))
        gallery.filter.changed.connect(mistakes.open_samples)
        gallery.page_turned.connect(mistakes.turn_page)
        gallery.selected.connect(mistakes.select)
        gallery.relabelled.connect(lambda label: self._about_selected(mistakes.relabel, label))
        gallery.dropped.connect(lambda: self._about_selected(mistakes.drop))
        gallery.taken_back.connect(self._take_back_selected)
        gallery.corrections_requested.connect(self.open_corrections)
        gallery.why_requested.connect(self.explain)
        gallery.finished.connect(lambda _: mistakes.close_gallery())
        self.list.taken_back.connect(self._take_back)
        self.list.train_requested.connect(lambda: actions.trigger(commands.TRAIN_CORRECTED))

    # ----- which run -----

    def _show_run(self, folder: str, history: RunHistory | None) -> None:
        run, train = self._session.listed_run(folder), self._session.train
        data = str(run.config.get("data", "")) if run is not None else train.settings.data
        if history is not None:
            self._mistakes.show(folder, data, history.tables, history.classes)
        elif folder and folder == train.folder:
            known = self._view.folder == folder
            self._mistakes.show(folder, data, self._view.tables if known else (), train.classes)
            if not known:
                self._read_recorded(folder, data)
        else:
            self._mistakes.show("", "", [], ())

    def _read_recorded(self, folder: str, data: str) -> None:
        """Show the matrices that the run which trains has written down so far too."""
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.files.journal  # noqa: F401

        def read() -> Sequence[EpochTable] | Exception:
            try:
                return self._session.history(folder).tables if (Path(folder) / JOURNAL).exists() else ()
            except Exception as error:
                return error

        def take(found: Sequence[EpochTable] | Exception) -> None:
            if isinstance(found, Exception):
                self._actions.refused.emit(shown(str(found)))
            elif found and folder == self._view.folder:
                newer = self._view.tables
                before = [each for each in found if not newer or each.step < newer[0].step]
                self._mistakes.show(folder, data, [*before, *newer], self._view.classes)

        self._session.files.reading.do(read, take)

    def _add_epoch(self, event: dict[str, object]) -> None:
        train = self._session.train
        if train.folder == self._view.folder:
            self._view.classes = train.classes
        self._mistakes.add_epoch(train.folder, event)

    def _rewound(self, step: int) -> None:
        if self._session.train.folder == self._view.folder:
            self._mistakes.rewind(step)

    # ----- the cards -----

    def _names(self, count: int) -> tuple[str, ...]:
        names = self._view.classes
        return names if len(names) == count else tuple(str(number) for number in range(count))

    def _show_table(self) -> None:
        view, card = self._view, self._page.confusion_card
        table = view.table
        if table is None:
            card.clear()
            return
        counts = table.counts.astype("int64")
        names = self._names(len(counts))
        note = self._of_classes(table, names)
        card.show_table(counts, names, table.epoch, view.shown, len(view.tables), note)

    def _of_classes(self, table: EpochTable, names: tuple[str, ...]) -> str:
        """The balanced accuracy, and the classes of which the least is recognized."""
        known = [(share, name) for share, name in zip(table.recalls, names, strict=True) if share is not None]
        if table.balanced_accuracy is None or not known:
            return ""
        words = self.tr("Balanced accuracy {0}. Recall: {1}").format(
            percent(table.balanced_accuracy),
            ", ".join(f"{name} {percent(share)}" for share, name in sorted(known)[:WORST_CLASSES]),
        )
        return f"{words}, \u2026" if len(known) > WORST_CLASSES else words

    def _show_hardest(self) -> None:
        self._page.set_hardest([self._sample(each) for each in self._view.hardest])

    def _sample(self, each: SampleView) -> Sample:
        view = self._view
        return Sample(
            each.image,
            view.name(each.label),
            view.name(each.answer),
            each.of_truth,
            each.index,
            each.probabilities,
        )

    def save_matrix(self) -> None:
        """Ask for a file and write the matrix into it."""
        table = self._view.table
        if table is None:
            return
        run = file_name(self._session.run_title(self._view.folder))
        name = f"{run}, confusion, epoch {table.epoch}.svg"
        titles = self.tr("Save the confusion matrix"), self.tr("The matrix could not be saved")
        content = self._page.confusion_card.matrix.file_content
        save_drawing(self._window, self._session, titles, name, SUFFIXES, content)

    # ----- the gallery -----

    def _show_gallery(self) -> None:
        view, gallery = self._view, self.gallery
        if not view.what:
            gallery.hide()
            return
        names = self._names(len(view.table.counts)) if view.table is not None else view.classes
        gallery.set_classes(names)
        gallery.filter.set_filter(view.filter)
        pages = ""
        if view.total:
            images = all(self._sample(each).is_image for each in view.samples)
            if view.pages > 1:
                of_images, of_samples = (
                    self.tr("{0} images, page {1} of {2}"),
                    self.tr("{0} samples, page {1} of {2}"),
                )
            else:
                of_images, of_samples = self.tr("{0} images"), self.tr("{0} samples")
            words = of_images if images else of_samples
            pages = words.format(theme.format_number(view.total), view.page + 1, view.pages)
        message = shown(view.message)
        if not message and not view.samples:
            message = self.tr("Reading…") if view.loading else self.tr("There are no such samples.")
        gallery.show_page(
            self._title(),
            [self._sample(each) for each in view.samples],
            view.selected,
            pages,
            (view.page > 0, view.page + 1 < view.pages),
            message,
        )
        self._show_selected()
        self._show_marks()
        if self._why.is_open:  # it follows the selection
            self.explain()
        if not gallery.isVisible():
            gallery.show()
            gallery.grid.setFocus()

    def _title(self) -> str:
        view = self._view
        epoch = self.tr("epoch {0}").format(view.table.epoch if view.table else 0)
        run = self._session.run_title(view.folder)
        if view.what == "hardest":
            return self.tr("{0}: hardest samples, {1}").format(run, epoch)
        chosen = view.filter
        if min(chosen.label, chosen.answer) < 0 or chosen != SampleFilter(chosen.label, chosen.answer):
            return self.tr("{0}: test samples, {1}").format(run, epoch)
        true, answer = view.name(chosen.label), view.name(chosen.answer)
        if true == answer:
            words = self.tr("{0}: {1} read right, the least certain first, {2}")
            return words.format(run, true, epoch)
        return self.tr("{0}: {1} taken for {2}, {3}").format(run, true, answer, epoch)

    def explain(self) -> None:
        """Show why the network of the epoch shown answers so to the selected sample."""
        each, view = self._selected(), self._view
        if each is None:
            return
        words = self.tr("{0}: test sample {1}, epoch {2}").format(
            self._session.run_title(view.folder),
            theme.format_number(each.index),
            view.table.epoch if view.table is not None else 0,
        )
        step = view.table.step if view.table is not None else -1
        self._why.explain(Selected("run", view.folder), step, self.wanted(each), words)

    def wanted(self, each: SampleView) -> WantedSample:
        """The sample in the data of the run."""
        folder = self._view.folder
        run = self._session.listed_run(folder)
        config = run.config if run is not None else self._session.train.settings.as_config("")
        return WantedSample(config, "test", each.index, folder)

    def _selected(self) -> SampleView | None:
        view = self._view
        return view.samples[view.selected] if view.selected < len(view.samples) else None

    def _show_selected(self) -> None:
        each, view, tr = self._selected(), self._view, self.tr
        if each is None:
            self.gallery.show_sample(None, [], ())
            self.gallery.show_correction("", False, -1)
            return
        share = DASH if each.of_answer != each.of_answer else percent(each.of_answer)
        sample = self._sample(each)
        facts = [
            (
                tr("Image") if sample.is_image else tr("Sample"),
                tr("{0} of the test data").format(theme.format_number(each.index)),
            ),
            (tr("True"), f"{view.name(each.label)} ({percent(each.of_truth)})"),
            (tr("Predicted"), f"{view.name(each.answer)} ({share})"),
        ]
        facts += [(name, text) for name, text in sample.row]
        self.gallery.show_sample(sample, facts, view.classes)
        correction = view.correction_of(each)
        label = correction.label if correction is not None and correction.label >= 0 else each.answer
        words = "" if correction is None else self._said(correction)
        self.gallery.show_correction(words, bool(each.digest), label)

    def _said(self, correction: Correction) -> str:
        if correction.action == "drop":
            return self.tr("Excluded from the next training with corrections")
        name = self._view.name(correction.label)
        return self.tr("Relabelled: it is {0}, in the next training with corrections").format(name)

    def _show_marks(self) -> None:
        marks = {}
        for place, each in enumerate(self._view.samples):
            correction = self._view.correction_of(each)
            if correction is not None:
                drop = correction.action == "drop"
                marks[place] = "\u2715" if drop else f"= {self._view.name(correction.label)}"
        self.gallery.grid.set_marks(marks)

    # ----- corrections -----

    def _about_selected(self, say: object, *words: int) -> None:
        each = self._selected()
        if each is not None:
            say(each, *words)  # type: ignore[operator]

    def _take_back_selected(self) -> None:
        each = self._selected()
        correction = None if each is None else self._view.correction_of(each)
        if correction is not None:
            self._mistakes.take_back(correction)

    def _take_back(self, row: int) -> None:
        if 0 <= row < len(self._view.corrections):
            self._mistakes.take_back(self._view.corrections[row])

    def open_corrections(self) -> str:
        """Show the list of all corrections."""
        self._mistakes.read_corrections()
        self.list.show()
        self.list.raise_()
        return ""

    def _show_corrections(self) -> None:
        self.list.set_rows([self._words(each) for each in self._view.corrections])
        self._show_why_not()
        if self._view.what:
            self._show_selected()
            self._show_marks()

    def _words(self, each: Correction) -> str:
        data = tr(title_of(each.data))
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.time))
        words = self.tr("{0}, {1} sample {2}") if each.were else self.tr("{0}, {1} image {2}")
        place = words.format(data, tr(each.split), each.index)
        was = _numbers(each.were) or each.was
        if each.action == "drop":
            return self.tr("{0}: dropped (it was {1}), {2}").format(place, was, when)
        now = _numbers(each.target) or each.label
        return self.tr("{0}: {1} instead of {2}, {3}").format(place, now, was, when)

    def _show_why_not(self) -> None:
        self.list.set_why_not(self._actions.reason(commands.TRAIN_CORRECTED))

    def train_again(self) -> str:
        """Start a run with the settings of the selected run, on corrected data."""
        reason = self._session.use_corrections(self._view.folder)
        if reason:
            return reason
        self.list.hide()
        self.gallery.close()
        return self._actions.trigger(commands.START)

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
        self.gallery.close()
        self.list.close()


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(map(value, values))
