"""The page Predict: a drawing or a picture is fitted, shown as it is fed, and answered at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog

from studio.controllers.actions import Actions
from studio.controllers.binders import Bonds
from studio.controllers.export import compared_text, size_text
from studio.controllers.graph import shape_text
from studio.session.pictures import (
    SIDE,
    PictureError,
    bright_on_dark,
    digit_from_bytes,
    fit_digit,
    read_file,
    read_grey,
)
from studio.session.problems import problem_from_message
from studio.session.saved_model import ModelInfo
from studio.session.session import Session
from studio.session.settings import title_of
from studio.windows.model_panel import ModelPanel
from studio.windows.predict_page import PredictPage
from studio.windows.top_bar import PageActions
from widgets import theme

IMAGES = "*.png *.jpg *.jpeg *.bmp *.gif *.tif *.tiff *.webp *.ppm *.pgm"
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
        self._origin = ""
        self._listed: list[str] = []
        self._bonds = Bonds()
        bar.add_action(actions["load_model"], "open")
        actions.handle("load_model", self.choose_model)
        self._was_busy, self._slow = False, QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.timeout.connect(self._show_answer)
        page.cancel_requested.connect(session.predicting.cancel)
        page.again_requested.connect(session.predicting.try_again)
        page.pad.changed.connect(self._drawn)
        page.pad.image_dropped.connect(self.open_picture)
        page.open_image_requested.connect(self._choose_image)
        panel.model_chosen.connect(self.load)
        panel.graph_requested.connect(lambda: (session.predicting.show_program(), show_graph()))
        self._bonds.show(self._view, "model", self._show_model)
        self._bonds.show(self._view, "ranking", lambda _: self._show_answer())
        for field in ("asking", "stopped", "last_problem"):
            self._bonds.follow(getattr(self._view.events, field), lambda _: self._show_answer())
        self._bonds.show(self._view, "loading", lambda _: self._show_answer())
        self._bonds.show(self._view, "picture", lambda _: self._show_picture())
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

    # ----- pictures -----

    def _drawn(self, drawing: NDArray[np.float32]) -> None:
        self._page.undo_button.setEnabled(self._page.pad.can_undo())
        self._page.clear_button.setEnabled(bool(drawing.any()))
        if not drawing.any():
            self._origin = ""
            self._view.clear()
            return
        self._origin = self.tr("drawing")
        self._session.predicting.ask(fit_digit(drawing, "drawing"))

    def open_picture(self, path: str) -> None:
        """Feed the model a picture from a file; a file that is none is told about, the pad stays as it is."""
        try:
            data = read_file(Path(path))
            grey = read_grey(data, path)
            picture = digit_from_bytes(data, path)
        except PictureError as error:
            self._session.problem.emit(problem_from_message(str(error), self.tr("The picture can't be used")))
            return
        self._page.pad.blockSignals(True)
        self._page.pad.set_image(bright_on_dark(grey))
        self._page.pad.blockSignals(False)
        self._page.undo_button.setEnabled(True)
        self._page.clear_button.setEnabled(True)
        size = self.tr("{0}, {1} \u00d7 {2} pixels")
        self._origin = size.format(Path(path).name, grey.shape[1], grey.shape[0])
        self._session.predicting.ask(picture)

    def _choose_image(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self._page.window(),
            self.tr("Open a picture of a digit"),
            "",
            self.tr("Pictures ({0})").format(IMAGES),
        )
        if path:
            self.open_picture(path)

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
        elif not view.ranking:
            page.show_answer("", self.tr("Draw a digit, or drop a picture of one."))
        else:
            name, share = view.ranking[0]
            words = f"{share * 100:.1f}\u2009% · {theme.format_duration(view.seconds)}"
            page.show_answer(name, words)

    def _show_picture(self) -> None:
        view, page = self._view, self._page
        page.fed.set_image(view.picture if view.picture is not None else np.zeros((SIDE, SIDE), np.float32))
        placed = self.tr("longer side 20 pixels, centre of mass in the middle, as MNIST's digits")
        rows = [(self.tr("Placed"), placed)]
        if view.picture is not None:
            low, high = float(view.picture.min()), float(view.picture.max())
            rows = [
                (self.tr("From"), self._origin),
                *rows,
                (self.tr("Values"), self.tr("{0} to {1}, mean {2}").format(
                    theme.format_number(low, digits=3), theme.format_number(high, digits=3),
                    theme.format_number(float(view.picture.mean()), digits=3))),
            ]  # fmt: skip
        if view.model is not None:
            rows.append((self.tr("Scaling"), scaling_text(view.model.scaling)))
        page.facts.set_rows(rows)

    def close(self) -> None:
        """Follow the view model no longer."""
        self._bonds.release()


def model_title(prefix: str) -> tuple[str, str]:
    """A model's name for a list: the run that it comes from where there is one, and the name of its files."""
    path = Path(prefix)
    if path.parent.name == "inference":
        return path.parent.parent.name, path.name
    return path.name, path.parent.name


def scaling_text(scaling: dict[str, Any]) -> str:
    """How pictures are scaled before they are fed, in words."""
    if "mean" in scaling and "std" in scaling:
        return f"(x \u2212 {scaling['mean']:g}) / {scaling['std']:g}"
    if "low" in scaling and "high" in scaling:
        return f"{scaling['low']:g} \u2026 {scaling['high']:g}"
    return ""


def _same(one: str, other: str) -> bool:
    return Path(one).absolute() == Path(other).absolute()
