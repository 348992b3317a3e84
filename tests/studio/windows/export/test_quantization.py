"""The page Export quantizes: what is chosen, how far it is, what came out, and what can be done with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QMenu, QScrollArea
from pytestqt.qtbot import QtBot

from engine.quantization.report import QuantizationReport
from resources.settings.quantize import QUANTIZE_FIELDS
from studio.controllers.export.quantization_texts import quantized_words, report_words, short_line
from studio.session.export.quantization.choices import QuantizeChoices
from studio.windows.export.export_page import FILES, REPORT
from tests.studio.answering_run import make_run
from tests.studio.quantized import layer, report
from tests.studio.windows.conftest import Stage
from widgets.program_tree import ProgramTree


@pytest.fixture
def export(stage: Stage, tmp_path: Path) -> Stage:
    """The page Export of a run, with quantization chosen by the keyboard."""
    run = make_run(tmp_path / "runs" / "first", {10: 3}, best=10)
    stage.session.refresh_runs()
    stage.session.select_run(str(run))
    stage.studio.frame.show_page("export")
    return stage


def choose(stage: Stage, qtbot: QtBot) -> None:
    box: Any = stage.studio.export_page.form.control("quantize")
    assert isinstance(box, QComboBox)
    qtbot.keyClick(box, Qt.Key.Key_Down)


def type_into(stage: Stage, qtbot: QtBot, name: str, text: str) -> None:
    line: Any = stage.studio.export_page.quantize.form_of(name).control(name)
    assert isinstance(line, QLineEdit)
    line.setFocus()
    qtbot.keyClick(line, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(line, Qt.Key.Key_Delete)
    qtbot.keyClicks(line, text)


def quantized(stage: Stage, **changes: Any) -> str:
    """End the quantization that runs; the prefix of its files."""
    prefix = str(stage.worker.job.prefix)
    task = stage.worker
    stage.tell("quantized", prefix=prefix, save_id="ab", report=report(**changes))
    images = stage.worker
    if images is not task:
        shown = np.zeros((len(images.job.places), 8, 8), np.uint8)
        stage.tell("mistakes", places=images.job.places, images=shown)
    task.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    stage.session.pump()
    return prefix


def test_choices_unfold_and_begin_a_quantization(export: Stage, qtbot: QtBot) -> None:
    page, session = export.studio.export_page, export.session
    assert not page.quantize.isVisible()
    choose(export, qtbot)
    assert page.quantize.isVisible()
    epochs = page.quantize.how.control("epochs")
    assert not epochs.isVisible()
    type_into(export, qtbot, "skip", "conv1, fc*")
    type_into(export, qtbot, "weight_bits", "4")
    type_into(export, qtbot, "target_drop", "0.5")
    assert export.studio.actions.trigger("export") == ""
    job = export.worker.job
    assert (export.worker.job_name, Path(job.prefix).name, job.checkpoint) == (
        "quantize",
        "model-int4.h5",
        "best",
    )
    assert job.choices == QuantizeChoices(
        method="post_training", weight_bits=4, skip=("conv1", "fc*"), target_drop=0.5
    )
    assert "quantize" in session.script.text()


def test_wrong_values_are_named(export: Stage, qtbot: QtBot) -> None:
    choose(export, qtbot)
    page = export.studio.export_page
    for name, text, right, reason in (
        ("weight_bits", "17", "8", "Enter a number from 2 to 16"),
        ("activation_bits", "1", "8", "Enter a number from 2"),
        ("samples", "0", "320", "Enter a number from 1"),
        ("skip", "fc[1", "fc1", "A bracket is not closed"),
        ("target_drop", "lots", "0.5", "Enter a number"),
    ):
        type_into(export, qtbot, name, text)
        assert page.quantize.errors()[name].startswith(reason)
        assert export.studio.actions.trigger("export").startswith(reason)
        type_into(export, qtbot, name, right)
        assert page.quantize.errors() == {}
    assert "quantize" not in [worker.job_name for worker in export.workers]
    type_into(export, qtbot, "skip", "fc[1")
    page.form.set_value("quantize", "none")
    assert export.studio.actions.trigger("export") == ""  # what is not asked for can't be wrong


def test_each_method_shows_only_its_own_fields(export: Stage, qtbot: QtBot) -> None:
    card = export.studio.export_page.quantize
    seen = []
    for _ in range(3):
        choose(export, qtbot)
        seen.append({name for name in QUANTIZE_FIELDS if card.form_of(name).control(name).isVisible()})
    always = {"weight_bits", "weight_type", "skip", "target_drop"}
    assert seen == [
        always | {"algo", "samples", "activation_bits"},
        always | {"epochs", "activation_bits"},
        always,
    ]
    export.studio.actions.trigger("export")
    assert export.worker.job.choices.method == "weights_only"
    assert "--weights-only --weight-bits 8 --weight-type" in export.session.script.text()


def test_progress_counts_and_cancel_ends_the_child(export: Stage, qtbot: QtBot) -> None:
    page = export.studio.export_page
    choose(export, qtbot)
    export.studio.actions.trigger("export")
    export.tell("quantize_progress", stage="calibrate", message="Calibrating…", done=64, total=320)
    assert (page.bar.value(), page.bar.maximum()) == (64, 320)
    assert "64 of 320" in page._count.text()
    qtbot.mouseClick(page.cancel_button, Qt.MouseButton.LeftButton)
    assert export.worker.killed
    export.session.pump()
    assert export.session.export.state == "idle"
    assert not page.bar.isVisible()


def test_a_failure_says_that_nothing_was_written(export: Stage, qtbot: QtBot) -> None:
    choose(export, qtbot)
    export.studio.actions.trigger("export")
    export.tell(
        "failed",
        where="quantize",
        error="ValueError",
        what="NaN in sample 3",
        do="clean the data",
        traceback="",
        file="",
        line=0,
        message="",
    )
    export.tell("worker_ended", clean=False, killed=False, exit_code=1, message="", details="")
    failed = export.studio.export_page._failed
    assert failed.isVisible()
    assert failed.accessibleName().startswith("quantize: NaN in sample 3; clean the data")
    assert "Nothing was written" in failed.accessibleName()
    qtbot.mouseClick(failed.button, Qt.MouseButton.LeftButton)
    assert export.session.export.state == "exporting"


def test_the_report_says_what_was_measured(export: Stage, qtbot: QtBot) -> None:
    page = export.studio.export_page
    choose(export, qtbot)
    export.studio.actions.trigger("export")
    quantized(export)
    shown = page.report
    assert page.tabs.currentIndex() == REPORT
    assert shown.figures["size"].text() == "257\u2009kB \u2192 80.0\u2009kB"
    assert shown.figures["latency"].note() == "1.7 times slower"
    assert "0.12 points of accuracy are lost" in shown.summary.text()
    assert "1.7 times slower on this computer" in shown.summary.text()
    assert [row.key for row in shown.layers.bars.rows()] == ["fc1", "fc2", "conv2", "conv1", "fc3"]
    assert shown.layers.bars.rows()[-1].text == "in float"
    assert shown.facts.rows() == [("fc3", "it fits the pattern fc3")]
    assert shown.classes.rows()[4].text == "98.00 \u2192 96.00\u2009%"
    assert shown.matrix.describe_cell(4, 9) == "digit 4 taken for digit 9: +2"
    qtbot.keyClick(shown.layers.order, Qt.Key.Key_Down)
    qtbot.keyClick(shown.layers.measure, Qt.Key.Key_End)
    assert [row.text for row in shown.layers.bars.rows()][:3] == [
        "0.00 points",
        "\u22120.06 points",
        "\u22120.02 points",
    ]
    page.show_view(FILES)
    assert page.report_button.isVisible()
    qtbot.mouseClick(page.report_button, Qt.MouseButton.LeftButton)
    assert page.tabs.currentIndex() == REPORT


def show_program(stage: Stage) -> None:
    """A Program with two of the report's layers, and one operator without a weight."""
    operators = [
        {
            "type": kind,
            "inputs": {"X": ["x"], "Y": [weight]},
            "outputs": {"Out": ["y"]},
            "attrs": {},
            "regions": [],
            "file": "",
            "line": 0,
        }
        for kind, weight in (("conv2d", "conv1.w_0"), ("mul", "fc1.w_0"), ("relu", "y"))
    ]
    variables = [
        {
            "name": name,
            "shape": [4, 4],
            "dtype": "float32",
            "persistable": True,
            "parameter": True,
            "stop_gradient": False,
        }
        for name in ("conv1.w_0", "fc1.w_0")
    ]
    blocks = [{"idx": 0, "parent": -1, "vars": variables, "ops": operators}]
    stage.session.graph.show_saved("/m/lenet", "lenet", {"blocks": blocks}, "")


