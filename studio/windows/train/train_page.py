"""The page Train: key figures, the curves of loss and accuracy, confusion matrix and hardest samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from studio.windows.columns import Columns
from studio.windows.controls import PageCard, Stack
from studio.windows.project.welcome import Welcome
from studio.windows.train.confusion_card import ConfusionCard
from studio.windows.train.curves_card import CurvesCard
from studio.windows.train.failure_card import DivergedCard, FailureCard
from studio.windows.train.mistake_grid import MistakeGrid
from studio.windows.train.number_errors_card import NumberErrorsCards
from studio.windows.train.sample_images import Sample
from widgets import theme
from widgets.cards import EmptyState, KeyFigure
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

if TYPE_CHECKING:
    from widgets.plot import CurvePlot

FIGURES = ("loss", "accuracy", "throughput", "left")


class TrainPage(Retranslated, QWidget):
    """Filled by its controller; ``training_requested`` asks for the run that trains, while none is shown,
    ``samples_requested`` for all test samples."""

    training_requested = Signal()
    samples_requested = Signal()

    def __init__(self, welcome: Welcome) -> None:
        super().__init__()
        self.welcome, self._task = welcome, "classes"
        self.figures = {name: KeyFigure() for name in FIGURES}
        self._subject = mute(wrap=True)
        self._subject.hide()
        self.diverged = DivergedCard()
        self.curves = CurvesCard()
        self.confusion_card, self.hardest = ConfusionCard(), MistakeGrid()
        self.confusion = self.confusion_card.matrix
        self.number_errors = NumberErrorsCards()
        self._no_hardest = EmptyState("")
        self._hardest_stack = Stack(self._no_hardest, self.hardest)
        self._hardest_card, self.all_samples = PageCard(), QToolButton()
        self._live = QWidget()
        self._failure = FailureCard()
        self.failure_details = self._failure.details_requested
        self._failure.find_requested.connect(self.diverged.find_requested)
        self._other = EmptyState("", icon="graph")
        self._other.action_triggered.connect(self.training_requested)
        self._stack = Stack(self.welcome, self._live, self._failure, self._other)
        self._build()
        self.retranslate()
        self.set_hardest([])
        self.show_welcome(True)

    def _build(self) -> None:
        self._hardest_card.body.addWidget(self._hardest_stack, 1)
        self._hardest_card.header.addWidget(self.all_samples, 0, Qt.AlignmentFlag.AlignVCenter)
        self.all_samples.clicked.connect(self.samples_requested)
        live = vertical(self._live, theme.PAGE_PADDING, theme.SPACE_M)
        live.addWidget(self._subject)
        live.addWidget(self.diverged)
        live.addWidget(Columns(*self.figures.values(), narrow=2))
        live.addWidget(self.curves, 6)
        self._mistakes = Stack(Columns(self.confusion_card, self._hardest_card), self.number_errors)
        live.addWidget(self._mistakes, 5)
        layout = vertical(self, 0, spacing=None)
        layout.addWidget(self._stack)

    @property
    def loss(self) -> CurvePlot:
        """The plot of the loss."""
        return self.curves.plot("loss")

    @property
    def accuracy(self) -> CurvePlot:
        """The plot of the accuracy."""
        return self.curves.plot("accuracy")

    # what is shown

    def show_welcome(self, shown: bool) -> None:
        """The offer to begin, or the curves."""
        self._stack.setCurrentWidget(self.welcome if shown else self._live)

    def show_failure(self, name: str, reason: str, details: bool, find: bool = False) -> None:
        """Why a run that has no point ended, in place of its curves; ``details`` offers the list of
        problems, ``find`` to find the operator with the first bad value."""
        self._failure.show_reason(name, reason, details, find)
        self._stack.setCurrentWidget(self._failure)

    def show_no_run(self, why: str, offer: str) -> None:
        """Say why no run is shown; ``offer`` leads to the run that trains."""
        self._other.set_text(why, offer)
        self._stack.setCurrentWidget(self._other)

    def no_run(self) -> str:
        """The reason why no run is shown; empty while something else is."""
        return self._other.accessibleName() if self._stack.currentWidget() is self._other else ""

    def failure(self) -> str:
        """The reason that is shown; empty while something else is."""
        return self._failure.reason() if self._stack.currentWidget() is self._failure else ""

    def welcomes(self) -> bool:
        """Whether the offer to begin is shown."""
        return self._stack.currentWidget() is self.welcome

    def set_subject(self, text: str) -> None:
        """Name the run in figures, layers and mistakes where the curves show several; empty for one."""
        self._subject.setText(text)
        self._subject.setVisible(bool(text))

    def subject(self) -> str:
        """The line that names the run in figures, layers and mistakes; empty for none."""
        return self._subject.text()

    def set_task(self, task: str) -> None:
        """Name figures and curves after what is predicted: ``classes`` or ``numbers``."""
        if task != self._task:
            self._task = task
            self.curves.set_task(task)
            self._mistakes.setCurrentIndex(1 if task == "numbers" else 0)
            self.retranslate()

    def set_figure(self, name: str, value: float | str, unit: str = "", note: str = "") -> None:
        """Show one of the key figures, and which one it is; NaN is shown as a dash."""
        if isinstance(value, float) and value != value:
            value = "\u2013"
        self.figures[name].set_value(value, unit)
        self.figures[name].set_note(note)

    def clear_figures(self) -> None:
        """Back to dashes, and to the narrowest widths."""
        for figure in self.figures.values():
            figure.clear()

    def set_hardest(self, samples: list[Sample]) -> None:
        """The images read worst; none says when they come."""
        self.hardest.set_samples(samples)
        self._hardest_stack.setCurrentIndex(1 if samples else 0)
        self.all_samples.setVisible(bool(samples))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        reached = tr("Validation R²") if self._task == "numbers" else tr("Validation accuracy")
        labels = (tr("Loss"), reached, tr("Throughput"), tr("Time left"))
        for figure, label in zip(self.figures.values(), labels, strict=True):
            figure.set_label(label)
        self._hardest_card.set_title(tr("Hardest samples"))
        self.all_samples.setText(tr("All samples…"))
        self.all_samples.setToolTip(tr("Filter all test samples by class, prediction and confidence"))
        self.hardest.set_title(tr("Hardest samples"))
        self._no_hardest.set_text(tr("The test samples with the largest loss appear after the first epoch."))
