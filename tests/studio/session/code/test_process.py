"""A dry run in a real child process: what kills the child leaves the session as it is."""

from __future__ import annotations

from pathlib import Path

from studio.session.session import Session

WAIT = 120.0


def test_code_that_kills_its_process_is_reported_and_the_next_text_is_tried(tmp_path: Path) -> None:
    session = Session(runs_folder=tmp_path / "runs")
    model_editor, view = session.model_editor, session.model_editor.view
    model_editor.new("linear", tmp_path / "mine.py")
    text = model_editor.text
    model_editor.edit("import os\n" + text.replace("return", "os.abort()\n        return"))
    # The text of the template was on its way: it is tried first, and is shown no more.
    assert session.wait_until(lambda: view.state != "checking", WAIT)
    assert view.state == "stuck"
    assert "the process of the dry run has died" in view.problems[0].what
    model_editor.edit(text)
    assert session.wait_until(lambda: view.state != "checking", WAIT)
    assert (view.state, view.problems, view.output) == ("done", (), (-1, 10))
    session.close()
