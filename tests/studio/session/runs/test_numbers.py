"""Runs that predict numbers in lists, comparisons, reports, sweeps, on the page Train and in a terminal."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.training import TrainingConfig, TrainingRun
from engine.training.result import RunResult
from resources.quantities import loss, typed
from resources.training_events import Baseline
from studio.cli.train.result_words import epoch_words, result_words
from studio.session.runs.comparison import compared_results
from studio.session.runs.report.report_page import write_report
from studio.session.runs.run_history import read_history
from studio.session.runs.run_list_view import RunListView
from studio.session.runs.runs_folder import Run, read_run_line
from studio.session.sweep.results import measured
from studio.session.train.train_view import TrainViewModel
from tests.engine.training.number_data import number_splits


class Trained:
    """A run of three epochs in ``folder``, with its events."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.events = folder, list[Any]()
        monkeypatch.setattr("engine.training.corrections.load_data", lambda *_: number_splits())
        monkeypatch.setattr("engine.training.training_run.fetch_data", lambda *_: None)
        config = TrainingConfig(
            data="numbers",
            model="linear",
            learning_rate=0.1,
            epochs=3,
            batch_size=32,
            static=False,
            kernels="numpy",
            threads=1,
            out=str(folder),
        )
        self.result = TrainingRun(config, [self.events.append]).run()

    def last(self, kind: str) -> Any:
        return [event for event in self.events if event["event"] == kind][-1]


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trained:
    return Trained(tmp_path / "run", monkeypatch)


def run_of(path: str, **changes: Any) -> Run:
    plain: dict[str, Any] = {
        "path": path,
        "name": path,
        "state": "finished",
        "config": {},
        "started": 0.0,
        "step": 1,
        "total_steps": 1,
        "epoch": 1,
        "accuracy": math.nan,
        "checkpoint": "",
        "checkpoint_step": 0,
    }
    return Run(**{**plain, **changes})


def test_a_line_of_the_list_has_the_best_r2(trained: Trained) -> None:
    run = read_run_line(trained.folder)
    assert run is not None
    assert (run.task, run.of_script) == ("numbers", "")
    assert run.figure == run.r2 == pytest.approx(trained.last("finished")["best_r2"])
    assert run.mae == pytest.approx(trained.last("epoch")["validation_mae"])
    assert math.isnan(run.accuracy)


def test_runs_are_sorted_by_the_metric_of_their_task() -> None:
    runs = [
        run_of("a", task="numbers", r2=-2.5),
        run_of("b", task="numbers", r2=0.9),
        run_of("c", accuracy=0.5),
        run_of("d", task="numbers"),
    ]
    view = RunListView()
    view.sort_by("accuracy")
    assert [run.path for run in view.arranged(runs, {})] == ["b", "c", "a", "d"]


def test_a_comparison_has_the_figures_of_the_task() -> None:
    runs = [run_of("a", task="numbers", r2=0.5, mae=2.0), run_of("b", task="numbers", r2=0.9, mae=1.0)]
    rows = {row.name: row for row in compared_results(runs)}
    assert "accuracy" not in rows
    assert (rows["r2"].best, rows["mae"].best) == (1, 1)
    assert not {"r2", "mae"} & {row.name for row in compared_results([run_of("c", accuracy=0.5)])}


def test_the_history_has_targets_units_and_baseline(trained: Trained) -> None:
    history = read_history(trained.folder)
    assert (history.task, history.targets, history.units) == ("numbers", ("price", "weight"), ("€", ""))
    assert history.baseline["linear"]["r2"] > 0.99
    assert [epoch["epoch"] for epoch in history.epochs] == [1, 2, 3]
    assert history.epochs[-1]["validation_r2"] == pytest.approx(trained.result.validation_metric)
    assert all(math.isnan(value) for value in history.accuracies)


def test_a_sweep_compares_by_r2(trained: Trained) -> None:
    found = measured(trained.folder, 3, "accuracy", "max")
    assert found is not None
    assert found.accuracy is None
    assert found.figure("accuracy") == pytest.approx(trained.result.best_metric)


def test_a_report_shows_r2_the_baseline_and_predicted_over_true(trained: Trained, tmp_path: Path) -> None:
    write_report(trained.folder, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    for words in ("Best R²", "Mean absolute error", "price: predicted over true", "linear model", "test R²"):
        assert words in text
    assert text.count('class="dot s0" cx') >= 2 * 60
    assert "Best accuracy" not in text


def test_the_page_train_follows_a_run_without_accuracies(trained: Trained) -> None:
    view = TrainViewModel()
    points: list[Any] = []
    view.new_points.connect(lambda *values: points.append(values))
    view.begin("run", str(trained.folder), False)
    for event in trained.events:
        view.take(event)
    assert view.state == "finished"
    assert view.best_r2 == trained.result.best_metric
    assert (view.targets, view.chosen_on) == (("price", "weight"), "test")
    assert view.baseline["constant"]["r2"] <= 0
    assert math.isnan(view.validation_accuracy)
    assert all(len(steps) == len(accuracies) for steps, _, accuracies, _ in points)


def test_the_command_line_says_r2_and_error_with_their_unit(trained: Trained) -> None:
    started = {**trained.events[0], "units": ["€", "€"]}
    epoch = trained.last("epoch")
    said = epoch_words(epoch, started)
    assert said.endswith(f"test R² {loss(epoch['validation_r2'])}, MAE {loss(epoch['validation_mae'], '€')}")
    words = result_words(trained.result, started, trained.last("baseline"))
    assert f"(best R² {loss(trained.result.best_metric)})" in words
    assert "linear model R² 0.99" in words


def test_balanced_accuracy_is_said_where_classes_differ_in_size() -> None:
    result = RunResult("finished", "", 4, 1, 0.75, 0.8, 4, 1.0, "", "")
    baseline = Baseline(
        event="baseline", time=0.0, step=0, split="test", constant={"accuracy": 0.6}, linear={"accuracy": 0.7}
    )
    assert typed(result_words(result, {}, baseline, [[10, 0], [4, 6]])) == (
        "test accuracy 75.00 % (best 80.00 %); majority class 60.00 %, linear model 70.00 %"
    )
    said = result_words(result, {"chosen_on": "validation"}, None, [[16, 0], [2, 2]])
    assert typed(said) == "validation accuracy 75.00 % (best 80.00 %), balanced 75.00 %"
    tested = replace(result, tested={"test_loss": 1.0, "test_accuracy": 0.5})
    assert result_words(tested, {}, None).endswith("; test accuracy of the best 50.00\u2009%")
