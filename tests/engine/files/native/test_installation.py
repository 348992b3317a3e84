"""The installation's key: made once, private, and never needed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.files.native import installation
from engine.files.native.installation import installation_key, key_path
from engine.files.state import read_state, write_state

ROOT = Path(__file__).resolve().parents[4]


def test_the_key_is_made_once_and_private() -> None:
    key = installation_key()
    assert key is not None
    assert len(key) == 32
    assert installation_key() == key
    assert os.listdir(key_path().parent) == ["installation.key"]
    if os.name != "nt":
        assert stat.S_IMODE(key_path().stat().st_mode) == 0o600


def test_processes_that_start_together_agree() -> None:
    script = "from engine.files.native.installation import installation_key; print(installation_key().hex())"
    running = [
        subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE) for _ in range(3)
    ]
    keys = {process.communicate()[0] for process in running}
    key = installation_key()
    assert key is not None
    assert {bytes.fromhex(text.decode().strip()) for text in keys} == {key}


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_a_key_that_others_can_read_is_not_used() -> None:
    installation_key()
    key_path().chmod(0o644)
    assert installation_key() is None


def test_a_key_of_another_length_is_not_used() -> None:
    installation_key()
    key_path().write_bytes(b"short")
    assert installation_key() is None


def test_where_no_key_can_be_stored_files_count_as_foreign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(installation, "key_path", lambda: tmp_path / "file" / "installation.key")
    assert installation_key() is None
    checked: list[object] = []
    monkeypatch.setattr("engine.files.untrusted.guarded.check", checked.append)
    write_state(tmp_path / "a.h5", 1)
    assert read_state(tmp_path / "a.h5") == 1
    assert len(checked) == 1


def test_a_loser_of_the_race_uses_the_winners_key(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., None] = os.link
    winner = b"w" * 32

    def link(source: Path, target: Path) -> None:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(descriptor, winner)
        os.close(descriptor)
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    assert installation_key() == winner
    assert os.listdir(key_path().parent) == ["installation.key"]
