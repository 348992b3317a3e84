"""A session that closes while the disk does not answer what a run or model is read for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import engine.training.measuring.predictions as predictions
from studio.session.export.quantization import reports
from studio.session.runs.epoch_tables import EpochTable
from studio.session.session import Session
from studio.session.work.worker import ThreadWorker

SECONDS = 20.0


def _mistakes(session: Session, run: str) -> None:
    session.mistakes.show(run, "", [EpochTable(1, 5, 0.5, np.eye(2, dtype=np.uint32))], ("a", "b"))


def _numbers(session: Session, run: str) -> None:
    session.number_errors.show(run, 1, 5, ("price",), ("",))


def _report(session: Session, run: str) -> None:
    session.quantization.show_files(run, "")


@pytest.mark.parametrize("show", [_mistakes, _numbers, _report])
def test_closing_does_not_wait_for_a_read_that_is_stuck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, show: Callable[[Session, str], None]
) -> None:
    begun, answers, ended = threading.Event(), threading.Event(), threading.Event()

    def read(*_: object) -> None:
        begun.set()
        answers.wait(SECONDS)
        ended.set()

    for name in ("read", "read_numbers"):
        monkeypatch.setattr(predictions.PredictionsFolder, name, read)
    monkeypatch.setattr(reports, "read_report", read)
    session = Session(ThreadWorker, tmp_path / "runs")
    session.files.begin()
    show(session, str(tmp_path / "run"))
    assert begun.wait(SECONDS)
    try:
        session.close(0.1)
        assert not ended.is_set()
    finally:
        answers.set()
        session.files.reading.end()
