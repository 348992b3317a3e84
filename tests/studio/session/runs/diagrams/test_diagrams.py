"""What diagrams of runs show: columns of settings and results, choices, the shared selection, importance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from studio.session.runs.diagrams.choices import DiagramChoices
from studio.session.runs.diagrams.diagrams_view import DiagramsView
from studio.session.runs.diagrams.importance import Setting, SettingImportance
from studio.session.runs.diagrams.importance_view import ImportanceView
from studio.session.runs.diagrams.run_values import RunValues
from studio.session.runs.runs_folder import Run, list_runs
from studio.session.runs.runs_selection import RunsSelection
from studio.session.runs.table.columns import RunColumns
from studio.session.runs.table.runs_table import RunsTable
from studio.session.session import Session
from tests.studio.session.conftest import FakeWorker
from tests.studio.windows.runs.run_folders import make_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    for place, (rate, optimizer, params) in enumerate(
        [(0.001, "adam", {"beta1": 0.9}), (0.01, "sgd", {}), (0.1, "adam", {"beta1": 0.8})]
    ):
        made = make_run(
            folder / f"lenet-static-{place:03}",
            started=float(place),
            accuracy=0.9 + place / 100,
            loss=0.5 - place / 10,
            learning_rate=rate,
            optimizer=optimizer,
            optimizer_params=params,
        )
        if place:
            (made / "inference").mkdir()
            (made / "inference" / "model.h5").write_bytes(b"x" * 100 * place)
    return list_runs(folder)[::-1]


def values_of(runs: list[Run]) -> RunValues:
    columns = RunColumns()
    columns.set_runs(runs, {})
    made = RunValues(columns)
    made.set_runs(runs)
    return made


@pytest.fixture
def values(runs: list[Run]) -> RunValues:
    made = values_of(runs)
    assert made.prepare()
    return made


def test_settings_that_differ_and_results_are_columns(values: RunValues) -> None:
    assert values.settings() == ["optimizer", "learning_rate", "optimizer_params.beta1"]
    assert values.measures() == ["accuracy", "loss", "time", "parameters", "bytes", "steps"]
    assert values.values("learning_rate") == [0.001, 0.01, 0.1]
    assert values.values("optimizer") == ["Adam", "SGD", "Adam"]
    assert values.values("optimizer_params.beta1") == [0.9, None, 0.8]
    assert values.values("parameters") == [61706] * 3
    assert values.values("bytes") == [None, 100.0, 200.0]
    assert values.values("a column that no run has") == [None] * 3
    assert [values.title(name) for name in ("accuracy", "learning_rate")] == ["Accuracy", "Learning rate"]


def test_settings_of_many_runs_are_read_in_slices(runs: list[Run]) -> None:
    values = values_of(runs * 20)
    assert [values.prepare(0.0) for _ in range(3)] == [False, False, True]
    assert len(values.values("learning_rate")) == 60


def test_no_runs_and_one_run_have_nothing_to_compare(runs: list[Run]) -> None:
    view = DiagramsView(RunColumns())
    assert (view.axes(), view.scatter(), view.heat_map(), view.target()) == (
        [],
        ("", "", ""),
        ("", "", ""),
        "",
    )
    view.values = values_of(runs[:1])
    view.values.prepare()
    assert view.axes() == ["accuracy"]
    assert view.scatter() == ("time", "accuracy", "")


def test_diagrams_show_what_was_chosen_where_runs_have_it(values: RunValues) -> None:
    view = DiagramsView(values.columns)
    view.values = values
    changes: list[bool] = []
    view.changed.connect(lambda: changes.append(True))
    assert view.axes() == ["optimizer", "learning_rate", "optimizer_params.beta1", "accuracy"]
    assert view.scatter() == ("time", "accuracy", "optimizer")
    assert view.heat_map() == ("learning_rate", "optimizer_params.beta1", "accuracy")
    view.choose(axes=("loss", "gone", "learning_rate"), x="parameters", across="gone", color="loss")
    view.choose(x="parameters")
    assert changes == [True]
    assert view.axes() == ["loss", "learning_rate"]
    assert view.scatter()[0] == "parameters"
    assert view.heat_map()[0] == "learning_rate"
    assert view.color() == "loss"
    assert DiagramChoices.model_validate_json(view.choices.model_dump_json()) == view.choices


def test_the_first_axes_are_settings_that_most_runs_vary(runs: list[Run]) -> None:
    names = ("data", "model", "optimizer", "schedule", "seed", "epochs", "clip_norm", "threads")
    one = replace(runs[0], config={**runs[0].config, **dict.fromkeys(names, "7")})
    values = values_of(
        [
            one,
            *(replace(run, config={**run.config, "batch_size": place}) for place, run in enumerate(runs * 8)),
        ]
    )
    values.prepare()
    assert len(values.settings()) == 11
    view = DiagramsView(values.columns)
    view.values = values
    axes = view.axes()
    assert len(axes) == 8
    assert {"learning_rate", "batch_size", "optimizer_params.beta1"} < set(axes)
    assert axes[:-1] == [name for name in values.settings() if name in axes]


def test_one_regression_among_others_leaves_the_accuracy_as_the_metric(runs: list[Run]) -> None:
    numbers = replace(runs[0], accuracy=math.nan, r2=0.9, task="numbers")
    values, table = values_of([numbers, *runs]), RunsTable()
    values.prepare()
    table.set_runs([numbers, *runs], {})
    assert values.metric() == table.metric() == "accuracy"
    values = values_of([numbers, numbers, runs[0]])
    values.prepare()
    assert values.metric() == "r2"


def test_the_selection_forgets_runs_that_are_gone() -> None:
    selection = RunsSelection()
    changes: list[tuple[str, ...]] = []
    selection.changed.connect(lambda: changes.append(selection.folders))
    selection.select(["a", "b", "a"])
    selection.select(["b", "a"])
    selection.retain(["b", "c"])
    assert changes == [("a", "b"), ("b",)]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(lambda notify: pytest.fail("no worker is needed"), tmp_path)
    yield made
    made.close(0.0)


def test_few_runs_are_compared_by_rank_correlation_without_a_child(session: Session) -> None:
    view: ImportanceView = session.importance
    changes: list[bool] = []
    view.changed.connect(lambda: changes.append(True))
    settings = [Setting("rate", np.array([1.0, 2.0, 3.0, math.nan])), Setting("same", np.ones(4))]
    for _ in range(2):
        view.compute(settings, np.array([0.1, 0.2, 0.3, 0.4]))
    assert (view.method, view.runs, view.computing) == ("correlation", 4, False)
    assert [(each.name, round(each.value, 9)) for each in view.rows] == [("rate", 1.0)]
    assert len(changes) == 1
    view.compute(settings, np.full(4, math.nan))
    assert (view.rows, view.runs) == ([], 0)


def test_a_forest_replaces_the_correlation_once_it_is_computed(tmp_path: Path) -> None:
    started: list[FakeWorker] = []

    def make(notify: Callable[[], None] | None) -> FakeWorker:
        started.append(FakeWorker(notify))
        return started[-1]

    session = Session(make, tmp_path)  # type: ignore[arg-type]
    view = session.importance
    random = np.random.default_rng(0)
    settings = [Setting(str(each), random.normal(size=10_000)) for each in range(30)]
    view.compute(settings, settings[0].values)
    view.has_forest = True
    if not view.computing:  # scikit-learn is not installed here
        view._begin()
    assert (view.method, view.rows[0].name, view.runs) == ("correlation", "0", 10_000)
    assert started[0].job.values.nbytes + started[0].job.metric.nbytes <= 48_000
    started[0].tell({"event": "importance", "time": 1.0, "rows": [["7", 0.5, 0.1, 1]]})
    started[0].end()
    session.pump()
    assert (view.method, view.rows, view.computing) == (
        "forest",
        [SettingImportance("7", 0.5, 0.1, 1)],
        False,
    )
    session.close(0.0)
