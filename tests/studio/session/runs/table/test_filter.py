"""Filters of runs: their language, what they find, and what is wrong with others."""

from __future__ import annotations

import math

import pytest

from studio.session.runs.run_list_view import RunListView
from studio.session.runs.run_notes import RunNotes
from studio.session.runs.runs_folder import Run
from studio.session.runs.table.columns import MOST_SETTINGS, differing_settings
from studio.session.runs.table.runs_table import RunsTable


def run(number: int, accuracy: float, rate: float, tags: tuple[str, ...] = (), **settings: object) -> Run:
    config = {"model": "lenet", "learning_rate": rate, "batch_size": 32, "optimizer": "adam", **settings}
    return Run(
        path=f"/runs/{number}", name=f"run-{number}", state="finished", config=config,
        started=1e9 + 36000 + 86400 * number, step=10, total_steps=10, epoch=1, accuracy=accuracy,
        checkpoint="", checkpoint_step=0, loss=1 - accuracy, seconds=60.0 * number, notes=RunNotes(tags=tags),
    )  # fmt: skip


RUNS = [
    run(1, 0.9, 0.1, ("baseline",)),
    run(2, 0.95, 0.01, optimizer="sgd", batch_size=64),
    run(3, 0.97, 0.001, optimizer_params={"beta1": 0.8}),
    run(4, math.nan, 0.003, ("wide",), data="/images/train", batch_size=128),
]
TITLES = {each.path: f"LeNet {each.name}" for each in RUNS}


@pytest.fixture(scope="module")
def table() -> RunsTable:
    made = RunsTable()
    made.set_runs(RUNS, TITLES)
    return made


def found(table: RunsTable, text: str) -> str:
    table.set_filter(text)
    assert table.error is None, table.error
    return "".join(each.path[-1] for each in table.visible)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("", "1234"),
        ("lr < 0.01 and accuracy > 0.9", "3"),
        ("learning_rate<0.01", "34"),
        ("Learning-Rate <= 1e-2", "234"),
        ('"Learning rate" >= 0.01', "12"),
        ("accuracy > 90 %", "23"),
        ("accuracy >= 90%", "123"),
        ("accuracy = 97 %", "3"),
        ("loss > .04", "12"),
        ("not lr = 0.1", "234"),
        ("lr = 0.1 or lr = 0.001 and accuracy > 0.96", "13"),
        ("(lr = 0.1 or lr = 0.001) and accuracy > 0.96", "3"),
        ("batch in (64, 128)", "24"),
        ("batch not in (64, 128)", "13"),
        ("optimizer = SGD", "2"),
        ("optimizer = Sgd or beta1 = 0.8", "23"),
        ("optimizer != sgd", "134"),
        ("optimizer-param.beta1 < 0.9", "3"),
        ('data ~ "train"', "4"),
        ('name !~ "run-1"', "234"),
        ("baseline", "1"),
        ("lenet wide", "4"),
        ('"run-2" or tags = wide', "24"),
        ("time > 2 min", "34"),
        ("time <= 120 s", "12"),
        ("started > 2001-09-12", "34"),
        ("NOT (baseline OR wide)", "23"),
        ("state = finished", "1234"),
    ],
)
def test_a_filter_finds_runs(table: RunsTable, text: str, runs: str) -> None:
    assert found(table, text) == runs


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("lr <", 5, 'the filter ends; allowed: a number, a word or "text"'),
        ("lr < and", 6, "got 'and'; allowed: a number"),
        ("(lr < 1", 8, "the filter ends; allowed: and, or, or )"),
        ("lr < 1)", 7, "got ')'; allowed: and, or, or another condition"),
        ("or lr < 1", 1, "got 'or'; allowed: a column"),
        ('name = "x', 8, "the quotation mark is not closed"),
        ("0.1 > lr", 1, "a column must be before >: got 0.1"),
        ("lr in 3", 7, "got '3'; allowed: ( and values"),
        ("lr < 1 and speed > 3", 12, "no run has a column 'speed'; did you mean"),
        ("optimizer < adam", 13, "< needs a number: got 'adam'"),
        ("accuracy > 90", 12, "accuracy is a share of 1: got 90; write 90 %"),
        ("accuracy_to_best > 0", 1, "can't be filtered; use accuracy"),
        ("lr ! 1", 4, "'!' has no meaning here"),
        ("(" * 60 + "a" + ")" * 60, 51, "too many parentheses"),
    ],
)
def test_an_error_says_where_and_what_is_allowed_and_the_last_filter_stays(
    table: RunsTable, text: str, position: int, words: str
) -> None:
    assert found(table, "lr = 0.1") == "1"
    table.set_filter(text)
    assert table.error is not None
    assert str(table.error).startswith(f"position {position}: ")
    assert words in str(table.error)
    assert [each.path for each in table.visible] == ["/runs/1"]
    assert table.choices.filter == text


