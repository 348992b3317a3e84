"""Why… in Mistakes and on Data: which sample and which model are explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.session.data.data_view import DataFacts
from studio.session.selection import Selected
from studio.session.train.mistakes_view import SampleView
from tests.studio.answering_run import make_run
from tests.studio.windows.conftest import Stage

WAIT = 60_000


@pytest.fixture
def run(stage: Stage) -> str:
    """A run whose checkpoints answer 3 at step 1, 5 at step 2."""
    folder = make_run(stage.session.runs_folder / "run", {1: 3, 2: 5}, 2)
    stage.session.refresh_runs()
    return str(folder)


def read(stage: Stage) -> None:
    """The sample that is being read is there."""
    stage.tell("sample", values=[np.zeros((28, 28), np.float32)], label="7")


def test_data_explains_the_chosen_sample_by_the_selected_run(stage: Stage, qtbot: QtBot, run: str) -> None:
    import engine.training  # noqa: F401  (the window has it by then)

    studio, session = stage.studio, stage.session
    page = studio.data_page
    studio.frame.show_page("data")
    assert not page.why.isEnabled()
    assert page.why.toolTip() == "Select a run with a checkpoint, or a saved model."
    qtbot.waitUntil(lambda: session.listed_run(run) is not None, timeout=WAIT)
    session.select_run(run)
    assert page.why.toolTip() == "Choose a sample first."
    values: dict[str, Any] = {
        "split": "test", "label": -1, "page": 0, "of": 2, "labels": [1, 2], "broken": [False, False],
        "places": ["digits test 11", "digits test 12"], "numbers": [11, 12],
        "values": [np.zeros((28, 28), np.uint8)] * 2,
    }  # fmt: skip
    session.data.facts = DataFacts(classes=tuple(map(str, range(10))))
    session.data.take({"event": "data_samples", **values})
    page.samples.tiles.setCurrentRow(1)
    assert page.why.isEnabled()
    qtbot.mouseClick(page.why, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: studio.why.is_open, timeout=WAIT)
    assert (stage.worker.job.split, stage.worker.job.place, stage.worker.job.folder) == ("test", 12, "")
    read(stage)
    sample = session.explaining.sample
    qtbot.waitUntil(lambda: bool(sample.view.ranking), timeout=WAIT)
    dialog = studio.why.dialog
    assert dialog is not None
    assert dialog.title.text() == "digits test 12"
    assert dialog.words.text().startswith("True: 7. The model answers digit 5, with ")
    qtbot.waitUntil(lambda: sample.maps.view.found is not None, timeout=WAIT)
    dialog.close()
    assert sample._client is None


def test_mistakes_explains_by_the_checkpoint_of_the_epoch_shown(stage: Stage, qtbot: QtBot, run: str) -> None:
    studio, session = stage.studio, stage.session
    qtbot.waitUntil(lambda: session.listed_run(run) is not None, timeout=WAIT)
    view = session.mistakes.view
    view.folder = run
    view.samples = [SampleView(40, 7, 3, 0.1), SampleView(41, 7, 3, 0.1)]
    studio.why.explain(Selected("run", run), 1, studio.mistakes.wanted(view.samples[0]), "test sample 40")
    qtbot.waitUntil(lambda: studio.why.is_open, timeout=WAIT)
    job = stage.worker.job
    assert (job.split, job.place, job.folder) == ("test", 40, run)
    read(stage)
    sample = session.explaining.sample
    qtbot.waitUntil(lambda: bool(sample.view.ranking), timeout=WAIT)
    assert sample.view.ranking[0][0] == "digit 3"
    studio.why.dialog.close()  # type: ignore[union-attr]


def test_a_run_without_a_checkpoint_says_so(stage: Stage, qtbot: QtBot, run: str) -> None:
    import shutil

    studio, session = stage.studio, stage.session
    shutil.rmtree(Path(run) / "checkpoints")
    problems: list[Any] = []
    session.problem.connect(problems.append)
    qtbot.waitUntil(lambda: session.listed_run(run) is not None, timeout=WAIT)
    wanted = studio.mistakes.wanted(SampleView(40, 7, 3, 0.1))
    studio.why.explain(Selected("run", run), -1, wanted, "")
    qtbot.waitUntil(lambda: bool(problems), timeout=WAIT)
    assert problems[0].what == "This run has no checkpoint yet."
    assert not studio.why.is_open
