"""The report of a quantization on the page Export: shown, linked to the Program, copied and saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from resources import quantities
from resources.settings.quantize import QUANTIZE_SETTINGS
from resources.user_folders import home_folder
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.drawing_files import save_file
from studio.controllers.export.quantization_texts import about_layer, class_rows, layer_row, report_words
from studio.session import commands
from studio.session.export.quantization.text import class_name, report_csv, report_text
from studio.session.session import Session
from studio.windows.export.export_page import FILES, REPORT, ExportPage
from studio.windows.export.quantization_layers import MEASURES
from studio.windows.train.sample_images import Sample
from widgets import theme

if TYPE_CHECKING:
    from engine.quantization.report import LayerReport, QuantizationReport

# Bars of classes begin a little below the worst one: differences of a few points are what they are about.
BELOW = 0.05


class QuantizationReportController(QObject):
    """``said`` is called with each success, ``again`` quantizes anew with the choices that hold then,
    ``run_of`` gives the run that files are of."""

    def __init__(
        self,
        session: Session,
        page: ExportPage,
        actions: Actions,
        window: QWidget,
        said: Callable[[str], None],
        again: Callable[[], str],
        run_of: Callable[[str], str],
    ) -> None:
        super().__init__(page)
        self._session, self._page, self._actions, self._window = session, page, actions, window
        self._said, self._again, self._run_of = said, again, run_of
        self._reports, self._view, self._export = (
            session.quantization,
            session.quantization.view,
            session.export,
        )
        self._bonds = Bindings()
        report = page.report
        report.copy_requested.connect(self.copy)
        report.save_requested.connect(lambda: actions.trigger(commands.SAVE_QUANTIZATION))
        report.quantize_requested.connect(lambda: actions.trigger(commands.QUANTIZE))
        report.layers.shown_otherwise.connect(self._show_layers)
        report.layers.layer_chosen.connect(self._reports.choose_layer)
        report.layers.keep_toggled.connect(self._keep)
        report.layers.again_requested.connect(self._quantize_again)
        page.report_requested.connect(lambda: page.show_view(REPORT))
        page.standing.chosen_changed.connect(self._standing_chosen)
        page.standing.report_requested.connect(self.show_files)
        actions.handle(commands.QUANTIZATION_REPORT, self.show)
        actions.handle(commands.SAVE_QUANTIZATION, self.save)
        bonds = self._bonds
        for name in ("report", "message", "loading"):
            bonds.follow(getattr(self._view.events, name), lambda *_: self._show())
        bonds.follow(self._view.events.layer, lambda *_: self._show_chosen())
        bonds.follow(self._view.images_changed, self._show_changed)
        bonds.follow(self._export.events.choices, lambda *_: self._show_chosen())
        bonds.follow(self._export.events.why_not, lambda *_: self._show_chosen())
        bonds.follow(self._export.events.quantized, self._quantized)
        bonds.again(self._show, now=True)

    # ----- which report -----

    def show(self) -> str:
        """Bring the report to the front; returns why not where there is none."""
        reason = self._session.blocked(commands.QUANTIZATION_REPORT)
        if not reason:
            self._actions.trigger(commands.PAGE_EXPORT)
            self._page.show_view(REPORT)
        return reason

    def show_files(self, prefix: str) -> None:
        """Show the report in inference files."""
        self._reports.show_files(prefix, self._run_of(prefix))
        self._actions.trigger(commands.PAGE_EXPORT)
        self._page.show_view(REPORT)

    def _quantized(self, event: object) -> None:
        """A quantization has just ended: its report is what the user waits for."""
        if event is not None and self._export.exporting:
            self._page.show_view(REPORT)

    def _standing_chosen(self, prefix: str) -> None:
        if self._export.state != "exporting":
            self._reports.show_files(prefix, self._run_of(prefix))

    # ----- what is shown -----

    def _show(self) -> None:
        report, page = self._view.report, self._page.report
        self._actions.refresh()
        if report is None:
            reading = self.tr("Reading the report…")
            page.show_nothing(reading if self._view.loading else shown(self._view.message))
            return
        page.show_report(report_words(report, self._view.prefix, self))
        measured = [
            name for name in MEASURES if any(getattr(each, name) is not None for each in report.layers)
        ]
        page.layers.set_measures(tuple(measured) or MEASURES[:1])
        self._show_layers()
        self._show_classes(report)
        self._show_changed()

    def _show_layers(self) -> None:
        report, card = self._view.report, self._page.report.layers
        if report is None:
            return
        measure = str(card.measure.currentData())
        layers = list(report.layers)
        if card.order.currentData() == "error":
            layers.sort(key=lambda each: -_measured(each, measure))
        rows = [layer_row(each, measure, self._reason(each.name), self) for each in layers]
        explained = {
            "noise_to_signal": self.tr("The rounding noise of a layer's input, as a share of its power."),
            "weight_noise_to_signal": self.tr(
                "The rounding noise of a layer's weight, as a share of its power."
            ),
            "drop": self.tr("How accuracy changes with one layer alone quantized."),
        }
        card.show_layers(rows, explained[measure])
        self._show_chosen()

    def _reason(self, layer: str) -> str:
        report = self._view.report
        assert report is not None
        return next((each.why for each in report.skipped if each.layer == layer), "")

    def _chosen(self) -> LayerReport | None:
        report = self._view.report
        layers = report.layers if report is not None else ()
        return next((each for each in layers if each.name == self._view.layer), None)

    def _show_chosen(self) -> None:
        layer, card = self._chosen(), self._page.report.layers
        if layer is None:
            card.show_chosen("", "", False, "")
            return
        in_float = self._export.choices.skips(layer.name)
        about = about_layer(layer, self._reason(layer.name), self)
        card.show_chosen(layer.name, about, in_float, self._why_not_again(layer))

    def _show_classes(self, report: QuantizationReport) -> None:
        rows = class_rows(report)
        known = [value for row in rows for value in row.values if value is not None]
        least = max(0.0, min(known, default=0.0) - BELOW)
        note = self.tr("Above in float, below quantized; bars begin at {0}.").format(
            quantities.percent(least)
        )
        self._page.report.show_classes(rows, least, note)
        table = report.confusion_difference
        names = [row.label for row in rows] if table is not None and len(rows) == len(table) else []
        self._page.report.show_confusion([list(row) for row in table or ()], names)

    def _show_changed(self) -> None:
        report, view = self._view.report, self._view
        if report is None:
            return
        number = theme.format_number
        listed = (
            report.changed
            if not view.images
            else [each for each in report.changed if each.index in view.images]
        )
        samples = [
            Sample(
                view.images.get(each.index),
                class_name(report, each.label),
                class_name(report, each.quantized),
                float("nan"),
                each.index,
                before=class_name(report, each.float),
            )
            for each in listed
        ]
        title = nothing = ""
        if report.changed_count:
            title = self.tr("{0}, in float \u2192 quantized").format(number(report.changed_count))
            if len(samples) < report.changed_count:
                title = self.tr("{0}, the first {1}, in float \u2192 quantized").format(
                    number(report.changed_count), number(len(samples))
                )
        elif report.accuracy is None:
            nothing = self.tr("Unknown: there are no labels.")
        else:
            nothing = self.tr("No answer changed.")
        self._page.report.show_changed(samples, title, view.why_no_images, nothing)

    # ----- layers in float -----

    def _keep(self, keep: bool) -> None:
        """Leave the chosen layer in float the next time, or not."""
        self._export.leave_in_float(self._view.layer, keep)
        self._show_chosen()

    def _why_not_again(self, layer: LayerReport) -> str:
        if not layer.quantized:
            return self.tr("It is already in float.")
        report = self._view.report
        if report is None or not _is_repeatable(report):
            return self.tr("It was quantized in an unknown way.")
        if not self._view.run:
            return self.tr("The run of these files is unknown.")
        if self._view.run != self._export.run_folder and self._session.listed_run(self._view.run) is None:
            return self.tr("The run of these files is unknown.")
        return self.tr("The export is running.") if self._export.state == "exporting" else ""

    def _quantize_again(self) -> None:
        """With what the report says was chosen, and the chosen layer in float too."""
        report, layer, export = self._view.report, self._chosen(), self._export
        if report is None or layer is None or self._why_not_again(layer):
            return
        if self._view.run != export.run_folder:
            self._session.select_run(self._view.run)
        in_float = [each.name for each in report.layers if not each.quantized]
        chosen = export.choices if export.choices.wanted else None
        export.choose(
            method=report.method,
            weight_bits=report.weight_bits,
            activation_bits=report.activation_bits,
            weight_type=report.weight_type,
            algo=report.algo if report.method == "post_training" else export.choices.algo,
            samples=report.samples if report.method == "post_training" else export.choices.samples,
            target_drop=chosen.target_drop if chosen is not None else None,
        )
        export.choose(skip=export.choices.without([*in_float, layer.name]).skip)
        self._page.show_view(FILES)
        reason = self._again()
        if reason:
            self._actions.refused.emit(reason)

    # ----- as text -----

    def copy(self) -> None:
        """Copy the report as text."""
        if self._view.report is not None:
            QGuiApplication.clipboard().setText(report_text(self._view.report, self._view.prefix))
            self._said(self.tr("The report is on the clipboard."))

    def save(self) -> str:
        """Ask for a file and write the report into it, as text or the layers as CSV."""
        reason = self._session.blocked(commands.SAVE_QUANTIZATION)
        report = self._view.report
        if reason or report is None:
            return reason
        name = f"{Path(self._view.prefix).name}-quantization.txt"
        filters = f"{self.tr('Text')} (*.txt);;{self.tr('Layers as a table')} (*.csv)"
        title = self.tr("Save the report")
        home = home_folder() or Path()
        path = QFileDialog.getSaveFileName(self._window, title, str(home / name), filters)[0]
        if not path:
            return ""
        out = Path(path if path.lower().endswith((".txt", ".csv")) else f"{path}.txt")
        text = report_csv(report) if out.suffix.lower() == ".csv" else report_text(report, self._view.prefix)
        said = self.tr("The report is written: {0}")
        failed = self.tr("The report could not be saved")
        save_file(self._session, out, text.encode(), failed, lambda path: self._said(said.format(path)))
        return ""

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()


def _measured(layer: LayerReport, measure: str) -> float:
    """What layers are sorted by; those in float stand at the end."""
    value = getattr(layer, measure) if layer.quantized else None
    return float("-inf") if value is None else float(value)


def _is_repeatable(report: QuantizationReport) -> bool:
    """Whether the window offers the settings that the report names."""
    algo = report.algo if report.method == "post_training" else QUANTIZE_SETTINGS["algo"].default
    chosen = {"algo": algo, "weight_type": report.weight_type}
    return not any(QUANTIZE_SETTINGS[name].problem(value) for name, value in chosen.items())
