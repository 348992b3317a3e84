"""The page Predict: what the model answers, and the models next to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer

from resources import quantities
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.explain.explain_controller import ExplainController
from studio.controllers.predict.batch import BatchController
from studio.controllers.predict.check_model import CheckModelController
from studio.controllers.predict.inputs import InputsController
from studio.controllers.predict.models import ModelsController, choice_title
from studio.controllers.predict.samples import SamplesController
from studio.session import commands
from studio.session.predict.predict_view import ComparisonLine
from studio.session.session import Session
from studio.windows.predict.model_panel import ModelPanel
from studio.windows.predict.predict_page import PredictPage
from studio.windows.top_bar import PageActions
from widgets import theme

SLOW_MS = 300  # a quicker answer needs no button that cancels it


class PredictController(QObject):
    """The model answers from a process of its own: neither the window nor a training waits for it."""

    def __init__(
        self,
        session: Session,
        page: PredictPage,
        panel: ModelPanel,
        bar: PageActions,
        actions: Actions,
        show_graph: Callable[[], Any],
    ) -> None:
        super().__init__(page)
        self._session, self._page, self._actions = session, page, actions
        self._view = session.predict
        self._bonds = Bindings()
        self.models = ModelsController(session, page, panel, bar, actions, show_graph)
        self.load = self.models.load
        self.many = BatchController(session, panel.many, page)
        self.check = CheckModelController(session, panel.check, actions)
        self._was_busy, self._slow = False, QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.timeout.connect(self._show_answer)
        page.cancel_requested.connect(session.predict_models.cancel)
        self.inputs = InputsController(session, page, self.many.choose_out)
        self.open_image, self.draw = self.inputs.open_image, self.inputs.draw
        self.samples = SamplesController(session, page, self.inputs)
        self.step = self.samples.step
        self.explain = ExplainController(session, session.explaining.predict, page.explain)
        page.input_chosen.connect(session.explaining.predict.choose_input)
        actions.handle(commands.EXPLAIN, self._explain)
        actions.handle(commands.SAVE_MAP, self.explain.save)
        self._bonds.show(self._view, "ranking", lambda _: self._show_answer())
        for field in ("asking", "stopped", "last_problem", "number", "numbers", "fed", "model"):
            self._bonds.follow(getattr(self._view.events, field), lambda _: self._show_answer())
        self._bonds.show(self._view, "loading", lambda _: self._show_answer())
        self._bonds.show(self._view, "comparisons", self._show_comparisons)

    def edit(self) -> None:
        """Show the page, with the focus where the first input is typed."""
        self._actions.trigger(commands.PAGE_PREDICT)
        self._page.focus_input()

    def _explain(self) -> None:
        self._actions.trigger(commands.PAGE_PREDICT)
        self._page.show_results(False)
        self._page.show_why(True)

    # ----- answers -----

    def _show_answer(self) -> None:
        view, page = self._view, self._page
        page.set_ranking(view.ranking)
        rows = [(name, quantities.value(value, unit)) for name, value, unit in view.numbers]
        predicts_numbers = view.model is not None and view.model.predicts_numbers
        page.show_numbers(rows if len(rows) > 1 else [], predicts_numbers)
        busy = view.loading or view.asking
        if not busy:
            self._slow.stop()
        elif not self._was_busy:
            self._slow.start(SLOW_MS)
        self._was_busy = busy
        slow = busy and not self._slow.isActive()
        again = {
            "": "",
            "limit": self.tr("Allow more"),
            "code": self.tr("Allow and load…"),
            "missing": "",
        }.get(view.stopped, self.tr("Try again"))
        page.offer(slow, "" if busy else again)
        if view.loading:
            page.show_answer("", self.tr("Loading the model…"))
        elif slow:
            page.show_answer("", self.tr("The model computes…"))
        elif view.stopped and not busy:
            problem = view.last_problem
            page.show_answer("", shown(problem.message) if problem is not None else self.tr("Cancelled."))
        elif view.model is None:
            page.show_answer("", self.tr("Load a model, or export a run: the bars follow what you draw."))
        elif len(view.numbers) == 1:
            [(name, text)] = rows
            page.show_answer(text, f"{name} \u00b7 {theme.format_duration(view.seconds)}", number=True)
        elif view.numbers:
            page.show_answer("", theme.format_duration(view.seconds))
        elif view.number == view.number:
            page.show_answer(quantities.value(view.number), theme.format_duration(view.seconds))
        elif not view.ranking:
            page.show_answer("", self._what_to_do())
        else:
            name, share = view.ranking[0]
            words = f"{quantities.percent(share)} · {theme.format_duration(view.seconds)}"
            page.show_answer(name, words)

    def _show_comparisons(self, lines: tuple[ComparisonLine, ...]) -> None:
        """What the other models say: one line each."""
        rows = []
        for line in lines:
            words = line.words
            if line.ranking:
                answer, share = line.ranking[0]
                words = f"{answer} · {quantities.percent(share)} · {theme.format_duration(line.seconds)}"
            rows.append(
                (choice_title(line.choice, self._session.run_titles), words or self.tr("no answer yet"))
            )
        self._page.comparisons.set_rows(rows)

    def _what_to_do(self) -> str:
        """What the first input without a value waits for."""
        view = self._view
        first = next((each for each, value in zip(view.inputs, view.fed, strict=True) if value is None), None)
        if first is None:
            return self.tr("The model has not answered yet.")
        if not first.form:
            return self.tr("This model's input is not supported: {0}: {1}").format(
                first.name, shown(first.why_not)
            )
        several = len(view.inputs) > 1
        words = {
            "digit": self.tr("Draw a digit, or drop an image of one."),
            "picture": self.tr("Draw, or drop an image."),
            "numbers": self.tr("Type numbers, or paste them."),
            "table": self.tr("Fill in the fields, or paste or load a row."),
            "sequence": self.tr("Paste, drop or open a sequence."),
        }[first.form]
        return f"{first.name}: {words}" if several else words

    def close(self) -> None:
        """Follow the view model no longer."""
        self._bonds.release()
        self.samples.close()
        self.explain.close()
        self.inputs.close()
        self.models.close()
        self.many.close()
        self.check.close()
