"""Files replaced whole: what killed writers left is removed, what others work on or own is not."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from resources import replacing
from resources.replacing import hidden_prefix, remove_abandoned, replaced_file, temporary_file

LONG = "n" * 250


def temporary(name: str, number: int = 0) -> str:
    return f".{hidden_prefix(name)}.{number:016x}.tmp"


def replace(target: Path, content: bytes) -> None:
    with replaced_file(target) as file:
        file.write(content)


@pytest.mark.parametrize("name", ["a.h5", LONG, "é" * 120])
def test_a_writer_removes_what_a_killed_one_left_of_the_same_file(tmp_path: Path, name: str) -> None:
    pid = os.fork() if hasattr(os, "fork") else pytest.skip("needs fork")
    if pid == 0:
        with replaced_file(tmp_path / name) as file:
            file.write(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    (left,) = os.listdir(tmp_path)
    assert left.startswith(f".{hidden_prefix(name)}.")
    replace(tmp_path / name, b"new")
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == b"new"


def test_temporary_files_of_live_processes_are_not_removed(tmp_path: Path) -> None:
    with temporary_file(tmp_path / "a") as (file, path):
        file.write(b"mine")
        replace(tmp_path / "a", b"theirs")
        assert remove_abandoned(tmp_path) == []
        assert path.exists()
    assert os.listdir(tmp_path) == ["a"]


def test_only_temporary_files_of_ours_are_removed(tmp_path: Path) -> None:
    others = [".a.0123.tmp", "a.0123456789abcdef.tmp", ".a.0123456789abcdef.tmp~", ".other"]
    for name in (*others, temporary("a"), temporary("b")):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / temporary("a", 1)).mkdir()
    (tmp_path / temporary("a", 2)).symlink_to(tmp_path / ".other")
    stay = {*others, temporary("a", 1), temporary("a", 2)}
    assert remove_abandoned(tmp_path, "a") == [tmp_path / temporary("a")]
    assert set(os.listdir(tmp_path)) == {*stay, temporary("b")}
    assert remove_abandoned(tmp_path) == [tmp_path / temporary("b")]
    assert set(os.listdir(tmp_path)) == stay
    assert remove_abandoned(tmp_path / "absent") == []


def test_without_locks_the_age_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacing, "hold", lambda descriptor: None)
    for number in (0, 1):
        (tmp_path / temporary("a", number)).write_bytes(b"x")
    os.utime(tmp_path / temporary("a", 1), (time.time() - 7200,) * 2)
    replace(tmp_path / "a", b"new")
    assert set(os.listdir(tmp_path)) == {"a", temporary("a", 0)}


def test_a_writer_whose_file_was_taken_for_abandoned_makes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []

    def hold(descriptor: int) -> bool:
        taken.append(descriptor)
        return len(taken) > 2

    monkeypatch.setattr(replacing, "hold", hold)
    replace(tmp_path / "a", b"new")
    assert len(taken) == 3
    assert os.listdir(tmp_path) == ["a"]


def test_an_error_keeps_the_old_file_and_leaves_nothing(tmp_path: Path) -> None:
    replace(tmp_path / "a", b"old")

    def fail() -> None:
        with replaced_file(tmp_path / "a") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]
