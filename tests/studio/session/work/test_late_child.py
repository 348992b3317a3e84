"""A child that begins after its window was killed."""

from __future__ import annotations

import signal
from multiprocessing import Pipe
from pathlib import Path

import pytest

from studio.session.work.worker_main import main


def test_a_child_whose_folder_was_removed_ends_without_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    connection, other = Pipe()
    with connection, other:
        assert main(connection, str(tmp_path / "removed" / "crash.txt")) is None
