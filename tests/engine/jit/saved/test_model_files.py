"""A saved model is found by content: under a prefix, a file's name, or that name without its suffix."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest

from engine.core.errors import AbsentError, FormatError
from engine.files.content import content_of
from engine.files.inference import write_inference
from engine.files.state import write_state
from engine.jit.saved.model_files import (
    NATIVE,
    is_model_file,
    is_own_model,
    kind_of,
    model_paths,
    read_model_files,
)

# ModelProto {ir_version 8, producer_name "x", graph {}, opset_import {version 17}}
_ONNX = bytes.fromhex("0808 120178 3a00 4202 1011")
# ProgramDesc {blocks {idx 0, parent_idx -1}, version {0}}
_PADDLE = bytes.fromhex("0a0d 0800 10ffffffffffffffffff01 2202 0800".replace(" ", ""))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (_ONNX, "onnx"),
        (_PADDLE, "paddle"),
        (_PADDLE[:6], "paddle"),
        (b"\x89HDF\r\n\x1a\n", "hdf5"),
        (b"PK\x03\x04", "zip"),
        (b"\x80\x04}", "pickle"),
        (b"", ""),
        (b"a,b\n1,2\n", ""),
        (b"\n" * 100, ""),
        (b"\xff" * 100, ""),
    ],
)
def test_a_file_is_recognized_by_its_bytes(tmp_path: Path, data: bytes, found: str) -> None:
    (tmp_path / "a.h5").write_bytes(data)
    assert content_of(tmp_path / "a.h5") == found


def test_a_model_is_found_by_its_prefix_and_by_any_of_its_files(tmp_path: Path) -> None:
    save_id = write_inference(tmp_path / "m", {}, {}, {})
    for name in ("m", "m.pdmodel", "m.pdiparams", "m.pdiparams.info"):
        files = read_model_files(tmp_path / name)
        assert (files.save_id, files.own, files.single) == (save_id, True, False)
        assert is_own_model(tmp_path / name)
        assert [each.name for each in model_paths(tmp_path / name)] == [
            "m.pdmodel",
            "m.pdiparams",
            "m.pdiparams.info",
        ]
    assert kind_of(tmp_path / "m") == NATIVE


def test_a_file_that_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    write_state(tmp_path / "state.h5", {"a": 1})
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["x"] = [1.0]
    for name, what in (
        ("state", "a Model Studio file of another kind"),
        ("data", "an HDF5 file that another"),
    ):
        with pytest.raises(FormatError, match=f"{name}.h5: not a saved model: {what}"):
            read_model_files(tmp_path / f"{name}.h5")
        assert not is_model_file(tmp_path / f"{name}.h5")
        with pytest.raises(AbsentError, match="none of the three files exists"):
            read_model_files(tmp_path / name)
