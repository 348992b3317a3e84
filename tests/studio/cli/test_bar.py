"""The bar that the command line draws for ``Model.fit(verbose=1)``."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import engine as paddle
from engine import nn
from engine.core import display
from studio.cli import bar


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=100, color_system=None)
    monkeypatch.setattr(display, "terminal_bar", lambda steps: bar.TerminalBar(steps, console))
    return text


def fit(**arguments: Any) -> None:
    model = paddle.Model(nn.Linear(4, 3))
    model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), nn.CrossEntropyLoss())
    batch = (np.ones((4, 4), "float32"), np.ones((4, 1), "int64"))
    model.fit([batch] * 4, [batch], log_freq=2, epochs=2, **arguments)


def test_on_a_terminal_each_part_is_a_bar(
    screen: io.StringIO, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "__stdout__", sys.stdout)
    fit(verbose=1)
    drawn = screen.getvalue()
    assert [drawn.count(f"step {count}") for count in ("2/4", "4/4", "1/1")] == [2, 4, 4]  # the end twice
    assert "loss: " in drawn
    printed = capsys.readouterr().out
    assert printed.count("Epoch ") == 2
    assert "step" not in printed.partition("Epoch")[2]
    assert not bar.TerminalBar._open


def test_lines_stay_lines_and_redirected_output_is_text(
    screen: io.StringIO, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fit(verbose=1)
    assert "step 4/4 [====" in capsys.readouterr().out
    monkeypatch.setattr(sys, "__stdout__", sys.stdout)
    fit(verbose=2)
    assert "step 4/4 - loss: " in capsys.readouterr().out
    assert not screen.getvalue()


def test_a_script_that_ends_within_an_epoch_gives_the_terminal_back(screen: io.StringIO) -> None:
    made = display.terminal_bar
    assert made is not None
    half = made(4)
    half.update(2, [("loss", 0.5)])
    assert "\x1b[?25h" not in screen.getvalue()  # the cursor is hidden
    bar.TerminalBar.stop_all()
    assert screen.getvalue().endswith("\x1b[?25h")


def test_without_a_terminal_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "terminal_bar", None)
    bar.install()
    assert display.terminal_bar is None
