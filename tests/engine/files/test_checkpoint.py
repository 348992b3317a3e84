"""Checkpoints: names, the newest sound one, pruning."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError, FormatError, SaveError
from engine.files.checkpoint import (
    latest_checkpoint,
    list_checkpoints,
    prune_checkpoints,
    read_checkpoint,
    write_best,
    write_checkpoint,
)
from engine.files.state import write_state


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def test_names_and_content(tmp_path: Path) -> None:
    tree = {
        "model": {"w": np.arange(3.0)},
        "optimizer": {"step": 188, "moments": (np.zeros(2),)},
        "seed": (1, 2),
    }
    path = write_checkpoint(tmp_path / "checkpoints", 188, tree)
    assert path == tmp_path / "checkpoints" / "step-00000188.h5"
    again = read_checkpoint(path)
    assert again["optimizer"]["step"] == 188
    assert again["seed"] == (1, 2)
    assert np.array_equal(again["model"]["w"], tree["model"]["w"])  # type: ignore[index, call-overload]
    best = write_best(tmp_path / "checkpoints", {"x": 1})
    assert best.name == "best.h5"
    assert read_checkpoint(best) == {"x": 1}
    assert read_checkpoint(write_best(tmp_path / "checkpoints", {"x": 2})) == {"x": 2}


def test_they_are_listed_by_step(tmp_path: Path) -> None:
    for step in (10, 9, 123_456_789, 0):
        write_checkpoint(tmp_path, step, step)
    write_best(tmp_path, 1)
    for name in ("step-1.h5", "step-0000000x.h5", ".step-00000001.h5.aa.tmp", "step-00000011.h5.bak"):
        (tmp_path / name).write_bytes(b"")
    assert [entry.step for entry in list_checkpoints(tmp_path)] == [0, 9, 10, 123_456_789]
    assert list_checkpoints(tmp_path / "absent") == []


def test_the_latest_is_the_newest_sound_one(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path).entry is None
    paths = [write_checkpoint(tmp_path, step, step) for step in (1, 2, 3)]
    latest = latest_checkpoint(tmp_path)
    assert latest.entry is not None
    assert (latest.entry.step, latest.entry.path, latest.skipped) == (3, paths[2], ())
    damage(paths[2])
    paths[1].write_bytes(paths[1].read_bytes()[:-10])
    latest = latest_checkpoint(tmp_path)
    assert latest.entry is not None
    assert latest.entry.step == 1
    assert [each.path for each in latest.skipped] == [paths[2], paths[1]]
    assert "step-00000003.h5: the file is damaged" in latest.skipped[0].problem
    assert "step-00000002.h5: the file is truncated" in latest.skipped[1].problem
    damage(paths[0])
    assert latest_checkpoint(tmp_path).entry is None


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.EACCES, errno.ENOMEM])
def test_one_that_can_not_be_read_now_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """It may be sound; the user who resumes from an older one removes it."""
    paths = [write_checkpoint(tmp_path, step, step) for step in (1, 2)]
    real = os.open

    def fail(path: Any, *rest: Any) -> int:
        if Path(path) == paths[1]:
            raise OSError(number, os.strerror(number), str(path))
        return real(path, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", fail)
        with pytest.raises(DataError, match=r"step-00000002.h5: can't be read: .*; ") as caught:
            latest_checkpoint(tmp_path)
        assert caught.value.errno == number
        assert prune_checkpoints(tmp_path, keep=1).removed == ()
    found = latest_checkpoint(tmp_path).entry
    assert found is not None
    assert found.step == 2


def test_one_that_does_not_fit_into_memory_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_checkpoint(tmp_path, 1, 1)

    class Big(io.FileIO):
        def read(self, length: int | None = -1) -> bytes:
            if length == path.stat().st_size:
                raise MemoryError
            return super().read(length) or b""

    with monkeypatch.context() as patch:
        patch.setattr("engine.files.native.checked.open_regular", Big)
        with pytest.raises(DataError, match=r"step-00000001.h5: the file does not fit into memory"):
            latest_checkpoint(tmp_path)


def test_pruning_keeps_the_newest_sound_ones_and_the_best(tmp_path: Path) -> None:
    paths = [write_checkpoint(tmp_path, step, step) for step in range(1, 8)]
    write_best(tmp_path, 0)
    damage(paths[5])
    stale = tmp_path / f".step-00000009.h5.{'a' * 16}.tmp"
    stale.write_bytes(b"")
    pruned = prune_checkpoints(tmp_path, keep=3)
    assert sorted(os.listdir(tmp_path)) == ["best.h5", *(f"step-0000000{step}.h5" for step in (4, 5, 6, 7))]
    assert set(pruned.removed) == {*paths[:3], stale}
    assert pruned.notes == ()
    assert prune_checkpoints(tmp_path, keep=1).removed == (paths[5], paths[4], paths[3])
    assert prune_checkpoints(tmp_path / "absent").removed == ()
    with pytest.raises(ArgumentError, match="keep is 0"):
        prune_checkpoints(tmp_path, keep=0)


def test_one_that_can_not_be_removed_is_noted(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, 3, 3)
    (tmp_path / "step-00000001.h5").mkdir()
    pruned = prune_checkpoints(tmp_path, keep=1)
    assert pruned.removed == ()
    assert len(pruned.notes) == 1
    assert "step-00000001.h5: an old checkpoint could not be removed" in pruned.notes[0]


def test_bad_steps_folders_and_files(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="the step is -1"):
        write_checkpoint(tmp_path, -1, 0)
    (tmp_path / "file").write_bytes(b"")
    for write in (
        lambda: write_checkpoint(tmp_path / "file", 1, 0),
        lambda: write_best(tmp_path / "file", 0),
    ):
        with pytest.raises(SaveError, match="a part of this path is a file"):
            write()
    write_state(tmp_path / "state.h5", 1)
    with pytest.raises(FormatError, match="another kind: 'state' where 'checkpoint' is needed"):
        read_checkpoint(tmp_path / "state.h5")
    with pytest.raises(DataError, match="there is no such file"):
        read_checkpoint(tmp_path / "absent.h5")
