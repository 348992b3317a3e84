"""Hostile source files on the page Code: the window answers while they are opened, typed into, replaced."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("PySide6", reason="the window needs Qt")
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.robust.hostile_code import TEXTS
from tests.robust.monkey_watch import Loop
from tests.studio.windows.conftest import Stage

WORST = ("chain", "backslashes", "numbers")
CHOSEN = tuple(TEXTS) if os.environ.get("MODEL_STUDIO_LONG") else WORST
GAP = 0.3  # 0.13 s at most were measured; computers of CI are slower
WAIT = 20_000


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.timeout(900)
def test_hostile_files_stop_the_window_for_moments_only(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path
) -> None:
    stage = Stage(qapp, tmp_path / "runs")
    session, found = stage.session, list[str]()
    session.files.begin()
    stage.studio.frame.show_page("code")
    coding, editor = session.model_editor, stage.studio.code_page.editor
    highlighter = editor._highlighter

    def is_done() -> bool:
        return not (session.files.reading.working or session.files.writing.working) and not (
            highlighter._timer.isActive()
        )

    def rest() -> None:
        """Until all is read, parsed and coloured."""
        qtbot.wait(50)
        qtbot.waitUntil(is_done, timeout=WAIT)

    loop = Loop(lambda kind, words: found.append(words), GAP)
    try:
        for name in CHOSEN:
            file, text = tmp_path / f"{name}.py", TEXTS[name]
            file.write_bytes(text.encode())
            loop.own = loop.processor = 0.0
            loop.action = f"opening {name}"
            coding.open(file)
            qtbot.waitUntil(lambda file=file: coding.view.file == str(file), timeout=WAIT)
            assert editor.code() == text
            rest()
            loop.action = f"typing into {name}"
            editor.insertPlainText("# typed")
            stage.studio.code.flush()
            rest()
            assert coding.text == "# typed" + text
            loop.action = f"replacing {name}"
            editor.replace_text(text)
            stage.studio.code.flush()
            rest()
            print(f"{name}: {loop.own:.2f} s without a turn, {loop.processor:.2f} s on a processor")
    finally:
        loop.close()
        stage.close()
        for thread in (session.files.listing, session.files.reading, session.files.writing):
            thread.end()
    assert not found, "\n".join(found)
