"""Suggested settings on the page Train under real clicks, over a controlled worker."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.studio.windows.data.test_columns import spec
from tests.studio.windows.data.test_data_page import FACTS, requests

CHOICES = [
    {"setting": "model", "value": "mlp", "reason": "a multilayer perceptron for 30 rows of a table"},
    {"setting": "model_params", "value": {"dropout": 0.2}, "reason": "few rows"},
    {"setting": "schedule", "value": "one_cycle_lr", "reason": "trains fast"},
    {"setting": "epochs", "value": 7, "reason": "about 70 steps"},
]


def suggest(stage: Any) -> Any:
    QTest.mouseClick(stage.studio.settings_panel.suggest, Qt.MouseButton.LeftButton)
    assert stage.worker.job_name == "suggest_settings"
    return stage.worker.job


def answer(stage: Any, choices: list[dict[str, Any]] = CHOICES) -> None:
    settings = {each["setting"]: each["value"] for each in choices}
    models = {"lenet": "takes images: yours are table", "mlp": ""}
    stage.tell("suggested", settings=settings, choices=choices, data={}, models=models)


def test_one_click_fills_the_settings_as_one_step_of_undo_with_reasons(stage: Any) -> None:
    session, panel = stage.session, stage.studio.settings_panel
    session.choose_data("/t.csv")
    session.change_setting("seed", 5)
    job = suggest(stage)
    assert (job.config["data"], set(job.given)) == ("/t.csv", {"data", "seed"})
    assert not panel.suggest.isEnabled()
    assert session.blocked("suggest") == "Settings are being suggested."
    message = "Measuring step 3 of 6 with mlp"
    stage.tell("suggest_progress", message=message, done=5, total=10)
    assert panel.cost.text() == f"{message}…"
    (task,) = [each for each in session.tasks.shown if each.title == "Suggesting settings"]
    assert (task.message, task.progress) == (message, 0.5)
    answer(stage)
    settings = session.train.settings
    assert (settings.model, settings.model_params, settings.epochs) == ("mlp", {"dropout": 0.2}, 7)
    assert settings.schedule == "one_cycle_lr"
    assert panel.choices.text().splitlines()[:2] == [
        "Model: MLP (a multilayer perceptron for 30 rows of a table)",
        "Model parameters: dropout 0.2 (few rows)",
    ]
    stage.tell("estimated", seconds=2.4, memory=123_400_000)
    assert panel.cost.text() == "Takes about 3\u2009s and 123\u2009MB of memory."
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    assert panel.suggest.isEnabled()
    session.execute("undo")
    assert (session.train.settings.model, session.train.settings.epochs) == ("auto", 5)
    assert session.train.settings.seed == 5


def test_a_second_suggestion_replaces_the_first_and_leaves_what_was_changed_by_hand(stage: Any) -> None:
    session = stage.session
    session.choose_data("/t.csv")
    suggest(stage)
    answer(stage)
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    session.change_setting("epochs", 3)
    job = suggest(stage)
    assert set(job.given) == {"data", "epochs"}
    assert (job.config["model"], job.config["epochs"]) == ("auto", 3)


def test_other_data_takes_the_suggestion_back(stage: Any) -> None:
    session, panel = stage.session, stage.studio.settings_panel
    session.choose_data("/t.csv")
    suggest(stage)
    answer(stage)
    session.choose_data("/other.csv")
    assert session.train.settings.model == "auto"
    assert session.train.settings.model_params == {}
    assert not panel.choices.isVisible()
    assert not session.suggestions.view.working


def test_data_that_can_not_be_read_is_a_problem(stage: Any) -> None:
    suggest(stage)
    stage.tell("worker_ended", clean=False, killed=False, exit_code=1, details="", message="t.csv: is empty")
    assert stage.session.suggestions.view.last_problem.title == "No settings could be suggested"
    assert stage.studio.settings_panel.suggest.isEnabled()


def test_the_list_of_models_says_which_do_not_fit_and_why(stage: Any) -> None:
    session, panel = stage.session, stage.studio.settings_panel
    QTest.keyClick(stage.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    number = requests(stage.worker)[-1].number
    data = spec("images", "classes", shape=[3, 16, 16], classes=["a", "b"], targets=[])
    stage.tell("data_opened", number=number, **{**FACTS, "spec": data})
    box = panel.form.control("model")
    states = {box.itemText(row): box.model().item(row).isEnabled() for row in range(box.count())}
    assert states["ResNet-18"] is False
    assert states["LSTM"] is False
    assert states["LeNet"]
    assert states["auto"]
    tip = box.model().item(box.findText("ResNet-18")).toolTip()
    assert tip == "needs images of at least 32x32: yours are 16x16"
    assert not panel.misfit.isVisibleTo(panel)
    session.change_setting("model", "resnet18")
    assert panel.misfit.text() == f"Does not fit the data: {tip}"
    session.choose_data("/elsewhere")
    assert panel.misfit.text() == ""
