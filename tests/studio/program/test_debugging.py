"""The real program: a model with a planted NaN is trained, and debugged to its operator by clicks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.studio.program.program import Program, until
from tests.studio.session.debug.test_debug_child import net


def test_a_planted_nan_is_trained_and_found(start: Callable[[], Program], bars: Path, tmp_path: Path) -> None:
    file = net(tmp_path, "paddle.log")
    program = start()
    program.do("set", "data", str(bars))
    program.do("set", "model", f"{file}:Net")
    program.do("click", "train_page.welcome.start")
    until(lambda: program.do("press", "Allow"), "the question about the code")
    program.until("session.train.state", "failed")
    until(lambda: program.do("press", "Find the operator"), "the offer")
    program.until("session.debugging.view.stop.reason", "not finite")
    program.until("session.debugging.view.state", "standing")
    assert program.get("session.debugging.view.stop.operator") == "log"
    assert program.get("session.debugging.view.stop.line") == 14
    assert program.get("window.current_page") == "debug"
    text = program.get("debug_page.position.text")
    assert text.startswith("log is the first operator with a bad value")
    assert "net.py:14" in text
    assert program.get("debug_page.source.marked_lines") == [14]
    assert program.get("debug_page.tensor.name") == "log_0.tmp_0"
    until(lambda: len(program.get("debug_page.tensor.image.accessibleName")) > 0, "the image")
    program.do("trigger", "debug_step")
    program.until("session.debugging.view.stop.operator", "flatten_contiguous_range")
    program.do("trigger", "debug_stop")
    program.until("session.debugging.view.state", "ended")
    program.do("close")
