"""Fields of settings that a suggestion chooses show what it is, and never a number that no run will take."""

from __future__ import annotations

from typing import Any

import pytest

from studio.session.data.data_job import SuggestFor
from tests.studio.windows.data.test_columns import spec
from tests.studio.windows.data.test_data_page import FACTS, requests

CHOICES = [
    {"setting": "model", "value": "mlp", "reason": "for a table"},
    {"setting": "optimizer", "value": "adamw", "reason": "Adam with weight decay"},
    {"setting": "learning_rate", "value": 0.003, "reason": "the highest rate of the schedule"},
    {"setting": "epochs", "value": 24, "reason": "about 600 steps"},
    {"setting": "normalize", "value": "statistics", "reason": "trains faster"},
]


@pytest.fixture
def table(stage: Any, qtbot: Any) -> Any:
    """The page Data has opened a table."""
    stage.session.choose_data("/t.csv")
    assert stage.studio.actions.trigger("page_data") == ""
    answer(stage, qtbot, opened=True)
    return stage


def answer(stage: Any, qtbot: Any, opened: bool = False) -> SuggestFor:
    number = next(each.number for each in reversed(requests(stage.worker)) if hasattr(each, "number"))
    if opened:
        facts = {**FACTS, "name": "/t.csv", "spec": spec("table", "classes")}
        stage.tell("data_opened", number=number, **facts)
    before = len(requests(stage.worker)) if not opened else 0
    qtbot.waitUntil(lambda: any(isinstance(each, SuggestFor) for each in requests(stage.worker)[before:]))
    asked = requests(stage.worker)[-1]
    values = {"request": asked.request, "choices": CHOICES, "models": {}}
    stage.tell("data_suggested", number=number, **{**values, "request": asked.request - 1, "choices": []})
    assert stage.session.data.expected is None, "an answer for other settings counts for nothing"
    stage.tell("data_suggested", number=number, **values)
    return asked


def test_fields_that_are_open_say_what_would_be_suggested_and_why(table: Any) -> None:
    form = table.studio.settings_panel.form
    rate, optimizer = form.control("learning_rate"), form.control("optimizer")
    assert (rate.text(), rate.placeholderText()) == ("", "auto: 0.003")
    assert "the highest rate of the schedule" in rate.toolTip()
    assert form.control("batch_size").placeholderText() == "auto: 64"
    assert optimizer.currentText() == "auto: AdamW"
    assert form.control("model").currentText() == "auto: MLP"
    assert form.control("model").toolTip().endswith("\nSuggested: for a table")
    assert "optimizer_params.beta1" not in form.keys()  # noqa: SIM118
    assert form.is_valid()
    assert table.studio.data_panel.form.control("normalize").currentText() == "auto: Z-score"


def test_a_value_of_the_user_wins_also_where_it_is_the_default(table: Any, qtbot: Any) -> None:
    session, form = table.session, table.studio.settings_panel.form
    epochs = form.control("epochs")
    assert epochs.placeholderText() == "auto: 24"
    epochs.setText("5")
    assert session.train.settings.given == ("epochs",)
    assert form.control("learning_rate").placeholderText() == "auto", "not known for these settings yet"
    asked = answer(table, qtbot)
    assert (asked.config["epochs"], asked.config["given"]) == (5, ("epochs",))
    assert epochs.text() == "5"
    epochs.clear()
    assert (session.train.settings.given, session.train.settings.epochs) == ((), 5)
    assert form.is_valid()


def test_built_in_data_and_a_chosen_model_show_plain_values(table: Any) -> None:
    session, form = table.session, table.studio.settings_panel.form
    session.change_setting("model", "mlp")
    assert form.control("learning_rate").text() == "0.001"
    session.change_setting("model", "auto")
    assert form.control("learning_rate").text() == ""
    session.choose_data("digits")
    assert (form.control("epochs").text(), form.control("model").currentText()) == ("5", "auto")
    assert form.is_valid()