def test_a_layer_is_ticked_in_the_tree(export: Stage, qtbot: QtBot) -> None:
    show_program(export)
    tree = export.window.project.tree
    tick(tree, 1)
    assert export.session.export.choices.skip == ("fc1.w_0",)  # without a report: by its weight
    tick(tree, 1)
    assert export.session.export.choices.skip == ()
    tree.select_operator(0, 2)
    tree.view.customContextMenuRequested.emit(tree.view.visualRect(tree.view.currentIndex()).center())
    assert not [menu for menu in tree.findChildren(QMenu) if menu.isVisible()]
    choose(export, qtbot)
    export.studio.actions.trigger("export")
    quantized(export)
    tick(tree, 1)
    assert export.session.export.choices.skip == ("fc1",)
    line: Any = export.studio.export_page.quantize.what.control("skip")
    assert line.text() == "fc1"


def tick(tree: ProgramTree, operator: int) -> None:
    """Open the menu of an operator and choose what it offers."""
    tree.select_operator(0, operator)
    tree.view.customContextMenuRequested.emit(tree.view.visualRect(tree.view.currentIndex()).center())
    [menu] = [menu for menu in tree.findChildren(QMenu) if menu.isVisible()]
    menu.actions()[0].trigger()
    menu.hide()


def test_a_layer_and_its_operator_are_chosen_together(export: Stage, qtbot: QtBot) -> None:
    choose(export, qtbot)
    export.studio.actions.trigger("export")
    quantized(export)
    show_program(export)
    bars = export.studio.export_page.report.layers.bars
    place = bars.visualItemRect(bars.item(0)).center()
    qtbot.mouseClick(bars.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert export.session.graph.selected == (0, 1)
    assert export.window.project.tree.selected_operator() == (0, 1)
    export.window.project.tree.select_operator(0, 0)
    assert bars.chosen() == "conv1"
    assert "conv1 (conv2d)" in export.studio.export_page.report.layers.about.value()


def test_again_without_a_layer_and_layers_left_in_float(export: Stage, qtbot: QtBot) -> None:
    page, session = export.studio.export_page, export.session
    choose(export, qtbot)
    type_into(export, qtbot, "samples", "64")
    export.studio.actions.trigger("export")
    quantized(export)
    card = page.report.layers
    card.bars.setCurrentRow(0)
    qtbot.mouseClick(card.keep, Qt.MouseButton.LeftButton)
    assert session.export.choices.skip == ("fc1",)
    qtbot.mouseClick(card.keep, Qt.MouseButton.LeftButton)
    assert session.export.choices.skip == ()
    qtbot.mouseClick(card.again, Qt.MouseButton.LeftButton)
    job = export.worker.job
    assert export.worker.job_name == "quantize"
    # What the report says, not what was typed since: samples 320, fc3 in float as before.
    assert (job.choices.skip, job.choices.samples) == (("fc3", "fc1"), 320)
    assert page.tabs.currentIndex() == FILES
    card.bars.setCurrentRow(4)
    assert not card.again.isEnabled()
    assert card.again.toolTip() == "It is already in float."


def test_an_unknown_quantization_cannot_be_repeated(export: Stage, qtbot: QtBot) -> None:
    choose(export, qtbot)
    export.studio.actions.trigger("export")
    quantized(export, weight_type="odd")
    card = export.studio.export_page.report.layers
    card.bars.setCurrentRow(0)
    assert not card.again.isEnabled()
    assert card.again.toolTip() == "It was quantized in an unknown way."


def test_a_changed_answer_opens_large(export: Stage, qtbot: QtBot) -> None:
    choose(export, qtbot)
    export.studio.actions.trigger("export")
    quantized(export)
    card = export.studio.export_page.report.changed
    assert [sample.index for sample in card.grid.samples()] == [17, 40]
    assert all(sample.image is not None for sample in card.grid.samples())
    qtbot.mouseClick(card.grid, Qt.MouseButton.LeftButton, pos=card.grid.cells()[0].center().toPoint())
    assert card.large.isVisible()
    assert dict(card.large.facts.rows())["Quantized"] == "digit 9"
    qtbot.keyClick(card.large, Qt.Key.Key_Right)
    assert card.large.windowTitle() == "Changed answer 2 of 2"
    assert not card.large.on.isEnabled()
    card.large.close()


def test_the_report_is_copied_and_saved(
    export: Stage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(export, qtbot)
    actions, out = export.studio.actions, tmp_path / "layers.csv"
    assert actions.trigger("save_quantization") == "No quantization is shown on Export."
    actions.trigger("export")
    prefix = quantized(export)
    qtbot.mouseClick(export.studio.export_page.report.copy, Qt.MouseButton.LeftButton)
    assert prefix in QGuiApplication.clipboard().text()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(out), ""))
    qtbot.mouseClick(export.studio.export_page.report.save, Qt.MouseButton.LeftButton)
    assert out.read_text().startswith("layer,op,weight,quantized")


