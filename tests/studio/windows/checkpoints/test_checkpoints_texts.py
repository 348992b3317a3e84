"""The window of checkpoints in other languages, for the keyboard and for screen readers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QAccessible

from studio.session import commands
from studio.session.checkpoints.checkpoints_view import GivenSample
from studio.windows.checkpoints.checkpoints_window import CheckpointsWindow
from tests.studio.language.marked import OPEN, Language
from tests.studio.language.texts import texts
from tests.studio.language.untranslated import cut_off, settle, untranslated
from tests.studio.session.checkpoints.stored_run import write_run, write_step
from tests.studio.windows.test_accessibility import controls, path_of
from widgets.plot.chart import Chart

NAMES = {"run", "conv", "weight", "bias", "fc", "even", "odd", "checkpoints", "step"}


@pytest.fixture
def dialog(stage: Any, tmp_path: Path) -> Iterator[CheckpointsWindow]:
    run = write_run(tmp_path / "runs" / "run")
    write_step(run, 37)
    for step in (12, 13, 14):
        (run / "checkpoints" / f"step-{step:08d}.h5").write_bytes(b"")
    session = stage.session
    session.refresh_runs()
    session.select_run(str(run))
    assert stage.studio.actions.trigger(commands.SHOW_CHECKPOINTS) == ""
    found = stage.studio.runs.doings.checkpoints.dialog
    found.resize(1000, 650)
    view = session.checkpoints.view
    view.input_form = "digit"
    view.sample = GivenSample((np.full((28, 28), 0.5, np.float32),), 5, 1)
    view.ranking = (("odd", 0.75), ("even", 0.25))
    session.predict.fed = (np.zeros((28, 28), np.float32),)
    settle()
    yield found
    Language.english()
    found.close()


def test_all_texts_follow_the_language_and_return(
    dialog: CheckpointsWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    Language.marked()
    settle()
    found = untranslated(dialog, monkeypatch, NAMES)
    assert not found, "\n".join(sorted(found))
    Language.english()
    settle()
    assert [str(text) for text in texts(dialog) if OPEN in str(text)] == []


@pytest.mark.styled
def test_nothing_is_cut_off_in_a_longer_language(dialog: CheckpointsWindow) -> None:
    Language.marked()
    settle()
    assert (dialog.width(), dialog.height()) == (1000, 650)
    assert sorted(cut_off(dialog)) == []


def test_every_control_has_a_name_and_is_reached_by_tab(dialog: CheckpointsWindow) -> None:
    # The inside of a chart is not a control.
    wanted = [widget for widget in controls(dialog) if not isinstance(widget.parent(), Chart)]
    assert len(wanted) > 12
    for widget in wanted:
        name = QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)
        assert name.strip(), path_of(widget)
    start = wanted[0]
    reached, widget = {start}, start.nextInFocusChain()
    while widget is not start:
        reached.add(widget)
        widget = widget.nextInFocusChain()
    assert set(wanted) <= reached
