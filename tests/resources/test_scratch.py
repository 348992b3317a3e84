"""Folders for work: gone at the end, and what killed makers left goes with the next one of that name."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path

import pytest

from resources.locks import Lock
from resources.scratch import make_scratch, remove_left


def test_a_folder_is_there_until_it_is_removed(tmp_path: Path) -> None:
    scratch = make_scratch(tmp_path, "n" * 300)
    (scratch.path / "a").write_text("x")
    other = make_scratch(tmp_path, "n" * 300)
    assert (scratch.path / "a").exists()
    for each in (scratch, other):
        each.remove()
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_the_folder_of_a_killed_process_is_removed_with_the_next_of_its_name(tmp_path: Path) -> None:
    for name in ("mine", "theirs"):
        if os.fork() == 0:
            (make_scratch(tmp_path, name).path / "a").write_text("x")
            os.kill(os.getpid(), signal.SIGKILL)
        os.wait()
    assert len(os.listdir(tmp_path)) == 2
    make_scratch(tmp_path, "mine").remove()
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".theirs.")


def test_a_folder_that_could_not_be_removed_is_removed_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    scratch = make_scratch(tmp_path, "mine")
    (scratch.path / "a").write_text("x")
    with monkeypatch.context() as patch:
        for name in ("listdir", "scandir"):
            patch.setattr(os, name, fail)
        scratch.remove()
    assert scratch.path.exists()
    make_scratch(tmp_path, "mine").remove()
    assert os.listdir(tmp_path) == []


def test_only_folders_of_ours_go(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "lock").write_text("")
    place = tmp_path / "place"
    place.mkdir()
    (place / f".a.{'0' * 16}.work").symlink_to(outside)
    (place / f".a.{'1' * 16}.work").write_text("a file")
    (place / f".a.{'2' * 16}.work").mkdir()
    (place / f".a.{'2' * 16}.work" / "b").write_text("")  # of a process without locks
    (place / f".a.{'3' * 16}.work").mkdir()
    os.utime(place / f".a.{'3' * 16}.work", (time.time() - 7200,) * 2)
    (place / f".a.{'4' * 16}.work").mkdir()
    (place / f".a.{'4' * 16}.work" / "lock").write_text("")
    (place / "a.work").mkdir()
    remove_left(place, "a")
    assert sorted(os.listdir(place)) == [*(f".a.{digit * 16}.work" for digit in "012"), "a.work"]
    assert (outside / "lock").exists()


def test_without_a_place_it_lies_among_the_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scratch = make_scratch()
    assert scratch.path.parent == tmp_path
    assert scratch.path.stat().st_mode & 0o777 == 0o700
    scratch.remove()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    with pytest.raises(FileNotFoundError):
        make_scratch()


def test_a_folder_whose_maker_was_killed_before_it_was_locked_goes(tmp_path: Path) -> None:
    left = tmp_path / f".model.{'0' * 16}.work"
    left.mkdir()
    remove_left(tmp_path, "model")
    assert not left.exists()


def test_the_lock_is_removed_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a maker that is killed while it removes leaves a folder that nothing recognizes for an hour."""
    scratch = make_scratch(tmp_path, "model")
    (scratch.path / "a").write_text("a")
    (scratch.path / "z").mkdir()
    seen = []
    release = Lock.release

    def released(self: Lock, keep: bool = False) -> None:
        seen.extend(path.name for path in scratch.path.iterdir())
        release(self, keep)

    monkeypatch.setattr(Lock, "release", released)
    scratch.remove()
    assert seen == ["lock"]
    assert list(tmp_path.iterdir()) == []