def test_commands_lead_to_choices_and_report(export: Stage, qtbot: QtBot) -> None:
    studio, page = export.studio, export.studio.export_page
    studio.frame.show_page("train")
    assert studio.actions.trigger("quantize") == ""
    assert export.window.current_page() == "export"
    assert export.session.export.choices.method == "post_training"
    studio.frame.show_page("train")
    studio.actions.trigger("palette")
    qtbot.keyClicks(studio.frame.palette.box, "quantize, calibration")
    qtbot.keyClick(studio.frame.palette.box, Qt.Key.Key_Return)
    assert export.window.current_page() == "export"
    assert export.window.focusWidget() is page.quantize.how.control("samples")
    studio.frame.show_page("train")
    studio.actions.trigger("palette")
    qtbot.keyClicks(studio.frame.palette.box, "export, samples")
    qtbot.keyClick(studio.frame.palette.box, Qt.Key.Key_Return)
    assert export.window.current_page() == "export"


@pytest.mark.styled
def test_nothing_is_cut_off_sideways(export: Stage, qtbot: QtBot) -> None:
    page = export.studio.export_page
    choose(export, qtbot)
    export.studio.actions.trigger("export")
    quantized(export)
    holder: Any = page.parentWidget().parentWidget().parentWidget()
    assert isinstance(holder, QScrollArea)
    for width, height in ((1280, 800), (1000, 650)):
        export.window.resize(width, height)
        for view in (FILES, REPORT):
            page.show_view(view)
            qtbot.waitUntil(
                lambda width=width: (
                    export.window.width() == width and holder.horizontalScrollBar().maximum() == 0
                )
            )


