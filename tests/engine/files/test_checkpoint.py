"""Checkpoints: names, the newest sound one, pruning."""

from __future__ import annotations

import os
from pathlib import Path

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
    assert (latest.entry.step, latest.entry.path, latest.notes) == (3, paths[2], ())
    damage(paths[2])
    paths[1].write_bytes(paths[1].read_bytes()[:-10])
    latest = latest_checkpoint(tmp_path)
    assert latest.entry is not None
    assert latest.entry.step == 1
    assert len(latest.notes) == 2
    assert "step-00000003.h5: the file is damaged" in latest.notes[0]
    assert "step-00000002.h5: the file is truncated" in latest.notes[1]
    damage(paths[0])
    assert latest_checkpoint(tmp_path).entry is None


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
