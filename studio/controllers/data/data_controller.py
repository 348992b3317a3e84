"""The page Data: its settings are those of the next training; a child process looks at the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from resources import quantities
from resources.settings import DATA_SETTINGS, RUN_SETTINGS
from resources.words import shown
from studio.controllers.bindings import Bindings
from studio.controllers.data.columns import (
    answer_title,
    choice_rows,
    column_rows,
    number_texts,
    target_counts,
    value_texts,
)
from studio.controllers.explain.why_controller import WhyController
from studio.controllers.train.open_fields import show_fields
from studio.session.data.column_roles import with_role
from studio.session.data.data_view import DataFacts, DataProblem
from studio.session.data.excluded_files import with_files
from studio.session.explain.sample_explaining import WantedSample
from studio.session.session import Session
from studio.windows.data.data_page import DataPage
from studio.windows.data.data_panel import DataPanel
from studio.windows.data.data_problems import ProblemRow
from studio.windows.setting_fields import as_set
from widgets.delayed import delayed

FILES = "*.npz *.h5 *.hdf5 *.csv *.tsv"
# Settings are often typed: data is read again when that has paused.
TYPING_MS = 300


class DataController(QObject):
    """Looks at the chosen data as soon as the page is shown, and again when a setting of it changes."""

    def __init__(self, session: Session, page: DataPage, panel: DataPanel, why: WhyController) -> None:
        super().__init__(page)
        self._why = why
        self._session, self._page, self._panel = session, page, panel
        self._view = session.data
        self._pages = 0
        self._pairs = 0
        self._bonds = Bindings()
        self._later = delayed(self, TYPING_MS, self._look)
        page.shown.connect(self._shown)
        page.page_requested.connect(self._ask_page)
        page.compare_requested.connect(self._ask_pairs)
        page.choose_requested.connect(self._choose_folder)
        page.target_chosen.connect(lambda name: session.change_setting("label_name", name))
        page.columns.role_chosen.connect(self._change_role)
        page.why_requested.connect(self.explain)
        page.samples.chosen.connect(self._offer_why)
        page.cancel_requested.connect(session.dataset_browser.cancel)
        page.problems.exclude_requested.connect(self._exclude)
        page.problems.stop_requested.connect(session.dataset_browser.stop_check)
        panel.source_chosen.connect(self.choose)
        panel.folder_requested.connect(self._choose_folder)
        panel.file_requested.connect(self._choose_file)
        panel.form.changed.connect(lambda key, value: session.change_setting(key, as_set(value)))
        bonds, view = self._bonds, self._view
        bonds.show(session.train, "settings", lambda _: self._settings_changed())
        bonds.show(session.train, "setting_problems", lambda _: self._show_setting_problems())
        for name in ("state", "message", "last_problem", "facts"):
            bonds.follow(getattr(view.events, name), lambda _: self._show_state())
        bonds.follow(view.events.expected, lambda _: self._show_fields())
        bonds.follow(view.events.facts, lambda _: self._show_facts())
        bonds.follow(view.events.samples, lambda _: self._show_samples())
        bonds.follow(view.events.compared, lambda _: self._show_pairs())
        for name in ("checking", "stopped", "done", "problems"):
            bonds.follow(getattr(view.events, name), lambda _: self._show_problems())
        bonds.follow(session.selection.events.item, lambda _: self._offer_why())
        bonds.again(self._offer_why, now=True)
        bonds.again(self._show_all, now=True)

    def _show_all(self) -> None:
        self._show_state()
        self._show_facts()
        if self._view.samples is not None:
            self._show_samples()
        self._show_pairs()
        self._show_problems()

    def _shown(self) -> None:
        collected = self._session.collected
        self._session.files.reading.do(
            collected.count,
            lambda count: self._panel.offer_collected(str(collected.folder) if count else ""),
            "collected images",
        )
        self._look()

    # ----- what is chosen -----

    def choose(self, name: str) -> None:
        """Take this data for the next training: a built-in name, or a path."""
        self._session.choose_data(name)
        self._later.stop()
        self._look(again=True)

    def _choose_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(
            self._page.window(), self.tr("Choose a data folder"), self._where()
        )
        if path:
            self.choose(path)

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self._page.window(),
            self.tr("Choose a data file"),
            self._where(),
            self.tr("Data ({0})").format(FILES),
        )
        if path:
            self.choose(path)

    def _where(self) -> str:
        data = self._session.train.settings.data
        built_in = any(data == value for value, _ in RUN_SETTINGS["data"].choices)
        return "" if built_in else str(Path(data).parent)

    def _settings_changed(self) -> None:
        settings = self._session.train.settings
        self._panel.show_source(settings.data)
        self._show_fields()
        if self._page.isVisible():
            self._later.start()

    def _show_fields(self) -> None:
        settings = self._session.train.settings
        show_fields(self._panel.form, DATA_SETTINGS, settings, self._view.expected, self)

    def _show_setting_problems(self) -> None:
        problems = self._session.train.setting_problems
        for name in DATA_SETTINGS:
            self._panel.form.set_error(name, shown(problems.get(name, "")))

    def _look(self, again: bool = False) -> None:
        if not self._page.isVisible():
            return
        problems = self._session.train.setting_problems
        if not any(name in problems for name in ("data", *DATA_SETTINGS)):
            self._session.dataset_browser.look(self._session.train.settings, again)

    def _ask_page(self, split: str, label: int, other: bool) -> None:
        self._pages = self._pages + 1 if other else 0
        self._session.dataset_browser.show_page("test" if split == "test" else "train", label, self._pages)

    def _ask_pairs(self) -> None:
        self._pairs += 1
        self._session.dataset_browser.compare(self._pairs)

    def _exclude(self, files: tuple[str, ...]) -> None:
        exclude = with_files(self._session.train.settings.exclude, files)
        self._session.change_settings({"exclude": exclude}, self.tr("Exclude {0} files").format(len(files)))

    def _change_role(self, name: str, role: str) -> None:
        settings, columns = self._session.train.settings, self._view.facts.table
        changes = with_role(settings, columns, name, role)
        self._session.change_settings(changes, self.tr("Change the role of {0}").format(name))

    # ----- why -----

    def _offer_why(self) -> None:
        samples, place = self._view.samples, self._page.samples.current()
        why_not = ""
        if not self._session.selection.item:
            why_not = self.tr("Select a run with a checkpoint, or a saved model.")
        elif samples is None or not 0 <= place < len(samples.numbers):
            why_not = self.tr("Choose a sample first.")
        self._page.offer_why(why_not)

    def explain(self) -> None:
        """Show why the selected run or model answers so to the chosen sample."""
        samples, place = self._view.samples, self._page.samples.current()
        if samples is None or not 0 <= place < len(samples.numbers):
            return
        config = self._session.train.settings.as_config("")
        wanted = WantedSample(config, samples.split, samples.numbers[place])
        self._why.explain(self._session.selection.item, -1, wanted, samples.places[place])

    # ----- what is shown -----

    def _show_state(self) -> None:
        view, page = self._view, self._page
        # Those of the data before mean nothing for data that is not read.
        reasons = {} if view.state in ("asking", "failed") else view.facts.reasons
        self._panel.show_reasons({name: shown(reason) for name, reason in reasons.items()})
        if view.state == "asking":
            self._panel.show_fitting("csv", "table", own_split=False)  # only a table asks
            page.show_question(choice_rows(view.choices, self), Path(view.subject).name)
            return
        if view.state == "labelling":
            self._panel.show_fitting("images", "images", own_split=False)
            page.show_labelling()
            return
        if view.state == "failed" and view.last_problem is not None:
            problem = view.last_problem
            words = "\n".join(filter(None, (problem.where, shown(problem.what), shown(problem.do))))
            page.show_waiting(words, self.tr("Choose folder…"), cancel=False)
        elif view.state == "ready" or (view.state == "opening" and view.facts.name):
            self._panel.show_fitting(view.facts.kind, view.facts.sample_kind, view.facts.own_split)
            page.show_data()
        else:
            words = shown(view.message) or self.tr("Reading the data…")
            page.show_waiting(words, "", cancel=view.state == "opening")

    def _show_facts(self) -> None:
        facts, page = self._view.facts, self._page
        if not facts.name:
            return
        page.figures["train"].set_value(f"{facts.train:,}".replace(",", "\u2009"))
        page.figures["test"].set_value(f"{facts.test:,}".replace(",", "\u2009"))
        page.show_kind(facts.sample_kind, facts.task, column_rows(facts.table, self))
        page.targets.set_targets(target_counts(facts))
        page.figures["classes"].set_value(str(len(facts.classes or facts.targets)))
        page.figures["fed"].set_value(" \u00d7 ".join(map(str, facts.fed)))
        page.figures["fed"].set_note(self._inputs_note(facts))
        page.offer_classes(
            (("train", self.tr("Training", "part of the data")), ("test", self.tr("Test"))), facts.classes
        )
        page.balance.set_counts(facts.classes, facts.train_balance, facts.test_balance)
        self._panel.show_fitting(facts.kind, facts.sample_kind, facts.own_split)
        self._panel.show_reasons({name: shown(reason) for name, reason in facts.reasons.items()})

    def _inputs_note(self, facts: DataFacts) -> str:
        """The inputs of samples with several, of which the page shows the first."""
        if not facts.inputs:
            return ""
        return self.tr("{0} inputs, of which the first is shown: {1}").format(
            len(facts.inputs), ", ".join(facts.inputs)
        )

    def _show_samples(self) -> None:
        self._fill_samples()
        self._offer_why()

    def _fill_samples(self) -> None:
        samples, facts, grid = self._view.samples, self._view.facts, self._page.samples
        if samples is None:
            grid.clear()
            return
        if samples.targets:
            names = [number_texts(targets) for targets in samples.targets]
        else:
            names = [
                self.tr("unreadable") if broken else facts.classes[label] if label >= 0 else self.tr("none")
                for label, broken in zip(samples.labels, samples.broken, strict=True)
            ]
        if facts.sample_kind == "images" and facts.is_image:
            grid.show_images(samples.values, names, samples.places)
        elif facts.sample_kind == "sequences":
            grid.show_sequences(samples.values, names, samples.places)
        else:
            rows = [value_texts(values, facts) for values in samples.values]
            grid.show_rows(rows, names, samples.places, facts.columns, answer_title(facts, self))
        self._page.page_note.setText(
            self.tr("{0} of {1}, drawn at random").format(
                quantities.count(len(samples.values)), quantities.count(samples.of)
            )
        )

    def _show_pairs(self) -> None:
        compared, facts, page = self._view.compared, self._view.facts, self._page
        if compared is None:
            page.show_pairs((), (), "", ())
            return
        texts = [
            self.tr("input from {0} to {1}").format(*map(quantities.value, ends)) for ends in compared.ranges
        ]
        page.show_pairs(compared.before, compared.after, facts.sample_kind, texts)
        low = min((ends[0] for ends in compared.ranges), default=0.0)
        high = max((ends[1] for ends in compared.ranges), default=0.0)
        raw = " \u00d7 ".join(map(str, facts.raw))
        fed = " \u00d7 ".join(map(str, facts.fed))
        page.pair_note.setText(
            self.tr("{0} become {1}, fed as numbers from {2} to {3}").format(
                raw, fed, quantities.value(low), quantities.value(high)
            )
        )

    def _show_problems(self) -> None:
        view, panel = self._view, self._page.problems
        done = quantities.count(view.done), quantities.count(view.total)
        panel.set_rows([self._row(problem) for problem in view.problems])
        if view.checking:
            share = view.done / view.total if view.total else 0.0
            panel.set_progress(share, self.tr("Checked {0} of {1}").format(*done))
        elif view.stopped:
            panel.set_progress(None, self.tr("Stopped: {0} of {1} were checked").format(*done))
        elif view.total and not view.problems:
            panel.set_progress(None, self.tr("All {0} samples were checked: no problem").format(done[1]))
        else:
            panel.set_progress(None, self.tr("All {0} samples were checked").format(done[1]))

    def _row(self, problem: DataProblem) -> ProblemRow:
        words: dict[str, tuple[str, str, str]] = {
            "unreadable": (
                self.tr("Can't be read: {0}"),
                self.tr(
                    "Replace or remove these files, or exclude them. A training skips up to the share "
                    "*Damaged images*; more stop it."
                ),
                "bad",
            ),
            "size": (
                self.tr("Other sizes than the first: {0}"),
                self.tr("Set Resize, so that all images get one size."),
                "bad",
            ),
            "converted": (
                self.tr("Converted images: {0}"),
                self.tr("They are converted to the colours and the 8 bits of the other images."),
                "warn",
            ),
            "nan": (
                self.tr("NaN or missing numbers: {0}"),
                self.tr("Fill in the numbers or remove the rows: a training stops at the first of them."),
                "bad",
            ),
            "unlabelled": (
                self.tr("Without a label: {0}"),
                self.tr("They are ignored. Fill in the labels to use them."),
                "warn",
            ),
            "alone": (
                self.tr("Only one class has training samples: {0}"),
                self.tr("Add samples of a second class: a model learns to distinguish classes."),
                "bad",
            ),
            "single": (
                self.tr("Classes with one training sample: {0}"),
                self.tr("It stays in the training split. Collect more: one sample is not tested."),
                "warn",
            ),
            "few": (
                self.tr("Classes with few samples: {0}"),
                self.tr("These have fewer than five training samples: collect more, or remove the classes."),
                "warn",
            ),
            "absent": (
                self.tr("Classes without samples: {0}"),
                self.tr("Collect training samples, or remove the classes: a model can't learn them."),
                "warn",
            ),
            "shared": (
                self.tr("In both splits: {0}"),
                self.tr(
                    "These test samples are also training samples. Remove them from one split: they "
                    "inflate the test accuracy."
                ),
                "warn",
            ),
        }
        title, remedy, level = words[problem.kind]
        places: tuple[Any, ...] = problem.places
        if problem.count > len(places):
            places = (*places, self.tr("and {0} more").format(problem.count - len(places)))
        is_folder = self._view.facts.kind == "images"
        files = problem.places if is_folder and problem.kind == "unreadable" else ()
        return ProblemRow(title.format(problem.count), remedy, places, level, files)

    def close(self) -> None:
        """Follow the view model no longer."""
        self._bonds.release()
