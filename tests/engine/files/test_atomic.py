"""Atomic writing: the old file or the new one after a failure, and a SaveError that says what to do."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from engine.core.errors import SaveError
from engine.files.atomic import atomic_file, atomic_write, make_folder


def test_a_new_file_is_there_and_nothing_else(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a.bin", lambda file: file.write(b"new"))
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with atomic_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes and links")
def test_mode_and_symbolic_link_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "a.bin", tmp_path / "link.bin"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    atomic_write(link, lambda file: file.write(b"new"))
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_any_failure_of_the_writer_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        atomic_write(path, fail)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, ("no space left on device", "MB free", "free some space")),
        (errno.EACCES, ("permission denied", "choose a folder that you may write to")),
        (errno.EROFS, ("read-only file system", "choose a folder that you may write to")),
        (errno.EIO, ("input/output error", "check the disk")),
    ],
)
def test_an_os_error_becomes_a_save_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, words: tuple[str, ...]
) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(SaveError) as caught:
        atomic_write(path, lambda file: file.write(b"new"))
    monkeypatch.undo()
    assert caught.value.errno == number
    for word in (str(path), "unchanged", *words):
        assert word in str(caught.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_folder_that_can_not_be_synced_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "network folder")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    atomic_write(tmp_path / "a.bin", lambda file: file.write(b"new"))
    assert (tmp_path / "a.bin").read_bytes() == b"new"


def test_places_that_can_not_hold_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cases = {
        tmp_path / "absent" / "a.bin": "create the folder first",
        tmp_path / "file" / "a.bin": "a part of this path is a file",
        tmp_path: "the path is a folder",
        tmp_path / ("x" * 300): "choose a shorter name",
    }
    if sys.platform == "linux":
        cases[Path("/proc/a.bin")] = "; "
    for path, remedy in cases.items():
        with pytest.raises(SaveError, match="could not be saved") as caught:
            atomic_write(path, lambda file: file.write(b"new"))
        assert str(path) in str(caught.value)
        assert remedy in str(caught.value)
    with pytest.raises(SaveError, match="a part of this path is a file"):
        make_folder(tmp_path / "file" / "folder")


@pytest.mark.skipif(os.name == "nt", reason="RLIMIT_FSIZE")
def test_a_real_limit_of_the_system_in_the_middle_of_the_data(tmp_path: Path) -> None:
    script = """
import resource, sys
from engine.core.errors import SaveError
from engine.files.atomic import atomic_write
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    atomic_write(sys.argv[1], lambda file: [file.write(bytes(1000)) for _ in range(1000)])
except SaveError as error:
    print(error)
"""
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], cwd=root, capture_output=True, text=True, check=True
    )
    assert f"{path}: could not be saved: file too large; raise the limit" in done.stdout
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]