# ----- words -----


def words(**changes: Any) -> str:
    found = QuantizationReport.from_plain(report(**changes))
    return report_words(found, "/x/model", QObject()).summary


def test_no_gain_is_claimed_that_was_not_measured() -> None:
    assert "times faster" not in words()
    assert "Accuracy is 0.30 points higher, which is chance" in words(
        accuracy={"float": 0.97, "quantized": 0.973, "samples": 1000}
    )
    assert "0.30 points higher: the network was trained further" in words(
        method="qat", accuracy={"float": 0.97, "quantized": 0.973, "samples": 1000}
    )
    assert "Accuracy is the same." in words(accuracy={"float": 0.97, "quantized": 0.97, "samples": 9})
    assert "takes about as long" in words(latency={"float": 1e-3, "quantized": 0.99e-3})
    assert "2.0 times faster on this computer" in words(latency={"float": 2e-3, "quantized": 1e-3})
    assert "files are 2.0 times larger" in words(sizes={"float": {"a": 10}, "quantized": {"a": 20}})
    assert "accuracy" not in words(accuracy=None, per_class=None, confusion_difference=None).lower()


def test_a_report_in_a_line() -> None:
    line = short_line(QuantizationReport.from_plain(report()), QObject())
    assert line == "int8, hist, 320 samples, accuracy 97.70 \u2192 97.58\u2009%"
    low = QuantizationReport.from_plain(report(weight_bits=4, method="qat"))
    assert short_line(low, QObject()).startswith("int4/int8, trained with quantization, accuracy")
    assert quantized_words({"quantization": report()}, "x", QObject()) == (line, True)
    assert quantized_words({"quantization": [1]}, "x", QObject()) == ("yes, but its report is damaged", False)
    assert quantized_words({}, "x", QObject()) == ("", False)


def test_a_layer_that_was_not_measured_is_said_so(export: Stage, qtbot: QtBot) -> None:
    choose(export, qtbot)
    export.studio.actions.trigger("export")
    quantized(export, layers=[layer("conv1", 0.1, None)])
    measure = export.studio.export_page.report.layers.measure
    assert [measure.itemData(place) for place in range(measure.count())] == [
        "noise_to_signal",
        "weight_noise_to_signal",
    ]
