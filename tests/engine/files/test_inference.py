"""The three inference files: one save or none."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError, FormatError, SaveError
from engine.files.inference import describe_inference, inference_prefix, read_inference, write_inference
from engine.files.native.container import write_container
from engine.files.untrusted import guarded

PROGRAM = {"blocks": [{"ops": ["conv2d", "relu"], "vars": {"x": [-1, 1, 28, 28]}}]}
WEIGHTS = {"conv1.weight": np.arange(6, dtype="float32").reshape(1, 6), "conv1.bias": np.zeros(0, "float32")}
INFO = {"scaling": 1 / 255, "classes": ["零", "一"], "inputs": ("x",)}
NAMES = ["m.pdiparams", "m.pdiparams.info", "m.pdmodel"]


def write(prefix: Path, value: float = 0.0) -> str:
    weights = {name: array + np.float32(value) for name, array in WEIGHTS.items()}
    return write_inference(prefix, PROGRAM, weights, INFO)


def test_inference_files_round_trip(tmp_path: Path) -> None:
    save_id = write(tmp_path / "new" / "folder" / "m")
    assert sorted(os.listdir(tmp_path / "new" / "folder")) == NAMES
    files = read_inference(tmp_path / "new" / "folder" / "m")
    assert (files.program, files.info, files.save_id) == (PROGRAM, INFO, save_id)
    assert files.prefix == tmp_path / "new" / "folder" / "m"
    assert list(files.weights) == list(WEIGHTS)
    for name, array in WEIGHTS.items():
        assert files.weights[name].dtype == array.dtype
        assert np.array_equal(files.weights[name], array)


def test_each_save_has_its_own_id(tmp_path: Path) -> None:
    assert write(tmp_path / "m") != write(tmp_path / "m")
    assert sorted(os.listdir(tmp_path)) == NAMES


def test_the_prefix(tmp_path: Path) -> None:
    for suffix in ("", ".pdmodel", ".pdiparams", ".pdiparams.info"):
        assert inference_prefix(f"a.b/lenet.v1{suffix}") == Path("a.b/lenet.v1")
    write(tmp_path / "m.pdmodel")
    assert sorted(os.listdir(tmp_path)) == NAMES
    assert read_inference(tmp_path / "m.pdiparams.info").prefix == tmp_path / "m"
    for prefix in ("", "models/", f"{tmp_path}/", "models/.pdmodel", ".."):
        with pytest.raises(ArgumentError, match="the prefix has no file name"):
            write_inference(prefix, PROGRAM, WEIGHTS, INFO)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_another_save_is_named(tmp_path: Path, name: str) -> None:
    write(tmp_path / "a" / "m")
    write(tmp_path / "b" / "m")
    shutil.copy(tmp_path / "b" / name, tmp_path / "a" / name)
    for read in (read_inference, describe_inference):
        with pytest.raises(
            FormatError, match=f"not of one save: {name} differs from the other two.*copy all three"
        ):
            read(tmp_path / "a" / "m")


def test_three_saves(tmp_path: Path) -> None:
    for folder, name in zip("abc", NAMES, strict=True):
        write(tmp_path / folder / "m")
        shutil.copy(tmp_path / folder / name, tmp_path / name)
    with pytest.raises(FormatError, match="all three differ"):
        read_inference(tmp_path / "m")


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    write(tmp_path / "m")
    (tmp_path / name).unlink()
    for read in (read_inference, describe_inference):
        with pytest.raises(DataError, match=f"missing {name}: found m.* and m"):
            read(tmp_path / "m")


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"missing m.pdmodel and m.pdiparams .*none of the three"):
        read_inference(tmp_path / "m")
    with pytest.raises(DataError, match="none of the three"):
        read_inference(tmp_path / "no folder" / "m")


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    write(tmp_path / "m")
    data = bytearray((tmp_path / name).read_bytes())
    for position in (100, 600, len(data) - 1):
        damaged = bytearray(data)
        damaged[position] ^= 1
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(FormatError, match=f"{name}: the file is damaged"):
            read_inference(tmp_path / "m")
    (tmp_path / name).write_bytes(data[:700])
    with pytest.raises(FormatError, match=f"{name}: the file is truncated"):
        describe_inference(tmp_path / "m")


def test_describing_does_not_read_the_weights(tmp_path: Path) -> None:
    save_id = write(tmp_path / "m")
    path = tmp_path / "m.pdiparams"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    described = describe_inference(tmp_path / "m")
    assert (described.program, described.info, described.save_id) == (PROGRAM, INFO, save_id)
    assert described.sizes == {name: (tmp_path / name).stat().st_size for name in NAMES}
    with pytest.raises(FormatError):
        read_inference(tmp_path / "m")


def test_a_foreign_model_costs_one_child(
    tmp_path: Path, unsign: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "m")
    for name in NAMES:
        unsign(tmp_path / name)
    requests: list[Any] = []
    real = guarded.run_child
    monkeypatch.setattr(guarded, "run_child", lambda *args: (requests.append(args[0]), real(*args)))
    assert read_inference(tmp_path / "m").program == PROGRAM
    assert len(requests) == 1
    assert len(requests[0]["files"]) == 3


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_a_failed_save_keeps_the_old_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    old = write(tmp_path / "m", 1.0)
    real: Any = getattr(os, call)

    for allowed in range(3 if call != "replace" else 1):
        count = 0

        def fail(*args: Any, allowed: int = allowed) -> Any:
            nonlocal count
            count += 1
            if count > allowed:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*args)

        monkeypatch.setattr(os, call, fail)
        with pytest.raises(SaveError, match=r"no space left on device.*free some space"):
            write_inference(tmp_path / "m", PROGRAM, WEIGHTS, INFO)
        monkeypatch.setattr(os, call, real)
        assert sorted(os.listdir(tmp_path)) == NAMES
        assert read_inference(tmp_path / "m").save_id == old


def test_a_save_that_stopped_between_its_renames_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = write(tmp_path / "m", 1.0)
    real = os.replace
    calls = []

    def fail_second(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) >= 2:
            raise PermissionError(errno.EACCES, "in use")
        real(source, target)

    monkeypatch.setattr(os, "replace", fail_second)
    with pytest.raises(
        SaveError, match=r"the model is saved, but not all of it is in place yet.*load the model once"
    ):
        write(tmp_path / "m", 2.0)
    # Where nothing can be renamed the staged files are read where they are.
    unmoved = read_inference(tmp_path / "m")
    assert unmoved.save_id != old
    assert unmoved.weights["conv1.weight"][0, 0] == 2.0
    assert len(os.listdir(tmp_path)) == 5
    monkeypatch.setattr(os, "replace", real)
    assert describe_inference(tmp_path / "m").save_id == unmoved.save_id
    assert sorted(os.listdir(tmp_path)) == NAMES


def test_a_reader_may_finish_the_renames_under_the_writers_hands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "m", 1.0)
    real = os.replace
    read = []

    def replace(source: Path, target: Path) -> None:
        real(source, target)
        if not read:
            read.append(1)
            assert read_inference(tmp_path / "m").weights["conv1.weight"][0, 0] == 2.0

    monkeypatch.setattr(os, "replace", replace)
    save_id = write(tmp_path / "m", 2.0)
    assert read_inference(tmp_path / "m").save_id == save_id
    assert sorted(os.listdir(tmp_path)) == NAMES


def test_places_that_can_not_hold_a_model(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SaveError, match="a part of this path is a file"):
        write(tmp_path / "file" / "m")
    (tmp_path / "m.pdiparams.info").mkdir()
    with pytest.raises(SaveError, match=r"m.pdiparams.info.*the path is a folder"):
        write(tmp_path / "m")
    assert os.listdir(tmp_path / "m.pdiparams.info") == []
    assert sorted(os.listdir(tmp_path)) == ["file", "m.pdiparams.info"]


def test_files_of_the_wrong_kind_or_content(tmp_path: Path) -> None:
    write(tmp_path / "m")
    shutil.copy(tmp_path / "m.pdmodel", tmp_path / "m.pdiparams")
    with pytest.raises(FormatError, match=r"m.pdiparams: .*another kind: 'inference.program'"):
        read_inference(tmp_path / "m")
    for name, kind in zip(NAMES, ("inference.weights", "inference.info", "inference.program"), strict=True):
        write_container(
            tmp_path / name, kind, 1, {"weights": [1]} if name == "m.pdiparams" else {"program": 1}
        )
    with pytest.raises(FormatError, match=r"holds no (weights|info)"):
        read_inference(tmp_path / "m")
