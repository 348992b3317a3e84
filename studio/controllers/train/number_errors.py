"""The errors of a run that predicts numbers on the page Train."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject

from studio.controllers.bindings import Bindings
from studio.controllers.train.train_controller import TrainController
from studio.session.runs.run_history import RunHistory
from studio.session.session import Session
from studio.windows.train.train_page import TrainPage
from widgets import theme


class NumberErrorsController(QObject):
    """Joins ``session.number_errors`` to the two cards."""

    def __init__(self, session: Session, page: TrainPage, train: TrainController) -> None:
        super().__init__(page)
        self._session, self._cards = session, page.number_errors
        self._errors, self._view = session.number_errors, session.number_errors.view
        self._bonds = Bindings()
        self._bonds.follow(self._view.changed, self._show)
        self._bonds.follow(session.train.new_epoch, self._add_epoch)
        train.run_shown.connect(self._show_run)
        self._cards.target_chosen.connect(self._show)

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

    def _show(self, chosen: int = 0) -> None:
        view, cards = self._view, self._cards
        chosen = min(chosen, max(0, view.true.shape[1] - 1))
        cards.set_targets(view.targets, chosen)
        unit = view.units[chosen] if chosen < len(view.units) else ""
        rows = [
            (
                theme.format_number(each.index),
                *(
                    theme.format_number(value, digits=4)
                    for value in (
                        each.target[chosen],
                        each.predicted[chosen],
                        each.predicted[chosen] - each.target[chosen],
                    )
                ),
            )
            for each in view.worst
        ]
        shown = [each.shown for each in view.worst]
        cards.show_errors(view.true[:, chosen], view.predicted[:, chosen], unit, view.epoch, rows, shown)

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
