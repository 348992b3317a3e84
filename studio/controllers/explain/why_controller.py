"""Why a model answers so to a sample of Mistakes or Data, in one window for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from resources import quantities
from resources.words import shown
from studio.controllers.agreements import after_agreement
from studio.controllers.bindings import Bindings
from studio.session.explain.sample_explaining import WantedSample
from studio.session.predict.model_choice import ModelChoice, checkpoints_of
from studio.session.problem_view import ProblemView, problem_from_message
from studio.session.selection import Selected
from studio.session.session import Session

if TYPE_CHECKING:
    from studio.controllers.explain.explain_controller import ExplainController
    from studio.windows.explain.explain_dialog import ExplainDialog


class WhyController(QObject):
    """Opens the window with the first sample; a process for the model runs while it is open."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._sample = session.explaining.sample
        self._view = self._sample.view
        self._title = ""
        self.dialog: ExplainDialog | None = None
        self._panel: ExplainController | None = None
        self._bonds = Bindings()
        for field in ("label", "ranking", "numbers", "reading", "message"):
            self._bonds.follow(getattr(self._view.events, field), lambda _: self._show())
        self._bonds.again(self._show)

    @property
    def is_open(self) -> bool:
        """Whether the window is shown."""
        return self.dialog is not None and self.dialog.isVisible()

    def explain(self, model: Selected, step: int, wanted: WantedSample, title: str) -> None:
        """Explain a sample, by a saved model, or a run at the checkpoint of a step (-1 for its best weights).

        The user is asked before code of the run is executed.
        """
        if model.kind == "model":
            self._open(ModelChoice(model.path), wanted, title)
            return

        def take(choice: ModelChoice | None) -> None:
            if choice is None:
                self._session.problem.emit(self._no_checkpoint())
                return
            self._at_step(choice, step, lambda found: self._open(found, wanted, title))

        after_agreement(
            self._session,
            self._window,
            lambda: self._session.read_choice(model.path, take),
            model.path,
        )

    def _at_step(self, choice: ModelChoice, step: int, then: Callable[[ModelChoice], object]) -> None:
        """The run with the weights of a step, where there is a checkpoint of it."""

        def find() -> ModelChoice:
            same = [each for each in checkpoints_of(choice.path) if each.step == step >= 0]
            return replace(choice, checkpoint=same[0].path) if same else choice

        self._session.files.reading.do(find, then)

    def _no_checkpoint(self) -> ProblemView:
        return problem_from_message(self.tr("This run has no checkpoint yet."), self.tr("No explanation"))

    def _open(self, choice: ModelChoice, wanted: WantedSample, title: str) -> None:
        if self.dialog is None:
            from studio.controllers.explain.explain_controller import ExplainController
            from studio.windows.explain.explain_dialog import ExplainDialog

            self.dialog = ExplainDialog(self._window)
            self.dialog.closed.connect(self._sample.end)
            self._panel = ExplainController(self._session, self._sample.maps, self.dialog.panel)
        self._title = title
        self._sample.show(choice, wanted)
        self._show()
        self.dialog.show()
        self.dialog.raise_()

    def _show(self) -> None:
        if self.dialog is None:
            return
        view = self._view
        if view.message:
            words = shown(view.message)
        elif view.reading:
            words = self.tr("Reading the sample and loading the model…")
        elif view.ranking:
            name, share = view.ranking[0]
            words = self.tr("True: {0}. The model answers {1}, with {2}.").format(
                view.label, name, quantities.percent(share)
            )
        elif view.numbers:
            answer = ", ".join(quantities.value(value, unit) for _, value, unit in view.numbers)
            words = self.tr("True: {0}. The model answers {1}.").format(view.label, answer)
        else:
            words = ""
        self.dialog.show_sample(self._title, words)

    def close(self) -> None:
        """Follow the view models no longer."""
        self._bonds.release()
        if self._panel is not None:
            self._panel.close()
        if self.dialog is not None:
            self.dialog.close()
