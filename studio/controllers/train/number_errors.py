"""The errors of a run that predicts numbers on the page Train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QObject

from resources import quantities
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.train.train_controller import TrainController
from studio.session import commands
from studio.session.runs.run_history import RunHistory
from studio.session.session import Session
from studio.session.train.number_errors import WrongNumber, number_in
from studio.windows.train.train_page import TrainPage
from widgets import theme
from widgets.param_form.fields import write


def worst_rows(worst: Sequence[WrongNumber], chosen: int) -> list[tuple[str, str, str, str]]:
    """Sample, true and predicted number and error of each, for the target at the place ``chosen``."""
    return [
        (
            theme.format_number(each.index),
            quantities.value(each.target[chosen]),
            quantities.value(each.predicted[chosen]),
            quantities.value(each.predicted[chosen] - each.target[chosen]),
        )
        for each in worst
    ]


class NumberErrorsController(QObject):
    """Joins ``session.number_errors`` to the two cards, and corrections of true numbers to the project's."""

    def __init__(self, session: Session, page: TrainPage, train: TrainController, actions: Actions) -> None:
        super().__init__(page)
        self._session, self._cards = session, page.number_errors
        self._errors, self._view = session.number_errors, session.number_errors.view
        self._bonds = Bindings()
        self._bonds.follow(self._view.changed, self._show)
        self._bonds.follow(session.train.new_epoch, self._add_epoch)
        self._bonds.follow(session.mistakes.view.corrections_changed, self._show)
        self._chosen = 0
        self._bonds.again(self._show)
        train.run_shown.connect(self._show_run)
        self._cards.target_chosen.connect(self._choose_target)
        self._cards.sample_chosen.connect(lambda _: self._read_sample())
        correction = self._cards.correction
        correction.corrected.connect(self._correct)
        correction.dropped.connect(self._drop)
        correction.taken_back.connect(self._take_back)
        correction.corrections_requested.connect(lambda: actions.trigger(commands.CORRECTIONS))

    def _show_run(self, folder: str, history: RunHistory | None) -> None:
        train = self._session.train
        if history is not None and history.task == "numbers" and history.epochs:
            last = history.epochs[-1]
            epoch, step = int(last.get("epoch", 0)), int(last["step"])
            self._errors.show(folder, epoch, step, history.targets, history.units)
        elif folder != self._view.folder or folder != train.folder:
            self._errors.show(folder, 0, 0, train.targets, train.units)

    def _add_epoch(self, event: Mapping[str, Any]) -> None:
        train = self._session.train
        if train.task == "numbers" and train.folder == self._view.folder:
            self._errors.show(train.folder, event["epoch"], event["step"], train.targets, train.units)

    def _choose_target(self, chosen: int) -> None:
        self._chosen = chosen
        self._cards.correction.reset()
        self._show()

    def _show(self) -> None:
        view, cards = self._view, self._cards
        chosen = self._chosen = min(self._chosen, max(0, view.true.shape[1] - 1))
        cards.set_targets(view.targets, chosen)
        unit = view.units[chosen] if chosen < len(view.units) else ""
        rows = [
            (name + self._mark(each), *others)
            for each, (name, *others) in zip(view.worst, worst_rows(view.worst, chosen), strict=True)
        ]
        shown = [each.shown for each in view.worst]
        cards.show_errors(view.true[:, chosen], view.predicted[:, chosen], unit, view.epoch, rows, shown)
        self._show_correction()

    # ----- corrections -----

    def _selected(self) -> WrongNumber | None:
        row = self._cards.table.currentRow()
        return self._view.worst[row] if 0 <= row < len(self._view.worst) else None

    def _read_sample(self) -> None:
        """A sample was selected: read what a correction needs to know."""
        self._errors.read_samples()
        self._show_correction()

    def _mark(self, each: WrongNumber) -> str:
        correction = self._session.mistakes.view.correction_of(each)
        if correction is None:
            return ""
        return " *" if correction.action == "value" else " \u2715"

    def _show_correction(self) -> None:
        each, row = self._selected(), self._cards.correction
        if each is None:
            row.show_sample("", "", "", False)
            return
        chosen, unit = self._chosen, ""
        if chosen < len(self._view.units):
            unit = self._view.units[chosen]
        correction = self._session.mistakes.view.correction_of(each)
        value, words = each.target[chosen], ""
        if correction is not None and correction.action == "value":
            value = correction.target[chosen]
            words = self.tr("Corrected: it is {0}, in the next training with corrections").format(
                quantities.value(value, unit)
            )
        elif correction is not None:
            words = self.tr("Excluded from the next training with corrections")
        elif self._errors.is_reading and not each.digest:
            words = self.tr("Reading…")
        row.show_sample(write(np.float32(value)), unit, words, bool(each.digest))
        row.undo.setEnabled(correction is not None)

    def _correct(self, text: str) -> None:
        each, mistakes = self._selected(), self._session.mistakes
        if each is None:
            return
        try:
            value = number_in(text)
        except ValueError as error:
            self._cards.correction.show_problem(shown(str(error)))
            return
        before = mistakes.view.correction_of(each)
        target = list(before.target if before is not None and before.target else each.target)
        target[self._chosen] = value
        self._cards.correction.reset()
        mistakes.correct_numbers(each, tuple(target))

    def _drop(self) -> None:
        each = self._selected()
        if each is not None:
            self._cards.correction.reset()
            self._session.mistakes.correct_numbers(each, ())

    def _take_back(self) -> None:
        each = self._selected()
        correction = None if each is None else self._session.mistakes.view.correction_of(each)
        if correction is not None:
            self._cards.correction.reset()
            self._session.mistakes.take_back(correction)

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