def test_a_column_that_comes_later_makes_the_filter_valid() -> None:
    table = RunsTable()
    table.set_runs(RUNS[:1], TITLES)
    table.set_filter("beta1 > 0.5")
    assert table.error is not None
    table.set_runs(RUNS, TITLES)
    assert table.error is None
    assert [each.path for each in table.visible] == ["/runs/3"]


def test_runs_are_sorted_by_several_columns_those_without_a_value_last(table: RunsTable) -> None:
    assert found(table, "") == "1234"
    table.sort_by("accuracy")
    assert [each.path[-1] for each in table.visible] == ["3", "2", "1", "4"]
    table.sort_by("accuracy")
    assert [each.path[-1] for each in table.visible] == ["1", "2", "3", "4"]
    table.set_sort([("batch_size", False), ("learning_rate", False)])
    assert [each.path[-1] for each in table.visible] == ["3", "1", "2", "4"]
    table.set_sort([])
    assert table.best("accuracy") == 0.97
    assert table.text(RUNS[0], "accuracy_to_best") == "\u22127.00\u2009pp"
    assert table.text(RUNS[3], "accuracy_to_best") == ""
    found(table, "lr > 0.005")  # the best of the runs that are visible
    assert table.text(RUNS[0], "accuracy_to_best") == "\u22125.00\u2009pp"
    assert table.text(RUNS[0], "loss_to_best") == "+0.05000"


def test_numbers_in_names_are_sorted_as_numbers() -> None:
    table = RunsTable()
    names = ["lr 0.01, batch 128", "lr 0.01, batch 32", "LeNet", "lr 0.003, batch 64", "lr 1e-05, batch 256"]
    runs = [run(number, 0.5, 0.1) for number in range(len(names))]
    table.set_runs(runs, {each.path: name for each, name in zip(runs, names, strict=True)})
    table.sort_by("name")
    assert [names[int(each.path[-1])] for each in table.visible] == [
        "LeNet",
        "lr 1e-05, batch 256",
        "lr 0.003, batch 64",
        "lr 0.01, batch 32",
        "lr 0.01, batch 128",
    ]
    view = RunListView()
    view.sort_by("name")
    titles = {each.path: name for each, name in zip(runs, names, strict=True)}
    assert view.arranged(runs, titles) == table.visible


def test_settings_that_most_runs_vary_are_columns_before_those_of_few() -> None:
    other = run(
        99, 0.5, 0.001, data="/other", optimizer="sgd", model="linear", epochs=7, seed=3, schedule="cosine"
    )
    runs = [run(trial, 0.5, (0.1, 0.01, 0.001)[trial % 3], batch_size=16 << trial % 4) for trial in range(24)]
    table = RunsTable()
    table.set_runs([other, *runs], {})
    assert len(differing_settings(table.columns, table.runs, most=100)) == 8
    table.set_differing(differing_settings(table.columns, table.runs))
    settings = [name for name in table.shown_columns() if name in table.columns.settings()]
    assert len(settings) == MOST_SETTINGS
    assert {"learning_rate", "batch_size"} <= set(settings)
    assert settings == [name for name in table.columns.settings() if name in settings]
