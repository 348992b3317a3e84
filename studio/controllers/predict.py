"""The page Predict: which model is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog

from studio.controllers.actions import Actions
from studio.controllers.binders import Bonds
from studio.controllers.export import compared_text, size_text
from studio.controllers.graph import shape_text
from studio.controllers.predict_inputs import InputsController, scaling_text
from studio.session.saved_model import ModelInfo
from studio.session.session import Session
from studio.session.settings import title_of
from studio.windows.model_panel import ModelPanel
from studio.windows.predict_page import PredictPage
from studio.windows.top_bar import PageActions
from widgets import theme

MODELS = "*.pdmodel"
SLOW_MS = 300  # a quicker answer needs no button that cancels it


class PredictController(QObject):
    """The model answers from a process of its own: neither the window nor a training waits for it."""

    def __init__(
        self, session: Session, page: PredictPage, panel: ModelPanel, bar: PageActions, actions: Actions,
        show_graph: Callable[[], Any],
    ) -> None:  # fmt: skip
        super().__init__(page)
        self._session, self._page, self._panel, self._actions = session, page, panel, actions
        self._view = session.predict
        self._listed: list[str] = []
        self._bonds = Bonds()
        bar.add_action(actions["load_model"], "open")
        actions.handle("load_model", self.choose_model)
        self._was_busy, self._slow = False, QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.timeout.connect(self._show_answer)
        page.cancel_requested.connect(session.predicting.cancel)
        page.again_requested.connect(session.predicting.try_again)
        self.inputs = InputsController(session, page)
        self.open_picture = self.inputs.open_picture
        panel.model_chosen.connect(self.load)
        panel.graph_requested.connect(lambda: (session.predicting.show_program(), show_graph()))
        self._bonds.show(self._view, "model", self._show_model)
        self._bonds.show(self._view, "ranking", lambda _: self._show_answer())
        for field in ("asking", "stopped", "last_problem", "number", "fed", "model"):
            self._bonds.follow(getattr(self._view.events, field), lambda _: self._show_answer())
        self._bonds.show(self._view, "loading", lambda _: self._show_answer())
        self._bonds.follow(session.export.events.verification, lambda _: self._show_model(self._view.model))

    # ----- models -----

    def choose_model(self) -> None:
        """Choose one of the three files of a model."""
        path, _ = QFileDialog.getOpenFileName(
            self._page.window(), self.tr("Load model"), str(self._session.runs_folder),
            self.tr("Inference files ({0})").format(MODELS),
        )  # fmt: skip
        if path:
            self._actions.trigger("page_predict")
            self.load(path)

    def load(self, prefix: str) -> None:
        """Load inference files, unless they are what is loaded."""
        for suffix in (".pdiparams.info", ".pdiparams", ".pdmodel"):
            prefix = prefix.removesuffix(suffix)
        self._session.load_model(prefix)

    def _show_model(self, info: ModelInfo | None) -> None:
        # Those that are shown stay where they are, whatever was used last: the list must not move under the
        # pointer.
        known = [*([info.prefix] if info is not None else []), *self._session.preferences.recent_models]
        self._listed = [
            *(prefix for prefix in dict.fromkeys(known) if prefix not in self._listed),
            *self._listed,
        ]
        titles = [(prefix, *model_title(prefix)) for prefix in self._listed]
        self._panel.set_models(titles, info.prefix if info else "")
        if info is None:
            self._panel.set_facts([])
            return
        verified = ""
        check = self._session.export
        prefix = check.exported_prefix
        if check.verification is not None and prefix and _same(prefix, info.prefix):
            verified = compared_text(check.verification, self)
        accuracy = info.info.get("validation_accuracy")
        self._panel.set_facts([
            (self.tr("Name"), info.name),
            (self.tr("Model"), title_of(str(info.info.get("model", "")))),
            (self.tr("Size"), size_text(info.total_size)),
            (self.tr("Input"), ", ".join(
                f"{spec['name']} {spec['dtype']} {shape_text(spec['shape'])}" for spec in info.inputs)),
            (self.tr("Classes"), ", ".join(info.classes)),
            (self.tr("Scaling"), scaling_text(info.scaling)),
            (self.tr("Accuracy"), theme.format_number(accuracy * 100, "%") if accuracy is not None else ""),
            (self.tr("Verified"), verified),
            (self.tr("Save id"), info.save_id),
            (self.tr("Place"), str(Path(info.prefix).parent)),
        ])  # fmt: skip

    # ----- answers -----

    def _show_answer(self) -> None:
        view, page = self._view, self._page
        page.set_ranking(view.ranking)
        busy = view.loading or view.asking
        if not busy:
            self._slow.stop()
        elif not self._was_busy:
            self._slow.start(SLOW_MS)
        self._was_busy = busy
        slow = busy and not self._slow.isActive()
        again = {"": "", "limit": self.tr("Allow more")}.get(view.stopped, self.tr("Try again"))
        page.offer(slow, "" if busy else again)
        if view.loading:
            page.show_answer("", self.tr("Loading the model..."))
        elif slow:
            page.show_answer("", self.tr("The model computes..."))
        elif view.stopped and not busy:
            problem = view.last_problem
            page.show_answer("", problem.message if problem is not None else self.tr("Cancelled."))
        elif view.model is None:
            page.show_answer("", self.tr("Load a model, or export a run: the bars follow what you draw."))
        elif view.number == view.number:
            page.show_answer(theme.format_number(view.number), theme.format_duration(view.seconds))
        elif not view.ranking:
            page.show_answer("", self._what_to_do())
        else:
            name, share = view.ranking[0]
            words = f"{share * 100:.1f}\u2009% · {theme.format_duration(view.seconds)}"
            page.show_answer(name, words)

    def _what_to_do(self) -> str:
        """What the first input without a value waits for."""
        view = self._view
        first = next((each for each, value in zip(view.inputs, view.fed, strict=True) if value is None), None)
        if first is None:
            return self.tr("The model has not answered yet.")
        if not first.form:
            return self.tr("This model can't be fed here: {0}: {1}").format(first.name, first.why_not)
        several = len(view.inputs) > 1
        words = {
            "digit": self.tr("Draw a digit, or drop a picture of one."),
            "picture": self.tr("Draw, or drop a picture."),
            "numbers": self.tr("Type numbers, or paste them."),
        }[first.form]
        return f"{first.name}: {words}" if several else words

    def close(self) -> None:
        """Follow the view model no longer."""
        self._bonds.release()
        self.inputs.close()


def model_title(prefix: str) -> tuple[str, str]:
    """A model's name for a list: the run that it comes from where there is one, and the name of its files."""
    path = Path(prefix)
    if path.parent.name == "inference":
        return path.parent.parent.name, path.name
    return path.name, path.parent.name


def _same(one: str, other: str) -> bool:
    return Path(one).absolute() == Path(other).absolute()
