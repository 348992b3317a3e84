"""The dialog that edits a saved model: what it sends, and what it says afterwards."""

from __future__ import annotations

from pathlib import Path

import engine as paddle
from engine import nn
from studio.session.export.edit_job import EditModel
from studio.session.project.session_script import SessionScript
from studio.session.session import Session
from studio.session.work.worker import ThreadWorker
from studio.windows.export.edit_model_dialog import CUT, DIMS, RENAME, SOURCE, TARGET
from tests.studio.windows.conftest import Stage


def saved(folder: Path) -> str:
    spec = [paddle.static.InputSpec([None, 4], "float32", "x")]
    paddle.jit.save(nn.Sequential(nn.Linear(4, 2), nn.Softmax()), str(folder / "model"), spec)
    return str(folder / "model")


def test_dialog_sends_what_it_says(stage: Stage, tmp_path: Path) -> None:
    sent: list[EditModel] = []
    stage.session.saved_model_edit.start = sent.append  # type: ignore[method-assign]
    assert stage.studio.actions.trigger("edit_model") == ""
    dialog = stage.studio.edits.dialog
    assert dialog is not None
    assert not dialog.write.isEnabled()
    entries = {SOURCE: "a.onnx", TARGET: "b.h5", RENAME: "x=image, y=z", DIMS: "x:0=1", CUT: "x .. y"}
    for key, value in entries.items():
        dialog.form.set_value(key, value)
    dialog.show_state(False, "")
    dialog.write.click()
    assert sent == [EditModel("a.onnx", "b.h5", ("x=image", "y=z"), ("x:0=1",), "x..y", False)]
    dialog.close()


def test_job_writes_the_edited_model_and_the_script_repeats_it(tmp_path: Path) -> None:
    job = EditModel(saved(tmp_path), str(tmp_path / "new.h5"), ("x=row",), ("x:0=3",))
    events: list[dict[str, object]] = []
    job.run(events.append, None)  # type: ignore[arg-type]
    (event,) = events
    assert event["inputs"] == ["row"]
    assert paddle.jit.load(str(event["path"])).program().global_block().var("row").shape == (3, 4)
    script = SessionScript()
    script.record(job)
    assert "convert" in script.text()
    assert "--rename x=row --dim x:0=3" in script.text()


def test_dialog_shows_the_result_or_the_reason(stage: Stage, tmp_path: Path) -> None:
    edit = stage.session.saved_model_edit
    stage.studio.actions.trigger("edit_model")
    dialog = stage.studio.edits.dialog
    assert dialog is not None
    edit.state, edit.result = "done", {"path": "b.h5", "inputs": ["row"], "outputs": ["y", "z"]}
    edit.changed.emit()
    assert dialog.text() == "b.h5: inputs row; outputs y, z"
    edit.state = "running"
    edit.changed.emit()
    assert (dialog.write.isEnabled(), dialog.stop.text()) == (False, "Cancel")
    edit.state = "idle"
    edit.changed.emit()
    dialog.close()


def test_edit_that_fails_says_why_and_one_that_succeeds_is_in_the_script(tmp_path: Path) -> None:
    session = Session(ThreadWorker, tmp_path / "runs")
    try:
        edit = session.saved_model_edit
        source = saved(tmp_path)
        edit.start(EditModel(source, str(tmp_path / "new.h5"), ("none=row",)))
        assert session.wait_until(lambda: edit.state != "running", 60)
        assert edit.state == "failed"
        assert edit.problem is not None
        assert "'none' is neither an input nor an output: the inputs are x" in edit.problem.message
        edit.start(EditModel(source, str(tmp_path / "new.h5"), ("x=row",)))
        assert session.wait_until(lambda: edit.state != "running", 60)
        assert edit.state == "done"
        assert "--rename x=row" in session.script.text()
    finally:
        session.close()
