"""This person's folders where the system knows a home, and where it knows none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.core.errors import SaveError
from engine.files.native.installation import installation_key
from engine.files.state import read_state, write_state
from engine.vision.datasets import MNIST
from resources.user_folders import NO_HOME, home_folder, user_folder
from studio.session.project.project_file import Preferences, read_preferences, write_preferences
from studio.session.session import Session


@pytest.fixture
def no_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder worked in by a user without a name and a home, as of ``docker run --user 12345``."""
    pwd = pytest.importorskip("pwd", reason="on Windows every user has a profile")

    def unknown(*_: object) -> None:
        raise KeyError("no such user")

    for name in ("getpwuid", "getpwnam"):
        monkeypatch.setattr(pwd, name, unknown)
    for name in list(os.environ):
        if name == "HOME" or name.startswith("XDG_"):
            monkeypatch.delenv(name)
    monkeypatch.delenv("MODEL_STUDIO_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_with_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("data", "config", "cache"):
        assert user_folder(kind).is_absolute()
        assert user_folder(kind).name == "model-studio"
    assert home_folder() == Path.home()
    if os.name == "posix" and os.uname().sysname == "Linux":
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
        assert user_folder("data") == user_folder("data", author=True) == tmp_path / "model-studio"


def test_without_a_home_files_are_foreign_and_can_be_read(no_home: Path) -> None:
    assert home_folder() == NO_HOME
    assert installation_key() is None
    write_state(no_home / "a", {"v": 1})
    assert read_state(no_home / "a") == {"v": 1}
    with pytest.raises(SaveError, match="HOME is not set"):
        MNIST.fetch("train")
    assert os.listdir(no_home) == ["a"]


def test_without_a_home_a_session_has_its_defaults_and_says_what_it_can_not_save(no_home: Path) -> None:
    assert read_preferences() == (Preferences(), "")
    with pytest.raises(SaveError, match="HOME is not set") as caught:
        write_preferences(Preferences())
    assert "\n" not in str(caught.value)
    session = Session()
    assert session.runs_folder == no_home / "runs"
    session.refresh_runs()
    session.close(0.0)
    assert os.listdir(no_home) == []
