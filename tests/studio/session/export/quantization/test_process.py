"""A tiny run quantized in a real child: cancelled on the way, done, its report read by another session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.jit.saved.model_files import read_model_files
from engine.training import TrainingConfig, TrainingRun
from studio.session.session import Session

WAIT = 180.0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "runs" / "first"
    TrainingRun(TrainingConfig(model="linear", data="digits", samples=200, epochs=1, out=str(folder))).run()
    return folder


def begin(session: Session, run: Path) -> Any:
    session.refresh_runs()
    session.export.choose_run(str(run), (1, 28, 28))
    session.export.choose(method="post_training", samples=32)
    assert session.execute("export") == ""
    return session.export


def test_a_run_is_quantized_cancelled_and_shown_again(run: Path) -> None:
    session, outcome = Session(runs_folder=run.parent), []
    try:
        view = begin(session, run)
        view.events.done.connect(lambda done: outcome.append((done, view.total)))
        # The first sign of life is enough: Cancel comes while it is at work.
        assert session.wait_until(lambda: view.message not in ("", "Starting…"), WAIT)
        assert session.execute("cancel_task") == ""
        assert session.wait_until(lambda: not session.task_runs, WAIT)
        assert view.state == "idle"
        assert not list((run / "inference").glob("model-int8*"))
        begin(session, run)
        assert session.wait_until(lambda: not session.task_runs, WAIT)
        assert (view.state, view.last_problem) == ("done", None)
        first = session.quantization.view.report
        assert first is not None
        [layer] = first.layers
        assert layer.quantized
        assert read_model_files(view.exported_prefix).weights[layer.weight].dtype.name == "int8"
        assert session.wait_until(
            lambda: len(session.quantization.view.images) == min(60, first.changed_count), WAIT
        )
    finally:
        session.close()
    again = Session(runs_folder=run.parent)
    try:
        again.quantization.show_files(str(run / "inference" / "model-int8"), str(run))
        assert again.wait_until(lambda: again.quantization.view.report is not None, WAIT)
        assert again.quantization.view.report == first
        again.quantization.choose_layer(layer.name)
        assert again.wait_until(lambda: again.graph.selected is not None, WAIT)
        assert again.graph.selected_operator()["type"] == layer.op
    finally:
        again.close()
    assert any(total for _, total in outcome)
