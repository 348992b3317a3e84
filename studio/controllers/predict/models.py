"""The models of the page Predict: runs with their checkpoints and saved files, and what is known of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from resources import quantities
from resources.metrics import Metric, metric_of
from resources.settings.export import ABOUT, ENDINGS, EXPORT_SETTINGS
from resources.words import tr
from studio.controllers.actions import Actions
from studio.controllers.agreements import after_agreement
from studio.controllers.bindings import Bindings
from studio.controllers.export.export_controller import compared_text
from studio.controllers.export.quantization_texts import quantized_words
from studio.controllers.graph.graph_controller import shape_text
from studio.controllers.predict.scaling_text import scaling_text
from studio.session import commands
from studio.session.predict.model_choice import (
    CheckpointFile,
    ModelChoice,
    model_title,
    run_key,
)
from studio.session.predict.model_info import ModelInfo
from studio.session.runs.runs_folder import Run
from studio.session.session import Session
from studio.session.train.run_settings import title_of
from studio.windows.predict.model_panel import ModelPanel
from studio.windows.predict.predict_page import PredictPage
from studio.windows.top_bar import PageActions
from widgets import theme

MOST_SHOWN = 200  # characters of a text that a model's author wrote
MODELS = " ".join(f"*{ending}" for ending in (".pdmodel", *ENDINGS.values()))


class ModelsController(QObject):
    """Fills the panel, loads what is chosen in it, and moves over the checkpoints of a run."""

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
        self._session, self._page, self._panel, self._actions = session, page, panel, actions
        self._view = session.predict
        self._runs: dict[str, Run] = {}
        self._listed: list[str] = []
        self._bonds = Bindings()
        actions.fill_bar(bar, "predict")
        actions.handle(commands.LOAD_MODEL, self.choose_model)
        panel.models_chosen.connect(self._chosen)
        panel.checkpoint_moved.connect(self._move_to)
        panel.graph_requested.connect(lambda: (session.predict_models.show_program(), show_graph()))
        self._bonds.show(self._view, "model", lambda _: self._show())
        for field in ("comparisons", "loading"):  # what can't be loaded is not chosen either
            self._bonds.follow(
                getattr(self._view.events, field), lambda busy: busy is True or self._show_list()
            )
        for field in ("checkpoint", "checkpoints"):
            self._bonds.follow(getattr(self._view.events, field), lambda _: self._show_checkpoint())
        self._bonds.follow(session.selection.events.item, lambda _: self._show_list())
        self._bonds.follow(session.runs_changed, lambda _: self._runs_changed())
        self._bonds.follow(session.export.events.verification, lambda _: self._show())

    # ----- choosing -----

    def choose_model(self) -> None:
        """Choose a model, or one of the three files of one."""
        path, _ = QFileDialog.getOpenFileName(
            self._page.window(),
            self.tr("Load model"),
            str(self._session.runs_folder),
            self.tr("Saved models ({0})").format(MODELS),
        )
        if path:
            self._actions.trigger(commands.PAGE_PREDICT)
            self.load(path)

    def load(self, prefix: str) -> None:
        """Load inference files."""
        for suffix in (".pdiparams.info", ".pdiparams", ".pdmodel"):
            prefix = prefix.removesuffix(suffix)
        self._session.load_model(prefix)

    def load_run(self, folder: str) -> None:
        """Select a run and load it with its best weights; the page asks for an agreement to its code."""
        self._session.select_run(folder)
        self._session.loader.load_model()

    def _with_run(self, folder: str, then: Callable[[ModelChoice], object]) -> None:
        """Call ``then`` with a run that has a checkpoint, once the code that it keeps may run."""

        def take(choice: ModelChoice | None) -> None:
            if choice is not None:
                then(choice)

        after_agreement(
            self._session,
            self._page.window(),
            lambda: self._session.read_choice(folder, take),
            folder,
            asking=self._show_list,
        )

    def _chosen(self, keys: list[str]) -> None:
        """Of several that are chosen the loaded model stays; the others are asked next to it."""
        if not keys:
            self._show_list()
            return
        loaded = self._view.model.choice.key if self._view.model is not None else ""
        main = loaded if loaded in keys else keys[0]
        if main != loaded:
            if main in self._runs:
                self.load_run(self._runs[main].path)
            else:
                self.load(main)
        self._compare([key for key in keys if key != main], [])

    def _compare(self, keys: list[str], found: list[ModelChoice]) -> None:
        """Compare with ``found`` and, after the agreement to their code, with the models of ``keys``."""
        if not keys:
            self._session.predict_models.compare(found)
            return
        key, *others = keys
        if key in self._runs:
            folder = self._runs[key].path
            self._with_run(folder, lambda choice: self._compare(others, [*found, choice]))
        else:
            self._compare(others, [*found, ModelChoice(key)])

    # ----- what is shown -----

    def _runs_changed(self) -> None:
        self._session.predict_models.read_checkpoints()
        self._show_list()

    def _show(self) -> None:
        self._show_list()
        self._show_facts(self._view.model)
        self._show_checkpoint()

    def _show_list(self) -> None:
        """Those that are shown stay where they are, whatever was used last: the list must not move under the
        pointer."""
        self._runs = {run_key(run.path): run for run in self._session.runs if not run.exportable}
        info = self._view.model
        loaded = [info.choice] if info is not None else []
        chosen = [*loaded, *(line.choice for line in self._view.comparisons)]
        keys = [choice.key for choice in chosen]
        if not loaded:  # yet
            keys.insert(0, self._selected_key())
        known = [choice.key for choice in chosen if not choice.of_run]
        known += self._session.preferences.recent_models
        new = [prefix for prefix in dict.fromkeys(known) if prefix not in self._listed]
        self._listed = [*new, *self._listed]
        session = self._session
        runs = [
            (
                key,
                session.run_title(run.path),
                run.metric.named_text(run.figure) if _is_known(run.figure, run.metric) else "",
                session.run_color(run.path),
            )
            for key, run in self._runs.items()
        ]
        files = [(prefix, *model_title(prefix, session.run_titles)) for prefix in self._listed]
        self._panel.set_models(runs, files, keys)

    def _selected_key(self) -> str:
        item = self._session.selection.item
        return run_key(item.path) if item.kind == "run" else item.path

    def _show_facts(self, info: ModelInfo | None) -> None:
        if info is None:
            self._panel.set_facts([], False)
            return
        verified = ""
        check = self._session.export
        prefix = check.exported_prefix
        if (
            check.verification is not None
            and prefix
            and Path(prefix).absolute() == Path(info.prefix).absolute()
        ):
            verified = compared_text(check.verification, self)
        metric = metric_of("numbers" if info.predicts_numbers else "classes")
        reached = info.info.get(metric.name)
        spec = info.raw.spec if info.raw is not None else None
        quantized, report = quantized_words(info.info, info.prefix, self)
        self._panel.set_facts(
            [
                (self.tr("Name"), choice_title(info.choice, self._session.run_titles)),
                (self.tr("Model"), tr(title_of(str(info.info.get("model", ""))))),
                *(
                    (self.tr(EXPORT_SETTINGS[name].title), info.info[name][:MOST_SHOWN])
                    for name in ABOUT
                    if info.info.get(name)
                ),
                (self.tr("Size"), quantities.size(info.total_size)),
                (
                    self.tr("Input"),
                    ", ".join(
                        f"{spec['name']} {spec['dtype']} {shape_text(spec['shape'])}" for spec in info.inputs
                    ),
                ),
                (self.tr("Classes"), ", ".join(info.classes)),
                (self.tr("Target"), ", ".join(spec.targets) if spec is not None else ""),
                (
                    self.tr("Scaling"),
                    scaling_text(info.scaling) if spec is None or spec.kind == "images" else "",
                ),
                (
                    self.tr("R\u00b2") if info.predicts_numbers else self.tr("Accuracy"),
                    metric.text(reached) if _is_known(reached, metric) else "",
                ),
                (self.tr("Quantized"), quantized),
                (self.tr("Verified"), verified),
                (self.tr("Save id"), info.save_id),
                (self.tr("Place"), info.choice.path if info.choice.of_run else str(Path(info.prefix).parent)),
            ],
            info.choice.of_run,
            report,
        )

    # ----- checkpoints -----

    def _move_to(self, place: int) -> None:
        if place < len(self._view.checkpoints):
            self._session.predict_models.use_checkpoint(self._view.checkpoints[place].path)

    def _show_checkpoint(self) -> None:
        view = self._view
        places = [each.path for each in view.checkpoints]
        place = places.index(view.checkpoint) if view.checkpoint in places else -1
        words = self._words_of(view.checkpoints[place]) if place >= 0 else ""
        self._panel.set_checkpoints(len(places), place, words)

    def _words_of(self, checkpoint: CheckpointFile) -> str:
        """A checkpoint in words: its step, and its epoch where the run says how many steps one has."""
        info = self._view.model
        run = self._session.listed_run(info.choice.path) if info is not None else None
        if checkpoint.best:
            known = info is not None and info.choice.checkpoint == checkpoint.path
            step = info.info.get("step") if info is not None and known else None
            return (
                self.tr("best weights, step {0}").format(step)
                if step is not None
                else self.tr("best weights")
            )
        words = self.tr("step {0}").format(theme.format_number(checkpoint.step))
        epochs = run.config.get("epochs", 0) if run is not None else 0
        if run is not None and run.total_steps and isinstance(epochs, int) and epochs > 0:
            done = theme.format_number(checkpoint.step * epochs / run.total_steps, digits=3)
            words += " \u00b7 " + self.tr("epoch {0} of {1}").format(done, epochs)
        return words

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()


def choice_title(choice: ModelChoice, names: Mapping[str, str]) -> str:
    """The name of a run or of saved files; ``names`` has those of runs, by folder."""
    if choice.of_run:
        return names.get(choice.path, Path(choice.path).name)
    return model_title(choice.path, names)[0]


def _is_known(value: Any, metric: Metric) -> bool:
    """Whether the metric of a model's task was measured."""
    return value is not None and value == value and not (metric.percent and value < 0)
