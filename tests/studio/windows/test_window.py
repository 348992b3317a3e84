"""The window over fake workers: what it shows, blocks, asks and remembers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QMenu,
    QMessageBox,
    QPushButton,
    QWidget,
)

from studio.session.commands import COMMANDS, shown_in
from studio.windows.agreement_dialog import AgreementDialog
from studio.windows.controls import ActionButton
from studio.windows.dialogs import button_of
from tests.studio.windows.dropping import drop_on
from widgets import theme

PAGES = ("train", "graph", "export", "predict")


def question(window: QWidget) -> QMessageBox:
    return next(box for box in window.findChildren(QMessageBox) if box.isVisible())


def answer(window: QWidget, name: str) -> None:
    QTest.mouseClick(button_of(question(window), name), Qt.MouseButton.LeftButton)


def test_one_obvious_start(stage: Any) -> None:
    welcome = stage.studio.train_page.welcome
    assert welcome.isVisible()
    assert welcome.title() == "Train LeNet on the built-in digits"
    QTest.mouseClick(welcome.start, Qt.MouseButton.LeftButton)
    assert stage.worker.job_name == "train"
    assert stage.worker.job.config["model"] == "lenet"
    assert not welcome.isVisible()
    assert stage.window.status.field("state") == "Starting…"


def test_every_command_is_in_menu_and_palette(stage: Any) -> None:
    menus = {action.text(): action.menu() for action in stage.window.top.menu.actions()}
    listed = [text for menu in menus.values() for text in titles_in(menu)]
    assert sorted(each.title for each in COMMANDS) == sorted(text for text in listed if text in TITLES)
    for menu in menus.values():
        assert len([each for each in menu.actions() if not each.isSeparator()]) <= 13, menu.title()
    stage.studio.actions.trigger("palette")
    titles = stage.studio.frame.palette.titles()
    others = ("Help: ", "Setting: ")
    assert len([title for title in titles if not title.startswith(others)]) == len(COMMANDS)
    QTest.keyClicks(stage.studio.frame.palette.box, "dark")
    assert stage.studio.frame.palette.titles()[0] == "Dark"
    stage.studio.frame.palette.reject()


def titles_in(menu: QMenu) -> list[str]:
    """The entries of a menu and of its submenus."""
    found = []
    for action in menu.actions():
        found += titles_in(action.menu()) if action.menu() else [action.text()]
    return found


TITLES = {each.title for each in COMMANDS}
# Commands that the window prepares, by a question or a dialog, before the session carries them out.
BOTH = [
    *("new_project", "start", "resume_run", "train_corrected", "add_to_queue", "cancel", "suggest"),
    *("find_rate", "change_rate", "show_graph", "export", "debug", "debug_until_nan"),
]


def test_every_command_has_one_handler_and_its_positions(stage: Any) -> None:
    studio = stage.studio
    studio.complete()
    for command in COMMANDS:
        assert studio.actions.handles(command) or stage.session.handles(command), command.id
        if studio.actions.handles(command):
            with pytest.raises(ValueError, match="has a handler"):
                studio.actions.handle(command, lambda: None)
    both = [each.id for each in COMMANDS if studio.actions.handles(each) and stage.session.handles(each)]
    assert sorted(both) == sorted(BOTH)
    shown = {page: list(bar.buttons) for page, bar in studio._bars.items() if bar.buttons}
    for area in ("measured", "planned"):
        found = getattr(studio.code_page, area).findChildren(ActionButton)
        shown[area] = [button._action.objectName() for button in found]
    found = studio.graph_page.search.findChildren(ActionButton)
    shown["diagram"] = [button._action.objectName() for button in found]
    shown["status"] = list(stage.window.status.actions_bar.buttons)
    strip = list(stage.window.project.strip._buttons)
    shown["run strip"], shown["queue"] = strip[:5], strip[5:]
    menu = studio.runs.doings.menu("")
    shown["run menu"] = [action.objectName() for action in menu.actions() if action.objectName()]
    menu.deleteLater()
    areas = {position.area for command in COMMANDS for position in command.shown}
    wanted = {area: [command.id for command, _ in shown_in(area)] for area in areas}
    wanted["run menu"].remove("remove_run")  # in the place of "delete_run" where the folder is missing
    assert shown == wanted
    for area in areas:
        indexes = [position.index for _, position in shown_in(area)]
        assert indexes == list(range(1, len(indexes) + 1)), area


def test_palette_gives_a_command(stage: Any) -> None:
    stage.studio.actions.trigger("palette")
    palette = stage.studio.frame.palette
    QTest.keyClicks(palette.box, "page graph")
    QTest.keyClick(palette.box, Qt.Key.Key_Return)
    assert stage.window.current_page() == "graph"
    assert not palette.isVisible()


def test_keys_of_the_pages(stage: Any, qtbot: Any) -> None:
    stage.window.activateWindow()
    qtbot.waitUntil(stage.window.isActiveWindow)
    for key, page in (
        (Qt.Key.Key_2, "code"),
        (Qt.Key.Key_3, "train"),
        (Qt.Key.Key_4, "runs"),
        (Qt.Key.Key_5, "graph"),
        (Qt.Key.Key_6, "export"),
        (Qt.Key.Key_7, "debug"),
        (Qt.Key.Key_8, "predict"),
    ):
        QTest.keyClick(stage.window, key, Qt.KeyboardModifier.ControlModifier)
        assert stage.window.current_page() == page
        assert stage.window.top.tab(page).isChecked(), page


@pytest.mark.styled
def test_visiting_pages_again_leaves_the_minimum_size_of_the_window(stage: Any, qtlog: Any) -> None:
    def size_hints() -> int:
        return sum("propagateSizeHints" in record.message for record in qtlog.records)

    def visit_all() -> None:
        for page in ("graph", "export", "predict", "train"):
            stage.studio.frame.show_page(page)
            QApplication.processEvents()

    visit_all()
    before = size_hints()
    assert before > 0, "Qt says nothing of them any more: count them otherwise"
    visit_all()
    assert size_hints() == before


def test_a_recent_project_is_opened_from_the_first_page(stage: Any, tmp_path: Path) -> None:
    stage.session.change_setting("epochs", 7)
    stage.session.save_project(tmp_path / "mine")
    stage.studio.actions.trigger("new_project")
    assert stage.session.train.settings.epochs == 5
    recent = stage.studio.train_page.welcome.findChildren(QPushButton)
    click = next(button for button in recent if button.text() == "mine")
    QTest.mouseClick(click, Qt.MouseButton.LeftButton)
    assert stage.session.train.settings.epochs == 7
    assert stage.window.windowTitle().startswith("mine")
    assert stage.studio.settings_panel.form.value("epochs") == 7


# ----- a training -----------------------------------------------------------------------------------------


def test_figures_curves_and_status_follow_the_training(stage: Any) -> None:
    stage.start()
    stage.steps(1, 2.3, 1.9, 1.5)
    page = stage.studio.train_page
    assert page.figures["loss"].text() == "1.500"
    assert page.figures["throughput"].text() == "91\u2009200\u2009img/s"
    assert page.figures["left"].text() == "14\u2009s"
    folder = stage.session.train.folder
    np.testing.assert_array_equal(page.loss.series_data(folder)[1], [2.3, 1.9, 1.5])
    np.testing.assert_array_equal(page.accuracy.series_data(folder)[0], [1, 2, 3])
    assert stage.window.status.field("step") == "epoch 1 of 2 · step 3"
    images = np.zeros((1, 28, 28), np.uint8)
    confusion = np.eye(10, dtype=int).tolist()
    stage.tell(
        "epoch",
        epoch=1,
        step=5,
        partial=False,
        train_loss=1.0,
        train_accuracy=0.5,
        validation_loss=0.7,
        validation_accuracy=0.9784,
        confusion=confusion,
        best=True,
        seconds=1.0,
        hardest=[{"index": 7, "label": 4, "predicted": 9, "probability": 0.01}],
        pictures=images,
    )
    assert page.figures["accuracy"].text() == "97.84\u2009%"
    assert page.confusion.counts().trace() == 10
    assert [(s.label, s.predicted) for s in page.hardest.samples()] == [("4", "9")]
    np.testing.assert_array_equal(page.loss.series_data(f"{folder}/validation")[1], [0.7])


def test_each_command_is_acknowledged_at_once(stage: Any) -> None:
    stage.start()
    buttons = stage.window.top.findChildren(QPushButton)
    shown = {button.text() for button in buttons if button.isVisible()}
    assert shown == {"Pause", "Checkpoint now", "Stop early", "Cancel", "Add to queue"}
    stage.studio.actions.trigger("pause")
    assert stage.window.status.field("state") == "Pausing…"
    assert not stage.studio.actions["pause"].isEnabled()
    stage.tell("paused", step=1)
    assert stage.studio.actions["resume"].isEnabled()
    stage.studio.actions.trigger("resume")
    stage.studio.actions.trigger("stop_early")
    assert stage.window.status.field("state") == "Stopping…"
    assert not stage.studio.actions["stop_early"].isEnabled()
    assert "stopping" in stage.studio.actions["stop_early"].toolTip()
    assert stage.worker.commands == ["pause", "resume", "stop_early"]


def test_cancel_asks_since_the_run_is_discarded(stage: Any) -> None:
    stage.start()
    stage.studio.actions.trigger("cancel")
    answer(stage.window, "no")
    assert stage.worker.commands == []
    stage.studio.actions.trigger("cancel")
    answer(stage.window, "yes")
    assert stage.worker.commands == ["cancel"]
    assert stage.window.status.field("state") == "Cancelling…"


def test_blocked_start_says_why_and_starts_nothing(stage: Any) -> None:
    form = stage.studio.settings_panel.form
    form.control("batch_size").setText("many")
    start = stage.studio.train_page.welcome.start
    assert start.isEnabled()
    QTest.mouseClick(start, Qt.MouseButton.LeftButton)
    assert all(not worker.job for worker in stage.workers)
    assert "Batch size: Enter an integer" in stage.window.toast.text()
    labels = [label.text() for label in stage.studio.train_page.welcome.findChildren(QLabel)]
    assert "Batch size: Enter an integer" in labels
    form.control("batch_size").setText("32")
    stage.start()
    assert stage.worker.job.config["batch_size"] == 32


def test_an_entry_that_the_engine_refuses_is_marked(stage: Any) -> None:
    stage.session.change_setting("epochs", 0)
    assert "epochs" in stage.studio.settings_panel.form.errors()
    assert "Epochs" in stage.studio.actions.trigger("start")


def test_parameters_appear_with_their_optimizer_and_schedule(stage: Any) -> None:
    form = stage.studio.settings_panel.form
    at = form.keys().index("optimizer")
    assert form.keys()[at + 1 : at + 3] == ["optimizer_params.beta1", "optimizer_params.beta2"]
    assert not form.control("schedule_each").isVisible()
    form.set_value("optimizer", "momentum")
    form.set_value("schedule", "step_decay")
    assert "optimizer_params.beta1" not in form.keys()  # noqa: SIM118
    assert form.control("schedule_each").isVisible()
    form.control("optimizer_params.momentum").setText("0.95")
    form.control("schedule_params.step_size").setText("3")
    settings = stage.session.train.settings
    assert settings.optimizer_params == {"momentum": 0.95}
    assert settings.schedule_params == {"step_size": 3}
    form.control("optimizer_params.momentum").setText("1")
    assert form.errors() == {"optimizer_params.momentum": "At least 0, Below 1"}
    form.control("optimizer_params.momentum").setText("0.9")
    stage.start()
    config = stage.worker.job.config
    assert (config["optimizer"], config["optimizer_params"]) == ("momentum", {})
    assert (config["schedule"], config["schedule_params"]) == ("step_decay", {"step_size": 3})


def test_parameters_that_do_not_fit_each_other_are_marked(stage: Any) -> None:
    form = stage.studio.settings_panel.form
    form.set_value("schedule", "multi_step_decay")
    form.control("schedule_params.milestones").setText("4, 2")
    assert "milestones must rise" in form.errors()["schedule"]
    form.control("schedule_params.milestones").setText("2, 4")
    assert form.errors() == {}


def test_settings_that_are_needed_rarely_come_when_asked_for(stage: Any) -> None:
    panel = stage.studio.settings_panel
    assert not panel.form.control("keep").isVisible()
    panel.more.click()
    assert panel.form.control("keep").isVisible()
    assert panel.more.text() == "Fewer settings"


def test_own_folder_and_own_file(stage: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("from engine import nn\nclass Helper: pass\nclass Net(nn.Layer): pass\n")
    form = stage.studio.settings_panel.form
    assert not form.control("model_file").isVisible()
    form.set_value("model", "file")
    assert form.control("model_file").isVisible()
    assert "File" in stage.session.train.why_not["start"]
    form.set_value("model_file", str(file))
    assert stage.session.train.settings.model == f"{file}:Net"
    form.set_value("data", "folder")
    assert "Folder" in stage.session.train.why_not["start"]
    form.set_value("data_folder", str(tmp_path))
    assert stage.session.train.settings.data == str(tmp_path)
    assert "start" not in stage.session.train.why_not


def test_own_code_is_asked_for_once(stage: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("class Net:\n    pass\n")
    stage.session.change_setting("model", f"{file}:Net")
    stage.studio.actions.trigger("start")
    (dialog,) = stage.window.findChildren(AgreementDialog)
    assert dialog.path.text() == str(file)
    QTest.mouseClick(dialog.cancel, Qt.MouseButton.LeftButton)
    assert all(not worker.job for worker in stage.workers)
    stage.studio.actions.trigger("start")
    dialog = next(each for each in stage.window.findChildren(AgreementDialog) if each.isVisible())
    QTest.mouseClick(dialog.allow, Qt.MouseButton.LeftButton)
    assert stage.worker.job.config["model"] == f"{file}:Net"
    stage.tell("cancelled", step=0)
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    stage.studio.actions.trigger("start")
    assert stage.session.train.state == "starting"


# ----- when something goes wrong --------------------------------------------------------------------------


def test_a_dead_training_leaves_the_window_alive_with_an_offer(stage: Any) -> None:
    stage.start()
    stage.steps(1, 2.0)
    stage.tell("checkpoint", step=1, epoch=1, path="x/step-00000001.h5", reason="asked", seconds=0.1, bytes=9)
    stage.die()
    assert stage.window.isVisible()
    assert "killed from outside: signal SIGKILL" in stage.window.toast.text()
    assert stage.window.status.problems.text() == "1 problem"
    shown = {button.text() for button in stage.window.top.findChildren(QPushButton) if button.isVisible()}
    assert shown == {"Resume from checkpoint", "Start", "Add to queue"}
    stage.studio.actions.trigger("copy_report")
    assert "SIGKILL" in QApplication.clipboard().text()
    assert stage.window.toast.isVisible()
    stage.studio.actions.trigger("start")
    assert not stage.window.toast.isVisible()
    assert len(stage.window.output.problems.problems()) == 1


def test_details_open_the_list_of_problems(stage: Any) -> None:
    stage.start()
    stage.die()
    QTest.mouseClick(stage.window.toast.details, Qt.MouseButton.LeftButton)
    assert stage.window.bottom.isVisible()
    assert len(stage.window.output.problems.problems()) == 1


def test_a_dropped_file_that_is_no_image(stage: Any, tmp_path: Path) -> None:
    path = tmp_path / "notes.bin"
    path.write_text("no image")
    stage.studio.frame.show_page("predict")
    assert drop_on(stage.studio.predict_page.pad, path)
    assert "Model Studio opens projects" in stage.window.toast.text()
    assert QApplication.activeModalWidget() is None
    assert stage.studio.predict_page.pad.is_empty()
    assert drop_on(stage.window, path.rename(tmp_path / "notes.png"))
    assert stage.window.status.problems.text() == "1 problem"


def test_a_dropped_image_is_fitted_and_shown(stage: Any, tmp_path: Path) -> None:
    from PIL import Image

    paper = np.full((90, 60), 255, np.uint8)
    paper[20:70, 26:34] = 0
    Image.fromarray(paper).save(tmp_path / "one.png")
    stage.studio.frame.show_page("predict")
    assert drop_on(stage.studio.predict_page.pad, tmp_path / "one.png")
    fed = stage.studio.predict_page.fed.image()
    assert fed.shape == (28, 28)
    assert fed.max() > 0.9
    assert np.flatnonzero(fed.max(axis=1) > 0.5).size == 20
    assert ("From", "one.png, 60 \u00d7 90 pixels") in stage.studio.predict_page.facts.rows()


def test_errors_of_our_own_become_problems(stage: Any, qtbot: Any, capsys: Any) -> None:
    try:
        raise ValueError("the window is broken")
    except ValueError as error:
        stage.studio.report_exception(ValueError, error, error.__traceback__)
    qtbot.waitUntil(lambda: "the window is broken" in stage.window.toast.text())
    assert "test_window.py" in stage.window.output.problems.problems()[0].details
    assert "the window is broken" in capsys.readouterr().err


# ----- closing, theme, layout -----------------------------------------------------------------------------


def test_closing_during_a_training_asks(stage: Any) -> None:
    stage.start()
    assert not stage.window.close()
    assert "LeNet" in question(stage.window).informativeText()
    answer(stage.window, "no")
    assert stage.window.isVisible()
    assert stage.worker.commands == []
    assert not stage.window.close()
    answer(stage.window, "yes")
    assert stage.worker.commands == ["interrupt"]
    assert stage.window.isVisible()


def test_the_window_closes_when_the_training_has_stopped(stage: Any, qtbot: Any) -> None:
    stage.start()
    stage.studio.frame.stop_and_close()
    with qtbot.waitSignal(stage.window.closed):
        stage.tell(
            "stopped",
            step=3,
            epoch=1,
            reason="interrupted",
            validation_accuracy=0.5,
            best_accuracy=0.5,
            best_step=1,
            seconds=1.0,
            folder="f",
            checkpoint="c",
        )
        stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")


def test_closing_without_a_training_asks_nothing(stage: Any) -> None:
    assert stage.window.close()


@pytest.mark.styled
def test_theme_switches_at_once_and_is_remembered(stage: Any) -> None:
    stage.studio.actions.trigger("theme_dark")
    assert theme.current().dark
    assert stage.studio.actions["theme_dark"].isChecked()
    corner = stage.window.grab().toImage().pixelColor(2, 2)
    assert corner.name().upper() == theme.DARK.panel
    stage.studio.actions.trigger("theme_light")
    assert stage.window.grab().toImage().pixelColor(2, 2).name().upper() == theme.LIGHT.panel
    assert stage.session.preferences.theme == "light"


def test_layout_is_remembered_and_can_be_reset(stage: Any, qapp: QApplication, tmp_path: Path) -> None:
    stage.window.left.hide()
    stage.window.show_output(1)
    stage.window.close()
    other = type(stage)(qapp, tmp_path / "other")
    try:
        assert other.window.left.isHidden()
        assert other.window.bottom.isVisible()
        other.studio.actions.trigger("reset_layout")
        assert other.window.left.isVisible()
        assert other.window.bottom.isHidden()
    finally:
        other.studio.close()


@pytest.mark.styled
def test_a_narrow_window_is_for_the_page(stage: Any, qtbot: Any) -> None:
    stage.window.resize(640, 400)
    qtbot.waitUntil(lambda: stage.window.right.isHidden() and stage.window.left.isHidden())
    stage.window.resize(1280, 800)
    qtbot.waitUntil(lambda: stage.window.right.isVisible() and stage.window.left.isVisible())
