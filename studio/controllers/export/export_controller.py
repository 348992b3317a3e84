"""The page Export: the form writes the view model, the check's results come back into the page."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from resources import quantities
from resources.settings.export import ENDINGS, EXPORT_SETTINGS
from resources.words import shown, tr
from studio.controllers.actions import Actions
from studio.controllers.agreements import after_agreement
from studio.controllers.bindings import Bindings
from studio.controllers.export.exported_files import ExportedFilesController
from studio.controllers.export.quantization_report import QuantizationReportController
from studio.controllers.export.quantization_settings import QuantizeChoicesController
from studio.controllers.export.quantization_texts import report_words
from studio.controllers.runs.run_facts import metric_text, state_word
from studio.controllers.when_visible import WhenVisible
from studio.session import commands
from studio.session.export.export_view import Verification, name_problem
from studio.session.runs.runs_folder import Run
from studio.session.session import Session
from studio.session.train.run_settings import title_of
from studio.windows.export.export_page import FILES, FORM_SETTINGS, ExportPage
from studio.windows.graph.graph_inspector import GraphInspector
from studio.windows.top_bar import PageActions
from widgets import theme
from widgets.labels import mute

# Scores of float32 that were computed in another order differ by less.
LIKE_FLOAT = 1e-3


class ExportController(QObject):
    """Joins ``session.export`` to the page. ``said`` is called with each success."""

    def __init__(
        self,
        session: Session,
        page: ExportPage,
        panel: GraphInspector,
        bar: PageActions,
        actions: Actions,
        window: QWidget,
        said: Callable[[str], None],
    ) -> None:
        super().__init__(page)
        self._session, self._page, self._panel, self._actions = session, page, panel, actions
        self._window = window
        self._view = session.export
        self._bonds = Bindings()
        self._silent = False
        self._on_page, self._at_panel = WhenVisible(page), WhenVisible(panel)
        self._why_not = mute()
        bar.add(self._why_not)
        actions.fill_bar(bar, "export")
        page.export_requested.connect(lambda: actions.trigger(commands.EXPORT))
        page.cancel_requested.connect(lambda: actions.trigger(commands.CANCEL_TASK))
        actions.handle(commands.EXPORT, self.export)
        for form in page.forms:
            form.changed.connect(self._edited)
            form.validity_changed.connect(lambda _: self._show_why_not())
        page.input_rows.changed.connect(lambda text: self._edited("inputs", text))
        page.input_rows.validity_changed.connect(self._show_why_not)
        self._bonds.follow(self._view.events.data_shape, page.show_data_shape)
        self._bonds.show(self._view, "inputs", lambda _: self._show_inputs())
        page.quantize.validity_changed.connect(self._show_why_not)
        page.folder_requested.connect(self._show_folder)
        self._bonds.show_any(
            self._view, ("chosen_prefix", "settings", "choices", "run_folder"), self._show_choice
        )
        self._bonds.show_any(
            self._view,
            ("state", "message", "done", "total", "verification", "quantized", "run_folder"),
            self._show_result,
        )
        self._bonds.show(self._view, "why_not", lambda _: self._show_why_not())
        self._bonds.follow(session.tasks_changed, self._show_why_not)
        self._bonds.follow(session.runs_changed, lambda _: (self._show_runs(), self._show_panel()))
        self.standing = ExportedFilesController(session, page.standing, window)
        self.choices = QuantizeChoicesController(session, page)
        self.report = QuantizationReportController(
            session,
            page,
            actions,
            window,
            said,
            lambda: actions.trigger(commands.EXPORT),
            self.standing.run_of,
        )
        actions.handle(commands.QUANTIZE, self.quantize)
        self._show_runs()
        self._bonds.again(self._show_why_not)

    def quantize(self, field: str = "") -> str:
        """Unfold what can be chosen of a quantization, and go to a field of it."""
        self._actions.trigger(commands.PAGE_EXPORT)
        self.choices.unfold(field)
        return ""

    def show_field(self, name: str) -> None:
        """Go to the field of a setting of the export."""
        self._actions.trigger(commands.PAGE_EXPORT)
        self._page.show_view(FILES)
        for form, settings in zip(self._page.forms, FORM_SETTINGS, strict=True):
            if name in settings:
                form.control(name).setFocus()

    # ----- what is chosen -----

    def _edited(self, key: str, value: Any) -> None:
        if self._silent:
            return
        view = self._view
        if key == "run":
            self._session.select_run(str(value))
        elif key in EXPORT_SETTINGS:
            view.change(**{key: value})
        elif key in ("folder", "name"):
            name = str(self._page.form.value("name"))
            wrong = name_problem(name)
            self._page.form.set_error("name", shown(wrong))
            if wrong:
                return
            view.prefix = os.path.join(str(self._page.form.value("folder")), name)
        view.update_why_not()
        self._show_why_not()

    def _show_runs(self) -> None:
        self._on_page.call(self._fill_runs)

    def _fill_runs(self) -> None:
        session = self._session
        runs = [
            (run.path, " · ".join(filter(None, _title_and_figure(session, run))), session.run_color(run.path))
            for run in session.runs
            if not run.exportable or run.path == self._view.run_folder
        ]
        self._silent = True
        self._page.set_runs(runs, self._view.run_folder)
        self._silent = False

    def _show_choice(self) -> None:
        view, form = self._view, self._page.form
        self._silent = True
        prefix = Path(view.prefix) if view.prefix else None
        for fields, settings in zip(self._page.forms, FORM_SETTINGS, strict=True):
            for name in settings:
                fields.set_value(name, getattr(view.settings, name))
        form.set_value("folder", str(prefix.parent) if prefix is not None else "")
        name = prefix.name if prefix is not None else "model"
        form.set_value("name", name)
        form.set_error("name", shown(name_problem(name)))
        self._silent = False
        self._show_inputs()
        self._page.show_format(view.settings.format)
        self._show_runs()
        self._show_panel()

    def _show_inputs(self) -> None:
        self._page.show_inputs(self._view.inputs, self._view.settings.inputs)

    def _show_panel(self) -> None:
        self._at_panel.call(self._read_panel)

    def _read_panel(self) -> None:
        folder, prefix = self._view.run_folder, self._view.prefix

        def read() -> tuple[Run | None, list[tuple[str, str]]]:
            """The run, and the files that stand under the prefix."""
            files = []
            for suffix in (".pdmodel", ".pdiparams", ".pdiparams.info", *ENDINGS.values()):
                path = Path(f"{prefix}{suffix}")
                if path.is_file():
                    files.append((path.name, quantities.size(path.stat().st_size)))
            return self._session.run_in(folder), files

        def take(found: tuple[Run | None, list[tuple[str, str]]]) -> None:
            if (folder, prefix) == (self._view.run_folder, self._view.prefix):
                self._fill_panel(*found)

        self._session.files.reading.do(read, take, "run to export")

    def _fill_panel(self, run: Run | None, files: list[tuple[str, str]]) -> None:
        if run is None:
            self._panel.show_nothing(self.tr("Facts about the run to export appear here."))
            return
        config = run.config
        rows = [
            (self.tr("Name"), self._session.run_title(run.path)),
            (self.tr("State"), state_word(run.state, self)),
            (self.tr("Model"), tr(title_of(str(config.get("model", ""))))),
            (self.tr("Data"), tr(title_of(str(config.get("data", ""))))),
            (self.tr("R²"), metric_text("r2", run.r2))
            if run.task == "numbers"
            else (self.tr("Accuracy"), _percent(run.accuracy)),
            (
                self.tr("Checkpoint"),
                self.tr("step {0}").format(run.checkpoint_step) if run.checkpoint else "",
            ),
        ]
        self._panel.set_sections([("", rows), (self.tr("Existing files"), files)])

    # ----- the export -----

    def export(self) -> str:
        """Export after the user's agreement to a file of their own."""
        reason = self._reason()
        if not reason:
            export = lambda: self._session.execute(commands.EXPORT)  # noqa: E731
            after_agreement(self._session, self._window, export, self._view.run_folder)
        return reason

    def _reason(self) -> str:
        page, view = self._page, self._view
        chosen = page.quantize.errors() if view.choices.wanted else page.input_form.errors()
        if view.inputs:
            chosen = {"inputs": page.input_rows.problem()} if page.input_rows.problem() else {}
        wrong = {**page.form.errors(), **chosen}
        first = next(iter(wrong.values()), "")
        return self._actions.reason(commands.EXPORT) or first

    def _show_why_not(self) -> None:
        self._actions.refresh()
        reason = self._reason()
        self._page.allow_export(reason)
        self._why_not.setText("" if self._view.state in ("exporting", "done") else reason)
        self._why_not.setVisible(bool(self._why_not.text()))

    def _show_result(self) -> None:
        view, page = self._view, self._page
        self._actions.refresh()
        if view.state == "exporting":
            page.show_busy(self._busy_words(), view.done, view.total)
        elif view.state == "done" and view.quantized is not None:
            self._show_quantized()
        elif view.state == "failed" and view.last_problem is not None:
            page.show_failed(
                self.tr("{0}\n\nNothing was written; existing files under this name are unchanged.").format(
                    shown(view.last_problem.message)
                )
            )
        elif view.state == "done" and view.verification is not None:
            result = view.verification
            page.show_done(
                answers_text(result, self),
                {
                    "difference": (
                        theme.format_number(result.difference, digits=3) if result.difference else "0"
                    ),
                    "accuracy": _percent(result.accuracy) or metric_text("r2", result.r2),
                    "latency": theme.format_duration(result.latency),
                    "size": quantities.size(result.total_size),
                },
                [
                    (self.tr("Compared"), compared_text(result, self)),
                    *(
                        [(self.tr("Operators"), self.tr("{0}, before {1}").format(*result.operators[::-1]))]
                        if result.operators
                        else []
                    ),
                    *((name, quantities.size(size)) for name, size in result.sizes.items()),
                    *(
                        [(self.tr("Compression"), self.tr("{0} smaller").format(_percent(result.saved)))]
                        if result.saved
                        else []
                    ),
                    (self.tr("Prefix"), view.exported_prefix),
                    (self.tr("Save id"), view.save_id),
                ],
            )
            self._show_panel()
        else:
            page.show_nothing()

    def _busy_words(self) -> str:
        """How far the export is; with its run's name where another run is selected."""
        view = self._view
        if view.exporting == view.run_folder:
            return shown(view.message)
        name = self._session.run_title(view.exporting)
        return self.tr("{0}: {1}").format(name, shown(view.message))

    def _show_quantized(self) -> None:
        """The short form; the report has a view of its own."""
        report = self._session.quantization.view.report
        if report is None:
            self._page.show_failed(shown(self._session.quantization.view.message))
            return
        words = report_words(report, self._view.exported_prefix, self)
        self._page.show_done(
            f"{words.how} {words.summary}",
            {name: value for name, (value, _) in words.figures.items()},
            [(self.tr("Prefix"), self._view.exported_prefix), (self.tr("Save id"), self._view.save_id)],
            report=True,
        )
        self._show_panel()

    def _show_folder(self) -> None:
        folder = str(Path(self._view.exported_prefix).parent)
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(folder)):
            self._actions.refused.emit(self.tr("{0}: no file manager is available").format(folder))

    def close(self) -> None:
        """Follow the view model no longer."""
        self._bonds.release()
        self._on_page.forget()
        self._at_panel.forget()
        for part in (self.standing, self.choices, self.report):
            part.close()


def _title_and_figure(session: Session, run: Run) -> tuple[str, str]:
    known = run.figure == run.figure
    return session.run_title(run.path), run.metric.named_text(run.figure) if known else ""


def _percent(share: float) -> str:
    return quantities.percent(share) if share == share else ""


def answers_text(result: Verification, words: QObject) -> str:
    """Whether files answer as the model that they are of; those that are quantized do not quite."""
    if result.difference > LIKE_FLOAT:
        return words.tr(
            "The files give nearly the same answers as the trained model, as expected of quantized "
            "ones, and run without its source."
        )
    return words.tr("The files give the same answers as the trained model and run without its source.")


def compared_text(result: Verification, words: QObject) -> str:
    """What a check compared and what came out, in a sentence."""
    count = theme.format_number(result.samples)
    if result.images == "noise":
        what = words.tr("{0} samples of noise, as the data is not available").format(count)
    else:
        what = words.tr("{0} test samples").format(count)
    if not result.difference:
        return words.tr("{0}: the same scores to the last digit as before saving").format(what)
    largest = theme.format_number(result.difference, digits=3)
    return words.tr("{0}: the scores differ by at most {1} from those before saving").format(what, largest)
